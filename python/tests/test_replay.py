"""What a replay gives, and what can be done to it."""

import ctypes

import numpy as np
import pytest
from conftest import ROOT, command

import a4emu


def opened(name):
    return a4emu.open(ROOT / "captures" / f"{name}.rd.gz")


def test_surfaces_have_natural_types():
    seen = set()
    for name in ("formats", "inttex", "depth", "mrt"):
        for surface in opened(name).replay(check=False).surfaces:
            values, pixels = surface.values(), surface.pixels()
            assert values.shape[:2] == pixels.shape[:2] and values.flags.writeable
            size = values.shape[0] * values.shape[1]
            assert len(surface.tobytes()) % size == 0 and surface.png().startswith(b"\x89PNG")
            seen.add((surface.content, values.dtype.name))
            if values.dtype == np.float32 and surface.content == "color":
                as_bytes = np.rint(np.clip(values.astype(np.float64), 0, 1) * 255)
                assert np.abs(as_bytes - pixels).max() <= 1
    assert ("color", "float32") in seen and len(seen) > 1, seen


def test_a_frame_for_each_submit_that_rendered():
    heard = []
    replay = opened("many").replay(frames=True, on_frame=heard.append)
    assert [frame.submit for frame in heard] == [frame.submit for frame in replay.frames]
    assert len(replay.frames) >= 1 and (replay.frames[-1].pixels == replay.frame).all()
    assert opened("many").replay().frames == []


def test_draws_are_told_before_they_run():
    numbers = []
    replay = opened("cube").replay(on_draw=lambda draw: numbers.append(draw.number))
    assert numbers == list(range(replay.draws))

    def until_three(draw):
        return draw.number < 3

    assert opened("cube").replay(on_draw=until_three).draws == 3
    assert opened("cube").replay(stop=3).draws == 3


def test_what_a_callback_raises_ends_the_run():
    def refuse(draw):
        raise KeyError(draw.number)

    with pytest.raises(KeyError, match="0"):
        opened("cube").replay(on_draw=refuse)


def test_registers_can_be_edited():
    capture = opened("cube")
    draws = [draw for draw in capture.draws() if draw.pass_ in ("gmem", "bypass")]
    register = "RB_MRT[*].CONTROL.COMPONENT_ENABLE"
    assert any(draw.state.query(register).values() for draw in draws)
    plain = capture.replay().frame
    edits = {f"f{draw.frame_draw}": {register: 0} for draw in draws}
    masked = capture.replay(edit=edits).frame
    assert (plain != masked).any() and (capture.replay(edit={}).frame == plain).all()
    with pytest.raises(a4emu.UsageError):
        capture.replay(edit={"f0": {"RB_NOTHING": 1}})
    with pytest.raises(a4emu.UsageError):
        capture.replay(edit={"f999": {"RB_DEPTH_CONTROL": 1}})


def test_overlays_count_fragments():
    capture = opened("cube")
    overdraw, verdict, cost = map(capture.overlay, ("overdraw", "verdict", "cost"))
    assert overdraw.dtype == np.uint32 and cost.dtype == np.float64 and verdict.dtype == np.uint8
    assert overdraw.shape == verdict.shape == cost.shape == capture.replay().frame.shape[:2]
    assert ((overdraw > 0) == (verdict & 1 > 0)).all() and (cost[overdraw == 0] == 0).all()
    assert "overdraw" in command("show", ROOT / "captures/cube.rd.gz", "--overlay", "overdraw=/dev/null").decode()


def test_memory_and_state_at_the_end():
    replay = opened("triangle").replay()
    surface = replay.surface
    row = replay.memory(surface.address, surface.width * 4)
    assert row == surface.tobytes()[: len(row)]
    assert replay.state["RB_DEPTH_CONTROL"] >= 0
    with pytest.raises(a4emu.UsageError):
        replay.memory(4, 4)
    with pytest.raises(a4emu.UsageError):
        replay.memory(surface.address, 2**32 - 1)


def test_registers_by_name_and_field():
    draw = next(opened("blend").draws())
    state = draw.state
    assert state["rb_depth_control"] == state["RB_DEPTH_CONTROL"] == state["0x2101"] == state["2101"]
    fields = state.fields("RB_DEPTH_CONTROL")
    assert fields["ZFUNC"] == state["RB_DEPTH_CONTROL.ZFUNC"] and isinstance(fields["ZFUNC"], str)
    assert isinstance(fields["Z_TEST_ENABLE"], bool)
    assert "RB_DEPTH_CONTROL" in state and "RB_NOTHING" not in state and state.get("UNKNOWN_3ABC") is None
    assert list(state) == state.keys() and len(state) == len(state.items()) and dict(state.items())["RB_DEPTH_CONTROL"] == state["2101"]
    with pytest.raises(KeyError, match="RB_DEPTH_CONTROL"):
        state["RB_DEPTH_CONTRL"]
    with pytest.raises(KeyError, match="pattern"):
        state["RB_*"]


def test_selections():
    capture = opened("cube")
    assert [draw.number for draw in capture.draws(draw="1..3")] == [1, 2]
    assert {draw.frame_draw for draw in capture.draws(draw="f1")} == {1}
    assert [submit.number for submit in capture.submits(submit=0)] == [0]
    assert {packet.draw for packet in capture.packets(draw=1)} == {1}
    with pytest.raises(a4emu.UsageError, match="no draw 999"):
        list(capture.draws(draw=999))
    with pytest.raises(a4emu.UsageError):
        capture.draws(draw="x")


@pytest.mark.parametrize("rounding", [0x400, 0x800, 0xC00])
def test_the_rounding_of_the_thread_that_asks_changes_nothing(rounding):
    def everything():
        replay = opened("torus").replay(check=False)
        return replay.surface.hash(), replay.frame.tobytes(), replay.surface.values().tobytes()

    plain = everything()
    libm = ctypes.CDLL("libm.so.6")
    assert libm.fesetround(rounding) == 0
    try:
        odd = everything()
        assert libm.fegetround() == rounding, "it is the caller's again"
    finally:
        libm.fesetround(0)
    assert odd == plain


def test_the_submits_of_one_process_are_played_alone():
    path = ROOT / "captures/triangle-by-hand.a4"
    text = path.read_text().replace("submit main", 'submit main\ncmd "other/2: fence=2\\0"\nsubmit main')
    capture = a4emu.assemble(text, path=path)
    whole, own = a4emu.open(capture).replay(), a4emu.open(capture, process="triangle-by-hand").replay()
    assert (whole.submits, whole.draws) == (2, 2 * own.draws)
    with pytest.raises(a4emu.UsageError):
        a4emu.open(capture, process="")
    with pytest.raises(a4emu.Error, match="nobody"):
        a4emu.open(capture, process="nobody").replay()
