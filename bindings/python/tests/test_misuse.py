"""Misuse is an exception, never a crash."""

import faulthandler
import os
import signal
import socket
import threading
import time

import hairpin
import pytest
from conftest import TIMEOUT
from hairpin import Price


class Recorder(hairpin.Strategy):
    """Keeps every argument of every callback."""

    def __init__(self):
        self.kept = []

    def on_ready(self, ctx):
        self.kept.append(ctx)
        ctx.buy(ctx.security_id("HP001"), 1, Price("900"))

    def on_book(self, book, ctx):
        self.kept += [book, ctx]

    def on_order(self, order, ctx):
        self.kept += [order, ctx]

    def on_market_message(self, message, ctx):
        self.kept += [message, ctx]

    def on_order_message(self, message, ctx):
        self.kept += [message, ctx]


class Call(hairpin.Strategy):
    """Calls a function once it is ready."""

    def __init__(self, function):
        self.function = function
        self.outcome = None

    def on_ready(self, ctx):
        self.outcome = self.function(ctx)
        ctx.stop()


@pytest.fixture
def exchange():
    with hairpin.Exchange(instruments=2) as exchange:
        yield exchange


def attributes(value):
    return [name for name in dir(value) if not name.startswith("_")]


def test_arguments_are_invalid_after_their_callback(exchange):
    trader, recorder = hairpin.Trader(exchange.config, 310, exchange.orders), Recorder()
    trader.run_until(lambda: exchange.accepted_orders == 1, recorder, seconds=30)
    exchange.tick(3)
    kinds = {"Context", "BookEvent", "OrderEvent", "MarketMessage", "OrderMessage"}
    seen = lambda: {type(value).__name__ for value in recorder.kept}
    trader.run_until(lambda: kinds <= seen(), recorder, seconds=30)
    getters = 0
    for value in recorder.kept[:2_000]:
        for name in attributes(type(value)):
            if hasattr(getattr(type(value), name), "__get__") and not callable(
                getattr(type(value), name)
            ):
                getters += 1
                with pytest.raises(RuntimeError, match="a callback that has returned"):
                    getattr(value, name)
        if isinstance(value, hairpin.OrderEvent):
            with pytest.raises(RuntimeError, match="a callback that has returned"):
                str(value)
        if isinstance(value, hairpin.Context):
            with pytest.raises(RuntimeError, match="a callback that has returned"):
                value.buy(1001, 1, Price("900"))
    assert getters > 100


def test_context_in_another_thread_is_an_error(exchange):
    def use_elsewhere(ctx):
        errors = []

        def use():
            try:
                ctx.buy(1001, 1, Price("900"))
            except RuntimeError as error:
                errors.append(str(error))

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        return errors

    call = Call(use_elsewhere)
    hairpin.Session(exchange.orders).run(call)
    assert call.outcome == ["cannot use the argument of a callback in another thread"]
    assert exchange.received_orders == 0


def test_run_inside_a_callback_is_an_error(exchange):
    session = hairpin.Session(exchange.orders)

    def run_again(ctx):
        for function in (
            lambda: session.run(hairpin.Strategy()),
            lambda: session.turn(hairpin.Strategy()),
            lambda: session.close(),
            lambda: session.security_id("HP001"),
        ):
            with pytest.raises(RuntimeError, match="inside a callback, use the context"):
                function()
        return True

    call = Call(run_again)
    session.run(call)
    assert call.outcome


def test_closed_objects_are_errors(exchange):
    session = hairpin.Session(exchange.orders)
    session.run(Call(lambda ctx: None))
    for _ in range(2):
        with pytest.raises(RuntimeError, match="closed, or its run has ended"):
            session.run(hairpin.Strategy())
        session.close()
    session.stop_handle.stop()
    assert not session.is_ready


def test_context_inside_a_batch_is_an_error(exchange):
    def batch(ctx):
        def send(inner):
            with pytest.raises(RuntimeError):
                ctx.buy(1001, 1, Price("900"))
            return [inner.buy(1001, 1, Price("900")), inner.sell(1002, 2, Price("1100")), inner]

        first, second, inner = ctx.batch(send)
        with pytest.raises(RuntimeError, match="a callback that has returned"):
            inner.buy(1001, 1, Price("900"))
        with pytest.raises(ZeroDivisionError):
            ctx.batch(lambda _: 1 // 0)
        assert ctx.order(first).open == 1 and ctx.order(second).side == "sell"
        return first != second

    call = Call(batch)
    hairpin.Session(exchange.orders).run(call)
    assert call.outcome
    assert exchange.received_orders == 2


def test_exception_in_a_callback_ends_the_run(exchange):
    class Failing(hairpin.Strategy):
        calls = 0

        def on_ready(self, ctx):
            self.calls += 1
            raise LookupError("no such model")

        def on_not_ready(self, reason, ctx):
            self.calls += 1

    failing = Failing()
    with pytest.raises(LookupError, match="^no such model$") as error:
        hairpin.Session(exchange.orders).run(failing)
    assert error.traceback[-1].name == "on_ready"
    assert failing.calls == 1


def test_what_is_no_strategy_is_an_error(exchange):
    session = hairpin.Session(exchange.orders)
    for value in (hairpin.Strategy, object(), None):
        with pytest.raises(TypeError, match="not of a hairpin.Strategy"):
            session.run(value)

    class Wrong(hairpin.Strategy):
        def on_ready(self):
            pass

    with pytest.raises(TypeError, match="positional argument"):
        session.run(Wrong())


def test_wrong_arguments_are_errors(exchange):
    def misuse(ctx):
        for error, function in [
            (TypeError, lambda: ctx.buy(1001, 1, 900.0)),
            (TypeError, lambda: ctx.buy(1001, 1, "900")),
            (TypeError, lambda: ctx.buy(1001, 1.5, Price("900"))),
            (TypeError, lambda: ctx.buy("HP001", 1, Price("900"))),
            (OverflowError, lambda: ctx.buy(1001, -1, Price("900"))),
            (OverflowError, lambda: ctx.buy(2**40, 1, Price("900"))),
            (hairpin.SendError, lambda: ctx.buy(1001, 2**40, Price("900"))),
            (hairpin.SendError, lambda: ctx.buy(1001, 1, Price("900") * 2**70)),
            (hairpin.SendError, lambda: ctx.cancel("NO-SUCH-ORDER")),
            (ValueError, lambda: ctx.cancel("")),
            (ValueError, lambda: ctx.cancel("x" * 21)),
            (hairpin.Error, lambda: ctx.security_id("NOPE")),
            (ValueError, lambda: ctx.set_timer(1, -1.0)),
            (ValueError, lambda: ctx.set_timer(1, float("nan"))),
            (ValueError, lambda: hairpin.NewOrder(1001, "long", 1, Price("1"))),
            (ValueError, lambda: hairpin.NewOrder(1001, "buy", 1)),
            (TypeError, lambda: ctx.send("buy")),
        ]:
            with pytest.raises(error):
                function()
        with pytest.raises(hairpin.SendError, match="^the price is out of range$"):
            ctx.buy(1001, 1, Price("900") * 2**70)
        with pytest.raises(hairpin.SendError, match="^no order has ClOrdID NOPE-1$"):
            ctx.cancel("NOPE-1")
        assert ctx.book(42) is None and ctx.instrument(42) is None
        return True

    call = Call(misuse)
    hairpin.Session(exchange.orders).run(call)
    assert call.outcome
    assert exchange.received_orders == 0


def test_ctrl_c_logs_off_and_is_raised(exchange):
    session = hairpin.Session(exchange.orders)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        session.run(hairpin.Strategy())
    # The session has logged off: the next one resumes without a conflict.
    call = Call(lambda ctx: "established")
    hairpin.Session(exchange.orders).run(call)
    assert call.outcome == "established"


def test_stop_on_signals_ends_without_an_exception(exchange):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    try:
        session = hairpin.Session(exchange.orders).stop_on_signals()
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
        session.run(hairpin.Strategy())
    finally:
        signal.signal(signal.SIGINT, before[0])
        signal.signal(signal.SIGTERM, before[1])


def test_stop_handle_works_from_any_thread(exchange):
    session = hairpin.Session(exchange.orders)
    handle = session.stop_handle
    threading.Timer(0.3, handle.stop).start()
    session.run(hairpin.Strategy())


def test_other_threads_run_while_the_loop_waits(exchange):
    session = hairpin.Session(exchange.orders)

    def work():
        for _ in range(20):
            time.sleep(0.001)
        session.stop_handle.stop()

    # If the loop held the interpreter, the thread would never stop it.
    faulthandler.dump_traceback_later(TIMEOUT, exit=True)
    thread = threading.Thread(target=work)
    thread.start()
    session.run(hairpin.Strategy())
    thread.join()
    faulthandler.cancel_dump_traceback_later()


def test_no_socket_is_accelerated_without_hairpin_run():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        udp.bind(("127.0.0.1", 0))
        assert [hairpin.is_accelerated(it) for it in (udp, udp.fileno(), -1)] == [False] * 3
    for wrong in ("3", None, 1 << 40):
        with pytest.raises((AttributeError, OverflowError, TypeError)):
            hairpin.is_accelerated(wrong)
