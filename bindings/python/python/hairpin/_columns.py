"""Captures as columns: NumPy arrays without copies, or Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from ._native import CaptureReader

if TYPE_CHECKING:
    from os import PathLike

    from ._native import Column

    _Path = str | PathLike[str]
    _Paths = _Path | Sequence[_Path]

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]


class Columns(Mapping[str, Any]):
    """The columns of some records, by name. Names and units are those of DBN version 3."""

    def __init__(self, columns: list[tuple[str, Column]]) -> None:
        self._buffers = dict(columns)
        self._arrays: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._arrays:
            view = memoryview(self._buffers[name])
            self._arrays[name] = view if numpy is None else numpy.asarray(view)
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._buffers)

    def __len__(self) -> int:
        return len(self._buffers)

    def __repr__(self) -> str:
        return f"Columns({self.rows} rows of {', '.join(self)})"

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(next(iter(self._buffers.values())))

    def to_arrow(self) -> Any:
        """Returns a `pyarrow.Table` on the same memory. Needs pyarrow."""
        import pyarrow  # type: ignore[import-untyped]

        types = {
            "c": pyarrow.binary(1),
            "B": pyarrow.uint8(),
            "H": pyarrow.uint16(),
            "I": pyarrow.uint32(),
            "i": pyarrow.int32(),
            "Q": pyarrow.uint64(),
            "q": pyarrow.int64(),
        }
        arrays = {}
        for name, column in self._buffers.items():
            type_ = types[memoryview(column).format]
            buffers = [None, pyarrow.py_buffer(column)]
            arrays[name] = pyarrow.Array.from_buffers(type_, self.rows, buffers)
        return pyarrow.table(arrays)


@overload
def read(
    path: _Paths, schema: Literal["mbp-1", "trades"], *, rows: None = None
) -> Columns: ...
@overload
def read(
    path: _Paths, schema: Literal["mbp-1", "trades"], *, rows: int
) -> Iterator[Columns]: ...
def read(
    path: _Paths, schema: str, *, rows: int | None = None
) -> Columns | Iterator[Columns]:
    """Reads a capture of one channel: `mbp-1` or `trades`.

    Several paths are read as one capture, in the order of their packets' times.
    Returns the columns, or with `rows` an iterator of parts with so many rows.
    Messages of templates that no schema since version 9 has are a `UserWarning`.
    """
    if rows is not None and rows < 1:
        raise ValueError("rows must be at least 1")
    reader = CaptureReader(path, schema)
    if rows is not None:
        return _parts(reader, rows)
    part = reader.next_part()
    columns = Columns(reader.no_rows() if part is None else part)
    # After the last row: the error at which the file ends.
    reader.next_part()
    return columns


def _parts(reader: CaptureReader, rows: int) -> Iterator[Columns]:
    while (part := reader.next_part(rows)) is not None:
        yield Columns(part)


Columns.__module__ = read.__module__ = "hairpin"
