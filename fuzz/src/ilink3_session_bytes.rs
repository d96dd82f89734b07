//! A client's session, given any bytes in any chunks, amid sends, timeouts, connects and breaks.
//!
//! Proves that nothing makes it panic, that nothing leaves after a Terminate, that numbers are used
//! only by what was kept, that a deadline once passed is gone, and that what it counts is what it
//! tells.
//!
//! An input is whether the listener sends too, then steps: a byte, a length or time of two, bytes.

use crate::Seed;
use crate::exchange_frames::Said;
use crate::script::Script;
use crate::session::Watched;

/// One input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let mut watched = Watched::new(script.flag());
    while !script.is_over() {
        let (step, number) = (script.below(8), script.word());
        match step {
            0 => watched.connect(number & 1 == 1, number & 2 == 0),
            1 => watched.disconnect(),
            2 => watched.pass(number.into()),
            3 => watched.send(number & 1 == 1, (number >> 1) as u8),
            4 => watched.terminate(),
            _ => watched.bytes(script.bytes(number.into())),
        }
    }
}

/// A logon, then all that an exchange may say.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let mut watched = Watched::new(false);
    watched.connect(false, true);
    let mut bytes = vec![0, 0, 0, 0];
    let mut seeds = Vec::new();
    let kinds = [Said::NEGOTIATION_RESPONSE, Said::ESTABLISHMENT_ACK];
    for kind in kinds.into_iter().chain([Said::REPORT, Said::SEQUENCE, 8, 9, Said::TERMINATE]) {
        let frame = Said::rightly(kind, &watched.session.progress()).frame();
        watched.bytes(&frame);
        bytes.push(5);
        bytes.extend((frame.len() as u16).to_le_bytes());
        bytes.extend(frame);
        bytes.extend([3, 0, 0]);
        seeds.push((format!("until-{kind}"), bytes.clone()));
    }
    seeds
}
