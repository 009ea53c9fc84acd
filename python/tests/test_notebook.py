"""examples/frame.ipynb runs from its first cell to its last, and what is stored is what comes out."""

import pytest
from conftest import ROOT

NOTEBOOK = ROOT / "examples/frame.ipynb"


def outputs(notebook, kind):
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [output for cell in cells for output in cell.outputs if output.output_type == kind]


def text(notebook):
    return [output.text for output in outputs(notebook, "stream")]


def pictures(notebook):
    return [output.data["image/png"] for output in outputs(notebook, "display_data")]


@pytest.mark.notebook
def test_the_notebook_runs():
    nbclient = pytest.importorskip("nbclient", reason="SKIPPED: no nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("matplotlib", reason="SKIPPED: no matplotlib")
    stored = nbformat.read(NOTEBOOK, as_version=4)
    run = nbformat.read(NOTEBOOK, as_version=4)
    for cell in run.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    nbclient.NotebookClient(run, timeout=120, resources={"metadata": {"path": NOTEBOOK.parent}}).execute()
    assert text(run) == text(stored) != []
    assert len(pictures(run)) == len(pictures(stored)) == 4
    assert NOTEBOOK.stat().st_size < 500_000
