//! What a channel tells.

use hairpin_cme_codecs::mdp3::{
    AggressorSide, HaltReason, MDUpdateAction, SecurityTradingEvent, SecurityTradingStatus,
};
use hairpin_time::{Now, Utc};

use crate::message::entries::TradePosition;
use crate::{
    Book, Changes, Collateral, ConsolidatedBook, Definition, Error, ImpliedBook, InstrumentIndex,
    Instruments, Leg, LimitsUpdate, Message, OrderBookStateChange, OrderUpdate, Packet, Price9,
    QuoteRequest, Related, ReplayUpdate, Silence, Statistic, StatusScope, SyncState, Underlying,
    Warning, Workup,
};

/// What a channel tells, in the order of the stream. Every method does nothing by default.
///
/// All views are borrowed for the duration of the call. A listener must not block.
pub trait Listener {
    /// A packet is processed: it is the next of its feed, and has not been seen before.
    fn on_packet(&mut self, packet: &Packet) {
        let _ = packet;
    }

    /// A message with a sound frame, of whatever template, before what it means is told. Its header
    /// has the template that [`crate::Settings::templates`] says its id stands for.
    fn on_message(&mut self, packet: &Packet, message: &Message<'_>) {
        let _ = (packet, message);
    }

    /// An instrument is new, has changed or is gone. Repetitions are not told.
    fn on_definition(&mut self, update: &DefinitionUpdate<'_>) {
        let _ = update;
    }

    /// The user's own word for an instrument that is new, has changed or is gone, asked for right
    /// after [`Self::on_definition`] has told it; `kept` is what it is by now, 0 at first. Every
    /// later callback finds it in [`Instruments::user_data`]. Between packets
    /// [`crate::Channel::set_user_data`] sets it.
    fn user_data(&mut self, update: &DefinitionUpdate<'_>, kept: u64) -> u64 {
        let _ = update;
        kept
    }

    /// A message has changed a book, direct or implied: [`BookUpdate::changes`] says which. All
    /// its entries for the book have been applied, and the book may still be amid an event:
    /// crossed, or with a level to be deleted yet. The book is in sync, but with
    /// `Settings::natural_refresh`: then [`Book::sync_state`] says whether it is.
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        let _ = update;
    }

    /// A message or a snapshot has changed an order book. Told before the price book of the same
    /// message, and like that it may still be amid an event.
    fn on_order_update(&mut self, update: &OrderUpdate<'_>) {
        let _ = update;
    }

    /// An order book has come in sync, has fallen out of it, or is gone, whatever the price book of
    /// its instrument does. That a newly defined instrument's is not in sync yet is not told.
    fn on_order_book_state(&mut self, change: &OrderBookStateChange<'_>) {
        let _ = change;
    }

    /// A trade. Told also while the instrument's book is not in sync.
    fn on_trade(&mut self, trade: &Trade<'_>) {
        let _ = trade;
    }

    /// Trading has begun, halted or ended for an instrument, a group or a product. Told also when
    /// a snapshot shows that such a message was missed.
    fn on_security_status(&mut self, status: &SecurityStatus<'_>) {
        let _ = status;
    }

    /// The session's electronic volume of an instrument, told also while its book is not in sync.
    fn on_volume(&mut self, volume: &Volume<'_>) {
        let _ = volume;
    }

    /// A statistic of an instrument, of the session or of the day, has come or gone. Told also
    /// when a snapshot shows that one was missed. [`Instruments::statistics`] has the last of each.
    fn on_statistic(&mut self, statistic: &Statistic<'_>) {
        let _ = statistic;
    }

    /// The limits of an instrument's price have changed. Told also when a snapshot shows that a
    /// message was missed.
    fn on_limits(&mut self, limits: &LimitsUpdate<'_>) {
        let _ = limits;
    }

    /// Someone asks for quotes.
    fn on_quote_request(&mut self, request: &QuoteRequest<'_>) {
        let _ = request;
    }

    /// A workup has begun, goes on or has ended. It is a status of its instrument too, which
    /// [`Instruments::status`] has from here on; [`Self::on_security_status`] does not tell it.
    fn on_workup(&mut self, workup: &Workup<'_>) {
        let _ = workup;
    }

    /// Collateral of repos has been valued.
    fn on_collateral(&mut self, collateral: &Collateral<'_>) {
        let _ = collateral;
    }

    /// The feed of the packet is alive and has nothing to say.
    fn on_heartbeat(&mut self, packet: &Packet) {
        let _ = packet;
    }

    /// All that the message means has been told, or that it cannot be read.
    fn on_end_of_message(&mut self, packet: &Packet, message: &Message<'_>) {
        let _ = (packet, message);
    }

    /// All messages of the packet have been told, of whatever feed.
    fn on_end_of_packet(&mut self, packet: &Packet) {
        let _ = packet;
    }

    /// The loop that feeds the channel found nothing to do. A channel alone never tells this.
    fn on_idle(&mut self, now: Now) {
        let _ = now;
    }

    /// A matching event is complete: all books are consistent. This is the moment to decide.
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        let _ = event;
    }

    /// The exchange has emptied all books of the channel, which are in sync from here on. No book
    /// update is told for each.
    fn on_channel_reset(&mut self, reset: &ChannelReset<'_>) {
        let _ = reset;
    }

    /// Neither side has delivered some packets of the incremental feed. What the event they were
    /// part of has changed is not told by an end of event.
    fn on_gap(&mut self, gap: &Gap) {
        let _ = gap;
    }

    /// A gap is asked for by TCP replay, was filled by it, or was given up. While it is asked for,
    /// the channel stands still: live packets are held until it is filled.
    fn on_replay(&mut self, update: &ReplayUpdate) {
        let _ = update;
    }

    /// A side, a feed or the whole channel brings nothing any more, or brings something again. A
    /// side is told before its feed, and that before the channel.
    fn on_silence(&mut self, silence: &Silence) {
        let _ = silence;
    }

    /// An instrument has come in sync, has fallen out of it, or is gone. That a newly defined
    /// instrument is not in sync yet is not told.
    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        let _ = change;
    }

    /// The channel has entered another state.
    fn on_channel_state(&mut self, state: ChannelState) {
        let _ = state;
    }

    /// The packet was wrong. `None`: it had no sound header.
    fn on_error(&mut self, packet: Option<&Packet>, error: &Error) {
        let _ = (packet, error);
    }

    /// Something odd has happened for the first time.
    fn on_warning(&mut self, warning: &Warning) {
        let _ = warning;
    }
}

/// A listener that does not care.
impl Listener for () {}

/// The state of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChannelState {
    /// A late join: definitions are being collected, no book is known yet.
    CollectingDefinitions,
    /// Some books are not in sync.
    Recovering,
    /// All books are in sync.
    InSync,
}

/// Where the entries of a book update came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpdateSource {
    /// A message of the incremental feed.
    Incremental,
    /// A snapshot, with the queued entries after it applied.
    Snapshot,
    /// A message of the incremental feed; the book is not in sync, but begins anew by natural
    /// refresh.
    NaturalRefresh,
}

/// A definition came.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct DefinitionUpdate<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// What it is now. If its action is `Delete`, what it was.
    pub definition: &'a Definition,
    pub(crate) instruments: &'a Instruments,
}

impl<'a> DefinitionUpdate<'a> {
    /// The legs of a spread; none of anything else.
    pub fn legs(&self) -> impl Iterator<Item = &'a Leg> + use<'a> {
        self.instruments.legs(self.instrument)
    }

    /// What an option or a repo is on; nothing of anything else.
    pub fn underlyings(&self) -> impl Iterator<Item = &'a Underlying> + use<'a> {
        self.instruments.underlyings(self.instrument)
    }

    /// Everything the definition relates the instrument to, in the order of the message.
    pub fn related(&self) -> impl Iterator<Item = &'a Related> + use<'a> {
        self.instruments.related(self.instrument)
    }
}

/// A book has changed.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BookUpdate<'a> {
    /// The packet with the message, or with the snapshot.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message, or of the snapshot.
    pub transact_time: Utc,
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// Its direct book, with all entries of the message applied.
    pub book: Book<'a>,
    /// All books.
    pub instruments: &'a Instruments,
    /// What has changed.
    pub changes: Changes,
    /// Whether a message or a snapshot has changed it.
    pub source: UpdateSource,
}

impl<'a> BookUpdate<'a> {
    /// The instrument's implied book, with all entries of the message applied.
    #[must_use]
    pub fn implied(&self) -> ImpliedBook<'a> {
        self.instruments.implied_book(self.instrument)
    }

    /// The instrument's direct and implied book as one.
    #[must_use]
    pub fn consolidated(&self) -> ConsolidatedBook<'a> {
        self.instruments.consolidated_book(self.instrument)
    }
}

/// Whether trading goes on (template 30).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct SecurityStatus<'a> {
    /// The packet with the message, or with the snapshot.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message, or of the snapshot.
    pub transact_time: Utc,
    /// Which instruments are meant.
    pub scope: StatusScope,
    /// SecurityTradingStatus (326); `NO_CHANGE` or `None` if only the event is told.
    pub trading_status: Option<SecurityTradingStatus>,
    /// HaltReason (327); `None` in a snapshot.
    pub halt_reason: Option<HaltReason>,
    /// SecurityTradingEvent (1174); `None` in a snapshot.
    pub event: Option<SecurityTradingEvent>,
    /// TradeDate (75): days since 1970-01-01.
    pub trade_date: Option<u16>,
    /// Whether a message or a snapshot told it.
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
    /// The instrument, `None` while it is unknown.
    pub instrument: Option<InstrumentIndex>,
    /// SecurityID (48).
    pub security_id: i32,
    /// RptSeq (83).
    pub rpt_seq: u32,
    /// MDEntryPx (270).
    pub price: Price9,
    /// MDEntrySize (271).
    pub quantity: u64,
    /// NumberOfOrders (346): the aggressor's and those it met.
    pub orders: u32,
    /// AggressorSide (5797).
    pub aggressor: Option<AggressorSide>,
    /// MDUpdateAction (279): new, corrected (change) or busted (delete).
    pub action: MDUpdateAction,
    /// MDTradeEntryID (37711).
    pub trade_entry_id: Option<u32>,
    /// The message from its SBE header on, and which of its trades this is: what
    /// [`Self::orders`] reads.
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
    /// The instrument, `None` while it is unknown.
    pub instrument: Option<InstrumentIndex>,
    /// SecurityID (48).
    pub security_id: i32,
    /// RptSeq (83).
    pub rpt_seq: u32,
    /// MDEntrySize (271): traded since the session began.
    pub quantity: u64,
    /// MDUpdateAction (279).
    pub action: MDUpdateAction,
}

/// An event is complete.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct EndOfEvent<'a> {
    /// The packet that ended it; its first packet may have come earlier.
    pub packet: &'a Packet,
    /// TransactTime (60) of the message that ended it.
    pub transact_time: Utc,
    /// All books.
    pub instruments: &'a Instruments,
    pub(crate) changed: &'a [InstrumentIndex],
}

impl<'a> EndOfEvent<'a> {
    /// The instruments whose books, direct or implied, the event has changed and that are in sync;
    /// their direct books, and what of both any of its messages has changed.
    pub fn changed(&self) -> impl Iterator<Item = (InstrumentIndex, Book<'a>, Changes)> + use<'a> {
        let (instruments, changed) = (self.instruments, self.changed);
        changed.iter().filter_map(move |&instrument| {
            let head = &instruments.direct[instrument.as_usize()].head;
            let in_sync = head.state.is_in_sync();
            in_sync.then(|| (instrument, instruments.book(instrument), head.event_changes))
        })
    }
}

/// All books are empty.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct ChannelReset<'a> {
    /// The packet.
    pub packet: &'a Packet,
    /// TransactTime (60).
    pub transact_time: Utc,
}

/// Packets of the incremental feed that neither side has delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gap {
    /// MsgSeqNum of the first.
    pub first: u32,
    /// How many.
    pub count: u32,
}

/// An instrument has come in sync, has fallen out of it, or is gone.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct InstrumentStateChange<'a> {
    /// The instrument.
    pub instrument: InstrumentIndex,
    /// Its new state.
    pub state: SyncState,
    /// Its book.
    pub book: Book<'a>,
}
