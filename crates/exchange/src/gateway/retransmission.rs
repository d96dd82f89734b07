//! RetransmitRequest, and the messages that are sent again.

use hairpin_cme_codecs::ilink3::RetransmitRequest508;
use hairpin_sbe::MessageHeader;
use hairpin_time::Now;

use super::account::Account;
use super::backlog::copy;
use super::business::LARGEST_SEQUENCE;
use super::dispatch::Handling;
use super::kept::{RETRANSMITTED, Replay};
use super::reason::{RetransmitReason, TerminateCode};
use super::session::Session;
use crate::Listener;

/// The most messages of one request, and how many none stands for.
const LARGEST_COUNT: u32 = 2_500;

impl<L: Listener> Handling<'_, L> {
    pub(super) fn handle_retransmit_request(
        &mut self,
        account: usize,
        header: &MessageHeader,
        body: &[u8],
    ) {
        let mut scratch = RetransmitRequest508::SCRATCH;
        let Ok(message) = RetransmitRequest508::decode(header, body, &mut scratch) else {
            return self.undecodable();
        };
        if message.uuid() != self.session.uuid && message.uuid() != u64::MAX {
            return self.violate(TerminateCode::InvalidUuid);
        }
        let (timestamp, last_uuid) = (message.request_timestamp(), message.last_uuid());
        match self.find_messages(account, &message) {
            Ok((replay, count)) => {
                self.accounts[account].last_timestamp = timestamp;
                self.counters.retransmissions += 1;
                let from = replay.from;
                self.session.send_retransmission(self.now, (timestamp, last_uuid), from, count);
                self.session.replay = Some(replay);
                continue_replay(self.session, &self.accounts[account], self.now);
            }
            Err(why) => {
                self.counters.retransmit_rejects += 1;
                self.session.send_retransmit_reject(self.now, timestamp, last_uuid, why);
            }
        }
    }

    /// What is to be sent again, and the MsgCount that announces it: for an earlier UUID what was
    /// asked for, for the present one what will come.
    fn find_messages(
        &self,
        account: usize,
        message: &RetransmitRequest508<'_>,
    ) -> Result<(Replay, u16), RetransmitReason> {
        check_request(message)?;
        let known = &self.accounts[account];
        if message.request_timestamp() <= known.last_timestamp {
            return Err(RetransmitReason::InvalidTimestamp);
        }
        if self.session.replay.is_some() {
            return Err(RetransmitReason::AlreadyInProgress);
        }
        let uuid = message.last_uuid().unwrap_or(known.uuid);
        let (from, asked) = (message.from_seq_no(), u32::from(message.msg_count()));
        if self.session.is_backup {
            return Err(RetransmitReason::InvalidUuid);
        }
        if uuid != known.uuid && !known.kept.knows(uuid) {
            return Err(RetransmitReason::InvalidUuid);
        }
        let count = if asked == 0 { LARGEST_COUNT } else { asked };
        let replay = known.kept.find(uuid, from, count).ok_or(RetransmitReason::OutOfRange)?;
        if asked > replay.count {
            return Err(RetransmitReason::OutOfRange);
        }
        let announced = if uuid == known.uuid { replay.count } else { count };
        // At most `LARGEST_COUNT`.
        Ok((replay, announced as u16))
    }
}

/// What a RetransmitRequest says by itself, the missing before the impossible.
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
        (u32::from(count) > LARGEST_COUNT, RetransmitReason::RequestLimitExceeded),
        (from == 0 || from > LARGEST_SEQUENCE, RetransmitReason::InvalidFromSeqNo),
    ];
    checks.into_iter().find_map(|(is_wrong, why)| is_wrong.then_some(why)).map_or(Ok(()), Err)
}

/// Sends again as much of a session's replay as there is room for. Half of the buffer stays free
/// for what is published meanwhile, so that orders are answered during a long replay.
pub(super) fn continue_replay(session: &mut Session, account: &Account, now: Now) {
    let Some(mut replay) = session.replay else { return };
    while session.outbound.is_half_empty() {
        let Some((message, flag)) = account.kept.advance(&mut replay) else {
            session.replay = None;
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
    session.replay = (replay.count > 0).then_some(replay);
}
