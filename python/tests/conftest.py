"""Where things are: the command line that Python is held to, and captures."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("A4EMU_SHARED", ROOT.parent / "shared"))


def binary() -> Path:
    """The a4emu command: $A4EMU, or the newest that cargo has built here."""
    if "A4EMU" in os.environ:
        return Path(os.environ["A4EMU"])
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    built = [path for path in (target / "release/a4emu", target / "debug/a4emu") if path.exists()]
    if not built:
        pytest.exit("no a4emu to compare with: cargo build, or A4EMU=PATH")
    return max(built, key=lambda path: path.stat().st_mtime)


def command(*args: object, check: bool = True) -> bytes:
    """What the command line puts on stdout."""
    done = subprocess.run([binary(), *map(str, args)], capture_output=True)
    assert not check or done.returncode == 0, done.stderr.decode()
    return done.stdout


def captures(folder: str, count: int) -> list[Path]:
    """At most `count` captures of a folder of the shared ones, spread over all; none where there are none."""
    all_of_them = sorted((SHARED / folder).rglob("*.rd.gz"))
    return all_of_them[:: max(1, len(all_of_them) // count)][:count] if all_of_them else []


@pytest.fixture
def capture() -> Path:
    """A capture with tiles, several draws and depth."""
    return ROOT / "captures/cube.rd.gz"


def pytest_report_header() -> list[str]:
    here = "" if (SHARED / "captures").exists() else "SKIPPED: no shared captures, fewer are compared; "
    return [f"{here}compared with {binary()}"]
