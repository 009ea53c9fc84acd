"""The recipes for clusters give what `a4emu corpus run` gives. Not by default: Ray and Dask are 100 MB to download.

    pip install ray 'dask[distributed]' && pytest -m ray
"""

import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT, captures, command

RECIPES = ROOT / "python/examples"


@pytest.mark.ray
@pytest.mark.parametrize("recipe", ["ray", "dask"])
def test_a_recipe_gives_the_table_of_corpus_run(recipe, tmp_path):
    pytest.importorskip(recipe, reason=f"SKIPPED: no {recipe}")
    corpus, run = tmp_path / "corpus", tmp_path / "run"
    chosen = captures("captures", 50) or sorted((ROOT / "captures").glob("*.rd.gz"))
    for path in chosen:
        link = corpus / path.parent.name / path.name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(path)
    command("corpus", "run", corpus, "-o", run, "--quiet", check=False)
    want = {}
    for line in (run / "results.jsonl").read_text().splitlines():
        row = json.loads(line)
        if "played" in row:
            played = row["played"]
            frames = [[it["submit"], it["hash"]] for it in played["frames"]]
            numbers = {"status": played["status"], "draws": played["draws"], "work": played["work"]["units"]}
            want[row["name"]] = {"name": row["name"], **numbers, "frames": frames}
    env = os.environ | {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0"}
    program = [sys.executable, RECIPES / f"on_{recipe}.py", corpus]
    done = subprocess.run(program, capture_output=True, text=True, env=env, timeout=600)
    assert done.returncode == 0, done.stderr
    got = {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}
    assert len(got) == len(chosen) and got == want
    print(f"{recipe}: {len(got)} captures, {sum(len(row['frames']) for row in got.values())} frames, all as corpus run")
