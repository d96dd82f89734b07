//! Publishing of business messages: number, store, and send if the session is connected.

use hairpin_cme_codecs::ilink3::SplitMsg;
use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use super::GatewayCounters;
use super::account::Account;
use super::ascii_int::AsciiInt;
use super::faults::{Decision, Faults};
use super::pending_reports::copy;
use super::session::Session;
use crate::defined_values::debug_assert_defined;

/// The fields that the gateway assigns to a business message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    /// SeqNum (tag 9726).
    pub(super) number: u32,
    pub(super) uuid: u64,
    /// TransactTime and SendingTimeEpoch, in nanoseconds.
    pub(super) utc: u64,
    /// ExecID (tag 17), unique among the reports of this gateway.
    pub(super) exec_id: AsciiInt,
    /// The split state of the answered message (tag 9553).
    pub(super) split: Option<SplitMsg>,
}

/// Publishes the message that `encode` writes, starting at its SBE header. `encode` returns the
/// length.
pub(super) fn publish(
    session: Option<&mut Session>,
    account: &mut Account,
    executions: &mut u64,
    faults: Option<&mut Faults>,
    counters: &mut GatewayCounters,
    now: Now,
    encode: impl FnOnce(&mut [u8], &Stamp) -> Result<usize, EncodeError>,
) {
    let mut decision = Decision::Send;
    if let Some(faults) = faults {
        if faults.skips_number() {
            account.assign_number();
        }
        decision = faults.decide_message();
    }
    let (number, uuid) = (account.assign_number(), account.uuid);
    *executions += 1;
    let exec_id = AsciiInt::new(*executions);
    let split = session.as_ref().and_then(|session| session.split);
    let stamp = Stamp { number, uuid, utc: now.utc.as_nanos(), exec_id, split };
    let (copies, capacity) = (decision.copies(), account.retransmit_buffer.capacity());
    let stored =
        account.retransmit_buffer.store((uuid, number), copies, |buffer| encode(buffer, &stamp));
    if let Ok(message) = &stored {
        debug_assert_defined(message);
    }
    let (Ok(message), Some(session)) = (stored, session) else { return };
    if session.closing {
        return;
    }
    if session.pending_reports > 0 || !session.outbound.has_room() {
        counters.overflows += u64::from(!session.add_pending_report(capacity));
        return;
    }
    for _ in 0..copies {
        session.send(now, |buffer| copy(message, buffer));
    }
}
