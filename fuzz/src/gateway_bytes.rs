//! A gateway, given any bytes on two connections, amid timeouts, closes and slow readers.
//!
//! Proves that nothing makes it panic, that every request that counts as read is answered, that
//! every message it sends is whole, none follows a Terminate and no number is left out, and that a
//! deadline once passed is gone.
//!
//! An input is steps: a byte, a connection, a length or time of two bytes, and bytes.

use hairpin_exchange::ConnectionId;

use crate::Seed;
use crate::client::{cancel, establish, negotiate, order, replace_with, sequence, terminate};
use crate::gateway::Watched;
use crate::script::Script;

const BYTES: u8 = 6;

/// One input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut watched = Watched::new();
    while !script.is_over() {
        let (step, id, number) = (script.below(9), script.below(2), script.word());
        let id = ConnectionId(id.into());
        match step {
            0 => watched.connect(),
            1 => watched.close(id),
            2 => watched.pass(number.into()),
            3 => watched.read(id, number.into()),
            4 => watched.terminate(id),
            5 => watched.trade(number as u8),
            _ => watched.bytes(id, script.bytes(number.into())),
        }
    }
}

/// A logon, orders, and an end.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    use hairpin_cme_codecs::ilink3::KeepAliveLapsed;
    const UUID: u64 = 1_700_000_000_000_000;
    // As the clock of `Watched` stands.
    const UTC: u64 = 1_700_000_000_000_000_000;
    let frames = [
        negotiate(UUID, UTC + 1),
        establish(UUID, UTC + 2, 1),
        order(1, 980_000_000_000),
        order(2, 1_050_000_000_000),
        replace_with(3, 1, 990_000_000_000, |_| {}),
        cancel(4, 1),
        sequence(UUID, 5, KeepAliveLapsed::LAPSED),
        terminate(UUID, UTC + 3, 0),
    ];
    let mut bytes = vec![0, 0, 0, 0];
    let mut seeds = Vec::new();
    for (number, frame) in frames.iter().enumerate() {
        bytes.extend([BYTES, 0]);
        bytes.extend((frame.len() as u16).to_le_bytes());
        bytes.extend(frame);
        bytes.extend([3, 0, 0, 16]);
        if number > 0 {
            seeds.push((format!("until-{number}"), bytes.clone()));
        }
    }
    seeds
}
