"""The exchange for users' tests, and strategies against it."""

import hairpin
import pytest
from hairpin import Price


class Quoter(hairpin.Strategy):
    """Bids once per tick, and cancels each order that works."""

    def __init__(self):
        self.orders = []
        self.fills = []
        self.positions = []
        self.problems = []
        self.not_ready = []

    def on_book(self, book, ctx):
        if ctx.is_ready and book.best_price_changed and book.best_bid:
            price = book.instrument.add_ticks(book.best_bid.price, -40)
            ctx.buy(book.security_id, 1, price)

    def on_order(self, order, ctx):
        self.orders.append((order.state, order.reason))
        if order.state == "working":
            ctx.cancel(order.cl_ord_id)

    def on_fill(self, fill, ctx):
        self.fills.append((fill.kind, fill.side, fill.last_quantity, fill.open, str(fill)))
        self.positions.append(ctx.position(fill.security_id))

    def on_problem(self, problem, ctx):
        self.problems.append(problem)

    def on_not_ready(self, reason, ctx):
        self.not_ready.append(reason)


@pytest.fixture
def exchange():
    with hairpin.Exchange(instruments=1, seed=7) as exchange:
        yield exchange


@pytest.fixture
def ready(exchange):
    """A trader that is ready, and its strategy."""
    quoter = Quoter()
    with hairpin.Trader(exchange.config, 310, exchange.orders) as trader:
        trader.run_until(lambda: trader.is_ready, quoter, seconds=30)
        yield trader, quoter


def test_quoter_cancels_accepted_orders(exchange, ready):
    trader, quoter = ready
    exchange.tick()
    trader.run_until(lambda: exchange.cancels == 1, quoter, seconds=30)
    trader.run_until(lambda: len(quoter.orders) == 2, quoter, seconds=30)
    assert [state for state, _ in quoter.orders] == ["working", "canceled"]
    assert (exchange.ticks, exchange.received_orders, exchange.accepted_orders) == (1, 1, 1)


def test_fill_next_fills_the_order(exchange, ready):
    trader, quoter = ready
    exchange.fill_next()
    exchange.tick()
    trader.run_until(lambda: quoter.fills, quoter, seconds=30)
    kind, side, quantity, still_open, text = quoter.fills[0]
    assert (kind, side, quantity, still_open) == ("outright", "buy", 1, 0)
    assert " buys 1 HP001 @ " in text and quoter.positions == [1]
    assert exchange.fills == 1


def test_reject_next_rejects_the_order(exchange, ready):
    trader, quoter = ready
    exchange.reject_next()
    exchange.tick()
    trader.run_until(lambda: quoter.orders, quoter, seconds=30)
    state, reason = quoter.orders[0]
    assert state == "rejected" and "7000" in reason
    assert exchange.rejected_orders == 1


def test_disconnect_is_recovered(exchange, ready):
    trader, quoter = ready
    exchange.disconnect()
    trader.run_until(lambda: quoter.not_ready, quoter, seconds=30)
    assert quoter.not_ready == ["the session is not established"]
    trader.run_until(lambda: trader.is_ready, quoter, seconds=30)
    exchange.tick()
    trader.run_until(lambda: exchange.cancels == 1, quoter, seconds=30)


def test_drop_packets_is_a_gap_that_recovers(exchange, ready):
    trader, quoter = ready
    exchange.drop_packets()
    exchange.tick(2)
    trader.run_until(lambda: quoter.not_ready, quoter, seconds=30)
    assert quoter.not_ready == ["books of channel 310 are not in sync"]
    assert any("packets lost from" in problem for problem in quoter.problems)
    trader.run_until(lambda: trader.is_ready, quoter, seconds=30)


def test_positions_and_working_orders_survive_a_restart(exchange):
    class Buyer(hairpin.Strategy):
        seen = None

        def on_ready(self, ctx):
            self.seen = ctx.position(1001), [order.quantity for order in ctx.working()]
            ctx.buy(1001, 3, Price("900"))

        def on_order(self, order, ctx):
            ctx.stop()

        def on_fill(self, fill, ctx):
            ctx.stop()

    exchange.fill_next()
    runs = [Buyer(), Buyer(), Buyer()]
    for buyer in runs:
        accepted = exchange.accepted_orders
        session = hairpin.Session(exchange.orders)
        session.run(buyer)
        assert exchange.accepted_orders == accepted + 1
    # The order callback may have stopped the first run before its fill was read.
    assert runs[0].seen == (0, [])
    assert runs[2].seen[0] == 3 and len(runs[2].seen[1]) == 1


def test_every_request_of_the_context(exchange):
    class Requests(hairpin.Strategy):
        def __init__(self):
            self.states = []
            self.timers = []

        def on_ready(self, ctx):
            self.first = ctx.sell(1001, 5, Price("1100"))
            self.stop_order = ctx.send(
                hairpin.NewOrder(1001, "buy", 2, order_type="stop", stop_price=Price("1200"))
            )
            ctx.set_timer(7, 0.05)

        def on_timer(self, timer, ctx):
            self.timers.append(timer)
            order = ctx.order(self.first)
            assert (order.state, order.side, order.open, order.filled) == ("working", "sell", 5, 0)
            assert order.price == Price("1100") and ctx.next_cl_ord_id() != self.first
            assert ctx.now > 1_700_000_000_000_000_000 and ctx.monotonic > 0
            self.replaced = ctx.replace(self.first, 4, Price("1101"))

        def on_order(self, order, ctx):
            self.states.append((order.state, order.quantity))
            if order.state == "working" and order.quantity == 4:
                stop = next(it for it in ctx.working() if it.quantity == 2)
                ctx.send(hairpin.CancelOrder(stop.order_id, 1001, "buy"))
            elif order.state == "canceled" and order.quantity == 2:
                ctx.cancel_all()
            elif order.state == "canceled":
                ctx.stop()

    requests = Requests()
    hairpin.Session(exchange.orders).run(requests)
    assert requests.timers == [7]
    states = [("working", 5), ("working", 2), ("working", 4), ("canceled", 2), ("canceled", 4)]
    assert requests.states == states


def test_books_in_the_context(exchange, ready):
    trader, _ = ready

    class Look(hairpin.Strategy):
        book = copy = None

        def on_book(self, book, ctx):
            self.book, self.copy = ctx.book(book.security_id), book.copy()
            assert book.level("buy", 0) == book.best_bid == self.book.best_bid
            assert book.level("sell", 1) == self.copy.level("sell", 1)
            assert book.level("sell", 99) is None
            assert "best_bid" in book.changes or "best_ask" in book.changes
            assert ctx.instrument(book.security_id).symbol == book.symbol == "HP001"
            assert book.transact_time > 0 and not book.is_resent

    look = Look()
    exchange.tick()
    trader.run_until(lambda: look.book, look, seconds=30)
    # Copies stay valid.
    assert look.book.best_bid.price < look.book.best_ask.price and look.book.is_in_sync
    assert look.copy.bid == look.book.bid and " x " in look.copy.ask
    assert repr(look.book.best_bid).startswith("Level(price=Price('")


def test_run_until_times_out(exchange):
    feed = hairpin.Feed(exchange.config, 310)
    with pytest.raises(TimeoutError, match="not met within 0.2 s"):
        feed.run_until(lambda: False, hairpin.Strategy(), seconds=0.2)
    feed.run_until(lambda: feed.is_ready, hairpin.Strategy(), seconds=30)


def test_exchange_outside_its_block_is_an_error():
    exchange = hairpin.Exchange(instruments=1)
    for use in (exchange.tick, lambda: exchange.config, lambda: exchange.cancels):
        with pytest.raises(RuntimeError, match="use it in a `with` statement"):
            use()
    with exchange:
        config = exchange.config
        assert config.exists()
        with pytest.raises(RuntimeError, match="is running already"):
            exchange.__enter__()
    assert not config.exists()
    with pytest.raises(ValueError):
        hairpin.Exchange(instruments=0)


def test_own_loop_with_turn(exchange):
    feed = hairpin.Feed(exchange.config, 310, symbols=["HP001"])
    strategy = hairpin.Strategy()
    while not feed.is_ready:
        assert feed.turn(strategy)
    feed.stop_handle.stop()
    assert not feed.turn(strategy)
