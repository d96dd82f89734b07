//! A business message on its way: numbered, kept, and sent if its session is there.

use hairpin_cme_codecs::ilink3::SplitMsg;
use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use super::GatewayCounters;
use super::account::Account;
use super::backlog::copy;
use super::faults::{Fate, Faults};
use super::number::Digits;
use super::session::Session;

/// What a message says of itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    /// SeqNum (tag 9726).
    pub(super) number: u32,
    pub(super) uuid: u64,
    /// TransactTime and SendingTimeEpoch.
    pub(super) utc: u64,
    /// ExecID (tag 17): a number that no other report of this gateway has.
    pub(super) exec_id: Digits,
    /// How the message that is answered was split (tag 9553).
    pub(super) split: Option<SplitMsg>,
}

/// Publishes the message that `encode` writes, from the SBE header on; it returns the length.
pub(super) fn publish(
    session: Option<&mut Session>,
    account: &mut Account,
    executions: &mut u64,
    faults: Option<&mut Faults>,
    counters: &mut GatewayCounters,
    now: Now,
    encode: impl FnOnce(&mut [u8], &Stamp) -> Result<usize, EncodeError>,
) {
    let mut fate = Fate::Sent;
    if let Some(faults) = faults {
        if faults.skips() {
            account.number();
        }
        fate = faults.fate();
    }
    let (number, uuid) = (account.number(), account.uuid);
    *executions += 1;
    let exec_id = Digits::of(*executions);
    let split = session.as_ref().and_then(|session| session.split);
    let stamp = Stamp { number, uuid, utc: now.utc.as_nanos(), exec_id, split };
    let (copies, room) = (fate.copies(), account.kept.room());
    let kept = account.kept.keep((uuid, number), copies, |buffer| encode(buffer, &stamp));
    let (Ok(message), Some(session)) = (kept, session) else { return };
    if session.is_closing {
        return;
    }
    if session.behind > 0 || !session.outbound.has_room() {
        counters.overflows += u64::from(!session.fall_behind(room));
        return;
    }
    for _ in 0..copies {
        session.send(now, |buffer| copy(message, buffer));
    }
}
