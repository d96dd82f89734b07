//! Reports that a client has no room for yet: they wait where they are kept anyway.
//!
//! One request may have more answers than the buffer holds, as a mass action that cancels ten
//! thousand orders, and one event more trades. Such reports have their numbers, and leave in their
//! order when the client has read; nothing of the client's is looked at before. Who is further
//! behind than what is kept of its session loses the connection, and asks again for the rest.

use hairpin_sbe::EncodeError;
use hairpin_time::Now;

use super::account::Account;
use super::session::Session;

impl Session {
    /// One more report waits, of at most `kept`; `false` if that is too many, and the connection
    /// ends.
    #[cold]
    pub(super) fn fall_behind(&mut self, kept: u32) -> bool {
        if self.behind < kept {
            self.behind += 1;
            return true;
        }
        self.give_up();
        false
    }

    /// Ends a connection whose client has not read for too long.
    #[cold]
    pub(super) fn give_up(&mut self) {
        self.behind = 0;
        self.outbound.clear();
        self.is_closing = true;
    }
}

/// Sends as many of the reports that wait as there is room for.
pub(super) fn catch_up(session: &mut Session, account: &Account, now: Now) {
    while session.behind > 0 && session.outbound.has_room() {
        let (message, copies) = account.kept.latest(session.behind);
        session.behind -= 1;
        for _ in 0..copies {
            session.send(now, |buffer| copy(message, buffer));
        }
    }
}

/// Writes a kept message.
pub(super) fn copy(message: &[u8], buffer: &mut [u8]) -> Result<usize, EncodeError> {
    let buffer = buffer.get_mut(..message.len()).ok_or(EncodeError::Buffer)?;
    buffer.copy_from_slice(message);
    Ok(message.len())
}
