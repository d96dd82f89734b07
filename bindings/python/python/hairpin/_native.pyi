"""Types of the native part of the package. Times are in nanoseconds since 1970-01-01 UTC."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypedDict, TypeVar, Unpack, final

from ._strategy import Strategy

__all__ = [
    "Book",
    "BookEvent",
    "CancelOrder",
    "CaptureReader",
    "Column",
    "Context",
    "Exchange",
    "Feed",
    "Fill",
    "Instrument",
    "Level",
    "MarketMessage",
    "MassCancel",
    "NewOrder",
    "Order",
    "OrderEvent",
    "OrderMessage",
    "Price",
    "ReplaceOrder",
    "Runner",
    "Session",
    "Statistic",
    "Status",
    "StopHandle",
    "TradeEvent",
    "Trader",
    "is_accelerated",
]

_T = TypeVar("_T")
_Path = str | PathLike[str]
_Side = Literal["buy", "sell"]
_OrderState = Literal[
    "working",
    "pending_replace",
    "pending_cancel",
    "replace_rejected",
    "cancel_rejected",
    "filled",
    "canceled",
    "expired",
    "rejected",
    "not_applied",
]
_FillKind = Literal["outright", "spread", "spread_leg", "correction", "bust"]
_Wait = Literal["block", "poll", "epoll", "spin", "io_uring"]
_OrderType = Literal["limit", "market", "market_limit", "stop", "stop_limit"]
_TimeInForce = Literal[
    "day",
    "good_till_cancel",
    "good_till_date",
    "fill_and_kill",
    "fill_or_kill",
    "good_for_session",
]
_Schema = Literal["mbp-1", "trades"]

class _Settings(TypedDict, total=False):
    interfaces: tuple[str, str]
    """The interfaces of sides A and B: names, or local IPv4 addresses."""
    wait: _Wait
    """The wait of the loop; the default is epoll."""
    core: int
    """The core of the thread that calls `run`."""
    xdp: str
    """The interface that receives by AF_XDP instead of kernel sockets."""
    security_ids: Sequence[int]
    symbols: Sequence[str]
    groups: Sequence[str]
    assets: Sequence[str]
    """The instruments to follow; the default is all."""
    definition_cache: _Path
    """The folder of the definition caches."""
    recording: _Path
    """The folder for captures of all received datagrams."""
    orders_max: int
    """The largest number of tracked orders per session; the default is 10,000."""
    cancel_on_quit: bool
    """Cancel all orders at the end of the run; the default is that of order.toml, else `False`."""

@final
class Price:
    """An exact wire price with nine decimal places. Operators saturate."""

    def __new__(cls, value: str | int | Price) -> Self: ...
    @staticmethod
    def from_mantissa(mantissa: int) -> Price: ...
    @property
    def mantissa(self) -> int: ...
    @property
    def is_saturated(self) -> bool: ...
    def __add__(self, other: Price, /) -> Price: ...
    def __radd__(self, other: Price, /) -> Price: ...
    def __sub__(self, other: Price, /) -> Price: ...
    def __rsub__(self, other: Price, /) -> Price: ...
    def __neg__(self) -> Price: ...
    def __mul__(self, count: int, /) -> Price: ...
    def __rmul__(self, count: int, /) -> Price: ...
    def __float__(self) -> float: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __lt__(self, other: Price, /) -> bool: ...
    def __le__(self, other: Price, /) -> bool: ...
    def __gt__(self, other: Price, /) -> bool: ...
    def __ge__(self, other: Price, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Level:
    """A price level of a book."""

    @property
    def price(self) -> Price: ...
    @property
    def quantity(self) -> int: ...
    @property
    def orders(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: None  # type: ignore[assignment]

@final
class Instrument:
    """An instrument, as its definition describes it. A copy, which does not change."""

    @property
    def security_id(self) -> int: ...
    @property
    def symbol(self) -> str: ...
    @property
    def security_group(self) -> str | None: ...
    @property
    def asset(self) -> str | None: ...
    @property
    def market_segment_id(self) -> int | None: ...
    @property
    def tick(self) -> Price | None: ...
    @property
    def display_factor(self) -> Price | None: ...
    def parse(self, text: str) -> Price: ...
    def display(self, price: Price) -> str: ...
    def add_ticks(self, price: Price, ticks: int) -> Price: ...
    def is_on_tick(self, price: Price) -> bool: ...

@final
class Book:
    """A copy of a book, which does not change."""

    @property
    def security_id(self) -> int: ...
    @property
    def symbol(self) -> str: ...
    @property
    def instrument(self) -> Instrument: ...
    @property
    def is_in_sync(self) -> bool: ...
    @property
    def best_bid(self) -> Level | None: ...
    @property
    def best_ask(self) -> Level | None: ...
    @property
    def bid(self) -> str: ...
    @property
    def ask(self) -> str: ...
    def level(self, side: _Side, number: int) -> Level | None: ...

@final
class BookEvent:
    """A change of a book; valid in its callback."""

    @property
    def security_id(self) -> int: ...
    @property
    def symbol(self) -> str: ...
    @property
    def instrument(self) -> Instrument: ...
    @property
    def best_bid(self) -> Level | None: ...
    @property
    def best_ask(self) -> Level | None: ...
    @property
    def bid(self) -> str:
        """The best bid as text: `12 x 4500.25`, or `-` without a bid."""

    @property
    def ask(self) -> str: ...
    def level(self, side: _Side, number: int) -> Level | None: ...
    @property
    def changes(self) -> list[str]: ...
    @property
    def best_price_changed(self) -> bool: ...
    @property
    def is_resent(self) -> bool: ...
    @property
    def transact_time(self) -> int: ...
    @property
    def received(self) -> int | None: ...
    def copy(self) -> Book:
        """Returns a copy of the book that stays valid."""

@final
class TradeEvent:
    """A trade of the market; valid in its callback."""

    @property
    def security_id(self) -> int: ...
    @property
    def symbol(self) -> str: ...
    @property
    def instrument(self) -> Instrument: ...
    @property
    def price(self) -> Price: ...
    @property
    def quantity(self) -> int: ...
    @property
    def aggressor(self) -> _Side | None: ...
    @property
    def is_resent(self) -> bool: ...
    @property
    def transact_time(self) -> int: ...

@final
class OrderEvent:
    """A report on an order; valid in its callback."""

    @property
    def cl_ord_id(self) -> str: ...
    @property
    def order_id(self) -> int | None: ...
    @property
    def security_id(self) -> int: ...
    @property
    def symbol(self) -> str: ...
    @property
    def side(self) -> _Side: ...
    @property
    def price(self) -> Price | None: ...
    @property
    def quantity(self) -> int: ...
    @property
    def open(self) -> int: ...
    @property
    def filled(self) -> int: ...
    @property
    def state(self) -> _OrderState: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def reason_code(self) -> int | None: ...
    @property
    def is_redelivered(self) -> bool: ...

@final
class Fill:
    """A trade of an order, or a correction or bust of one; valid in its callback."""

    @property
    def cl_ord_id(self) -> str: ...
    @property
    def order_id(self) -> int | None: ...
    @property
    def security_id(self) -> int: ...
    @property
    def symbol(self) -> str: ...
    @property
    def side(self) -> _Side: ...
    @property
    def price(self) -> Price | None: ...
    @property
    def open(self) -> int: ...
    @property
    def filled(self) -> int: ...
    @property
    def kind(self) -> _FillKind: ...
    @property
    def last_price(self) -> Price: ...
    @property
    def last_quantity(self) -> int: ...
    @property
    def exec_id(self) -> int: ...
    @property
    def trade_date(self) -> int | None: ...
    @property
    def is_redelivered(self) -> bool: ...

@final
class Status:
    """A trading status of an instrument, or of a group; valid in its callback."""

    @property
    def security_id(self) -> int | None: ...
    @property
    def security_group(self) -> str | None: ...
    @property
    def asset(self) -> str | None: ...
    @property
    def trading_status(self) -> str | None: ...
    @property
    def halt_reason(self) -> str | None: ...
    @property
    def event(self) -> str | None: ...
    @property
    def transact_time(self) -> int: ...

@final
class Statistic:
    """A statistic of an instrument; valid in its callback."""

    @property
    def security_id(self) -> int: ...
    @property
    def kind(self) -> str: ...
    @property
    def price(self) -> Price | None: ...
    @property
    def quantity(self) -> int | None: ...
    @property
    def transact_time(self) -> int: ...

@final
class MarketMessage:
    """A raw market data message; valid in its callback."""

    @property
    def channel(self) -> int: ...
    @property
    def template_id(self) -> int: ...
    @property
    def sequence(self) -> int: ...
    @property
    def sending_time(self) -> int: ...
    @property
    def received(self) -> int | None: ...
    @property
    def data(self) -> bytes:
        """The message from its SBE header on."""

@final
class OrderMessage:
    """A raw business message of the exchange; valid in its callback."""

    @property
    def segment(self) -> int | None: ...
    @property
    def template_id(self) -> int: ...
    @property
    def seq_num(self) -> int: ...
    @property
    def uuid(self) -> int: ...
    @property
    def is_redelivered(self) -> bool: ...
    @property
    def body(self) -> bytes:
        """The bytes after the SBE header."""

@final
class Order:
    """An order that the exchange works, or that is not yet answered. A copy."""

    @property
    def cl_ord_id(self) -> str: ...
    @property
    def order_id(self) -> int | None: ...
    @property
    def security_id(self) -> int: ...
    @property
    def side(self) -> _Side: ...
    @property
    def price(self) -> Price | None: ...
    @property
    def quantity(self) -> int: ...
    @property
    def open(self) -> int: ...
    @property
    def filled(self) -> int: ...
    @property
    def state(self) -> Literal["pending", "working", "pending_replace", "pending_cancel"]: ...

@final
class NewOrder:
    """A new order, for `Context.send`. Without a ClOrdID, the next one is used."""

    def __new__(
        cls,
        security_id: int,
        side: _Side,
        quantity: int,
        price: Price | None = None,
        *,
        order_type: _OrderType = "limit",
        stop_price: Price | None = None,
        time_in_force: _TimeInForce = "day",
        expire_date: int | None = None,
        min_quantity: int | None = None,
        display_quantity: int | None = None,
        cl_ord_id: str | None = None,
    ) -> Self: ...

@final
class ReplaceOrder:
    """A replacement with all terms of the order, for `Context.send`."""

    def __new__(cls, order_id: int, order: NewOrder) -> Self: ...

@final
class CancelOrder:
    """A cancel by OrderID, for `Context.send`."""

    def __new__(cls, order_id: int, security_id: int, side: _Side) -> Self: ...

@final
class MassCancel:
    """A cancel of all orders, or of those of an instrument, a group or a market segment."""

    def __new__(
        cls,
        *,
        security_id: int | None = None,
        security_group: str | None = None,
        market_segment_id: int | None = None,
    ) -> Self: ...

@final
class Context:
    """Books, orders and the sender; valid in one callback. Sending raises `SendError`."""

    @property
    def now(self) -> int: ...
    @property
    def monotonic(self) -> int: ...
    @property
    def is_ready(self) -> bool: ...
    def book(self, security_id: int) -> Book | None: ...
    def instrument(self, security_id: int) -> Instrument | None: ...
    def security_id(self, symbol: str) -> int: ...
    def buy(self, security_id: int, quantity: int, price: Price) -> str:
        """Sends a limit order for the day. Returns its ClOrdID."""

    def sell(self, security_id: int, quantity: int, price: Price) -> str: ...
    def replace(self, cl_ord_id: str, quantity: int, price: Price) -> str:
        """Replaces an order. Returns the ClOrdID that it then has."""

    def cancel(self, cl_ord_id: str) -> None: ...
    def cancel_all(self) -> None: ...
    def send(self, request: NewOrder | ReplaceOrder | CancelOrder | MassCancel) -> str | None: ...
    def batch(self, send: Callable[[Context], _T]) -> _T:
        """Calls `send` with a context whose messages are written together."""

    def working(self) -> list[Order]: ...
    def order(self, cl_ord_id: str) -> Order | None: ...
    def position(self, security_id: int) -> int: ...
    def next_cl_ord_id(self) -> str: ...
    def set_timer(self, timer: int, seconds: float) -> None: ...
    def stop(self) -> None: ...

@final
class StopHandle:
    """A handle that stops a run from any thread."""

    def stop(self) -> None: ...

class Runner:
    """The part that `Feed`, `Session` and `Trader` share."""

    def run(self, strategy: Strategy) -> None:
        """Runs until the strategy or a stop handle stops it, or until an exception, and closes.

        Ctrl-C logs off and raises `KeyboardInterrupt`.
        """

    def turn(self, strategy: Strategy) -> bool:
        """Runs one iteration, for programs with their own loop. Waits at most 100 ms. Returns
        `False` once the run has ended.
        """

    def run_until(self, condition: Callable[[], Any], strategy: Strategy, seconds: float) -> None:
        """Runs until `condition` is true. Raises `TimeoutError` after some seconds."""

    def close(self) -> None:
        """Logs off without callbacks, and closes."""

    @property
    def is_ready(self) -> bool: ...
    @property
    def stop_handle(self) -> StopHandle: ...
    def stop_on_signals(self) -> Self:
        """Makes SIGINT and SIGTERM end the run gracefully, without an exception."""

    def security_id(self, symbol: str) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...

class Feed(Runner):
    """Market data for one strategy."""

    def __new__(
        cls,
        config: _Path,
        channel: int | Sequence[int] | None = None,
        **settings: Unpack[_Settings],
    ) -> Self: ...

class Session(Runner):
    """Order entry for one strategy."""

    def __new__(cls, orders: _Path, **settings: Unpack[_Settings]) -> Self: ...

class Trader(Runner):
    """Market data and order entry for one strategy."""

    def __new__(
        cls,
        config: _Path,
        channel: int | Sequence[int] | None,
        orders: _Path,
        **settings: Unpack[_Settings],
    ) -> Self: ...

@final
class Exchange:
    """A simulated exchange on loopback, for tests, in a thread of this process.

    The instruments are HP001, HP002 and so on, or with `display_formats` one for each way in which
    CME displays prices: ES, 6E, ZN, ZC and others. The channel is 310.
    """

    def __new__(
        cls, *, instruments: int = 100, seed: int = 1, display_formats: bool = False
    ) -> Self: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self,
        *_exception: type[BaseException] | BaseException | TracebackType | None,
    ) -> None: ...
    @property
    def config(self) -> Path: ...
    @property
    def orders(self) -> Path:
        """The path of order.toml."""

    def tick(self, count: int = 1) -> None:
        """Publishes matching events, each of which changes a best price."""

    def fill_next(self, count: int = 1) -> None:
        """Fills the next orders completely, as soon as they are accepted."""

    def reject_next(self, count: int = 1) -> None: ...
    def disconnect(self) -> None:
        """Closes the connections of all sessions without a Terminate."""

    def drop_packets(self, count: int = 1) -> None:
        """Loses the packets of the next ticks on both sides."""

    @property
    def ticks(self) -> int: ...
    @property
    def received_orders(self) -> int: ...
    @property
    def accepted_orders(self) -> int: ...
    @property
    def rejected_orders(self) -> int: ...
    @property
    def cancels(self) -> int: ...
    @property
    def fills(self) -> int: ...

@final
class Column:
    """A read-only buffer."""

    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...

@final
class CaptureReader:
    """A capture, read in parts."""

    def __new__(
        cls,
        path: _Path | Sequence[_Path],
        schema: str,
        symbols: Sequence[str] = ...,
        start: int = 0,
        end: int = ...,
    ) -> Self: ...
    def counts(self) -> tuple[int, int]: ...
    def next_part(self, rows: int | None = None) -> list[tuple[str, Column]] | None: ...
    def no_rows(self) -> list[tuple[str, Column]]: ...

class _HasFileno(Protocol):
    def fileno(self) -> int: ...

def is_accelerated(socket: int | _HasFileno) -> bool:
    """Returns True if the messages of a socket bypass the kernel now, because `hairpin run` started
    this process. The socket is an object with `fileno()`, or its number."""
