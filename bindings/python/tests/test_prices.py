"""Prices are exact, and refuse floats."""

import pickle
import random
from decimal import Decimal

import hairpin
import pytest
from conftest import ROOT
from hairpin import Price


@pytest.mark.parametrize(
    "text, error",
    [
        ("", "it is empty"),
        ("-", "it is empty"),
        ("NaN", "not a decimal number"),
        ("inf", "not a decimal number"),
        ("1e9", "not a decimal number"),
        ("1.", "not a decimal number"),
        (".5", "not a decimal number"),
        ("1.0000000001", "more than nine decimal places"),
        ("9223372036.854775807", "out of range"),
        ("99999999999999999999999999999999999999999", "out of range"),
    ],
)
def test_what_is_not_a_price_is_an_error(text, error):
    with pytest.raises(hairpin.PriceError, match=f"^cannot parse the price: {error}$"):
        Price(text)
    with pytest.raises(ValueError):
        Price(text)


def test_floats_are_refused():
    for value in (4500.25, float("nan"), None, Decimal("1.5")):
        with pytest.raises(TypeError, match="use a string"):
            Price(value)
    price = Price("1.5")
    for operation in (
        lambda: price + 0.5,
        lambda: price * 0.5,
        lambda: price < 2.0,
        lambda: price + 1,
    ):
        with pytest.raises(TypeError):
            operation()
    assert price != 1.5


def test_ten_thousand_wire_prices_parse_back():
    random.seed(1)
    for _ in range(10_000):
        mantissa = random.randrange(-(2**63) + 1, 2**63 - 1)
        price = Price.from_mantissa(mantissa)
        assert Price(str(price)) == price and price.mantissa == mantissa
        assert Decimal(str(price)) == Decimal(mantissa).scaleb(-9)


def test_operators_are_exact_and_saturate():
    price, tick = Price("450025"), Price("25")
    assert price - tick * 2 == Price("449975") == price + -tick * 2
    assert str(2 * tick) == "50" and Price(7) == Price("7") and tick < price
    assert hash(Price("1.50")) == hash(Price("1.5"))
    assert repr(price) == "Price('450025')"
    top = Price.from_mantissa(2**63 - 2)
    for saturated in (top + tick, top * 2, price * 2**80, price * -(2**80), -top - tick):
        assert saturated.is_saturated
    assert (price * 2**80).mantissa > 0 > (price * -(2**80)).mantissa
    assert not top.is_saturated
    assert pickle.loads(pickle.dumps(price)) == price


class Instruments(hairpin.Strategy):
    """Keeps the instruments, which are copies."""

    def __init__(self):
        self.by_symbol = {}

    def on_book(self, book, ctx):
        self.by_symbol[book.symbol] = book.instrument


@pytest.fixture(scope="module")
def instruments():
    """An instrument for each way in which CME displays prices."""
    with hairpin.Exchange(display_formats=True) as exchange:
        feed, seen = hairpin.Feed(exchange.config, 310), Instruments()
        feed.run_until(lambda: feed.is_ready, seen, seconds=30)
    assert len(seen.by_symbol) == 8
    return seen.by_symbol


def test_display_prices_are_those_of_the_table(instruments):
    table = (ROOT / "examples" / "tests" / "display-prices.txt").read_text().splitlines()
    rows = [line.split("|") for line in table if not line.startswith("#")]
    assert len(rows) >= 30
    for symbol, text, expected in rows:
        if expected.startswith("! "):
            with pytest.raises(hairpin.PriceError) as error:
                instruments[symbol].parse(text)
            assert str(error.value) == expected[2:], (symbol, text)
        else:
            assert instruments[symbol].parse(text) == Price(expected), (symbol, text)


def test_ten_thousand_prices_per_format_survive_the_round_trip(instruments):
    for symbol, instrument in instruments.items():
        for step in range(-5_000, 5_000):
            price = instrument.tick * (7 * step)
            assert instrument.parse(instrument.display(price)) == price, (symbol, step)


def test_ticks_of_an_instrument(instruments):
    instrument = instruments["ZN"]
    assert instrument.security_id == 2004 and instrument.tick == Price("0.015625")
    assert instrument.display(Price("108.578125")) == "108'185"
    assert instrument.add_ticks(Price("108"), -2) == Price("107.96875")
    assert instrument.is_on_tick(Price("108.5")) and not instrument.is_on_tick(Price("108.01"))
    with pytest.raises(hairpin.PriceError, match="^cannot add 1 ticks to 9223372036"):
        instrument.add_ticks(Price.from_mantissa(2**63 - 2), 1)
    for refused in (instrument.display, instrument.is_on_tick, instrument.parse):
        with pytest.raises(TypeError):
            refused(108.5)
    with pytest.raises(TypeError):
        instrument.add_ticks(108.5, 1)


def test_orders_refuse_floats():
    class Floats(hairpin.Strategy):
        def on_ready(self, ctx):
            for request in (
                lambda: ctx.buy(1001, 1, 900.0),
                lambda: ctx.sell(1001, 1, 900.0),
                lambda: ctx.replace("A-1", 1, 900.0),
                lambda: hairpin.NewOrder(1001, "buy", 1, price=900.0),
            ):
                with pytest.raises(TypeError):
                    request()
            ctx.stop()

    with hairpin.Exchange(instruments=1) as exchange:
        hairpin.Session(exchange.orders).run(Floats())
        assert exchange.received_orders == 0


@pytest.mark.parametrize("text", ["4500.25", "-0.000000001", "0", "1234567.000000125"])
def test_float_is_the_nearest_number(text):
    assert float(hairpin.Price(text)) == float(text)
