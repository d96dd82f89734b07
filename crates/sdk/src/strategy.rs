//! The callbacks of a strategy.

use std::io::Write;

use hairpin_feed_handler::{self as feed, Packet, SecurityStatus, Statistic};
use hairpin_order_entry as order_entry;

use crate::{
    BookEvent, ChannelId, Context, Fill, Instrument, NotReady, OrderEvent, Problem, TradeEvent,
};

/// A raw market data message.
#[derive(Debug, Clone, Copy)]
pub struct MarketMessage<'a> {
    /// The channel.
    pub channel: ChannelId,
    /// The packet: its number, its times and its line.
    pub packet: &'a Packet,
    /// The message from its SBE header on.
    pub message: &'a feed::Message<'a>,
}

/// A raw business message of the exchange.
#[derive(Debug, Clone, Copy)]
pub struct OrderMessage<'a> {
    /// MarketSegmentID (1300) of the session, if there are several.
    pub segment: Option<u8>,
    /// The message: SBE header, body and numbers.
    pub message: &'a order_entry::Message<'a>,
}

/// The callbacks for the most frequent events.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Callback {
    /// [`Strategy::on_book`].
    Book,
    /// [`Strategy::on_trade`].
    Trade,
    /// [`Strategy::on_market_message`].
    MarketMessage,
    /// [`Strategy::on_order_message`].
    OrderMessage,
}

/// The callbacks of a strategy. All run on the thread that calls `run` or `turn`, and all but
/// [`on_problem`](Self::on_problem) do nothing by default.
///
/// Events arrive in stream order. A callback must not block. Its arguments are valid until it
/// returns.
#[allow(unused_variables)]
pub trait Strategy {
    /// Called when all books are in sync and all sessions are established.
    fn on_ready(&mut self, ctx: &mut Context<'_>) {}

    /// Called when a channel's books or a session are no longer ready.
    fn on_not_ready(&mut self, reason: NotReady, ctx: &mut Context<'_>) {}

    /// Called for each book that a complete matching event has changed, and for each book that has
    /// come into sync. Make trading decisions here.
    fn on_book(&mut self, book: &BookEvent<'_>, ctx: &mut Context<'_>) {}

    /// Called for each trade of the market, also while its book is out of sync.
    fn on_trade(&mut self, trade: &TradeEvent<'_>, ctx: &mut Context<'_>) {}

    /// Called when an instrument is added, changed or deleted. Repetitions are not reported.
    fn on_instrument(&mut self, instrument: &Instrument<'_>, ctx: &mut Context<'_>) {}

    /// Called when trading of an instrument, a group or a product has opened, halted or closed.
    fn on_status(&mut self, status: &SecurityStatus<'_>, ctx: &mut Context<'_>) {}

    /// Called when a statistic of an instrument has changed.
    fn on_statistic(&mut self, statistic: &Statistic<'_>, ctx: &mut Context<'_>) {}

    /// Called for each report on an order of ours, except for its trades.
    fn on_order(&mut self, order: &OrderEvent<'_>, ctx: &mut Context<'_>) {}

    /// Called for each trade of an order of ours, each leg of a spread trade, each correction and
    /// each bust.
    fn on_fill(&mut self, fill: &Fill<'_>, ctx: &mut Context<'_>) {}

    /// Called when a timer of [`Context::set_timer`] has expired.
    fn on_timer(&mut self, timer: u64, ctx: &mut Context<'_>) {}

    /// Called for a problem that does not end the run. By default prints one line to standard
    /// error.
    fn on_problem(&mut self, problem: &Problem<'_>, ctx: &mut Context<'_>) {
        // A closed standard error must not stop the strategy.
        let _ = writeln!(std::io::stderr(), "hairpin: {problem}");
    }

    /// Called for every market data message of a valid frame, before the callbacks for its content.
    ///
    /// The books of the message's channel are not available in this callback.
    fn on_market_message(&mut self, message: &MarketMessage<'_>, ctx: &mut Context<'_>) {}

    /// Called for every business message of the exchange, before the callback for its content.
    fn on_order_message(&mut self, message: &OrderMessage<'_>, ctx: &mut Context<'_>) {}

    /// Returns `false` if a callback does nothing, so that its arguments are not prepared. Only
    /// bindings need this: the compiler removes the default implementations of the callbacks.
    #[doc(hidden)]
    #[inline]
    fn is_called(&self, callback: Callback) -> bool {
        true
    }
}
