"""Files are read by the programs of others, and equal what `hairpin feed` prints."""

import bisect
import collections
import decimal
import json

import databento_dbn as dbn
import duckdb
import pyarrow.ipc
import pyarrow.parquet
import pytest

from book import Book
from conftest import HAIRPIN, MARKET, export, run

SCHEMAS = ("mbo", "mbp-1", "mbp-10", "trades", "statistics", "status", "definition")
UNDEFINED = 2**63 - 1
LAST, SNAPSHOT, MAYBE_BAD_BOOK = 128, 32, 4


def records(path):
    """Returns metadata and records, in the reader of Databento."""
    decoder = dbn.DBNDecoder()
    decoder.write(path.read_bytes())
    metadata, *rest = decoder.decode()
    return metadata, rest


def feed(capture, *arguments):
    """Returns the lines of `hairpin feed`."""
    text = run(HAIRPIN, "feed", "--pcap", capture, "--format", "json", *arguments)
    lines = (json.loads(line, parse_float=decimal.Decimal) for line in text.splitlines())
    # The last lines are the state of the channel.
    return [line for line in lines if line.get("name")]


def sent(row):
    """Returns SendingTime (52)."""
    return row.ts_recv - row.ts_in_delta


def price(value):
    """Returns a price of JSON in units of DBN."""
    return UNDEFINED if value is None else int(decimal.Decimal(str(value)) * 10**9)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_columns_equal_dbn(files, schema):
    _, rows = records(files / f"{schema}.dbn")
    table = pyarrow.parquet.read_table(files / f"{schema}.parquet")
    assert table.num_rows == len(rows)
    arrow = pyarrow.ipc.open_file(files / f"{schema}.arrow").read_all()
    assert arrow.to_pylist() == table.to_pylist()
    query = f"select * from '{files}/{schema}.parquet'"
    duck = duckdb.connect().sql(query).to_arrow_table()
    for name in table.column_names:
        column = [int_of(value) for value in table.column(name)]
        assert [int_of(value) for value in duck.column(name)] == column, name
        if name == "symbol":
            continue
        assert column == [field(row, name) for row in rows], name


def int_of(value):
    """Returns a value of Arrow as Python's, times in nanoseconds."""
    return getattr(value, "value", None) if value.is_valid and "timestamp" in str(value.type) \
        else value.as_py()


def field(row, name):
    """Returns the field of a record that a column holds."""
    base, _, level = name.rpartition("_")
    if level.isdigit() and base[:4] in ("bid_", "ask_"):
        value = getattr(row.levels[int(level)], base)
    else:
        value = getattr(row, name)
    value = getattr(value, "value", value)
    if isinstance(value, bool):
        return "NY"[value]
    if name.startswith("is_") and value is None:
        return "~"
    if value == "\0":
        return ""
    if name == "flags":
        return int(value)
    if name.startswith("ts_") or name in ("expiration", "activation"):
        return None if value == 2**64 - 1 and "delta" not in name else value
    if value == UNDEFINED and isinstance(value, int) and name != "quantity":
        return None
    return None if value == "" and name not in ("action", "side") else value


def check_books(folder):
    """Compares books of mbo with mbp-10 at the last record of each event; returns their number."""
    books = collections.defaultdict(Book)
    seen = {}
    _, orders = records(folder / "mbo.dbn")
    for row in orders:
        books[row.instrument_id].apply(row)
        if int(row.flags) & LAST and not int(row.flags) & MAYBE_BAD_BOOK:
            book = books[row.instrument_id]
            seen[row.instrument_id, row.sequence, row.ts_recv] = book.levels("B"), book.levels("A")
    compared = 0
    for row in records(folder / "mbp-10.dbn")[1]:
        flags = int(row.flags)
        place = row.instrument_id, row.sequence, row.ts_recv
        if not flags & LAST or flags & MAYBE_BAD_BOOK or place not in seen:
            continue
        bids = [(it.bid_px, it.bid_sz, it.bid_ct) for it in row.levels if it.bid_px != UNDEFINED]
        asks = [(it.ask_px, it.ask_sz, it.ask_ct) for it in row.levels if it.ask_px != UNDEFINED]
        assert (bids, asks) == seen[place], row
        compared += 1
    return compared


def test_book_of_orders_equals_price_levels(files):
    assert check_books(files) > 500


def test_book_of_orders_equals_price_levels_after_a_gap(tmp_path):
    path = tmp_path / "gap.pcap"
    run(MARKET, path, 10, 2000, 800)
    export(tmp_path, path, "--schema", "mbo,mbp-10,trades")
    assert check_books(tmp_path) > 200
    flags = [int(row.flags) for row in records(tmp_path / "mbp-10.dbn")[1]]
    lost = [place for place, flag in enumerate(flags) if flag & MAYBE_BAD_BOOK]
    snapshots = [place for place, flag in enumerate(flags) if flag & SNAPSHOT]
    assert lost and snapshots and lost[0] < snapshots[-1]


def test_trades_equal_feed(files, capture):
    lines = [line for line in feed(capture, "--callbacks") if line["name"] == "Trade"]
    _, rows = records(files / "trades.dbn")
    sides = {"Buy(1)": "B", "Sell(2)": "A", None: "N"}
    actions = {"New(0)": "T", "Change(1)": "M", "Delete(2)": "C"}
    expected = [
        (
            line["packet_seq"], line["sending_time"], it["TransactTime"], it["SecurityID"],
            price(it["Px"]), it["Size"], sides[it["AggressorSide"]], actions[it["Action"]],
        )
        for line in lines
        for it in [line["fields"]]
    ]
    assert len(expected) > 100
    assert expected == [
        (row.sequence, sent(row), row.ts_event, row.instrument_id, row.price, row.size,
         row.side, row.action)
        for row in rows
    ]


@pytest.mark.parametrize("schema", ["mbp-1", "mbp-10"])
def test_best_prices_equal_feed(files, capture, schema):
    tops = [line for line in feed(capture, "--books") if line["name"] == "TopOfBook"]
    by_instrument = collections.defaultdict(list)
    for row in records(files / f"{schema}.dbn")[1]:
        if int(row.flags) & LAST:
            by_instrument[row.instrument_id].append((sent(row), row.levels[0]))
    compared = 0
    for line in tops:
        it, rows = line["fields"], by_instrument[line["fields"]["SecurityID"]]
        place = bisect.bisect_right(rows, line["sending_time"], key=lambda row: row[0]) - 1
        assert place >= 0, line
        best = rows[place][1]
        assert (best.bid_px, best.bid_sz, best.ask_px, best.ask_sz) == (
            price(it["BidPx"]), it["BidSize"] or 0, price(it["AskPx"]), it["AskSize"] or 0,
        ), line
        assert (best.bid_ct, best.ask_ct) == (it["BidOrders"] or 0, it["AskOrders"] or 0), line
        compared += 1
    assert compared > 500


def test_definitions_equal_feed(files, capture):
    messages = {}
    for line in feed(capture):
        if line["name"].startswith("MDInstrumentDefinition"):
            it = line["fields"]
            messages[it["SecurityID"]] = it
    _, rows = records(files / "definition.dbn")
    assert {row.instrument_id for row in rows} == set(messages)
    for row in rows:
        it = messages[row.instrument_id]
        events = {event["EventType"]: event["EventTime"] for event in it["NoEvents"]}
        assert (row.raw_symbol, row.group, row.asset, row.exchange, row.currency, row.cfi) == tuple(
            it[name] for name in
            ("Symbol", "SecurityGroup", "Asset", "SecurityExchange", "Currency", "CFICode")
        )
        assert row.min_price_increment == price(it.get("MinPriceIncrement"))
        assert row.display_factor == price(it["DisplayFactor"])
        assert (row.min_trade_vol, row.max_trade_vol) == (it["MinTradeVol"], it["MaxTradeVol"])
        assert row.ts_event == it["LastUpdateTime"]
        assert (row.activation, row.expiration) == (
            events["Activation(5)"], events["LastEligibleTradeDate(7)"])
        assert row.market_depth == it["NoMDFeedTypes"][0]["MarketDepth"]
        assert row.strike_price == price(it.get("StrikePrice"))
        legs = it.get("NoLegs", [])
        assert row.leg_count == len(legs)
        if legs:
            leg = legs[row.leg_index]
            assert (row.leg_instrument_id, row.leg_ratio_qty_numerator) == (
                leg["LegSecurityID"], leg["LegRatioQty"])


def test_symbols_are_in_the_metadata(files):
    metadata, rows = records(files / "trades.dbn")
    symbols = {it.intervals[0].symbol: it.raw_symbol for it in metadata.mappings} if hasattr(
        metadata, "mappings") and not isinstance(metadata.mappings, dict) else {
        intervals[0]["symbol"]: symbol for symbol, intervals in metadata.mappings.items()}
    assert {str(row.instrument_id) for row in rows} == set(symbols)
    assert (str(metadata.schema), metadata.dataset) == ("trades", "GLBX.MDP3")
