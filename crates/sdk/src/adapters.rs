//! The two listeners between a strategy and the low-level crates. Each is built per wakeup from
//! borrowed parts, and is monomorphized for the strategy.

use hairpin_feed_handler::{
    self as feed, ChannelReset, DefinitionUpdate, EndOfEvent, Gap, InstrumentStateChange,
    Instruments, Packet, SecurityStatus, Statistic, Trade,
};
use hairpin_order_entry::{
    self as order_entry, Established, Message, NotApplied, NotAppliedAnswer, Orders, RejectCode,
    Rejected, Sender, Terminated,
};
use hairpin_time::{Now, Utc};

use crate::context::{Context, CurrentSession};
use crate::error::RejectCodeText;
use crate::names::Names;
use crate::order_event::{
    Fill, OrderEvent, OrderFields, OrderState, Report, affected_order, report, unapplied_order,
};
use crate::state::{SegmentSession, State};
use crate::strategy::Callback;
use crate::{
    Book, BookEvent, ChannelId, Error, Instrument, MarketMessage, OrderMessage, Problem, Strategy,
    TradeEvent,
};

/// The listener of one channel.
pub(crate) struct FeedAdapter<'a, S> {
    pub(crate) strategy: &'a mut S,
    pub(crate) channel: ChannelId,
    pub(crate) now: Now,
    pub(crate) state: &'a mut State,
    /// The symbols, and the books of the other channels.
    pub(crate) names: Names<'a>,
    pub(crate) sessions: &'a mut [SegmentSession],
}

impl<S: Strategy> FeedAdapter<'_, S> {
    /// Returns the strategy, and the context of a callback. `instruments` are those of the channel.
    #[inline]
    fn parts<'b>(&'b mut self, instruments: Option<&'b Instruments>) -> (&'b mut S, Context<'b>) {
        let context = Context {
            now: self.now,
            state: self.state,
            names: Names { current: instruments, ..self.names },
            before: self.sessions,
            current: None,
            after: &mut [],
        };
        (self.strategy, context)
    }

    #[cold]
    fn problem(&mut self, problem: &Problem<'_>) {
        let (strategy, mut context) = self.parts(None);
        strategy.on_problem(problem, &mut context);
    }
}

impl<S: Strategy> feed::Listener for FeedAdapter<'_, S> {
    #[inline]
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        if !self.strategy.is_called(Callback::Book) {
            return;
        }
        for (index, book, changes) in event.changed() {
            let event = BookEvent {
                book: Book { instruments: event.instruments, index, book },
                changes,
                is_resent: event.match_event.is_resent(),
                transact_time: event.transact_time,
                received: event.packet.received,
            };
            let (strategy, mut context) = self.parts(Some(event.book.instruments));
            strategy.on_book(&event, &mut context);
        }
    }

    /// Reports a book that has come into sync.
    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        if !change.book.is_in_sync() {
            return;
        }
        let InstrumentStateChange { instrument: index, book, instruments, .. } = *change;
        let event = BookEvent {
            book: Book { instruments, index, book },
            changes: feed::Changes::BOOK
                .union(feed::Changes::BEST_BID)
                .union(feed::Changes::BEST_ASK)
                .union(feed::Changes::BEST_BID_PRICE)
                .union(feed::Changes::BEST_ASK_PRICE),
            is_resent: true,
            transact_time: Utc::EPOCH,
            received: None,
        };
        let (strategy, mut context) = self.parts(Some(instruments));
        strategy.on_book(&event, &mut context);
    }

    #[inline]
    fn on_trade(&mut self, trade: &Trade<'_>) {
        if !self.strategy.is_called(Callback::Trade) {
            return;
        }
        let (strategy, mut context) = self.parts(Some(trade.instruments));
        strategy.on_trade(&TradeEvent { trade }, &mut context);
    }

    fn on_definition(&mut self, update: &DefinitionUpdate<'_>) {
        let definition = update.definition;
        let security_id = definition.security_id.into();
        let instrument = Instrument { security_id, definition: Some(definition) };
        let (strategy, mut context) = self.parts(Some(update.instruments));
        strategy.on_instrument(&instrument, &mut context);
    }

    fn on_security_status(&mut self, status: &SecurityStatus<'_>) {
        let (strategy, mut context) = self.parts(None);
        strategy.on_status(status, &mut context);
    }

    fn on_statistic(&mut self, statistic: &Statistic<'_>) {
        let (strategy, mut context) = self.parts(None);
        strategy.on_statistic(statistic, &mut context);
    }

    #[inline]
    fn on_message(&mut self, packet: &Packet, message: &feed::Message<'_>) {
        if !self.strategy.is_called(Callback::MarketMessage) {
            return;
        }
        let channel = self.channel;
        let (strategy, mut context) = self.parts(None);
        strategy.on_market_message(&MarketMessage { channel, packet, message }, &mut context);
    }

    fn on_gap(&mut self, gap: &Gap) {
        self.problem(&Problem::Gap(self.channel, *gap));
    }

    fn on_channel_reset(&mut self, _: &ChannelReset<'_>) {
        self.problem(&Problem::ChannelReset(self.channel));
    }

    fn on_error(&mut self, _: Option<&Packet>, error: &feed::Error) {
        self.problem(&Problem::MarketData(self.channel, error));
    }
}

/// The listener of one session.
pub(crate) struct SessionAdapter<'a, S> {
    pub(crate) strategy: &'a mut S,
    pub(crate) now: Now,
    pub(crate) state: &'a mut State,
    pub(crate) names: Names<'a>,
    pub(crate) segment: Option<u8>,
    pub(crate) orders: &'a mut Orders,
    pub(crate) was_established: &'a mut bool,
    /// The answer to the current NotApplied.
    pub(crate) answer: NotAppliedAnswer,
    /// The sessions before and after this one.
    pub(crate) before: &'a mut [SegmentSession],
    pub(crate) after: &'a mut [SegmentSession],
}

impl<S: Strategy> SessionAdapter<'_, S> {
    #[inline]
    fn parts<'b>(&'b mut self, sender: &'b mut Sender<'_>) -> (&'b mut S, Context<'b>) {
        let (orders, sender) = (&mut *self.orders, sender.reborrow());
        let context = Context {
            now: self.now,
            state: self.state,
            names: self.names,
            before: self.before,
            current: Some(CurrentSession { segment: self.segment, orders, sender }),
            after: self.after,
        };
        (self.strategy, context)
    }

    #[cold]
    fn problem(&mut self, sender: &mut Sender<'_>, problem: &Problem<'_>) {
        let (strategy, mut context) = self.parts(sender);
        strategy.on_problem(problem, &mut context);
    }

    fn order_event(
        &mut self,
        sender: &mut Sender<'_>,
        order: OrderFields,
        state: OrderState,
        is_redelivered: bool,
    ) {
        let event = OrderEvent { order, state, reason: None, names: self.names, is_redelivered };
        let (strategy, mut context) = self.parts(sender);
        strategy.on_order(&event, &mut context);
    }
}

impl<S: Strategy> order_entry::Listener for SessionAdapter<'_, S> {
    /// Receives every business message: no callback of a template is implemented.
    fn on_message(&mut self, sender: &mut Sender<'_>, message: &Message<'_>) {
        if self.strategy.is_called(Callback::OrderMessage) {
            let raw = OrderMessage { segment: self.segment, message };
            let (strategy, mut context) = self.parts(sender);
            strategy.on_order_message(&raw, &mut context);
        }
        let is_redelivered = message.redelivered;
        let mut number = 0;
        while let Some(order) = affected_order(message, self.orders, number) {
            if let Some(order) = order {
                self.order_event(sender, order, OrderState::Canceled, is_redelivered);
            }
            number += 1;
        }
        let report = report(message, self.orders);
        self.orders.handle_message(message);
        let names = self.names;
        match report {
            Report::Order(order, state, reason) => {
                let event = OrderEvent { order, state, reason, names, is_redelivered };
                let (strategy, mut context) = self.parts(sender);
                strategy.on_order(&event, &mut context);
            }
            Report::Fill(fill) => {
                // The fills of an earlier process were counted when its journal was read.
                if !is_redelivered {
                    let id = fill.order.security_id;
                    self.state.positions.change(id, fill.position_change());
                }
                let event = Fill { fill, names, is_redelivered };
                let (strategy, mut context) = self.parts(sender);
                strategy.on_fill(&event, &mut context);
            }
            Report::Reject(reason) => self.problem(sender, &Problem::MessageRejected(&reason)),
            Report::Other => {}
        }
    }

    fn on_established(&mut self, _: &mut Sender<'_>, established: &Established) {
        *self.was_established = true;
        self.orders.handle_established(established.uuid);
    }

    fn on_reject(&mut self, sender: &mut Sender<'_>, rejected: &Rejected<'_>) {
        let reason = RejectCodeText { rejected };
        if !*self.was_established && is_final(rejected.code) {
            self.state.failure = Some(Error::Logon(reason.to_string()));
        } else {
            self.problem(sender, &Problem::Rejected(reason));
        }
    }

    fn on_terminate(&mut self, sender: &mut Sender<'_>, terminated: &Terminated<'_>) {
        if !terminated.solicited {
            self.problem(sender, &Problem::Terminated(terminated.code));
        }
    }

    fn answer_not_applied(
        &mut self,
        _: NotApplied,
        preferred: NotAppliedAnswer,
    ) -> NotAppliedAnswer {
        self.answer = preferred;
        preferred
    }

    fn on_not_applied(&mut self, sender: &mut Sender<'_>, not_applied: NotApplied) {
        self.problem(sender, &Problem::NotApplied(not_applied));
        let (uuid, answer) = (sender.progress().uuid, std::mem::take(&mut self.answer));
        let mut number = 0;
        while answer == NotAppliedAnswer::FillGap
            && let Some(order) = unapplied_order(uuid, not_applied, self.orders, number)
        {
            if let Some(order) = order {
                self.order_event(sender, order, OrderState::NotApplied, false);
            }
            number += 1;
        }
        self.orders.handle_not_applied(uuid, not_applied, answer);
    }

    fn on_lost(&mut self, sender: &mut Sender<'_>, gap: order_entry::Gap) {
        self.orders.handle_lost(gap);
        self.problem(sender, &Problem::Lost(gap));
    }

    fn on_error(&mut self, sender: &mut Sender<'_>, error: &order_entry::Error) {
        self.problem(sender, &Problem::Session(error));
    }

    fn on_warning(&mut self, sender: &mut Sender<'_>, warning: &order_entry::Warning) {
        self.problem(sender, &Problem::SessionWarning(warning));
    }
}

/// Returns `true` if a first logon cannot succeed without other settings.
fn is_final(code: RejectCode) -> bool {
    matches!(
        code,
        RejectCode::HMAC_NOT_AUTHENTICATED
            | RejectCode::REQUIRED_HMAC_SIGNATURE_MISSING
            | RejectCode::REQUIRED_ACCESS_KEY_ID_MISSING
            | RejectCode::REQUIRED_SESSION_MISSING
            | RejectCode::REQUIRED_FIRM_MISSING
            | RejectCode::SESSION_BLOCKED
            | RejectCode::INVALID_KEEP_ALIVE_INTERVAL
            | RejectCode::INVALID_ACCESS_KEY_ID
            | RejectCode::INVALID_SESSION
            | RejectCode::INVALID_FIRM
    )
}
