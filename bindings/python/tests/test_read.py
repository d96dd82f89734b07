"""`hairpin.read`: the same values as `hairpin feed --format json`."""

import gc
import gzip
import json
import os
import pathlib
import resource
import subprocess
from decimal import Decimal

import hairpin
import numpy
import pyarrow
import pytest
from conftest import ROOT

UNDEFINED = 2**63 - 1
OLD_SCHEMA = "version 9 of the schema removed their templates"


@pytest.fixture(scope="module")
def capture(command, tmp_path_factory):
    path = tmp_path_factory.mktemp("capture") / "feed.pcapng"
    subprocess.run([command, "generate", path, "--megabytes", "8"], check=True)
    return path


def records(command, capture, name, option):
    line = [command, "feed", "--pcap", capture, option, "--format", "json"]
    feed = subprocess.run(line, capture_output=True, text=True)
    # Messages of schemas before version 9 are not processed, which ends the command with 1.
    assert feed.returncode == (OLD_SCHEMA in feed.stderr), feed.stderr
    output = feed.stdout
    lines = (json.loads(line) for line in output.splitlines() if f'"name":"{name}"' in line)
    return [(line["packet_seq"], line["fields"]) for line in lines]


def mantissa(price):
    return UNDEFINED if price is None else int(Decimal(price).scaleb(9))


def test_trades_are_those_of_feed(command, capture):
    trades = hairpin.read(capture, "trades")
    expected = records(command, capture, "Trade", "--callbacks")
    assert trades.rows == len(expected) > 1_000
    sides = {"Buy(1)": b"B", "Sell(2)": b"A", None: b"N"}
    actions = {"New(0)": b"T", "Change(1)": b"M", "Delete(2)": b"C"}
    for name, values in [
        ("sequence", [sequence for sequence, _ in expected]),
        ("instrument_id", [trade["SecurityID"] for _, trade in expected]),
        ("price", [mantissa(trade["Px"]) for _, trade in expected]),
        ("size", [trade["Size"] for _, trade in expected]),
        ("side", [sides[trade["AggressorSide"]] for _, trade in expected]),
        ("action", [actions[trade["Action"]] for _, trade in expected]),
        ("ts_event", [trade["TransactTime"] for _, trade in expected]),
    ]:
        assert trades[name].tolist() == values, name


def test_best_prices_are_those_of_feed(command, capture):
    book = hairpin.read(capture, "mbp-1")
    names = ["bid_px_00", "bid_sz_00", "bid_ct_00", "ask_px_00", "ask_sz_00", "ask_ct_00"]
    rows = zip(book["sequence"], book["instrument_id"], *(book[name] for name in names))
    changes = [row for row, action in zip(rows, book["action"]) if action != b"T"]
    last, position = {}, 0
    for sequence, top in records(command, capture, "TopOfBook", "--books"):
        instrument, values = top["SecurityID"], []
        for side in ("Bid", "Ask"):
            values.append(mantissa(top[f"{side}Px"]))
            values += [top[f"{side}{what}"] or 0 for what in ("Size", "Orders")]
        row = (sequence, instrument, *values)
        if position < len(changes) and changes[position] == row:
            position += 1
        else:
            # Levels below the best have changed, or nothing has in sum.
            assert last.get(instrument, values) == values
        last[instrument] = values
    assert position == len(changes) > 1_000
    trades = hairpin.read(capture, "trades")
    assert book["price"][book["action"] == b"T"].tolist() == trades["price"].tolist()


def test_columns_have_the_names_and_types_of_dbn(capture):
    # https://databento.com/docs/schemas-and-data-formats: Mbp1Msg and TradeMsg of version 3.
    header = {
        "ts_recv": "<u8",
        "ts_event": "<u8",
        "rtype": "|u1",
        "publisher_id": "<u2",
        "instrument_id": "<u4",
        "action": "|S1",
        "side": "|S1",
        "depth": "|u1",
        "price": "<i8",
        "size": "<u4",
        "flags": "|u1",
        "ts_in_delta": "<i4",
        "sequence": "<u4",
    }
    levels = {
        "bid_px_00": "<i8",
        "ask_px_00": "<i8",
        "bid_sz_00": "<u4",
        "ask_sz_00": "<u4",
        "bid_ct_00": "<u4",
        "ask_ct_00": "<u4",
    }
    for schema, expected in [("trades", header), ("mbp-1", header | levels)]:
        columns = hairpin.read(capture, schema)
        assert {name: array.dtype.str for name, array in columns.items()} == expected
        assert set(columns["publisher_id"]) == {1}
        assert (columns["ts_recv"] > columns["ts_event"] - 1_000_000_000).all()


def test_arrays_share_the_memory_of_the_columns(capture):
    columns = hairpin.read(capture, "mbp-1")
    array = columns["ask_px_00"]
    assert not array.flags.owndata and not array.flags.writeable and array.flags.c_contiguous
    assert columns["ask_px_00"] is array
    address = array.ctypes.data
    again = numpy.asarray(memoryview(columns._buffers["ask_px_00"]))
    assert again.ctypes.data == address
    spread = (columns["ask_px_00"] - columns["bid_px_00"]) / 1e9
    assert numpy.median(spread) > 0
    before = array.copy()
    del columns, again
    gc.collect()
    assert (array == before).all(), "the array keeps its memory"
    with pytest.raises(ValueError):
        array[0] = 1


def test_parts_have_the_rows_of_the_whole(capture):
    whole = hairpin.read(capture, "mbp-1")
    for rows in (1_000, 4_321, whole.rows, whole.rows + 1):
        parts = list(hairpin.read(capture, "mbp-1", rows=rows))
        assert all(part.rows == rows for part in parts[:-1]) and 0 < parts[-1].rows <= rows
        for name in whole:
            joined = numpy.concatenate([part[name] for part in parts])
            assert (joined == whole[name]).all(), name


def test_parts_need_little_memory(command, tmp_path):
    path = tmp_path / "long.pcapng"
    subprocess.run([command, "generate", path, "--megabytes", "24"], check=True)

    def resident_kilobytes():
        pages = pathlib.Path("/proc/self/statm").read_text().split()[1]
        return int(pages) * resource.getpagesize() // 1024

    sizes, rows = [], 0
    for part in hairpin.read(path, "mbp-1", rows=1_000):
        rows += part.rows
        sizes.append(resident_kilobytes())
    assert rows > 30_000
    # The whole would be 90 bytes per row: 2,500 kB for the rows between the third part and the last.
    assert sizes[-1] - sizes[2] < 1_000, sizes


def test_several_and_compressed_captures_are_read_as_one(capture, tmp_path):
    data = capture.read_bytes()
    head, packets, at = b"", [], 0
    while at < len(data):
        kind, length = (int.from_bytes(data[at + n : at + n + 4], "little") for n in (0, 4))
        if kind == 6:
            packets.append(data[at : at + length])
        else:
            head += data[at : at + length]
        at += length
    middle = len(packets) // 2
    first, second = tmp_path / "first.pcapng", tmp_path / "second.pcapng.gz"
    first.write_bytes(head + b"".join(packets[:middle]))
    second.write_bytes(gzip.compress(head + b"".join(packets[middle:])))
    whole, both = hairpin.read(capture, "trades"), hairpin.read([second, first], "trades")
    for name in ("sequence", "instrument_id", "price", "size", "ts_recv"):
        assert both[name].tolist() == whole[name].tolist(), name
    with pytest.raises(ValueError):
        hairpin.read([], "trades")


def test_messages_of_removed_templates_are_a_warning(capture, tmp_path):
    book = b"\x0b\x00\x2e\x00\x01\x00\x0d\x00"
    data = capture.read_bytes()
    assert book in data
    path = tmp_path / "old.pcapng"
    path.write_bytes(data.replace(book, b"\x0b\x00\x20\x00\x01\x00\x08\x00"))
    for read in (
        lambda: hairpin.read(path, "mbp-1"),
        lambda: list(hairpin.read(path, "mbp-1", rows=1_000)),
    ):
        with pytest.warns(UserWarning, match=r"old\.pcapng: \d+ messages not processed") as found:
            read()
        assert len(found) == 1 and found[0].filename == __file__


def test_arrow_tables_share_the_memory(capture):
    columns = hairpin.read(capture, "trades")
    table = columns.to_arrow()
    assert table.num_rows == columns.rows and table.column_names == list(columns)
    assert table["price"].type == pyarrow.int64() and table["size"].type == pyarrow.uint32()
    assert table["price"].to_pylist() == columns["price"].tolist()
    assert table["side"].to_pylist() == columns["side"].tolist()
    address = table["price"].chunk(0).buffers()[1].address
    assert address == columns["price"].ctypes.data


def test_bad_captures_are_errors(capture, tmp_path):
    schemas = "'mbp-1', 'mbp-10', 'trades' or 'definition'"
    with pytest.raises(ValueError, match=f"there is no schema 'mbp-7': {schemas}"):
        hairpin.read(capture, "mbp-7")
    with pytest.raises(ValueError, match="at least 1"):
        hairpin.read(capture, "trades", rows=0)
    with pytest.raises(hairpin.Error, match="^cannot read .*none.pcap: No such file"):
        hairpin.read(tmp_path / "none.pcap", "trades")
    text = tmp_path / "text.pcap"
    text.write_text("no capture")
    with pytest.raises(hairpin.Error, match="^cannot read .*text.pcap: "):
        hairpin.read(text, "trades")
    # All complete packets come before the error.
    cut = tmp_path / "cut.pcapng"
    cut.write_bytes(capture.read_bytes()[:-1_001])
    rows = 0
    with pytest.raises(hairpin.Error, match="^cannot read .*cut.pcapng: .*ends"):
        for part in hairpin.read(cut, "mbp-1", rows=100):
            rows += part.rows
    assert rows > 1_000
    with pytest.raises(hairpin.Error, match="ends"):
        hairpin.read(cut, "mbp-1")


def test_real_captures_have_the_values_of_feed(command):
    """CME's packets: those in HAIRPIN_DATA, otherwise next to the workspace, if they are there."""
    given = os.environ.get("HAIRPIN_DATA")
    folder = (pathlib.Path(given) if given else ROOT.parent / "shared") / "captures" / "mdp3"
    paths = sorted(folder.rglob("*.pcap"))
    assert paths or "HAIRPIN_DATA_REQUIRED" not in os.environ
    print(f"{len(paths)} captures in {folder}")
    for path in paths:
        line = [command, "feed", "--pcap", path, "--callbacks"]
        feed = subprocess.run(line, capture_output=True, text=True)
        if "no market data over UDP" in feed.stderr:
            with pytest.raises(hairpin.Error, match="no market data over UDP"):
                hairpin.read(path, "trades")
            continue
        trades = hairpin.read(path, "trades")
        expected = records(command, path, "Trade", "--callbacks")
        assert trades.rows == len(expected), path
        assert trades["price"].tolist() == [mantissa(trade["Px"]) for _, trade in expected]
        assert trades["size"].tolist() == [trade["Size"] for _, trade in expected]


def test_ten_levels_contain_the_best_prices(capture):
    best, book = hairpin.read(capture, "mbp-1"), hairpin.read(capture, "mbp-10")
    assert len(book) == 13 + 60 and list(book)[-1] == "ask_ct_09"
    assert set(book["rtype"]) == {10} and book.rows >= best.rows
    keys = ["sequence", "instrument_id", "action", "side", "price", "size"]
    levels = [name for name in best if name.endswith("_00")]
    rows = set(zip(*(book[name].tolist() for name in keys + levels)))
    assert all(row in rows for row in zip(*(best[name].tolist() for name in keys + levels)))
    # Prices get worse from level to level, and levels without a price are last.
    for number in range(9):
        bids = [book[f"bid_px_0{at}"] for at in (number, number + 1)]
        asks = [book[f"ask_px_0{at}"] for at in (number, number + 1)]
        assert ((bids[0] > bids[1]) | (bids[1] == UNDEFINED)).all()
        assert ((asks[0] < asks[1]) | (asks[1] == UNDEFINED)).all()


def test_definitions_are_those_of_feed(command, capture):
    table = hairpin.read(capture, "definition")
    line = [command, "feed", "--pcap", capture, "--format", "json"]
    output = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    lines = (json.loads(line) for line in output.splitlines() if "MDInstrumentDefinition" in line)
    expected = {line["fields"]["SecurityID"]: line["fields"] for line in lines}
    assert table.rows == len(expected) > 1
    for at, instrument in enumerate(table["instrument_id"].tolist()):
        fields = expected[instrument]
        assert table["raw_symbol"][at].decode() == fields["Symbol"]
        assert table["asset"][at].decode() == fields["Asset"]
        assert table["display_factor"][at] == mantissa(fields["DisplayFactor"])
        assert table["min_price_increment"][at] == mantissa(fields["MinPriceIncrement"])


def test_symbols_and_times_select_rows(capture):
    trades, definitions = hairpin.read(capture, "trades"), hairpin.read(capture, "definition")
    identity = trades["instrument_id"][0]
    symbol = definitions["raw_symbol"][definitions["instrument_id"] == identity][0].decode()
    one = hairpin.read(capture, "trades", symbols=symbol)
    assert one.rows == int((trades["instrument_id"] == identity).sum()) > 0
    times = trades["ts_recv"]
    start, end = int(times[len(times) // 3]), int(times[len(times) // 2])
    expected = int(((times >= start) & (times < end)).sum())
    assert 0 < hairpin.read(capture, "trades", start=start, end=end).rows == expected
    frame = trades.to_pandas()
    instant = frame["ts_recv"][len(frame) // 2].floor("us")
    later = hairpin.read(capture, "trades", start=instant.to_pydatetime())
    assert later.rows == int((frame["ts_recv"] >= instant).sum())
    assert hairpin.read(capture, "trades", start=instant.isoformat()).rows == later.rows
    with pytest.raises(hairpin.Error, match="no definition has the symbol NOPE"):
        hairpin.read(capture, "trades", symbols=[symbol, "NOPE"])
    with pytest.raises(ValueError, match="start has no time zone"):
        hairpin.read(capture, "trades", start="2026-12-01T00:00:00")
    with pytest.raises(ValueError, match="is no symbol"):
        hairpin.read(capture, "trades", symbols="")
    with pytest.raises(ValueError, match="end is out of range"):
        hairpin.read(capture, "trades", end=-1)


@pytest.mark.parametrize("schema", ["mbp-10", "trades", "definition"])
def test_frames_have_times_numbers_and_nulls(capture, schema):
    import polars

    columns = hairpin.read(capture, schema)
    pandas_frame, frame = columns.to_pandas(), columns.to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == list(pandas_frame) == list(columns)
    assert frame.height == len(pandas_frame) == columns.rows > 0
    assert frame["ts_event"].dtype == polars.Datetime("ns", "UTC")
    assert frame["ts_event"].dt.timestamp("ns").to_list() == columns["ts_event"].tolist()
    prices = [name for name in columns if name == "price" or "_px_" in name or "limit" in name]
    for name in prices:
        undefined = (columns[name] == UNDEFINED).tolist()
        assert frame[name].is_null().to_list() == pandas_frame[name].isna().tolist() == undefined
        pairs = zip(frame[name].to_list(), columns[name].tolist())
        assert all(value is None or value == exact / 1e9 for value, exact in pairs)
    if schema == "definition":
        assert frame["raw_symbol"].to_list() == [it.decode() for it in columns["raw_symbol"]]
    else:
        assert set(frame["side"].cast(polars.String)) <= {"A", "B", "N"}


def test_gaps_are_counted(capture, tmp_path):
    assert hairpin.read(capture, "trades").gaps == 0
    data = capture.read_bytes()
    # Without some packets in the middle: whole blocks of the pcapng file.
    blocks, at = [], 0
    while at < len(data):
        size = int.from_bytes(data[at + 4 : at + 8], "little")
        blocks.append(data[at : at + size])
        at += size
    first = len(blocks) // 2
    path = tmp_path / "cut.pcapng"
    path.write_bytes(b"".join(blocks[:first] + blocks[first + 1_000 :]))
    cut = hairpin.read(path, "trades")
    assert cut.gaps > 0 and cut.unknown_messages == 0


def test_version_is_that_of_the_package():
    import importlib.metadata

    assert hairpin.__version__ == importlib.metadata.version("hairpin")
