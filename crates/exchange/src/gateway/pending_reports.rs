//! Reports that do not fit in the send buffer. They stay in the retransmit buffer until there is
//! room.
//!
//! One request can have more answers than the send buffer holds: a mass action may cancel ten
//! thousand orders, and one event may contain many trades. Such reports already have their sequence
//! numbers. They are sent in order as the client reads. No input of the client is handled before. A
//! client with more pending reports than the retransmit buffer holds is disconnected; it can
//! request the rest after the next logon.

use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use super::account::Account;
use super::session::Session;

impl Session {
    /// Adds one pending report, up to `capacity`. Returns `false` and closes the connection if
    /// there are more.
    #[cold]
    pub(super) fn add_pending_report(&mut self, capacity: u32) -> bool {
        if self.pending_reports < capacity {
            self.pending_reports += 1;
            return true;
        }
        self.close_slow_reader();
        false
    }

    /// Closes a connection whose client has not read for too long.
    #[cold]
    pub(super) fn close_slow_reader(&mut self) {
        self.pending_reports = 0;
        self.outbound.clear();
        self.closing = true;
    }
}

/// Sends as many pending reports as the send buffer has room for.
pub(super) fn send_pending(session: &mut Session, account: &Account, now: Now) {
    while session.pending_reports > 0 && session.outbound.has_room() {
        let (message, copies) = account.retransmit_buffer.latest(session.pending_reports);
        session.pending_reports -= 1;
        for _ in 0..copies {
            session.send(now, |buffer| copy(message, buffer));
        }
    }
}

/// Copies a stored message into the buffer.
pub(super) fn copy(message: &[u8], buffer: &mut [u8]) -> Result<usize, EncodeError> {
    let buffer = buffer.get_mut(..message.len()).ok_or(EncodeError::Buffer)?;
    buffer.copy_from_slice(message);
    Ok(message.len())
}
