//! A client's session that receives arbitrary bytes in any chunks, with sends, timeouts, connects
//! and disconnects.
//!
//! Checks:
//!
//! - Nothing causes a panic.
//! - Nothing is sent after a Terminate.
//! - Only kept messages use numbers.
//! - A deadline that has passed is removed.
//! - The counters match the callbacks.
//!
//! Input: a flag for a listener that sends, then steps of a byte, a two-byte length or time, and
//! bytes.

use crate::Seed;
use crate::exchange_frames::ExchangeMessage;
use crate::script::Script;
use crate::session::CheckedSession;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut session = CheckedSession::new(script.flag());
    while !script.is_over() {
        let (step, number) = (script.below(8), script.word());
        match step {
            0 => session.connect(number & 1 == 1, number & 2 == 0),
            1 => session.disconnect(),
            2 => session.pass(number.into()),
            3 => session.send(number & 1 == 1, (number >> 1) as u8),
            4 => session.terminate(),
            _ => session.bytes(script.bytes(number.into())),
        }
    }
}

/// Returns a logon, then every message that an exchange can send.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut session = CheckedSession::new(false);
    session.connect(false, true);
    let mut bytes = vec![0, 0, 0, 0];
    let mut seeds = Vec::new();
    let kinds = [ExchangeMessage::NEGOTIATION_RESPONSE, ExchangeMessage::ESTABLISHMENT_ACK];
    for kind in kinds.into_iter().chain([
        ExchangeMessage::REPORT,
        ExchangeMessage::SEQUENCE,
        8,
        9,
        ExchangeMessage::TERMINATE,
    ]) {
        let frame = ExchangeMessage::expected(kind, &session.session.progress()).frame();
        session.bytes(&frame);
        bytes.push(5);
        bytes.extend((frame.len() as u16).to_le_bytes());
        bytes.extend(frame);
        bytes.extend([3, 0, 0]);
        seeds.push((format!("until-{kind}"), bytes.clone()));
    }
    seeds
}
