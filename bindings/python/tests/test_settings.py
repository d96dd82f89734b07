"""The settings of feeds and traders."""

import os

import hairpin
import pytest
from hairpin import Price


class Books(hairpin.Strategy):
    """Keeps the symbols of books and of definitions, and the cores of the thread."""

    def __init__(self):
        self.books = set()
        self.instruments = set()
        self.cores = set()

    def on_book(self, book, ctx):
        self.books.add(book.symbol)

    def on_instrument(self, instrument, ctx):
        self.instruments.add(instrument.symbol)

    def on_ready(self, ctx):
        self.cores = os.sched_getaffinity(0)
        ctx.stop()


@pytest.fixture
def exchange():
    with hairpin.Exchange(instruments=3) as exchange:
        yield exchange


@pytest.mark.parametrize(
    "settings, symbols",
    [
        ({}, {"HP001", "HP002", "HP003"}),
        ({"symbols": ["HP002"]}, {"HP002"}),
        ({"security_ids": [1001, 1003]}, {"HP001", "HP003"}),
        ({"groups": ["HP"]}, {"HP001", "HP002", "HP003"}),
        ({"assets": ["HP"]}, {"HP001", "HP002", "HP003"}),
        ({"groups": ["HP"], "symbols": ["HP003"]}, {"HP001", "HP002", "HP003"}),
        ({"symbols": ["HP003"], "security_ids": [1001]}, {"HP001", "HP003"}),
    ],
)
def test_filters_select_the_instruments(exchange, settings, symbols):
    books = Books()
    hairpin.Feed(exchange.config, 310, **settings).run(books)
    assert books.books == books.instruments == symbols


@pytest.mark.parametrize("name", ["groups", "assets", "symbols"])
def test_names_without_an_instrument_are_errors(exchange, name):
    feed = hairpin.Feed(exchange.config, 310, **{name: ["NOPE"]})
    with pytest.raises(hairpin.Error, match="NOPE"):
        feed.run(Books())


def test_names_that_are_too_long_are_errors(exchange):
    for name in ("groups", "assets", "symbols"):
        with pytest.raises(ValueError, match="is longer than .* characters"):
            hairpin.Feed(exchange.config, 310, **{name: ["A" * 30]})


def test_run_pins_the_thread_to_the_core(exchange):
    before = os.sched_getaffinity(0)
    core = max(before)
    books = Books()
    try:
        hairpin.Feed(exchange.config, 310, core=core).run(books)
    finally:
        os.sched_setaffinity(0, before)
    assert books.cores == {core}
    with pytest.raises(hairpin.Error, match="^cannot pin to core 4095: allowed cores are "):
        hairpin.Feed(exchange.config, 310, core=4095).run(Books())


@pytest.mark.parametrize("wait", ["block", "poll", "epoll", "spin", "io_uring"])
def test_every_wait_receives(exchange, wait):
    books = Books()
    hairpin.Feed(exchange.config, 310, wait=wait).run(books)
    assert len(books.books) == 3


class UntilChange(Books):
    """Stops at a change of a best price after all books have come into sync."""

    def on_ready(self, ctx):
        pass

    def on_book(self, book, ctx):
        super().on_book(book, ctx)
        if ctx.is_ready and book.best_price_changed:
            ctx.stop()


def test_recording_is_a_capture_of_the_channel(venue, exchange, tmp_path):
    config = venue("--traders", "0", "--feed", "multicast") / "config.xml"
    books = UntilChange()
    feed = hairpin.Feed(config, 310, interfaces=("lo", "lo"), recording=tmp_path)
    feed.run(books)
    assert len(books.books) == 5
    rows = hairpin.read(tmp_path / "310.pcapng", "mbp-1")
    assert set(rows["instrument_id"]) <= set(range(1001, 1006)) and rows.rows > 0
    with pytest.raises(hairpin.Error, match="^cannot record market data over TCP"):
        hairpin.Feed(exchange.config, 310, recording=tmp_path)


def test_xdp_needs_an_interface(exchange):
    with pytest.raises(hairpin.Error, match="^cannot .*nope0") as error:
        hairpin.Feed(exchange.config, 310, xdp="nope0")
    assert "\n" not in str(error.value)


class BothSegments(hairpin.Strategy):
    """Sends an order in an instrument of each channel, and cancels it when it works."""

    def __init__(self):
        self.ids = []
        self.states = []

    def on_ready(self, ctx):
        self.ids = [ctx.security_id(symbol) for symbol in ("HP001", "ZN")]
        for security_id in self.ids:
            best = ctx.book(security_id).best_bid
            price = ctx.instrument(security_id).add_ticks(best.price, -40)
            ctx.buy(security_id, 1, price)

    def on_order(self, order, ctx):
        self.states.append(order.state)
        if order.state == "working":
            assert all(ctx.book(security_id).is_in_sync for security_id in self.ids)
            ctx.cancel(order.cl_ord_id)
        elif self.states.count("canceled") == 2:
            ctx.stop()


def test_one_trader_has_several_channels_segments_and_caches(two_venues):
    folder = two_venues
    for is_cached in (False, True):
        files = (folder / "config.xml", [310, 311], folder / "order.toml")
        trader = hairpin.Trader(*files, definition_cache=folder)
        if is_cached:
            assert trader.security_id("ZN") == 2004
        else:
            with pytest.raises(hairpin.Error, match="^cannot find instrument ZN"):
                trader.security_id("ZN")
        both = BothSegments()
        trader.run(both)
        assert sorted(both.states) == ["canceled"] * 2 + ["working"] * 2
    for segment in ("64", "80"):
        assert (folder / "journal" / segment).is_dir()
    for channel in (310, 311):
        assert (folder / f"{channel}.definitions").exists()


def test_orders_beyond_the_largest_number_are_not_tracked():
    class Two(hairpin.Strategy):
        working = 0

        def on_ready(self, ctx):
            self.sent = [ctx.buy(1001, 1, Price("900")) for _ in range(2)]

        def on_order(self, order, ctx):
            self.working += 1
            self.tracked = len(ctx.working())
            if self.working == 2:
                ctx.stop()

    with hairpin.Exchange(instruments=1) as exchange:
        two = Two()
        hairpin.Session(exchange.orders, orders_max=1).run(two)
    assert two.tracked == 1


def test_cancel_on_quit_cancels_before_the_log_off(capfd):
    class One(hairpin.Strategy):
        def __init__(self):
            self.states = []

        def on_ready(self, ctx):
            ctx.buy(1001, 1, Price("900"))

        def on_order(self, order, ctx):
            self.states.append(order.state)
            ctx.stop()

    for cancel, states in ((False, ["working"]), (True, ["working", "canceled"])):
        with hairpin.Exchange(instruments=1) as exchange:
            one = One()
            hairpin.Session(exchange.orders, cancel_on_quit=cancel).run(one)
        assert one.states == states
        error = capfd.readouterr().err
        assert error.startswith("hairpin: 1 order stays working") is not cancel, error
