"""What Python has is what the command line has, byte for byte."""

import io
import json

import numpy as np
import pytest
from conftest import ROOT, captures, command

import a4emu

OURS = [ROOT / "captures" / f"{name}.rd.gz" for name in "triangle cube blend depth formats mrt xfb compute".split()]
THEIRS = captures("captures", 6)


def name(path):
    return path.name


@pytest.mark.parametrize("path", OURS + THEIRS, ids=name)
def test_frames_are_those_of_replay(path):
    replay = a4emu.open(path).replay(check=False)
    if replay.surface is None:
        pytest.skip(f"SKIPPED: {path.name} renders no colour")
    png = command("replay", path, "--png", "-", check=False)
    assert replay.surface.png() == png
    assert replay.frame.dtype == np.uint8 and replay.frame.shape == (*replay.surface.pixels().shape[:2], 4)


def test_hashes_are_those_of_corpus_run(tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for path in OURS:
        (corpus / path.name).symlink_to(path)
    command("corpus", "run", corpus, "-o", tmp_path / "run", "--quiet")
    rows = map(json.loads, (tmp_path / "run/results.jsonl").read_text().splitlines())
    played = {row["name"]: row["played"] for row in rows if "played" in row}
    assert set(played) == {path.name for path in OURS}
    for path in OURS:
        replay = a4emu.open(path).replay(frames=True)
        frames = [{"submit": frame.submit, "hash": frame.hash} for frame in replay.frames]
        want = [{key: it[key] for key in ("submit", "hash")} for it in played[path.name]["frames"]]
        assert frames == want
        assert replay.surface is None or replay.surface.hash() == want[-1]["hash"]
    assert any(it["frames"] for it in played.values())


@pytest.mark.parametrize("path", OURS[:4] + THEIRS[:3], ids=name)
def test_state_is_that_of_decode_query(path):
    pattern = "rb_mrt[*].control"
    query = ["--query", pattern, "--query", "RB_DEPTH_CONTROL", "--draw", "..40"]
    lines = command("decode", path, "--format", "jsonl", *query, check=False)
    said = {(it["draw"], it["name"]): it["value"] for it in map(json.loads, lines.splitlines())}
    assert said
    drawn = set()
    for draw in a4emu.open(path).draws(draw="..40"):
        state = draw.state.query(pattern) | {"RB_DEPTH_CONTROL": draw.state.get("RB_DEPTH_CONTROL")}
        drawn |= {(draw.number, register) for register in state}
        for register, value in state.items():
            assert said[draw.number, register] == value
    assert drawn == set(said)


def test_decode_is_jsonl(capture):
    lines = command("decode", capture, "--format", "jsonl").splitlines()
    assert list(a4emu.decode(capture)) == [json.loads(line) for line in lines]
    lines = command("decode", capture, "--format", "jsonl", "--query", "RB_*", "--query-mode", "delta").splitlines()
    assert list(a4emu.decode(capture, query="RB_*", mode="delta")) == [json.loads(line) for line in lines]


def test_packets_are_those_of_decode(capture):
    objects = list(a4emu.decode(capture))
    commands = [it for it in objects if it["kind"] == "packet"]
    packets = list(a4emu.open(capture).packets())
    ours = [it for it in packets if it.type == 3]
    assert [(it.address, it.opcode, it.dwords, it.fields) for it in ours] == [
        (it["address"], it["opcode"], it["dwords"], it["fields"]) for it in commands
    ]
    assert [it.name for it in ours] == [it["name"] for it in commands]
    written = {(it["address"], it["name"], it["value"]) for it in objects if it["kind"] == "reg"}
    direct = {(it.address, *write) for it in packets for write in it.registers}
    assert direct and direct <= written


def test_submits_and_draws_are_counted_alike(capture):
    opened = a4emu.open(capture)
    replay = opened.replay()
    assert [it.number for it in opened.submits()] == list(range(replay.submits))
    assert [it.number for it in opened.draws()] == list(range(replay.draws))
    assert len({it.frame_draw for it in opened.draws()}) == opened.commands()["rows"][-1]["frame_draw"] + 1


def test_commands_and_pixels_are_the_json_of_the_command_line(capture):
    opened = a4emu.open(capture)
    assert opened.commands() == json.loads(command("show", capture, "--json"))
    y, x = np.argwhere(opened.overlay("overdraw"))[0]
    assert opened.pixel(int(x), int(y)) == json.loads(command("pixel", capture, f"{x},{y}", "--json"))


def test_findings_and_stats(capture):
    replay = a4emu.open(capture).replay(validate=True, fidelity=True)
    lines = command("validate", capture, "--json", check=False).splitlines()
    assert replay.findings == [json.loads(line) for line in lines]
    assert a4emu.open(capture).replay().findings is None
    stats = json.loads(command("replay", capture, "--stats", "--fidelity"))
    same = [key for key in stats if key not in ("ms", "jit")]
    assert {key: replay.stats[key] for key in same} == {key: stats[key] for key in same}


def test_text_and_back(capture):
    text = a4emu.disassemble(capture)
    assert text == "".join(command("disasm", capture).decode().splitlines(keepends=True)[1:])
    packed = a4emu.assemble(text)
    assert a4emu.open(packed).replay().surface.png() == a4emu.open(capture).replay().surface.png()
    source = ROOT / "captures/triangle-by-hand.a4"
    assert a4emu.assemble(source.read_text(), path=source) == command("asm", source, "-o", "-")


def test_diff_is_the_json_of_the_command_line(capture):
    other = ROOT / "captures/torus.rd.gz"
    a, b = a4emu.open(capture), a4emu.open(other)
    assert a4emu.diff(a, a) == json.loads(command("diff", capture, capture, "--json"))
    assert a4emu.diff(a, a)["same"]
    assert a4emu.diff(a, b) == json.loads(command("diff", capture, other, "--json", check=False))


def test_bytes_files_and_paths_are_one(capture):
    packed = capture.read_bytes()
    want = a4emu.open(capture).replay().surface.png()
    with open(capture, "rb") as file:
        given = [str(capture), packed, bytearray(packed), memoryview(packed), io.BytesIO(packed), file]
        for source in given:
            assert a4emu.open(source).replay().surface.png() == want
    assert a4emu.open(packed).disassemble(draw=0) == a4emu.open(capture).disassemble(draw=0)
    with pytest.raises(TypeError):
        a4emu.open(7)
    with pytest.raises(TypeError):
        a4emu.open([1, 2])


def test_threads_and_jit_change_no_byte(capture):
    want = a4emu.open(capture).replay()
    for options in ({"threads": 1}, {"jit": "off"}, {"jit": "on"}):
        got = a4emu.open(capture, **options).replay()
        assert (got.surface.png(), got.work) == (want.surface.png(), want.work)
