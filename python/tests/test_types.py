"""The stubs say what the module has, and examples are true."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import a4emu


def test_stubs_are_the_module(tmp_path):
    pytest.importorskip("mypy", reason="SKIPPED: no mypy")
    allowed = tmp_path / "allowed"
    # Exceptions get their attributes when they are raised; the compiled module has an __all__ of its own making.
    allowed.write_text("a4emu\\._native\\.(Error|AssemblyError)\\.\\w+\na4emu\\._native\\.__all__\n")
    stubtest = [sys.executable, "-m", "mypy.stubtest", "a4emu", "--allowlist", allowed, "--ignore-unused-allowlist"]
    done = subprocess.run(stubtest, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_typed_program_passes(tmp_path):
    pytest.importorskip("mypy", reason="SKIPPED: no mypy")
    good = "import a4emu\nfor draw in a4emu.open('x').draws():\n    number: int = draw.number\n"
    (tmp_path / "good.py").write_text(good)
    (tmp_path / "bad.py").write_text(good.replace("int", "str"))
    mypy = [sys.executable, "-m", "mypy", "good.py", "bad.py"]
    done = subprocess.run(mypy, capture_output=True, text=True, cwd=tmp_path)
    errors = [line for line in done.stdout.splitlines() if ": error:" in line]
    assert [line.split(":")[0] for line in errors] == ["bad.py"], done.stdout


def test_the_examples_of_the_docstring(monkeypatch):
    monkeypatch.chdir(ROOT)
    assert doctest.testmod(a4emu).failed == 0


def test_everything_has_a_docstring():
    for name in a4emu.__all__:
        thing = getattr(a4emu, name)
        assert name == "__version__" or thing.__doc__, name
        if isinstance(thing, type) and not issubclass(thing, Exception):
            public = [it for it in vars(thing) if not it.startswith("_")]
            assert all(getattr(thing, it).__doc__ for it in public), (name, public)


def test_the_package_says_that_it_is_typed():
    assert (Path(a4emu.__file__).parent / "py.typed").exists()
