//! Retransmit requests and their responses.

use hairpin_cme_codecs::ilink3::{Retransmission509, RetransmitReject510, RetransmitRequest508};
use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use super::recovery::{Phase, Request};
use super::{Context, Session};
use crate::listener::{Gap, RetransmitRejected};
use crate::{Listener, RetransmitRejectCode, State, Warning};

impl Session {
    /// Handles the announcement of a retransmission.
    pub(super) fn handle_retransmission<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        announced: Retransmission509<'_>,
    ) {
        let pending = self.pending_request(announced.request_timestamp());
        let Some(mut request) = pending.filter(|request| {
            announced.uuid() == self.outbound.progress.uuid
                && announced.last_uuid().unwrap_or(announced.uuid()) == request.gap.uuid
                && announced.from_seq_no() == request.gap.from
        }) else {
            return self.warn_unrequested(context, Retransmission509::TEMPLATE_ID);
        };
        self.recovery.extend_deadline(context.now, self.retransmission_timeout());
        // For the current UUID, the count of messages to come; for a previous one, the requested
        // count.
        let count = u32::from(announced.msg_count());
        if count == 0 {
            return self.retry_request(context);
        }
        request.gap.to = request.gap.to.min(request.gap.from.saturating_add(count - 1));
        if let Some(present) = &mut self.recovery.request {
            present.gap = request.gap;
        }
    }

    /// Handles the rejection of a retransmit request.
    pub(super) fn handle_retransmit_reject<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        reject: RetransmitReject510<'_>,
    ) {
        let Some(request) = self.pending_request(reject.request_timestamp()) else {
            return self.warn_unrequested(context, RetransmitReject510::TEMPLATE_ID);
        };
        self.inbound.counters.retransmit_rejects += 1;
        let code = RetransmitRejectCode(reject.error_codes());
        // Messages that have already arrived are not rejected.
        let gap = match self.first_missing() {
            Some(gap) if gap.uuid == request.gap.uuid => Gap { from: gap.from, ..request.gap },
            _ => request.gap,
        };
        let rejected = RetransmitRejected { code, reason: reject.reason(), gap };
        self.notify(context, |listener, sender| listener.on_retransmit_reject(sender, &rejected));
        if code.is_final() && self.state() == State::Established {
            return match code.is_range_error() {
                true => self.handle_rejected_range(context, request.gap, gap),
                false => self.give_up(context, gap),
            };
        }
        let until = context.now.monotonic + self.retransmission_timeout();
        self.recovery.request = Some(Request { phase: Phase::Rejected { until }, ..request });
    }

    /// Handles the rejection of the range `requested`, of which `rest` has not arrived. Requests a
    /// smaller range, unless a single number or too many ranges were rejected.
    fn handle_rejected_range<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        requested: Gap,
        rest: Gap,
    ) {
        match self.recovery.chunk.handle_reject(requested.from, requested.to) {
            Some(to) => self.give_up(context, Gap { to, ..rest }),
            None => {
                self.recovery.failed_requests = 0;
                self.request(rest);
            }
        }
    }

    /// Returns the pending request with this RequestTimestamp.
    fn pending_request(&self, request_timestamp: u64) -> Option<Request> {
        let matches = |request: &Request| {
            matches!(
                request.phase,
                Phase::Sent { request_timestamp: requested, .. } if requested == request_timestamp
            )
        };
        self.recovery.request.filter(matches)
    }

    pub(super) fn warn_unrequested<L: Listener>(
        &mut self,
        context: &mut Context<'_, L>,
        template_id: u16,
    ) {
        self.inbound.counters.unrequested += 1;
        self.warn(context, Warning::Unrequested(template_id));
    }

    /// Writes the pending request.
    pub(super) fn write_retransmit_request(
        &mut self,
        now: Now,
        body: &mut [u8],
    ) -> Result<usize, EncodeError> {
        let request_timestamp = self.next_request_timestamp(now);
        let deadline = now.monotonic + self.retransmission_timeout();
        let uuid = self.outbound.progress.uuid;
        let Some(request) = &mut self.recovery.request else { return Err(EncodeError::Buffer) };
        let Gap { uuid: requested_uuid, from, to } = request.gap;
        let mut message = RetransmitRequest508::encode(body)?;
        message
            .set_uuid(uuid)
            .set_last_uuid((requested_uuid != uuid).then_some(requested_uuid))
            .set_request_timestamp(request_timestamp)
            .set_from_seq_no(from)
            // At most `REQUEST_MAX`.
            .set_msg_count((to - from + 1) as u16);
        request.phase = Phase::Sent { request_timestamp, deadline };
        self.outbound.progress.request_timestamp = request_timestamp;
        self.outbound.counters.retransmit_requests += 1;
        Ok(RetransmitRequest508::ENCODED_LENGTH)
    }
}
