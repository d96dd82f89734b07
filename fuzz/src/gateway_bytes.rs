//! A gateway that receives arbitrary bytes on two connections, with timeouts, closes and slow
//! readers.
//!
//! Checks:
//!
//! - Nothing causes a panic.
//! - Every request counted as read is answered.
//! - Every sent message is complete, none follows a Terminate, and no number is skipped.
//! - A deadline that has passed is removed.
//!
//! Input: steps of a byte, a connection, a two-byte length or time, and bytes.

use hairpin_exchange::ConnectionId;

use crate::Seed;
use crate::client::{cancel, establish, negotiate, order, replace_with, sequence, terminate};
use crate::gateway::CheckedGateway;
use crate::script::Script;

const BYTES: u8 = 6;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut gateway = CheckedGateway::new();
    while !script.is_over() {
        let (step, id, number) = (script.below(9), script.below(2), script.word());
        let id = ConnectionId(id.into());
        match step {
            0 => gateway.connect(),
            1 => gateway.close(id),
            2 => gateway.pass(number.into()),
            3 => gateway.read(id, number.into()),
            4 => gateway.terminate(id),
            5 => gateway.trade(number as u8),
            _ => gateway.bytes(id, script.bytes(number.into())),
        }
    }
}

/// Returns a logon, orders, and a termination.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    use hairpin_cme_codecs::ilink3::KeepAliveLapsed;
    const UUID: u64 = 1_700_000_000_000_000;
    // The initial clock of `CheckedGateway`.
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
