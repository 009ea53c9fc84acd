"""Rows as columns, and the difference of pictures."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


# The list of rows of Capture.commands() and of Capture.pixel().
_ANSWERS = ("rows", "events")


def _flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The row with the keys of nested dictionaries joined by dots."""
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping):
            flat.update(_flat(value, f"{prefix}{key}."))
        else:
            flat[prefix + key] = value
    return flat


def _rows(source: Iterable[Mapping[str, Any]] | Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """The rows of `source`: itself, the list of rows that an answer has, or the one row that it is."""
    if not isinstance(source, Mapping):
        return source
    return next((source[key] for key in _ANSWERS if key in source), [source])


def table(rows: Iterable[Mapping[str, Any]] | Mapping[str, Any]) -> dict[str, list[Any]]:
    """Rows as a dictionary of columns, which pandas.DataFrame, polars.DataFrame and pyarrow.table take.

    `rows` are dictionaries, such as those of Capture.decode(), Replay.findings or Replay.troubles, or an answer with such
    a list: Capture.commands(), Capture.pixel(). Nested dictionaries become columns with a dot, 'cost.pixels'. A row
    without a value has None there.
    """
    columns: dict[str, list[Any]] = {}
    count = 0
    for row in _rows(rows):
        flat = _flat(row)
        for name in flat:
            columns.setdefault(name, [None] * count)
        for name, column in columns.items():
            column.append(flat.get(name))
        count += 1
    return columns


def difference(a: NDArray[Any], b: NDArray[Any]) -> dict[str, Any]:
    """What differs in two pictures of the same shape: 'pixels' that differ, the 'largest' difference of a component, 'psnr'
    in dB (inf if they are the same), and 'mask', bool [height, width]."""
    if a.shape != b.shape:
        raise ValueError(f"pictures of shapes {a.shape} and {b.shape} are not compared")
    apart = np.abs(a.astype(np.float64) - b.astype(np.float64))
    mask = apart.any(axis=2) if apart.ndim == 3 else apart > 0
    full = np.iinfo(a.dtype).max if np.issubdtype(a.dtype, np.integer) else 1.0
    error = float(np.mean(apart**2)) if apart.size else 0.0
    psnr = float(10 * np.log10(full**2 / error)) if error else float("inf")
    return {"pixels": int(mask.sum()), "largest": float(apart.max(initial=0.0)), "psnr": psnr, "mask": mask}
