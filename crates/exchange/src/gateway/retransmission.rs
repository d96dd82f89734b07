//! RetransmitRequest, and the messages that are sent again.

use hairpin_cme_codecs::ilink3::RetransmitRequest508;
use hairpin_sbe::MessageHeader;
use hairpin_time::Now;

use super::account::Account;
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
        if message.uuid() != self.session.uuid {
            return self.violate(TerminateCode::InvalidUuid);
        }
        let (timestamp, last_uuid) = (message.request_timestamp(), message.last_uuid());
        match self.find_messages(account, &message) {
            Ok((replay, count)) => {
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
        let known = &self.accounts[account];
        let uuid = message.last_uuid().unwrap_or(known.uuid);
        let (from, asked) = (message.from_seq_no(), u32::from(message.msg_count()));
        if asked > LARGEST_COUNT {
            return Err(RetransmitReason::RequestLimitExceeded);
        }
        if from == 0 {
            return Err(RetransmitReason::InvalidFromSeqNo);
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

/// Sends again as much of a session's replay as there is room for.
pub(super) fn continue_replay(session: &mut Session, account: &Account, now: Now) {
    let Some(mut replay) = session.replay else { return };
    while session.outbound.has_room() {
        let Some((message, flag)) = account.kept.advance(&mut replay) else {
            session.replay = None;
            return;
        };
        session.send(now, |buffer| {
            let buffer = buffer.get_mut(..message.len()).ok_or(hairpin_sbe::EncodeError::Buffer)?;
            buffer.copy_from_slice(message);
            if let Some(flag) = flag {
                buffer[flag] = RETRANSMITTED;
            }
            Ok(message.len())
        });
    }
    session.replay = Some(replay);
}
