"""Bad input is normal: an exception that says what and where, never the end of the interpreter."""

import gzip

import pytest
from conftest import ROOT, SHARED

import a4emu

LIMITS = {"max_work": 1 << 26, "max_memory": 64 << 20, "time_limit": 5}


def test_what_is_no_capture_is_refused_when_it_is_opened(tmp_path):
    for data, offset in ((b"", None), (b"no capture at all", 0)):
        with pytest.raises(a4emu.DamagedError) as raised:
            a4emu.open(data)
        assert (raised.value.kind, raised.value.offset, raised.value.status) == ("container", offset, 3)
    with pytest.raises(FileNotFoundError):
        a4emu.open(tmp_path / "nothing.rd")
    with pytest.raises(a4emu.UsageError, match="'board', 'strict-gl'"):
        a4emu.open(b"", model="x")


def test_damage_is_raised_behind_what_could_be_read(capture):
    raw = gzip.decompress(capture.read_bytes())
    cut = raw[: len(raw) - 3]
    whole, seen = len(list(a4emu.open(raw).packets())), 0
    with pytest.raises(a4emu.DamagedError) as raised:
        for _ in a4emu.open(cut).packets():
            seen += 1
    assert raised.value.kind == "container" and len(cut) - 64 < raised.value.offset < len(cut)
    assert 0 < seen <= whole and raised.value.result is None
    with pytest.raises(a4emu.DamagedError) as raised:
        a4emu.open(cut).replay()
    replay = raised.value.result
    assert replay.status == raised.value.status == 3 and replay.draws > 0
    assert [it["offset"] for it in replay.troubles if it["kind"] == "container"] == [raised.value.offset]
    assert a4emu.open(cut).replay(check=False).status == 3
    with pytest.raises(a4emu.DamagedError):
        a4emu.open(cut).disassemble()


def test_what_is_wrong_is_raised_and_not_printed(capture, capfd):
    raw = gzip.decompress(capture.read_bytes())
    whole, cut = a4emu.open(raw), a4emu.open(raw[: len(raw) - 3])
    for a, b in ((whole, cut), (cut, whole)):
        with pytest.raises(a4emu.DamagedError, match="<bytes>: .*") as raised:
            a4emu.diff(a, b)
        error = raised.value
        assert (error.kind, error.status) == ("container", 3) and len(raw) - 64 < error.offset < len(raw)
        assert error.result["pairs"] > 0 and "differences" in error.result, "what could be compared"
    with pytest.raises(a4emu.UnsupportedError, match="--max-work") as raised:
        a4emu.diff(a4emu.open(raw, max_work=1000), whole)
    assert (raised.value.kind, raised.value.status) == ("cut", 4)
    with pytest.raises(a4emu.UsageError, match="no draw 999"):
        a4emu.diff(whole, whole, draw_a=999)
    with pytest.raises(a4emu.DamagedError, match="no section") as raised:
        cut.disassemble()
    assert (raised.value.kind, raised.value.status) == ("container", 3) and raised.value.result.startswith("gpu_id 420\n")
    with pytest.raises(a4emu.Error):
        a4emu.open(raw, max_work=1000).replay(edit={"f1": {"RB_DEPTH_CONTROL": 0}})
    assert capfd.readouterr() == ("", "")


def test_limits_cut_a_run_off(capture):
    with pytest.raises(a4emu.UnsupportedError, match="--max-work") as raised:
        a4emu.open(capture, max_work=1000).replay()
    assert (raised.value.kind, raised.value.status) == ("cut", 4) and raised.value.result.work <= 1000


def test_a_source_that_is_wrong_has_a_place():
    with pytest.raises(a4emu.AssemblyError) as raised:
        a4emu.assemble("// fine\n  nonsense here\n", path="x.a4")
    error = raised.value
    assert (error.line, error.column, error.kind, error.status) == (2, 3, "source", 2)
    assert error.offset == 10 and error.file.endswith("x.a4") and isinstance(error, a4emu.Error)


def hostile():
    return sorted(path for path in (SHARED / "hostile").glob("*") if ".rd" in path.name or path.suffix == ".a4")


@pytest.mark.parametrize("path", hostile(), ids=lambda path: path.name)
def test_hostile_inputs_end(path):
    """Whatever comes of it is a result or an exception of ours; that there is somebody to say so is the point."""
    try:
        if path.suffix == ".a4":
            source = a4emu.assemble(path.read_text(), path=path, include=[path.parent, ROOT / "captures"])
        else:
            source = path
        capture = a4emu.open(source, **LIMITS)
        assert capture.replay(check=False).status in (0, 3, 4)
        if path.stat().st_size < 1 << 20:  # What unpacks to gigabytes does so once.
            for _ in capture.draws():
                pass
    except a4emu.Error as error:
        assert error.kind and error.status in (2, 3, 4)
