"""The scripts beside the Lua scripts of docs/cffdump-scripts.md."""

import os
import pathlib
import subprocess
import sys

import a4emu

ROOT = pathlib.Path(__file__).parents[2]
SCRIPTS = ROOT / "python/examples/cffdump"


def lines(script: str, capture: str) -> list[str]:
    command = [sys.executable, str(SCRIPTS / script), str(ROOT / "captures" / capture)]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ)).stdout.splitlines()


def test_every_script_is_run_here():
    assert {path.name for path in SCRIPTS.glob("*.py")} == {"draws.py", "targets.py", "textures.py"}


def test_draws():
    found = lines("draws.py", "cube.rd.gz")
    draws = [draw for draw in a4emu.open(ROOT / "captures/cube.rd.gz").draws() if draw.kind == "draw"]
    assert len(found) == len(draws) > 3
    assert "TRILIST 36" in found[1] and f"{draws[1].state['RB_DEPTH_CONTROL']:08x}" in found[1]


def test_targets():
    found = lines("targets.py", "cube.rd.gz")
    surface = a4emu.open(ROOT / "captures/cube.rd.gz").replay().surface
    assert surface is not None
    assert any(f"256x256 {surface.format} at {surface.address:#x}" in line for line in found), found


def test_textures():
    assert any("8_8_8_8_UNORM" in line for line in lines("textures.py", "cube.rd.gz"))
