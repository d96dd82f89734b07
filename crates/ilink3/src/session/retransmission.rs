//! One request for messages that are missing, and what answers it.

use hairpin_cme_codecs::ilink3::{Retransmission509, RetransmitReject510, RetransmitRequest508};
use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use super::recovery::{Phase, Request};
use super::{Context, Session};
use crate::listener::{Gap, RetransmitRejected};
use crate::{Listener, RetransmitRejectCode, State, Warning};

impl Session {
    /// The exchange announces what it sends again.
    pub(super) fn handle_retransmission<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        announced: Retransmission509<'_>,
    ) {
        let answered = self.answered(announced.request_timestamp());
        let Some(mut request) = answered.filter(|request| {
            announced.uuid() == self.outbound.progress.uuid
                && announced.last_uuid().unwrap_or(announced.uuid()) == request.gap.uuid
                && announced.from_seq_no() == request.gap.from
        }) else {
            return self.warn_unrequested(context, Retransmission509::TEMPLATE_ID);
        };
        self.recovery.moved(context.now, self.retransmission_timeout());
        // Of the present UUID this is what will come; of an earlier one what was asked for.
        let count = u32::from(announced.msg_count());
        if count == 0 {
            return self.ask_again(context);
        }
        request.gap.to = request.gap.to.min(request.gap.from.saturating_add(count - 1));
        if let Some(present) = &mut self.recovery.request {
            present.gap = request.gap;
        }
    }

    /// The exchange does not send again what was asked for.
    pub(super) fn handle_retransmit_reject<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        reject: RetransmitReject510<'_>,
    ) {
        let Some(request) = self.answered(reject.request_timestamp()) else {
            return self.warn_unrequested(context, RetransmitReject510::TEMPLATE_ID);
        };
        self.inbound.counters.retransmit_rejects += 1;
        let code = RetransmitRejectCode(reject.error_codes());
        // What has come of them is not refused.
        let gap = match self.first_missing() {
            Some(gap) if gap.uuid == request.gap.uuid => Gap { from: gap.from, ..request.gap },
            _ => request.gap,
        };
        let rejected = RetransmitRejected { code, reason: reject.reason(), gap };
        self.tell(context, |listener, sender| listener.on_retransmit_reject(sender, &rejected));
        if code.is_final() && self.state() == State::Established {
            return match code.is_of_range() {
                true => self.handle_refused_range(context, request.gap, gap),
                false => self.lose(context, gap),
            };
        }
        let until = context.now.monotonic + self.retransmission_timeout();
        self.recovery.request = Some(Request { phase: Phase::Refused { until }, ..request });
    }

    /// The exchange refuses the numbers `asked`, of which those of `rest` have not come: fewer are
    /// asked for, unless it was one alone, or enough were refused.
    fn handle_refused_range<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        asked: Gap,
        rest: Gap,
    ) {
        match self.recovery.stride.refuse(asked.from, asked.to) {
            Some(to) => self.lose(context, Gap { to, ..rest }),
            None => {
                self.recovery.fruitless = 0;
                self.want(rest);
            }
        }
    }

    /// The request that is answered with `request_timestamp`.
    fn answered(&self, request_timestamp: u64) -> Option<Request> {
        let is_answered = |request: &Request| {
            matches!(
                request.phase,
                Phase::Asked { request_timestamp: asked, .. } if asked == request_timestamp
            )
        };
        self.recovery.request.filter(is_answered)
    }

    pub(super) fn warn_unrequested<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        template_id: u16,
    ) {
        self.inbound.counters.unrequested += 1;
        self.warn(context, Warning::Unrequested(template_id));
    }

    /// Writes the request that is to leave.
    pub(super) fn write_retransmit_request(
        &mut self,
        now: Now,
        body: &mut [u8],
    ) -> Result<usize, EncodeError> {
        let request_timestamp = self.next_request_timestamp(now);
        let deadline = now.monotonic + self.retransmission_timeout();
        let uuid = self.outbound.progress.uuid;
        let Some(request) = &mut self.recovery.request else { return Err(EncodeError::Buffer) };
        let Gap { uuid: asked, from, to } = request.gap;
        let mut message = RetransmitRequest508::encode(body)?;
        message
            .set_uuid(uuid)
            .set_last_uuid((asked != uuid).then_some(asked))
            .set_request_timestamp(request_timestamp)
            .set_from_seq_no(from)
            // At most `REQUEST_MAX`.
            .set_msg_count((to - from + 1) as u16);
        request.phase = Phase::Asked { request_timestamp, deadline };
        self.outbound.progress.request_timestamp = request_timestamp;
        self.outbound.counters.retransmit_requests += 1;
        Ok(RetransmitRequest508::ENCODED_LENGTH)
    }
}
