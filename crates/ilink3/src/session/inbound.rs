//! Frames of the exchange, and the business messages in them, told.
//!
//! What is not the next message in its stream is judged in `judgement`.

use core::ops::RangeInclusive;

use hairpin_cme_codecs::ilink3::*;
use hairpin_sbe::{DecodeError, MessageHeader};

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

/// Checks the number of a business message that is decoded and gives it to `$callback`, with its
/// view if there is a `$view`, and after the session itself has looked at it if it is to look
/// `$first`. `$redelivered` says whether an earlier process has kept it.
macro_rules! deliver {
    (
        $session:ident, $context:ident, $frame:ident, $redelivered:expr,
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
        if $session.accept($context, &message) {
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

/// Takes a business message that is mostly plain: any other is left to the function for the rarer
/// ones.
macro_rules! usual {
    (
        $session:ident, $context:ident, $frame:ident, $name:ident => $callback:ident $view:ident
    ) => {
        match $name::decode_plain($frame.message) {
            Some(decoded) => {
                // What an earlier process has kept never comes this way.
                deliver!($session, $context, $frame, false, decoded => $callback $view);
            }
            None => $session.handle_business_message(&mut $context.copy(), $frame),
        }
    };
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
}

impl Session {
    /// Takes one whole frame. If it `IS_RARE` that one comes this way, what it takes is not to be
    /// at hand here.
    #[inline(always)]
    pub(super) fn handle_frame<L: Listener, const IS_RARE: bool>(
        &mut self,
        context: &mut Context<'_, L>,
        frame: &[u8],
    ) {
        self.inbound.counters.frames += 1;
        self.inbound.last_heard = context.now.monotonic;
        if self.inbound.asked.take().is_some() {
            self.inbound.counters.silences += 1;
        }
        let frame = match Frame::decode(&frame[FRAMING_HEADER_LENGTH..]) {
            Ok(message) => Frame { framed: Some(frame), ..message },
            Err(error) => return self.undecodable(&mut context.copy(), 0, error),
        };
        if frame.header.schema_id != SCHEMA_ID {
            return self.fail(&mut context.copy(), Error::Schema(frame.header.schema_id));
        }
        self.dispatch::<L, IS_RARE>(context, frame);
        if self.recovery.is_active {
            self.recover(&mut context.copy());
        }
        self.settle_usual(context);
    }

    /// Takes one whole frame that did not lie whole in what was read.
    #[cold]
    #[inline(never)]
    pub(super) fn handle_cut_frame<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        frame: &[u8],
    ) {
        self.handle_frame::<L, true>(context, frame);
    }

    /// Takes a message by its template.
    #[inline(always)]
    fn dispatch<L: Listener, const IS_RARE: bool>(
        &mut self,
        context: &mut Context<'_, L>,
        frame: Frame<'_>,
    ) {
        match frame.header.template_id {
            ExecutionReportNew522::TEMPLATE_ID if !IS_RARE => usual!(self, context, frame,
                ExecutionReportNew522 => on_execution_report_new report),
            ExecutionReportCancel534::TEMPLATE_ID if !IS_RARE => usual!(self, context, frame,
                ExecutionReportCancel534 => on_execution_report_cancel report),
            template if SESSION_TEMPLATES.contains(&template) => {
                self.handle_session_message(&mut context.copy(), frame);
            }
            _ => self.handle_business_message(&mut context.copy(), frame),
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
                            deliver!(self, context, frame, redelivered,
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
        let progress = &mut self.outbound.progress;
        let expected = message.uuid == progress.uuid
            && message.seq_num == progress.next_incoming
            && message.seq_num <= SEQ_NUM_MAX
            && !self.recovery.is_earlier
            && matches!(self.outbound.state, State::Established | State::Terminating);
        if expected {
            progress.next_incoming += 1;
            self.inbound.counters.business_messages += 1;
            if self.recovery.is_active {
                let is_retransmitted = message.possible_retransmission;
                self.inbound.counters.retransmitted += u64::from(is_retransmitted);
            }
            return true;
        }
        // A copy: the message itself need not be in memory, where nobody looks at it.
        self.judge(&mut context.copy(), *message)
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
