//! Messaging controls: business messages on the backup, and rate limits.

use hairpin_cme_codecs::ilink3::{BooleanFlag, BusinessReject521};
use hairpin_sbe::MessageHeader;
use hairpin_time::Now;

use super::Rejected;
use super::dispatch::{FrameHandler, message_type, number_at, number_offset};
use super::rate_limits::{Verdict, Windows};
use super::reason_codes::{BusinessReason, TerminateCode};
use super::request::Request;
use super::session::Session;
use crate::{Listener, Market};

impl<L: Listener> FrameHandler<'_, L> {
    /// Rejects a business message on the backup, where its sequence number has to be 0. Returns
    /// `true` if the message was a business message.
    #[cold]
    pub(super) fn reject_on_backup(&mut self, header: &MessageHeader, body: &[u8]) -> bool {
        let Some(offset) = number_offset(header.template_id) else { return false };
        match number_at(header, body, offset) {
            Some(0) => {
                self.counters.backup_rejects += 1;
                self.session.send_backup_reject(self.now, message_type(header));
            }
            Some(_) => self.violate(TerminateCode::InvalidMsgSeqNo),
            None => self.fail_undecodable(),
        }
        true
    }

    /// Counts a business message against the rate limits. Returns `true` if it exceeds one and has
    /// been handled.
    #[cold]
    pub(super) fn exceeds_rate_limits(
        &mut self,
        account: usize,
        header: &MessageHeader,
        body: &[u8],
        market: &mut impl Market,
    ) -> bool {
        let (Some(limits), Some(offset)) = (&self.rules.limits, number_offset(header.template_id))
        else {
            return false;
        };
        let now = self.now.monotonic;
        let windows = &mut self.accounts[account].windows;
        match windows.count(now, header.template_id, limits, self.rules.pre_open) {
            Verdict::Pass => return false,
            Verdict::Logout => {
                self.counters.volume_logouts += 1;
                self.fail(TerminateCode::VolumeControls);
            }
            Verdict::Reject => {
                // A message too short for a sequence number is rejected for its length.
                let Some(number) = number_at(header, body, offset) else { return false };
                if self.consume_number(account, number) {
                    self.reject_throttled(account, header, number);
                    // CME, confluence page 78446970: the reject limit of quotes removes them all.
                    if Windows::counts_as_quote(header.template_id) {
                        self.remove_throttled_quotes(account, market);
                    }
                }
            }
        }
        true
    }

    fn reject_throttled(&mut self, account: usize, header: &MessageHeader, number: u32) {
        self.counters.throttled += 1;
        let reason = BusinessReason::ThrottleLimitExceeded;
        let cause = (reason, None, "More messages than the limit");
        let message_type = message_type(header).as_bytes();
        self.send_business_reject(account, &Request::UNDECODED, message_type, Some(number), cause);
        let rejected = Rejected::Business { cl_ord_id: &[], reason, tag: None };
        self.listener.on_rejected(self.session.id, rejected);
    }
}

impl Session {
    /// Sends a BusinessReject on the backup. It has no sequence number and is not stored.
    fn send_backup_reject(&mut self, now: Now, message_type: &str) {
        let uuid = self.uuid;
        let reason = BusinessReason::NotOnBackup;
        self.send(now, |buffer| {
            BusinessReject521::encode(buffer)?
                .set_seq_num(0)
                .set_uuid(uuid)
                .set_text("Message type not supported on the backup")
                .set_sending_time_epoch(now.utc.as_nanos())
                .set_ref_seq_num(None)
                .set_business_reject_reason(reason.code())
                .set_ref_msg_type(message_type)
                .set_poss_retrans_flag(BooleanFlag::FALSE);
            Ok(BusinessReject521::ENCODED_LENGTH)
        });
    }
}
