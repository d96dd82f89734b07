//! What keeps a business message from being looked at: the backup, and limits.

use hairpin_cme_codecs::ilink3::{BooleanFlag, BusinessReject521};
use hairpin_sbe::MessageHeader;
use hairpin_time::Now;

use super::Rejected;
use super::dispatch::{Handling, message_type, number_at, number_offset};
use super::limits::Verdict;
use super::reason::{BusinessReason, TerminateCode};
use super::request::Request;
use super::session::Session;
use crate::Listener;

impl<L: Listener> Handling<'_, L> {
    /// Whether this is a business message, which the backup does not take: its number has to be 0
    /// there, and it is refused.
    #[cold]
    pub(super) fn refuses_on_backup(&mut self, header: &MessageHeader, body: &[u8]) -> bool {
        let Some(offset) = number_offset(header.template_id) else { return false };
        match number_at(header, body, offset) {
            Some(0) => {
                self.counters.backup_rejects += 1;
                self.session.send_backup_reject(self.now, message_type(header));
            }
            Some(_) => self.violate(TerminateCode::InvalidMsgSeqNo),
            None => self.undecodable(),
        }
        true
    }

    /// Counts a business message; whether it is above a limit, and dealt with.
    #[cold]
    pub(super) fn is_above_limits(
        &mut self,
        account: usize,
        header: &MessageHeader,
        body: &[u8],
    ) -> bool {
        let (Some(limits), Some(offset)) = (&self.rules.limits, number_offset(header.template_id))
        else {
            return false;
        };
        let now = self.now.monotonic;
        let windows = &mut self.accounts[account].windows;
        match windows.count(now, header.template_id, limits, self.rules.is_pre_open) {
            Verdict::Pass => return false,
            Verdict::Logout => {
                self.counters.volume_logouts += 1;
                self.fail(TerminateCode::VolumeControls);
            }
            Verdict::Reject => {
                // One too short for a number is refused for that.
                let Some(number) = number_at(header, body, offset) else { return false };
                if self.take_number(account, number) {
                    self.throttle(account, header, number);
                }
            }
        }
        true
    }

    fn throttle(&mut self, account: usize, header: &MessageHeader, number: u32) {
        self.counters.throttled += 1;
        let reason = BusinessReason::ThrottleLimitExceeded;
        let what = (reason, None, "More messages than the limit");
        let message_type = message_type(header).as_bytes();
        self.send_business_reject(account, &Request::UNREAD, message_type, Some(number), what);
        let rejected = Rejected::Business { cl_ord_id: &[], reason, tag: None };
        self.listener.on_rejected(self.session.id, rejected);
    }
}

impl Session {
    /// A refusal on the backup has no number, and is not kept.
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
