//! Lines of text for the callbacks of a listener.

use hairpin_feed_handler::{
    BookSide, Collateral, DefinitionUpdate, LimitsUpdate, Order, OrderBook, OrderUpdate, Packet,
    QuoteRequest, ReplayUpdate, SecurityStatus, Silence, SilenceScope, Statistic, StatusScope,
    Trade, Volume, Workup,
};
use hairpin_sbe::{CharArray, Value};

use crate::decode::Format;
use crate::decode::message_line;

/// The most lines for an order book that was replaced: those of the top orders.
const RANKS: usize = 10;

/// A line in the form of a message's, without a template.
pub(super) struct Record<'a> {
    name: &'static str,
    values: Vec<(&'static str, Value<'a>)>,
}

impl<'a> Record<'a> {
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, values: Vec::new() }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<Value<'a>>) -> Self {
        self.values.push((name, value.into()));
        self
    }

    pub(super) fn text(self, name: &'static str, text: &'a str) -> Self {
        self.with(name, Value::Text(CharArray::new(text.as_bytes())))
    }

    fn id(self, security_id: i32, symbol: &'a [u8]) -> Self {
        let id = self.with("SecurityID", Value::Signed(security_id.into()));
        id.with("Symbol", Value::Text(CharArray::new(symbol)))
    }

    fn or_null(self, name: &'static str, value: Option<impl Into<Value<'a>>>) -> Self {
        self.with(name, value.map_or(Value::Null, Into::into))
    }

    /// Adds an enumeration of CME's, by its name if it has one.
    fn named(self, name: &'static str, (text, value): (Option<&'static str>, u64)) -> Self {
        self.with(name, Value::Enumeration { name: text, value, character: false })
    }

    fn side(self, side: Option<BookSide>) -> Self {
        match side {
            Some(BookSide::Bid) => self.text("Side", "Bid"),
            Some(BookSide::Ask) => self.text("Side", "Ask"),
            None => self.with("Side", Value::Null),
        }
    }

    /// Returns the line.
    pub(super) fn line(&self, packet: (u32, u64), format: Format) -> String {
        message_line::record(self.name, packet, &self.values, format)
    }
}

/// Returns the sequence number and sending time with which a line begins.
pub(super) fn position(packet: &Packet) -> (u32, u64) {
    (packet.sequence, packet.sending_time.as_nanos())
}

pub(super) fn definition<'a>(update: &DefinitionUpdate<'a>, action: &'a str) -> Record<'a> {
    let definition = update.definition;
    Record::new("Definition")
        .id(definition.security_id, definition.symbol.as_bytes())
        .with("SecurityGroup", Value::Text(CharArray::new(definition.security_group.as_bytes())))
        .with("Asset", Value::Text(CharArray::new(definition.asset.as_bytes())))
        .text("Action", action)
}

/// Returns a line for a book that is in sync again, or no longer.
pub(super) fn state<'a>(
    name: &'static str,
    security_id: i32,
    symbol: &'a [u8],
    state: &'a str,
) -> Record<'a> {
    Record::new(name).id(security_id, symbol).text("State", state)
}

/// Returns the changes of orders by entries; for a replaced book its best orders, one line per rank
/// and at least one.
pub(super) fn orders<'a>(
    update: &OrderUpdate<'a>,
    symbol: &'a [u8],
) -> impl Iterator<Item = Record<'a>> {
    let book = update.book;
    let id = book.security_id();
    let ranks =
        if update.restated { book.bids().count().max(book.asks().count()).max(1) } else { 0 };
    let changes = update.changes().map(move |change| {
        let Order { id: order, priority, price, quantity } = change.order;
        Record::new("Order")
            .id(id, symbol)
            .named("Action", (change.action.name(), change.action.0.into()))
            .side(Some(change.side))
            .with("OrderID", order)
            .with("Px", price)
            .with("Size", quantity)
            .or_null("Priority", (priority != u64::MAX).then_some(priority))
    });
    changes.chain((0..ranks.min(RANKS)).map(move |rank| rank_of(book, rank, symbol)))
}

fn rank_of<'a>(book: OrderBook<'a>, rank: usize, symbol: &'a [u8]) -> Record<'a> {
    let [bid, ask] = [book.bids().nth(rank), book.asks().nth(rank)];
    Record::new("TopOrders")
        .id(book.security_id(), symbol)
        .with("Rank", rank as u64 + 1)
        .or_null("BidOrderID", bid.map(|order| order.id))
        .or_null("BidPx", bid.map(|order| order.price))
        .or_null("BidSize", bid.map(|order| order.quantity))
        .or_null("AskOrderID", ask.map(|order| order.id))
        .or_null("AskPx", ask.map(|order| order.price))
        .or_null("AskSize", ask.map(|order| order.quantity))
}

pub(super) fn trade<'a>(trade: &Trade<'a>, symbol: &'a [u8]) -> Record<'a> {
    let aggressor = trade.aggressor.map(|side| Value::Enumeration {
        name: side.name(),
        value: side.0.into(),
        character: false,
    });
    Record::new("Trade")
        .id(trade.security_id, symbol)
        .with("Px", trade.price)
        .with("Size", trade.quantity)
        .with("Orders", u64::from(trade.orders))
        .or_null("AggressorSide", aggressor)
        .named("Action", (trade.action.name(), trade.action.0.into()))
        .with("TransactTime", trade.transact_time.as_nanos())
}

pub(super) fn volume<'a>(volume: &Volume<'a>, symbol: &'a [u8]) -> Record<'a> {
    Record::new("Volume")
        .id(volume.security_id, symbol)
        .with("Size", volume.quantity)
        .named("Action", (volume.action.name(), volume.action.0.into()))
}

pub(super) fn status<'a>(status: &'a SecurityStatus<'a>, symbol: &'a [u8]) -> Record<'a> {
    let record = Record::new("Status");
    let record = match &status.scope {
        StatusScope::Instrument { security_id, .. } => record.id(*security_id, symbol),
        StatusScope::Group { security_group, asset } => record
            .with("SecurityGroup", Value::Text(CharArray::new(security_group.as_bytes())))
            .with("Asset", Value::Text(CharArray::new(asset.as_bytes()))),
        _ => record,
    };
    let of = |name, value: u8| Value::Enumeration { name, value: value.into(), character: false };
    record
        .or_null("TradingStatus", status.trading_status.map(|it| of(it.name(), it.0)))
        .or_null("HaltReason", status.halt_reason.map(|it| of(it.name(), it.0)))
        .or_null("Event", status.event.map(|it| of(it.name(), it.0)))
}

pub(super) fn statistic<'a>(
    statistic: &Statistic<'a>,
    symbol: &'a [u8],
    kind: &'a str,
) -> Record<'a> {
    Record::new("Statistic")
        .id(statistic.security_id, symbol)
        .text("Kind", kind)
        .or_null("Px", statistic.value.price)
        .or_null("Size", statistic.value.quantity)
        .named("Action", (statistic.action.name(), statistic.action.0.into()))
}

pub(super) fn limits<'a>(update: &LimitsUpdate<'a>, symbol: &'a [u8]) -> Record<'a> {
    Record::new("Limits")
        .id(update.security_id, symbol)
        .or_null("High", update.limits.high)
        .or_null("Low", update.limits.low)
        .or_null("MaxPriceVariation", update.limits.max_price_variation)
}

/// Calls `each` with a line for each instrument of a quote request.
pub(super) fn quotes(request: &QuoteRequest<'_>, mut each: impl FnMut(&Record<'_>)) {
    for entry in request.entries() {
        let record = Record::new("QuoteRequest")
            .with("QuoteReqID", Value::Text(CharArray::new(request.id.as_bytes())))
            .id(entry.security_id, entry.symbol.as_bytes())
            .side(entry.side)
            .or_null("Size", entry.quantity)
            .with("QuoteType", Value::Signed(entry.quote_type.into()));
        each(&record);
    }
}

/// Calls `each` with a line for the workup, and one for each of its orders.
pub(super) fn workup(workup: &Workup<'_>, symbol: &[u8], mut each: impl FnMut(&Record<'_>)) {
    let (status, event) = (workup.trading_status, workup.event);
    let record = Record::new("Workup")
        .id(workup.security_id, symbol)
        .or_null("Px", workup.price)
        .with("TradeLinkID", u64::from(workup.trade_link_id))
        .named("TradingStatus", (status.name(), status.0.into()))
        .named("Event", (event.name(), event.0.into()));
    each(&record);
    for order in workup.orders() {
        let record = Record::new("WorkupOrder")
            .id(workup.security_id, symbol)
            .with("OrderID", order.order_id)
            .side(order.side);
        each(&record);
    }
}

/// Calls `each` with a line for each valued security.
pub(super) fn collateral(collateral: &Collateral<'_>, mut each: impl FnMut(&Record<'_>)) {
    for value in collateral.values() {
        let record = Record::new("Collateral")
            .with("AltID", Value::Text(CharArray::new(value.alt_id.as_bytes())))
            .with("InstrumentGUID", value.instrument_guid)
            .with("MarketPx", value.market_price)
            .with("DirtyPx", value.dirty_price);
        each(&record);
    }
}

/// Returns a line for the replay of a gap.
pub(super) fn replay<'a>(update: &ReplayUpdate, reason: &'a str) -> Record<'a> {
    let range = |name, first: u32, last: u32| {
        let record = Record::new("Replay").text("Update", name);
        record.with("First", u64::from(first)).with("Last", u64::from(last))
    };
    match *update {
        ReplayUpdate::Requested { first, last, attempt } => {
            range("Requested", first, last).with("Attempt", u64::from(attempt))
        }
        ReplayUpdate::GivenUp { first, last, .. } => {
            range("GivenUp", first, last).text("Reason", reason)
        }
        ReplayUpdate::Filled { first, last } => range("Filled", first, last),
        _ => Record::new("Replay"),
    }
}

/// Returns a line for a feed, group or side that falls silent or resumes; `feed` is its name.
pub(super) fn silence<'a>(silence: &Silence, feed: &'a str, state: &'a str) -> Record<'a> {
    let record = Record::new("Silence").text("State", state);
    match silence.scope {
        SilenceScope::FeedLine { line: side, .. } => {
            let side = if side == hairpin_feed_handler::FeedLine::A { "A" } else { "B" };
            record.text("Feed", feed).text("Side", side)
        }
        SilenceScope::Feed(_) => record.text("Feed", feed).with("Side", Value::Null),
        _ => record.with("Feed", Value::Null).with("Side", Value::Null),
    }
}
