//! Received frames and the delivery of their business messages.
//!
//! `out_of_sequence` handles messages that are not the next in their stream.

use core::ops::RangeInclusive;

use hairpin_cme_codecs::ilink3::*;
use hairpin_sbe::{DecodeError, MessageHeader};
use hairpin_time::Now;

use crate::listener::{Gap, Message};
use crate::reassembly::FRAMING_HEADER_LENGTH;
use crate::sender::SEQ_NUM_MAX;
use crate::session::{Context, Session};
use crate::{Error, Listener, State, Warning};

/// The templates of session messages in both directions.
const SESSION_TEMPLATES: RangeInclusive<u16> = 500..=513;

/// The first template of the exchange's business messages.
const FIRST_EXCHANGE_TEMPLATE: u16 = 519;

/// The number and UUID at the start of every business message of the exchange.
struct StreamPosition {
    seq_num: u32,
    uuid: u64,
}

impl StreamPosition {
    fn decode(body: &[u8]) -> Option<Self> {
        let (seq_num, rest) = body.split_first_chunk()?;
        let uuid = u64::from_le_bytes(*rest.first_chunk()?);
        Some(Self { seq_num: u32::from_le_bytes(*seq_num), uuid })
    }
}

/// Decodes `$frame` as `$message` into a view named `$view` and runs `$then`. Fails the session if
/// decoding fails.
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
            Err(error) => $session.handle_decode_error($context, $frame.header.template_id, error),
        }
    }};
}

pub(super) use decode;

/// Checks a decoded business message with `$accept` and passes it to `$callback`, with its view if
/// `$view` is given. Runs the session's own handler `$first` before, if given. `$redelivered` marks
/// a message of a previous process.
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
            // The oldest versions of some messages do not have the flag.
            possible_retransmission: Option::from($decoded.poss_retrans_flag())
                == Some(BooleanFlag::TRUE),
            redelivered: $redelivered,
        };
        if $session.$accept($context, &message) {
            $session.keep_message($context, &message, $frame);
            $($($session.$first($decoded, &message);)?)?
            $session.notify($context, |listener, sender| {
                $(let $view = $decoded;)?
                listener.$callback(sender, $($view,)? &message)
            });
            $session.mark_processed($context, &message);
        }
    }};
}

/// A frame, decoded up to its SBE header.
#[derive(Clone, Copy)]
pub(super) struct Frame<'a> {
    pub(super) header: MessageHeader,
    pub(super) body: &'a [u8],
    /// The SBE header and body as received.
    message: &'a [u8],
    /// The whole frame with its framing header, if available.
    framed: Option<&'a [u8]>,
}

impl<'a> Frame<'a> {
    /// Returns the frame's length in bytes, framing header included.
    fn length(&self) -> u64 {
        (FRAMING_HEADER_LENGTH + self.message.len()) as u64
    }

    pub(super) fn decode(message: &'a [u8]) -> Result<Self, DecodeError> {
        let (header, body) = MessageHeader::decode(message)?;
        Ok(Self { header, body, message, framed: None })
    }

    /// Decodes a whole frame.
    #[inline(always)]
    fn decode_framed(frame: &'a [u8]) -> Result<Self, DecodeError> {
        let message = frame.get(FRAMING_HEADER_LENGTH..).ok_or(DecodeError::Header)?;
        Ok(Self { framed: Some(frame), ..Self::decode(message)? })
    }
}

impl Session {
    /// Handles one whole frame while the [fast path is
    /// armed](crate::sender::Outbound::fast_path_armed).
    #[inline(always)]
    pub(super) fn handle_frame_fast_path<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        frame: &[u8],
    ) {
        self.record_frame(context.now);
        let message = frame.get(FRAMING_HEADER_LENGTH..).unwrap_or_default();
        if let Some(decoded) = ExecutionReportNew522::decode_exact(message)
            && let Ok(frame) = Frame::decode_framed(frame)
        {
            deliver!(self, context, frame, false by accept_fast_path,
                decoded => on_execution_report_new report);
        } else {
            self.handle_message(&mut context.reborrow(), frame);
        }
        if !self.outbound.fast_path_armed {
            self.finish_frame(&mut context.reborrow());
        }
    }

    /// Handles one whole frame in any state.
    #[cold]
    #[inline(never)]
    pub(super) fn handle_frame<L: Listener>(&mut self, context: &mut Context<'_, L>, frame: &[u8]) {
        self.record_frame(context.now);
        self.handle_message(context, frame);
        self.finish_frame(context);
    }

    /// Records that a frame arrived, for counters and keep-alive.
    #[inline(always)]
    fn record_frame(&mut self, now: Now) {
        self.inbound.counters.frames += 1;
        self.inbound.last_received = now.monotonic;
        if self.inbound.sequence_requested_at.is_some() {
            self.inbound.sequence_requested_at = None;
            self.inbound.counters.silences += 1;
        }
    }

    /// Executes the consequences of a message after its callback.
    #[cold]
    fn finish_frame<L: Listener>(&mut self, context: &mut Context<'_, L>) {
        if self.recovery.active {
            self.recover(context);
        }
        self.report_state(context);
    }

    /// Handles the message of a whole frame.
    #[inline(never)]
    fn handle_message<L: Listener>(&mut self, context: &mut Context<'_, L>, frame: &[u8]) {
        let frame = match Frame::decode_framed(frame) {
            Ok(frame) => frame,
            Err(error) => return self.handle_decode_error(context, 0, error),
        };
        if self.faulted && frame.header.template_id != Terminate507::TEMPLATE_ID {
            self.inbound.counters.bytes_discarded += frame.length();
        } else if frame.header.schema_id != SCHEMA_ID {
            self.fail(context, Error::Schema(frame.header.schema_id));
        } else if SESSION_TEMPLATES.contains(&frame.header.template_id) {
            self.handle_session_message(context, frame);
        } else if let Some(decoded) = ExecutionReportCancel534::decode_exact(frame.message) {
            // The second most frequent message; decoding it needs no scratch buffer.
            deliver!(self, context, frame, false by accept,
                decoded => on_execution_report_cancel report);
        } else {
            self.handle_business_message(context, frame);
        }
    }

    /// Handles a business message of any template and version.
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
                            let redelivered = self.redelivering;
                            deliver!(self, context, frame, redelivered by accept,
                                decoded => $callback $($view $(after $first)?)?);
                        });
                    })*
                    _ => self.handle_unknown_template(context, frame),
                }
            };
        }
        by_template! {
            ExecutionReportNew522 => on_execution_report_new report;
            ExecutionReportCancel534 => on_execution_report_cancel report;
            BusinessReject521 => on_business_reject reject after handle_unnumbered_reject;
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

    /// Handles a template without its own callback. A business message of a later schema version is
    /// numbered, kept and delivered like any other. Every message of the exchange from template 519
    /// on has SeqNum at offset 0 and UUID at offset 4.
    #[cold]
    fn handle_unknown_template<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        frame: Frame<'_>,
    ) {
        let template_id = frame.header.template_id;
        let is_known = MESSAGES.iter().any(|message| message.template_id == template_id);
        if template_id < FIRST_EXCHANGE_TEMPLATE || is_known {
            return match self.redelivering {
                true => self.report_not_redelivered(context, template_id),
                false => self.fail(context, Error::UnknownTemplate(template_id)),
            };
        }
        let Some(numbers) = StreamPosition::decode(frame.body) else {
            return self.handle_decode_error(context, template_id, DecodeError::Block);
        };
        let StreamPosition { seq_num, uuid } = numbers;
        let message = Message {
            header: frame.header,
            body: frame.body,
            seq_num,
            uuid,
            // The offset of PossRetransFlag is unknown; a number published before implies the flag.
            possible_retransmission: !self.recovery.delivering_held
                && (uuid != self.outbound.progress.uuid || seq_num < self.next_published()),
            redelivered: self.redelivering,
        };
        if self.accept(context, &message) {
            self.keep_message(context, &message, frame);
            self.report_unknown_template(context, &frame.header);
            self.notify(context, |listener, sender| listener.on_message(sender, &message));
            self.mark_processed(context, &message);
        }
    }

    /// Counts a message of an unknown template. Warns about the first one of each template.
    fn report_unknown_template<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        header: &MessageHeader,
    ) {
        self.inbound.counters.unknown_messages += 1;
        let MessageHeader { template_id, version, .. } = *header;
        if self.unknown_templates.contains(&template_id) {
            return;
        }
        if let Some(free) = self.unknown_templates.iter_mut().find(|it| **it == 0) {
            *free = template_id;
            self.warn(context, Warning::UnknownTemplate { template_id, version });
        }
    }

    /// Handles a reject without RefSeqNum: the exchange has not used the number.
    fn handle_unnumbered_reject(&mut self, reject: BusinessReject521<'_>, message: &Message<'_>) {
        let is_present = message.uuid == self.outbound.progress.uuid && !message.redelivered;
        if reject.ref_seq_num().is_none() && is_present {
            self.outbound.reclaim_seq_num(reject.business_reject_ref_id());
        }
    }

    /// Returns `true` if the business message is the next one and can be delivered.
    #[inline(always)]
    fn accept<L: Listener>(&mut self, context: &mut Context<'_, L>, message: &Message<'_>) -> bool {
        if message.redelivered {
            self.inbound.counters.redelivered += 1;
            return true;
        }
        if !self.may_deliver() || !self.is_next(message) {
            return self.handle_out_of_sequence(context, *message);
        }
        let is_retransmitted = self.recovery.active && message.possible_retransmission;
        self.inbound.counters.retransmitted += u64::from(is_retransmitted);
        self.advance();
        true
    }

    /// Like `accept`, for a message just received while the fast path is armed.
    #[inline(always)]
    fn accept_fast_path<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        message: &Message<'_>,
    ) -> bool {
        if !self.is_next(message) {
            // A copy, so that the original message need not be in memory.
            return self.handle_out_of_sequence(&mut context.reborrow(), *message);
        }
        self.advance();
        true
    }

    /// Returns `true` if the next message of the current UUID may be delivered.
    fn may_deliver(&self) -> bool {
        let is_on = match self.outbound.state {
            State::Established => true,
            State::Terminating => self.was_established,
            _ => false,
        };
        is_on && !self.recovery.current_uuid_blocked
    }

    /// Returns `true` if the message is the next one of the current UUID.
    #[inline(always)]
    fn is_next(&self, message: &Message<'_>) -> bool {
        let progress = &self.outbound.progress;
        message.uuid == progress.uuid
            && message.seq_num == progress.next_incoming
            && message.seq_num <= SEQ_NUM_MAX
    }

    /// Advances to the next incoming SeqNum.
    #[inline(always)]
    fn advance(&mut self) {
        let progress = &mut self.outbound.progress;
        progress.next_incoming += 1;
        self.inbound.counters.business_messages += 1;
    }

    /// Passes a message to the sink to keep before its first delivery.
    #[inline(always)]
    fn keep_message<L>(
        &self,
        context: &mut Context<'_, L>,
        message: &Message<'_>,
        frame: Frame<'_>,
    ) {
        if !message.redelivered {
            let Message { uuid, seq_num, .. } = *message;
            match frame.framed {
                Some(framed) => context.sink.keep_frame(uuid, seq_num, framed),
                None => context.sink.keep(uuid, seq_num, frame.message),
            }
        }
    }

    /// Marks the last kept message as processed.
    #[inline(always)]
    fn mark_processed<L>(&self, context: &mut Context<'_, L>, message: &Message<'_>) {
        if !message.redelivered {
            context.sink.mark();
        }
    }

    pub(super) fn report_gap<L: Listener>(&mut self, context: &mut Context<'_, L>, gap: Gap) {
        self.inbound.counters.gaps += 1;
        self.inbound.counters.gap_messages += u64::from(gap.to - gap.from) + 1;
        self.notify(context, |listener, sender| listener.on_gap(sender, gap));
    }

    /// Warns if the frame is longer than its message.
    #[inline(always)]
    pub(super) fn check_length<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        frame: Frame<'_>,
        length: usize,
    ) {
        let bytes = (MessageHeader::LENGTH + frame.body.len()).saturating_sub(length);
        // A held message caused its warning on arrival.
        if bytes > 0 && !self.recovery.delivering_held {
            self.warn_trailing(&mut context.reborrow(), frame.header.template_id, bytes);
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
    pub(super) fn handle_decode_error<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        template_id: u16,
        error: DecodeError,
    ) {
        match self.redelivering {
            true => self.report_not_redelivered(context, template_id),
            false => self.fail(context, Error::Decode { template_id, error }),
        }
    }
}
