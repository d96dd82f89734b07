//! RetransmitRequest508 and the retransmission of stored messages.

use hairpin_cme_codecs::ilink3::RetransmitRequest508;
use hairpin_sbe::MessageHeader;
use hairpin_time::Now;

use super::account::Account;
use super::dispatch::FrameHandler;
use super::order_requests::SEQUENCE_MAX;
use super::pending_reports::copy;
use super::reason_codes::{RetransmitReason, TerminateCode};
use super::retransmit_buffer::{RETRANSMITTED, Retransmission};
use super::session::Session;
use crate::Listener;

/// The maximum MsgCount of a request, and the meaning of 0.
const COUNT_MAX: u32 = 2_500;

impl<L: Listener> FrameHandler<'_, L> {
    pub(super) fn handle_retransmit_request(
        &mut self,
        account: usize,
        header: &MessageHeader,
        body: &[u8],
    ) {
        let mut scratch = RetransmitRequest508::SCRATCH;
        let Ok(message) = RetransmitRequest508::decode(header, body, &mut scratch) else {
            return self.fail_undecodable();
        };
        if message.uuid() != self.session.uuid && message.uuid() != u64::MAX {
            return self.violate(TerminateCode::InvalidUuid);
        }
        let (timestamp, last_uuid) = (message.request_timestamp(), message.last_uuid());
        match self.find_retransmission(account, &message) {
            Ok((retransmission, count)) => {
                self.accounts[account].last_timestamp = timestamp;
                self.counters.retransmissions += 1;
                let from = retransmission.from;
                self.session.send_retransmission(self.now, (timestamp, last_uuid), from, count);
                self.session.retransmission = Some(retransmission);
                continue_retransmission(self.session, &self.accounts[account], self.now);
            }
            Err(why) => {
                self.counters.retransmit_rejects += 1;
                self.session.send_retransmit_reject(self.now, timestamp, last_uuid, why);
            }
        }
    }

    /// Finds the messages to retransmit, and the MsgCount to announce. For an earlier UUID this is
    /// the requested count, for the current one the actual count.
    fn find_retransmission(
        &self,
        account: usize,
        message: &RetransmitRequest508<'_>,
    ) -> Result<(Retransmission, u16), RetransmitReason> {
        check_request(message)?;
        let account_state = &self.accounts[account];
        if message.request_timestamp() <= account_state.last_timestamp {
            return Err(RetransmitReason::InvalidTimestamp);
        }
        if self.session.retransmission.is_some() {
            return Err(RetransmitReason::AlreadyInProgress);
        }
        let uuid = message.last_uuid().unwrap_or(account_state.uuid);
        let (from, requested) = (message.from_seq_no(), u32::from(message.msg_count()));
        if self.session.backup {
            return Err(RetransmitReason::InvalidUuid);
        }
        if uuid != account_state.uuid && !account_state.retransmit_buffer.contains_uuid(uuid) {
            return Err(RetransmitReason::InvalidUuid);
        }
        let count = if requested == 0 { COUNT_MAX } else { requested };
        let retransmission = account_state
            .retransmit_buffer
            .find(uuid, from, count)
            .ok_or(RetransmitReason::OutOfRange)?;
        if requested > retransmission.count {
            return Err(RetransmitReason::OutOfRange);
        }
        let announced = if uuid == account_state.uuid { retransmission.count } else { count };
        // The value is at most `COUNT_MAX`.
        Ok((retransmission, announced as u16))
    }
}

/// Checks the fields of a RetransmitRequest. Missing fields take precedence over invalid ones.
fn check_request(message: &RetransmitRequest508<'_>) -> Result<(), RetransmitReason> {
    let (from, count) = (message.from_seq_no(), message.msg_count());
    let checks = [
        (message.uuid() == u64::MAX, RetransmitReason::RequiredUuidMissing),
        (
            message.request_timestamp() == u64::MAX,
            RetransmitReason::RequiredRequestTimestampMissing,
        ),
        (from == u32::MAX, RetransmitReason::RequiredFromSeqNoMissing),
        (count == u16::MAX, RetransmitReason::RequiredMsgCountMissing),
        (u32::from(count) > COUNT_MAX, RetransmitReason::RequestLimitExceeded),
        (from == 0 || from > SEQUENCE_MAX, RetransmitReason::InvalidFromSeqNo),
    ];
    checks.into_iter().find_map(|(is_wrong, why)| is_wrong.then_some(why)).map_or(Ok(()), Err)
}

/// Retransmits as many messages as there is room for. Half of the send buffer stays free for new
/// messages, so that orders are answered during a long retransmission.
pub(super) fn continue_retransmission(session: &mut Session, account: &Account, now: Now) {
    let Some(mut retransmission) = session.retransmission else { return };
    while session.outbound.is_half_empty() {
        let Some((message, flag)) = account.retransmit_buffer.advance(&mut retransmission) else {
            session.retransmission = None;
            return;
        };
        session.send(now, |buffer| {
            let length = copy(message, buffer)?;
            if let Some(flag) = flag {
                buffer[flag] = RETRANSMITTED;
            }
            Ok(length)
        });
    }
    session.retransmission = (retransmission.count > 0).then_some(retransmission);
}
