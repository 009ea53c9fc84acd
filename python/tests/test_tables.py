"""Rows as columns, one draw in arrays, pictures in notebooks."""

import csv
import io
import json

import numpy as np
import pytest
from conftest import ROOT, command

import a4emu


def opened(name):
    return a4emu.open(ROOT / f"captures/{name}.rd.gz")


def test_rows_are_columns():
    capture = opened("cube")
    commands = a4emu.table(capture.commands())
    assert commands["frame_draw"] == [0, 1, 2, 3] and len({len(column) for column in commands.values()}) == 1
    assert commands["cost.pixels"] == [row["cost"]["pixels"] for row in capture.commands()["rows"]]
    events = a4emu.table(capture.pixel(128, 128))
    assert len(events["verdict"]) == len(capture.pixel(128, 128)["events"]) > 1
    registers = a4emu.table(capture.decode(query="RB_DEPTH_CONTROL"))
    assert len(registers["draw"]) == 4
    uneven = a4emu.table([{"a": 1}, {"b": {"c": 2}}, {"a": 3}])
    assert uneven == {"a": [1, None, 3], "b.c": [None, 2, None]}
    assert a4emu.table([]) == {}
    pandas = pytest.importorskip("pandas", reason="SKIPPED: no pandas")
    assert list(pandas.DataFrame(commands)["frame_draw"]) == [0, 1, 2, 3]


def test_a_draw_is_shown_as_the_command_line_shows_it(tmp_path):
    capture, path = opened("cube"), ROOT / "captures/cube.rd.gz"
    shown = capture.show("f1")
    state = json.loads(command("show", path, "--draw", "f1", "--json"))
    assert all(state[key] == value for key, value in shown.state.items() if key not in ("run",))
    mesh = list(csv.DictReader(io.StringIO(command("show", path, "--draw", "f1", "--mesh", "-").decode())))
    for name in ("in0.x", "in0.y"):
        by_index = {int(row["index"]): float(row[name]) for row in mesh}
        assert np.allclose([by_index[index] for index in shown.inputs["index"]], shown.inputs[name])
    assert shown.outputs["position.w"].dtype == np.float32
    changes = {row["target"]: row["pixels"] for row in state["changes"]}
    for target, pixels in changes.items():
        if target in shown.before and target != "stencil":
            assert a4emu.difference(shown.before[target], shown.after[target])["pixels"] == pixels, target
    textures = tmp_path / "textures"
    command("show", path, "--draw", "f1", "--textures", textures)
    assert [level.shape for level in shown.textures["FS0"]] == [(64, 64, 4)] and len(list(textures.iterdir())) == 1
    assert shown.shaders["FS"].splitlines()[0] == "bary.f r0.z, 1, r0.x"
    with pytest.raises(a4emu.UsageError):
        capture.show("f99")


def test_stages_are_shown_as_the_command_line_shows_them(tmp_path):
    path = tmp_path / "tess-gs.rd"
    command("asm", ROOT / "captures/geometry/tess-gs.a4", "--include", ROOT / "captures", "-o", path)
    stages = a4emu.open(path).show("f1").stages
    assert list(stages) == ["vs", "hs-inputs", "hs", "factors", "ds", "gs-inputs", "gs"]
    for part, columns in stages.items():
        text = command("show", path, "--draw", "f1", "--mesh", "-", "--mesh-of", part).decode()
        rows = list(csv.DictReader(io.StringIO(text)))
        assert list(columns) == list(rows[0]) and {len(column) for column in columns.values()} == {len(rows)}
        for name, column in columns.items():
            if column.dtype == np.float32:
                assert np.allclose([float(row[name]) for row in rows], column), (part, name)
    assert opened("cube").show("f1").stages == {}


def test_what_a_dispatch_stores_is_shown_as_the_command_line_shows_it():
    shown = opened("compute").show("f0")
    written = json.loads(command("show", ROOT / "captures/compute.rd.gz", "--draw", "f0", "--json"))["written"]
    assert shown.written == shown.state["written"] == written
    assert {"CS buffer 0", "CS buffer 1"} <= {row["what"] for row in written}


def test_a_shader_of_a_draw_can_be_edited():
    capture = opened("cube")
    plain = capture.replay().frame
    shader = capture.show("f1").shaders["FS"]
    assert (capture.replay(edit={"f1": {"fs": shader}}).frame == plain).all()
    dark = shader.replace("(sy)mul.f r1.w, r1.x, r0.x", "(sy)mov.u32u32 r1.w, 0")
    assert dark != shader
    edited = capture.replay(edit={"f1": {"fs": dark}}).frame
    changed = a4emu.difference(plain, edited)
    assert changed["pixels"] > 0 and (edited[changed["mask"]][:, 0] == 0).all()
    red = capture.replay(edit={"f0": {"fs.c0": [1.0, 0.0, 0.0, 1.0]}}).frame
    assert red[0, 0].tolist() == [255, 0, 0, 255]
    with pytest.raises(a4emu.UsageError):
        capture.replay(edit={"f1": {"fs": "mvo r0.x"}})


def test_findings_need_no_replay():
    path = ROOT / "tests/validation"
    capture = opened("cube")
    lines = command("validate", "--no-render", "--json", ROOT / "captures/cube.rd.gz", check=False).decode().splitlines()
    assert [json.loads(line)["rule"] for line in lines] == [finding["rule"] for finding in capture.validate()]
    assert path.exists()


def test_pictures_in_notebooks_and_flipped():
    replay = opened("triangle").replay(frames=True)
    png = b"\x89PNG"
    surface = replay.surface
    assert replay._repr_png_() == surface._repr_png_() == surface.png() and surface.png().startswith(png)
    assert replay.frames[0]._repr_png_().startswith(png)
    assert (surface.pixels(flip=True)[::-1] == surface.pixels()).all() and surface.pixels(flip=True).flags.owndata
    assert (surface.values(flip=True)[::-1] == surface.values()).all()
    assert surface.png(flip=True) != surface.png()


def test_the_difference_of_pictures():
    a = np.zeros((2, 3, 4), np.uint8)
    b = a.copy()
    b[1, 2, 0] = 51
    found = a4emu.difference(a, b)
    assert (found["pixels"], found["largest"]) == (1, 51.0) and found["mask"].tolist()[1] == [False, False, True]
    assert found["psnr"] == pytest.approx(10 * np.log10(255**2 / (51**2 / 24)))
    assert a4emu.difference(a, a)["psnr"] == float("inf")
    with pytest.raises(ValueError, match="shapes"):
        a4emu.difference(a, a[:1])
