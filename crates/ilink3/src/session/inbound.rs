//! Frames of the exchange, and the business messages in them, told.
//!
//! What is not the next message in its stream is judged in `judgement`.

use core::ops::RangeInclusive;

use hairpin_cme_codecs::ilink3::*;
use hairpin_sbe::{DecodeError, MessageHeader};
use hairpin_time::Now;

use crate::listener::{Gap, Message};
use crate::reassembly::FRAMING_HEADER_LENGTH;
use crate::sender::SEQ_NUM_MAX;
use crate::session::{Context, Session};
use crate::{Error, Listener, State, Warning};

/// Templates of session messages, both directions.
const SESSION_TEMPLATES: RangeInclusive<u16> = 500..=513;

/// Decodes `$body` as `$message` into a view named `$view` and runs `$then`; if that cannot be,
/// fails the session.
macro_rules! decode {
    (
        $session:ident, $context:ident, $frame:ident, $message:ident as $view:ident => $then:expr
    ) => {{
        let mut scratch = $message::SCRATCH;
        match $message::decode(&$frame.header, $frame.body, &mut scratch) {
            Ok($view) => {
                $session.check_length($context, $frame, $view.encoded_length());
                $then
            }
            Err(error) => $session.undecodable($context, $frame.header.template_id, error),
        }
    }};
}

pub(super) use decode;

/// Has the number of a business message that is decoded checked by `$accept` and gives it to
/// `$callback`, with its view if there is a `$view`, and after the session itself has looked at it
/// if it is to look `$first`. `$redelivered` says whether an earlier process has kept it.
macro_rules! deliver {
    (
        $session:ident, $context:ident, $frame:ident, $redelivered:ident by $accept:ident,
        $decoded:ident => $callback:ident $($view:ident $(after $first:ident)?)?
    ) => {{
        let message = Message {
            header: $frame.header,
            body: $frame.body,
            seq_num: $decoded.seq_num(),
            uuid: $decoded.uuid(),
            // Absent from the oldest versions of some messages.
            possible_retransmission: Option::from($decoded.poss_retrans_flag())
                == Some(BooleanFlag::TRUE),
            redelivered: $redelivered,
        };
        if $session.$accept($context, &message) {
            $session.keep($context, &message, $frame);
            $($($session.$first($decoded, &message);)?)?
            $session.tell($context, |listener, sender| {
                $(let $view = $decoded;)?
                listener.$callback(sender, $($view,)? &message)
            });
            $session.mark($context, &message);
        }
    }};
}

/// A frame without its framing header.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) header: MessageHeader,
    pub(super) body: &'a [u8],
    /// Both, as they came.
    message: &'a [u8],
    /// The same with the framing header, if that is there.
    framed: Option<&'a [u8]>,
}

impl<'a> Frame<'a> {
    pub(super) fn decode(message: &'a [u8]) -> Result<Self, DecodeError> {
        let (header, body) = MessageHeader::decode(message)?;
        Ok(Self { header, body, message, framed: None })
    }

    /// The same of a whole frame.
    #[inline(always)]
    fn of_framed(frame: &'a [u8]) -> Result<Self, DecodeError> {
        let message = frame.get(FRAMING_HEADER_LENGTH..).ok_or(DecodeError::Header)?;
        Ok(Self { framed: Some(frame), ..Self::decode(message)? })
    }
}

impl Session {
    /// Takes one whole frame while the session is as [usual](crate::sender::Outbound::is_usual).
    #[inline(always)]
    pub(super) fn handle_usual_frame<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        frame: &[u8],
    ) {
        self.hear(context.now);
        let message = frame.get(FRAMING_HEADER_LENGTH..).unwrap_or_default();
        if let Some(decoded) = ExecutionReportNew522::decode_exact(message)
            && let Ok(frame) = Frame::of_framed(frame)
        {
            deliver!(self, context, frame, false by accept_usual,
                decoded => on_execution_report_new report);
        } else {
            self.handle_message(&mut context.copy(), frame);
        }
        if !self.outbound.is_usual {
            self.look_after(&mut context.copy());
        }
    }

    /// Takes one whole frame, whatever the state of the session.
    #[cold]
    #[inline(never)]
    pub(super) fn handle_frame<L: Listener>(&mut self, context: &mut Context<'_, L>, frame: &[u8]) {
        self.hear(context.now);
        self.handle_message(context, frame);
        self.look_after(context);
    }

    /// The exchange is there.
    #[inline(always)]
    fn hear(&mut self, now: Now) {
        self.inbound.counters.frames += 1;
        self.inbound.last_heard = now.monotonic;
        if self.inbound.asked.is_some() {
            self.inbound.asked = None;
            self.inbound.counters.silences += 1;
        }
    }

    /// Does what a message has brought about beside its callback.
    #[cold]
    fn look_after<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        if self.recovery.is_active {
            self.recover(context);
        }
        self.settle(context);
    }

    /// Takes the message of a whole frame.
    #[inline(never)]
    fn handle_message<L: Listener>(&mut self, context: &mut Context<'_, L>, frame: &[u8]) {
        let frame = match Frame::of_framed(frame) {
            Ok(frame) => frame,
            Err(error) => return self.undecodable(context, 0, error),
        };
        if frame.header.schema_id != SCHEMA_ID {
            self.fail(context, Error::Schema(frame.header.schema_id));
        } else if SESSION_TEMPLATES.contains(&frame.header.template_id) {
            self.handle_session_message(context, frame);
        } else if let Some(decoded) = ExecutionReportCancel534::decode_exact(frame.message) {
            // The second most frequent of all: without a scratch to clear.
            deliver!(self, context, frame, false by accept,
                decoded => on_execution_report_cancel report);
        } else {
            self.handle_business_message(context, frame);
        }
    }

    /// Takes a business message of any template and version.
    #[inline(never)]
    pub(super) fn handle_business_message<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        frame: Frame<'_>,
    ) {
        macro_rules! by_template {
            ($($name:ident => $callback:ident $($view:ident $(after $first:ident)?)?;)*) => {
                match frame.header.template_id {
                    $($name::TEMPLATE_ID => {
                        decode!(self, context, frame, $name as decoded => {
                            let redelivered = self.is_redelivering;
                            deliver!(self, context, frame, redelivered by accept,
                                decoded => $callback $($view $(after $first)?)?);
                        });
                    })*
                    template if self.is_redelivering => self.not_redelivered(context, template),
                    template => self.fail(context, Error::UnknownTemplate(template)),
                }
            };
        }
        by_template! {
            ExecutionReportNew522 => on_execution_report_new report;
            ExecutionReportCancel534 => on_execution_report_cancel report;
            BusinessReject521 => on_business_reject reject after settle_number;
            PartyDetailsDefinitionRequestAck519 => on_party_details_definition_ack ack;
            ExecutionReportReject523 => on_execution_report_reject report;
            ExecutionReportElimination524 => on_execution_report_elimination report;
            ExecutionReportTradeOutright525 => on_execution_report_trade_outright report;
            ExecutionReportTradeSpread526 => on_execution_report_trade_spread report;
            ExecutionReportTradeSpreadLeg527 => on_execution_report_trade_spread_leg report;
            ExecutionReportModify531 => on_execution_report_modify report;
            ExecutionReportStatus532 => on_execution_report_status report;
            OrderCancelReject535 => on_order_cancel_reject reject;
            OrderCancelReplaceReject536 => on_order_cancel_replace_reject reject;
            PartyDetailsListReport538 => on_party_details_list_report report;
            MassQuoteAck545 => on_mass_quote_ack ack;
            RequestForQuoteAck546 => on_request_for_quote_ack ack;
            ExecutionReportTradeAddendumOutright548 => on_trade_addendum_outright addendum;
            ExecutionReportTradeAddendumSpread549 => on_trade_addendum_spread addendum;
            ExecutionReportTradeAddendumSpreadLeg550 => on_trade_addendum_spread_leg addendum;
            SecurityDefinitionResponse561 => on_security_definition_response response;
            OrderMassActionReport562 => on_order_mass_action_report report;
            QuoteCancelAck563 => on_quote_cancel_ack ack;
            ExecutionReportPendingCancel564 => on_execution_report_pending_cancel report;
            ExecutionReportPendingReplace565 => on_execution_report_pending_replace report;
            MassQuoteResponse571 => on_mass_quote_response response;
        }
    }

    /// A refusal without the number it refuses: that number is not used on the exchange's side.
    fn settle_number(&mut self, reject: BusinessReject521<'_>, message: &Message<'_>) {
        let is_present = message.uuid == self.outbound.progress.uuid && !message.redelivered;
        if reject.ref_seq_num().is_none() && is_present {
            self.outbound.take_back(reject.business_reject_ref_id());
        }
    }

    /// Whether a business message is the next one, and to be delivered.
    #[inline(always)]
    fn accept<L: Listener>(&mut self, context: &mut Context<'_, L>, message: &Message<'_>) -> bool {
        if message.redelivered {
            self.inbound.counters.redelivered += 1;
            return true;
        }
        if !self.flows() || !self.is_next(message) {
            return self.judge(context, *message);
        }
        let is_retransmitted = self.recovery.is_active && message.possible_retransmission;
        self.inbound.counters.retransmitted += u64::from(is_retransmitted);
        self.go_on();
        true
    }

    /// The same of one that has just come, while the session is as usual.
    #[inline(always)]
    fn accept_usual<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        message: &Message<'_>,
    ) -> bool {
        if !self.is_next(message) {
            // A copy: the message itself need not be in memory, where nobody looks at it.
            return self.judge(&mut context.copy(), *message);
        }
        self.go_on();
        true
    }

    /// Whether messages of the present UUID are delivered when they are next.
    fn flows(&self) -> bool {
        let is_on = match self.outbound.state {
            State::Established => true,
            State::Terminating => self.was_established,
            _ => false,
        };
        is_on && !self.recovery.is_earlier
    }

    /// Whether a message is the next one of the present UUID.
    #[inline(always)]
    fn is_next(&self, message: &Message<'_>) -> bool {
        let progress = &self.outbound.progress;
        message.uuid == progress.uuid
            && message.seq_num == progress.next_incoming
            && message.seq_num <= SEQ_NUM_MAX
    }

    /// The message that was next is delivered.
    #[inline(always)]
    fn go_on(&mut self) {
        let progress = &mut self.outbound.progress;
        progress.next_incoming += 1;
        self.inbound.counters.business_messages += 1;
    }

    /// Has a message kept that is about to be delivered for the first time.
    #[inline(always)]
    fn keep<L>(&self, context: &mut Context<'_, L>, message: &Message<'_>, frame: Frame<'_>) {
        if !message.redelivered {
            let Message { uuid, seq_num, .. } = *message;
            match frame.framed {
                Some(framed) => context.outlet.keep_frame(uuid, seq_num, framed),
                None => context.outlet.keep(uuid, seq_num, frame.message),
            }
        }
    }

    /// The callback of the message that was kept last has returned.
    #[inline(always)]
    fn mark<L>(&self, context: &mut Context<'_, L>, message: &Message<'_>) {
        if !message.redelivered {
            context.outlet.mark();
        }
    }

    pub(super) fn report_gap<L: Listener>(&mut self, context: &mut Context<'_, L>, gap: Gap) {
        self.inbound.counters.gaps += 1;
        self.inbound.counters.gap_messages += u64::from(gap.to - gap.from) + 1;
        self.tell(context, |listener, sender| listener.on_gap(sender, gap));
    }

    /// Warns of bytes behind the message: its frame is longer than it.
    #[inline(always)]
    pub(super) fn check_length<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        frame: Frame<'_>,
        length: usize,
    ) {
        let bytes = (MessageHeader::LENGTH + frame.body.len()).saturating_sub(length);
        // Of a message that was held the warning was given when it came.
        if bytes > 0 && !self.recovery.is_releasing {
            self.warn_trailing(&mut context.copy(), frame.header.template_id, bytes);
        }
    }

    #[cold]
    fn warn_trailing<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        template_id: u16,
        bytes: usize,
    ) {
        self.inbound.counters.trailing_bytes += 1;
        self.warn(context, Warning::TrailingBytes { template_id, bytes });
    }

    #[cold]
    pub(super) fn undecodable<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        template_id: u16,
        error: DecodeError,
    ) {
        match self.is_redelivering {
            true => self.not_redelivered(context, template_id),
            false => self.fail(context, Error::Decode { template_id, error }),
        }
    }
}
