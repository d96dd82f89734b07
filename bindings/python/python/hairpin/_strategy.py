"""The callbacks of a strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._native import (
        BookEvent,
        Context,
        Fill,
        Instrument,
        MarketMessage,
        OrderEvent,
        OrderMessage,
        Statistic,
        Status,
        TradeEvent,
    )


class Strategy:
    """The base class of strategies. Override the callbacks that you need.

    All run on the thread that calls `run`. Arguments are valid until the callback returns. A
    callback that is not overridden costs nothing.
    """

    def on_ready(self, ctx: Context) -> None:
        """Called when all books are in sync and all sessions are established."""

    def on_not_ready(self, reason: str, ctx: Context) -> None:
        """Called when a channel's books or a session are no longer ready."""

    def on_book(self, book: BookEvent, ctx: Context) -> None:
        """Called for each book that a complete matching event has changed, and for each book that
        has come into sync.
        """

    def on_trade(self, trade: TradeEvent, ctx: Context) -> None:
        """Called for each trade of the market."""

    def on_instrument(self, instrument: Instrument, ctx: Context) -> None:
        """Called when an instrument is added, changed or deleted."""

    def on_status(self, status: Status, ctx: Context) -> None:
        """Called when trading has opened, halted or closed."""

    def on_statistic(self, statistic: Statistic, ctx: Context) -> None:
        """Called when a statistic of an instrument has changed."""

    def on_order(self, order: OrderEvent, ctx: Context) -> None:
        """Called for each report on an order, except for its trades."""

    def on_fill(self, fill: Fill, ctx: Context) -> None:
        """Called for each trade of an order, each leg, each correction and each bust."""

    def on_timer(self, timer: int, ctx: Context) -> None:
        """Called when a timer of `Context.set_timer` has expired."""

    def on_problem(self, problem: str, ctx: Context) -> None:
        """Called for a problem that does not end the run. By default prints one line to standard
        error.
        """

    def on_market_message(self, message: MarketMessage, ctx: Context) -> None:
        """Called for every market data message, before the callbacks for its content."""

    def on_order_message(self, message: OrderMessage, ctx: Context) -> None:
        """Called for every business message, before the callback for its content."""


Strategy.__module__ = "hairpin"
