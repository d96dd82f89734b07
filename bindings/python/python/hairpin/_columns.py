"""Captures as columns: NumPy arrays without copies, or Arrow tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Literal, overload

from ._native import CaptureReader

if TYPE_CHECKING:
    from os import PathLike

    from ._native import Column

    _Path = str | PathLike[str]
    _Paths = _Path | Sequence[_Path]
    _Schema = Literal["mbp-1", "mbp-10", "trades", "definition"]
    _Time = int | str | datetime

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_UNDEFINED_PRICE = 2**63 - 1
_UNDEFINED_TIME = 2**64 - 1
_PRICES = frozenset(
    {
        "price",
        "min_price_increment",
        "display_factor",
        "high_limit_price",
        "low_limit_price",
        "max_price_variation",
        "trading_reference_price",
        "unit_of_measure_qty",
    }
)
_TIMES = frozenset({"ts_recv", "ts_event", "activation", "expiration"})


class Columns(Mapping[str, Any]):
    """The columns of some records, by name. Names and units are those of DBN version 3.

    `gaps` and `unknown_messages` count, up to the last row, the gaps in the capture and
    the messages of templates that are not known: no row was made of what they contained.
    """

    def __init__(
        self, columns: list[tuple[str, Column]], counts: tuple[int, int] = (0, 0)
    ) -> None:
        self._buffers = dict(columns)
        self._arrays: dict[str, Any] = {}
        self.gaps, self.unknown_messages = counts

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
            "20s": pyarrow.binary(20),
        }
        arrays = {}
        for name, column in self._buffers.items():
            type_ = types[memoryview(column).format]
            buffers = [None, pyarrow.py_buffer(column)]
            arrays[name] = pyarrow.Array.from_buffers(type_, self.rows, buffers)
        return pyarrow.table(arrays)

    def _typed(self) -> Any:
        """Returns an Arrow table of times, prices as numbers, nulls and text."""
        import pyarrow
        from pyarrow import compute  # type: ignore[import-untyped]

        table, columns = self.to_arrow(), {}
        for name in table.column_names:
            column = table[name].combine_chunks()
            if name in _TIMES:
                known = compute.not_equal(column, pyarrow.scalar(_UNDEFINED_TIME, pyarrow.uint64()))
                nanoseconds = compute.if_else(known, column, None).cast(pyarrow.int64())
                column = nanoseconds.cast(pyarrow.timestamp("ns", tz="UTC"))
            elif name in _PRICES or "_px_" in name:
                known = compute.not_equal(column, _UNDEFINED_PRICE)
                mantissas = compute.if_else(known, column, None).cast(pyarrow.float64(), safe=False)
                column = compute.divide(mantissas, 1e9)
            elif pyarrow.types.is_fixed_size_binary(column.type):
                text = compute.cast(column, pyarrow.binary()).cast(pyarrow.string())
                column = compute.utf8_rtrim(text, characters="\0").dictionary_encode()
            elif name in ("maturity_year", "maturity_month"):
                undefined = 2**16 - 1 if name == "maturity_year" else 2**8 - 1
                known = compute.not_equal(column, pyarrow.scalar(undefined, column.type))
                column = compute.if_else(known, column, None)
            columns[name] = column
        return pyarrow.table(columns)

    def to_pandas(self) -> Any:
        """Returns a `pandas.DataFrame`: times in UTC, wire prices as numbers, text as categories.

        Undefined values are missing values. Needs pandas and pyarrow.
        """
        return self._typed().to_pandas()

    def to_polars(self) -> Any:
        """Returns a `polars.DataFrame`, as `to_pandas`. Needs polars and pyarrow."""
        import polars

        return polars.from_arrow(self._typed())


def _nanoseconds(name: str, time: _Time) -> int:
    """Returns a time as nanoseconds since 1970 in UTC."""
    if isinstance(time, str):
        time = datetime.fromisoformat(time)
    if isinstance(time, datetime):
        if time.tzinfo is None:
            raise ValueError(f"{name} has no time zone: for UTC append +00:00")
        return (time - _EPOCH) // timedelta(microseconds=1) * 1_000
    if not 0 <= time <= _UNDEFINED_TIME:
        raise ValueError(f"{name} is out of range: nanoseconds since 1970, a time or its text")
    return time


@overload
def read(
    path: _Paths,
    schema: _Schema,
    *,
    rows: None = None,
    symbols: str | Sequence[str] = (),
    start: _Time = 0,
    end: _Time = _UNDEFINED_TIME,
) -> Columns: ...
@overload
def read(
    path: _Paths,
    schema: _Schema,
    *,
    rows: int,
    symbols: str | Sequence[str] = (),
    start: _Time = 0,
    end: _Time = _UNDEFINED_TIME,
) -> Iterator[Columns]: ...
def read(
    path: _Paths,
    schema: str,
    *,
    rows: int | None = None,
    symbols: str | Sequence[str] = (),
    start: _Time = 0,
    end: _Time = _UNDEFINED_TIME,
) -> Columns | Iterator[Columns]:
    """Reads a capture of one channel: `mbp-1`, `mbp-10`, `trades` or `definition`.

    Several paths are read as one capture, in the order of their packets' times.
    `symbols` selects instruments, which must have definitions in the capture; `start`
    and `end` select the packets received from `start` on and before `end`: nanoseconds
    since 1970, a `datetime` with a time zone, or its text in ISO 8601.
    Returns the columns, or with `rows` an iterator of parts with so many rows.
    Messages of templates that no schema since version 9 has are a `UserWarning`.
    """
    if rows is not None and rows < 1:
        raise ValueError("rows must be at least 1")
    names = [symbols] if isinstance(symbols, str) else list(symbols)
    times = _nanoseconds("start", start), _nanoseconds("end", end)
    reader = CaptureReader(path, schema, names, *times)
    if rows is not None:
        return _parts(reader, rows)
    part = reader.next_part()
    columns = Columns(reader.no_rows() if part is None else part, reader.counts())
    # After the last row: the error at which the file ends.
    reader.next_part()
    return columns


def _parts(reader: CaptureReader, rows: int) -> Iterator[Columns]:
    while (part := reader.next_part(rows)) is not None:
        yield Columns(part, reader.counts())


Columns.__module__ = read.__module__ = "hairpin"
