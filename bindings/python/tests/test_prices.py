"""Prices are exact, and refuse floats."""

import pickle
import random
from decimal import Decimal

import hairpin
import pytest
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


class First(hairpin.Strategy):
    """Keeps the first instrument."""

    instrument = None

    def on_book(self, book, ctx):
        self.instrument = book.instrument


def test_display_prices_of_an_instrument():
    with hairpin.Exchange(instruments=1) as exchange:
        feed, first = hairpin.Feed(exchange.config, 310), First()
        feed.run_until(lambda: first.instrument, first, seconds=30)
    instrument = first.instrument
    assert instrument.symbol == "HP001" and instrument.security_id == 1001
    assert instrument.tick == Price("0.25")
    for ticks in range(-10_000, 10_000, 2):
        price = instrument.tick * ticks
        assert instrument.parse(instrument.display(price)) == price
    assert instrument.add_ticks(Price("1000"), -40) == Price("990")
    assert instrument.is_on_tick(Price("1000.25")) and not instrument.is_on_tick(Price("1000.3"))
    with pytest.raises(hairpin.PriceError, match="1000.25.*1000.5"):
        instrument.parse("1000.3")
    with pytest.raises(hairpin.PriceError, match="^cannot add 1 ticks to 9223372036"):
        instrument.add_ticks(Price.from_mantissa(2**63 - 2), 1)
    with pytest.raises(TypeError):
        instrument.display(1000.25)
