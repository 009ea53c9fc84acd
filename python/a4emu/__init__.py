"""An Adreno A4xx GPU in software: captures of command streams, replayed and looked at.

>>> import a4emu
>>> capture = a4emu.open("captures/triangle.rd.gz")
>>> capture.replay().frame.shape
(256, 256, 4)
>>> {draw.state["RB_DEPTH_CONTROL.ZFUNC"] for draw in capture.draws(draw="f0")}
{'FUNC_ALWAYS'}
"""

from collections.abc import Iterator
from os import PathLike
from typing import Any, BinaryIO, TypeAlias

from ._native import (
    AssemblyError,
    Capture,
    DamagedError,
    Draw,
    Error,
    Frame,
    Objects,
    Packet,
    Replay,
    Shown,
    State,
    Submit,
    Surface,
    UnsupportedError,
    UsageError,
    Walk,
    __version__,
    assemble,
    diff,
    open,
)
from .tables import difference, table

__all__ = [
    "AssemblyError",
    "Capture",
    "DamagedError",
    "Draw",
    "Error",
    "Frame",
    "Objects",
    "Packet",
    "Replay",
    "Shown",
    "State",
    "Submit",
    "Surface",
    "UnsupportedError",
    "UsageError",
    "Walk",
    "__version__",
    "assemble",
    "decode",
    "diff",
    "difference",
    "disassemble",
    "open",
    "table",
]


_Source: TypeAlias = str | PathLike[str] | bytes | BinaryIO


def decode(source: _Source, **options: Any) -> Iterator[dict[str, Any]]:
    """open(source).decode(**options): the objects of `a4emu decode --format jsonl`."""
    return open(source).decode(**options)


def disassemble(source: _Source, **options: Any) -> str:
    """open(source).disassemble(**options): the text that assemble() turns back into the same bytes."""
    return open(source).disassemble(**options)
