//! The callbacks of a channel.

use hairpin_cme_codecs::mdp3::{
    AggressorSide, HaltReason, MDUpdateAction, SecurityTradingEvent, SecurityTradingStatus,
};
use hairpin_time::{Now, Utc};

use crate::message::entries::TradePosition;
use crate::{
    Book, BookSide, Changes, Collateral, ConsolidatedBook, Definition, Error, ImpliedBook,
    InstrumentIndex, Instruments, Leg, LimitsUpdate, MarketBestUpdate, MatchEvent, Message,
    OrderBookStateChange, OrderUpdate, Packet, Price9, QuoteRequest, Related, ReplayUpdate,
    Silence, Statistic, StatusScope, SyncState, Underlying, Warning, Workup,
};

/// The callbacks of a channel, in stream order. All methods do nothing by default.
///
/// All views are borrowed for the duration of the call. A listener must not block.
pub trait Listener {
    /// Called before the messages of each new in-sequence packet.
    fn on_packet(&mut self, packet: &Packet) {
        let _ = packet;
    }

    /// Called for each message with a valid frame, of any template, before the callbacks for its
    /// contents. The header contains the template that [`crate::Settings::templates`] assigns to
    /// the id.
    fn on_message(&mut self, packet: &Packet, message: &Message<'_>) {
        let _ = (packet, message);
    }

    /// Called when an instrument is added, changed or deleted. Repetitions are not reported.
    fn on_definition(&mut self, update: &DefinitionUpdate<'_>) {
        let _ = update;
    }

    /// Called when the slot of a deleted instrument is reused for another, because no unused slot
    /// is left. The index now belongs to the new instrument; discard what is stored under it. Its
    /// user data is 0.
    fn on_instrument_replaced(&mut self, replaced: &InstrumentReplaced) {
        let _ = replaced;
    }

    /// Returns the user data of an instrument that was added, changed or deleted. Called right
    /// after [`Self::on_definition`]; `current` is the present value, initially 0. Later callbacks
    /// read it from [`Instruments::user_data`]. Between packets, use
    /// [`crate::Channel::set_user_data`].
    fn user_data(&mut self, update: &DefinitionUpdate<'_>, current: u64) -> u64 {
        let _ = update;
        current
    }

    /// Called for each price level entry of an incremental message that has changed a book in sync.
    /// Entries of the same message that follow are not yet applied. Costs nothing unless
    /// implemented.
    #[inline]
    fn on_book_entry(&mut self, entry: &BookEntryUpdate<'_>) {
        let _ = entry;
    }

    /// Called when a message has changed a direct or implied book; [`BookUpdate::changes`] says
    /// which parts. All entries of the message for the book have been applied. Inside an event the
    /// book may still be crossed, or contain a level that the event will delete. The book is in
    /// sync, except with `Settings::natural_refresh`; then check [`Book::sync_state`].
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        let _ = update;
    }

    /// Called when an entry or a snapshot has changed the best prices of the whole market, which
    /// EBS publishes in addition to its books. [`Instruments::market_best`] has the present ones.
    /// A BookReset and a ChannelReset clear them without this call.
    fn on_market_best(&mut self, update: &MarketBestUpdate<'_>) {
        let _ = update;
    }

    /// Called when a message or a snapshot has changed an order book, before the price book of the
    /// same message. Inside an event the book may still be inconsistent.
    fn on_order_update(&mut self, update: &OrderUpdate<'_>) {
        let _ = update;
    }

    /// Called when an order book has gained or lost sync, or was deleted, independently of the
    /// instrument's price book. The initial out-of-sync state of a new instrument is not reported.
    fn on_order_book_state(&mut self, change: &OrderBookStateChange<'_>) {
        let _ = change;
    }

    /// Called for a trade, even while the instrument's book is out of sync.
    fn on_trade(&mut self, trade: &Trade<'_>) {
        let _ = trade;
    }

    /// Called when trading of an instrument, a group or a product has opened, halted or closed.
    /// Also called when a snapshot shows that such a message was missed.
    fn on_security_status(&mut self, status: &SecurityStatus<'_>) {
        let _ = status;
    }

    /// Called for the session's electronic volume of an instrument, even while its book is out of
    /// sync.
    fn on_volume(&mut self, volume: &Volume<'_>) {
        let _ = volume;
    }

    /// Called when a session or daily statistic of an instrument has changed or was deleted. Also
    /// called when a snapshot shows that a statistic was missed. [`Instruments::statistics`] has
    /// the last value of each.
    fn on_statistic(&mut self, statistic: &Statistic<'_>) {
        let _ = statistic;
    }

    /// Called when the price limits of an instrument have changed. Also called when a snapshot
    /// shows that a message was missed.
    fn on_limits(&mut self, limits: &LimitsUpdate<'_>) {
        let _ = limits;
    }

    /// Called for a request for quotes.
    fn on_quote_request(&mut self, request: &QuoteRequest<'_>) {
        let _ = request;
    }

    /// Called when a workup has started, continued or ended. A workup is also a status of its
    /// instrument, available from [`Instruments::status`]; [`Self::on_security_status`] does not
    /// report it.
    fn on_workup(&mut self, workup: &Workup<'_>) {
        let _ = workup;
    }

    /// Called for new market values of repo collateral.
    fn on_collateral(&mut self, collateral: &Collateral<'_>) {
        let _ = collateral;
    }

    /// Called for a heartbeat: the packet's feed is alive but idle.
    fn on_heartbeat(&mut self, packet: &Packet) {
        let _ = packet;
    }

    /// Called after all callbacks for a message, even if it could not be decoded.
    fn on_end_of_message(&mut self, packet: &Packet, message: &Message<'_>) {
        let _ = (packet, message);
    }

    /// Called after all messages of a packet, on any feed.
    fn on_end_of_packet(&mut self, packet: &Packet) {
        let _ = packet;
    }

    /// Called by the loop that feeds the channel when it is idle. A channel alone never calls this.
    fn on_idle(&mut self, now: Now) {
        let _ = now;
    }

    /// Called after a message with the last customer quotes of an event (0x04). The direct books
    /// that [`EndOfEvent::changed`] names are final for the event, which may continue with
    /// statistics and implied quotes in later packets. On a channel with order books, called after
    /// the last message with orders, too.
    #[inline]
    fn on_end_of_quotes(&mut self, event: &EndOfEvent<'_>) {
        let _ = event;
    }

    /// Called after the message with the last implied quotes of an event (0x10): the implied books
    /// are final for the event.
    #[inline]
    fn on_end_of_implied(&mut self, event: &EndOfEvent<'_>) {
        let _ = event;
    }

    /// Called when a matching event is complete and all books are consistent. Make trading
    /// decisions here. [`EndOfEvent::end`] is `Indicator` unless the end of the event was lost.
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let _ = event;
    }

    /// Called when the exchange has emptied all books of the channel; all are in sync. No book
    /// updates follow.
    fn on_channel_reset(&mut self, reset: &ChannelReset<'_>) {
        let _ = reset;
    }

    /// Called when neither line has delivered some packets of the incremental feed. An interrupted
    /// event ends right after this call, with [`EventEnd::Gap`].
    fn on_gap(&mut self, gap: &Gap) {
        let _ = gap;
    }

    /// Called when a gap was requested by TCP replay, filled by it, or given up. During the replay,
    /// live packets are buffered and the channel does not advance.
    fn on_replay(&mut self, update: &ReplayUpdate) {
        let _ = update;
    }

    /// Called when a line, a feed or the whole channel has become silent, or receives packets
    /// again. Lines are reported before their feed, and feeds before the channel.
    fn on_silence(&mut self, silence: &Silence) {
        let _ = silence;
    }

    /// Called when an instrument has gained or lost sync, or was deleted. The initial out-of-sync
    /// state of a new instrument is not reported.
    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        let _ = change;
    }

    /// Called when the channel has entered another state.
    fn on_channel_state(&mut self, state: ChannelState) {
        let _ = state;
    }

    /// Called for a malformed packet or message. `packet` is `None` without a valid packet header.
    fn on_error(&mut self, packet: Option<&Packet>, error: &Error) {
        let _ = (packet, error);
    }

    /// Called for an unexpected condition when it occurs for the first time.
    fn on_warning(&mut self, warning: &Warning) {
        let _ = warning;
    }

    /// Called each time an instrument is ignored because [`Settings::max_instruments`] others
    /// exist, also after the first time, when [`Warning::InstrumentsOverCapacity`] is reported.
    ///
    /// [`Settings::max_instruments`]: crate::Settings::max_instruments
    fn on_instrument_over_capacity(&mut self, security_id: i32) {
        let _ = security_id;
    }
}

/// A listener that ignores all callbacks.
impl Listener for () {}

/// The state of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChannelState {
    /// Late join: the channel collects definitions and no book is known yet.
    CollectingDefinitions,
    /// Some books are not in sync.
    Recovering,
    /// All books are in sync.
    InSync,
}

/// The source of the entries of an update.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateSource {
    /// A message of the incremental feed.
    Incremental,
    /// A snapshot, with the queued entries after it applied.
    Snapshot,
    /// A message of the incremental feed. The book is not in sync and is being naturally refreshed.
    NaturalRefresh,
}

/// A new or changed definition.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DefinitionUpdate<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// MatchEventIndicator (5799).
    pub match_event: MatchEvent,
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// The present definition. If its action is `Delete`, the last one.
    pub definition: &'a Definition,
    /// All instruments and their books.
    pub instruments: &'a Instruments,
}

impl<'a> DefinitionUpdate<'a> {
    /// Returns the legs of a spread; empty for other instruments.
    pub fn legs(&self) -> impl Iterator<Item = &'a Leg> + use<'a> {
        self.instruments.legs(self.instrument)
    }

    /// Returns the underlyings of an option or a repo; empty for other instruments.
    pub fn underlyings(&self) -> impl Iterator<Item = &'a Underlying> + use<'a> {
        self.instruments.underlyings(self.instrument)
    }

    /// Returns all related instruments of the definition, in the order of the message.
    pub fn related(&self) -> impl Iterator<Item = &'a Related> + use<'a> {
        self.instruments.related(self.instrument)
    }
}

/// A price level entry that has changed a book (templates 46 and 64).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BookEntryUpdate<'a> {
    /// The packet with the message.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message.
    pub transact_time: Utc,
    /// MatchEventIndicator (5799) of the message.
    pub match_event: MatchEvent,
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// SecurityID (48).
    pub security_id: i32,
    /// RptSeq (83).
    pub rpt_seq: u32,
    /// The side.
    pub side: BookSide,
    /// The entry belongs to the implied book, not to the direct one.
    pub implied: bool,
    /// MDUpdateAction (279).
    pub action: MDUpdateAction,
    /// MDPriceLevel (1023), from 1.
    pub level: u8,
    /// MDEntryPx (270).
    pub price: Option<Price9>,
    /// MDEntrySize (271).
    pub quantity: Option<u64>,
    /// NumberOfOrders (346); 0 in an implied book.
    pub orders: u32,
}

/// A change of a book.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BookUpdate<'a> {
    /// The packet with the message, or with the snapshot.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message, or of the snapshot.
    pub transact_time: Utc,
    /// MatchEventIndicator (5799); none in a snapshot.
    pub match_event: MatchEvent,
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// The instrument's direct book, with all entries of the message applied.
    pub book: Book<'a>,
    /// All instruments and their books.
    pub instruments: &'a Instruments,
    /// The parts that have changed.
    pub changes: Changes,
    /// The source of the change.
    pub source: UpdateSource,
}

impl<'a> BookUpdate<'a> {
    /// Returns the instrument's implied book, with all entries of the message applied.
    #[must_use]
    pub fn implied(&self) -> ImpliedBook<'a> {
        self.instruments.implied_book(self.instrument)
    }

    /// Returns the instrument's direct and implied book as one.
    #[must_use]
    pub fn consolidated(&self) -> ConsolidatedBook<'a> {
        self.instruments.consolidated_book(self.instrument)
    }
}

/// A trading status (template 30).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SecurityStatus<'a> {
    /// The packet with the message, or with the snapshot.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message, or of the snapshot.
    pub transact_time: Utc,
    /// MatchEventIndicator (5799); none in a snapshot.
    pub match_event: MatchEvent,
    /// The affected instruments.
    pub scope: StatusScope,
    /// SecurityTradingStatus (326); `NO_CHANGE` or `None` if only the event is stated.
    pub trading_status: Option<SecurityTradingStatus>,
    /// HaltReason (327); `None` in a snapshot.
    pub halt_reason: Option<HaltReason>,
    /// SecurityTradingEvent (1174); `None` in a snapshot.
    pub event: Option<SecurityTradingEvent>,
    /// TradeDate (75): days since 1970-01-01.
    pub trade_date: Option<u16>,
    /// The source of the status.
    pub source: UpdateSource,
}

/// A trade (templates 48 and 65).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Trade<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// TransactTime (60): the time of the match, also on conflated feeds.
    pub transact_time: Utc,
    /// MatchEventIndicator (5799).
    pub match_event: MatchEvent,
    /// The instrument, `None` if not yet known.
    pub instrument: Option<InstrumentIndex>,
    /// SecurityID (48).
    pub security_id: i32,
    /// RptSeq (83).
    pub rpt_seq: u32,
    /// MDEntryPx (270).
    pub price: Price9,
    /// MDEntrySize (271).
    pub quantity: u64,
    /// NumberOfOrders (346): the aggressor's order and those it matched.
    pub orders: u32,
    /// AggressorSide (5797).
    pub aggressor: Option<AggressorSide>,
    /// MDUpdateAction (279): new, corrected (change) or busted (delete).
    pub action: MDUpdateAction,
    /// MDTradeEntryID (37711).
    pub trade_entry_id: Option<u32>,
    /// All instruments and their books.
    pub instruments: &'a Instruments,
    /// The message from its SBE header on, and the trade's position in it; used by
    /// [`Self::orders`].
    pub(crate) bytes: &'a [u8],
    pub(crate) position: TradePosition,
}

/// The electronic volume of an instrument (templates 37 and 66).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Volume<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// TransactTime (60).
    pub transact_time: Utc,
    /// MatchEventIndicator (5799).
    pub match_event: MatchEvent,
    /// The instrument, `None` if not yet known.
    pub instrument: Option<InstrumentIndex>,
    /// SecurityID (48).
    pub security_id: i32,
    /// RptSeq (83).
    pub rpt_seq: u32,
    /// MDEntrySize (271): the volume traded since the session began.
    pub quantity: u64,
    /// MDUpdateAction (279).
    pub action: MDUpdateAction,
}

impl Volume<'_> {
    /// Returns `true` if the exchange sends the volume again while it recovers.
    #[must_use]
    pub const fn is_resent(&self) -> bool {
        self.match_event.is_resent()
    }
}

/// The reason why an event has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventEnd {
    /// A message with MatchEventIndicator bit 0x80, or the end of a part of the event.
    Indicator,
    /// The next message has another TransactTime; the end of the event was not sent or was lost.
    TransactTime,
    /// Packets were lost. No book is in sync, so [`EndOfEvent::changed`] is empty.
    Gap,
}

/// A complete matching event, or a complete part of one.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EndOfEvent<'a> {
    /// The packet that ended the event; the event's first packet may be earlier. After a gap, the
    /// last packet before it.
    pub packet: &'a Packet,
    /// TransactTime (60) of the last message of the event.
    pub transact_time: Utc,
    /// MatchEventIndicator (5799) of the last message; none if the end of the event was lost.
    pub match_event: MatchEvent,
    /// The reason why the event has ended.
    pub end: EventEnd,
    /// All instruments and their books.
    pub instruments: &'a Instruments,
    pub(crate) changed: &'a [InstrumentIndex],
}

impl<'a> EndOfEvent<'a> {
    /// Returns the instruments that are in sync and whose direct or implied books the event
    /// changed. Each item has the direct book and the changes of both books.
    pub fn changed(&self) -> impl Iterator<Item = (InstrumentIndex, Book<'a>, Changes)> + use<'a> {
        let (instruments, changed) = (self.instruments, self.changed);
        changed.iter().filter_map(move |&instrument| {
            let head = &instruments.direct[instrument.as_usize()].head;
            let in_sync = head.state.is_in_sync();
            in_sync.then(|| (instrument, instruments.book(instrument), head.event_changes))
        })
    }
}

/// A reset of all books of the channel.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ChannelReset<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// TransactTime (60).
    pub transact_time: Utc,
    /// MatchEventIndicator (5799).
    pub match_event: MatchEvent,
}

/// A run of incremental packets that neither line delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// MsgSeqNum of the first missing packet.
    pub first: u32,
    /// The number of missing packets.
    pub count: u32,
}

/// The reuse of a deleted instrument's slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstrumentReplaced {
    /// The index of both instruments.
    pub instrument: InstrumentIndex,
    /// SecurityID (48) of the deleted instrument.
    pub before: i32,
    /// SecurityID (48) of the new instrument.
    pub security_id: i32,
    /// How often the slot was reused; see [`Instruments::generation`].
    pub generation: u32,
}

/// A change of an instrument's sync state.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct InstrumentStateChange<'a> {
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// The instrument's new state.
    pub state: SyncState,
    /// The instrument's direct book.
    pub book: Book<'a>,
    /// All instruments and their books.
    pub instruments: &'a Instruments,
}
