//! A client's session that receives frames that an exchange could send, with valid and invalid
//! numbers; and a second session that receives the same bytes in pieces.
//!
//! The checks are those of `ilink3_session_bytes`, on deeper states. In addition, splitting the
//! stream must change nothing.
//!
//! Input: a flag for listeners that send, then steps of six bytes.

use crate::Seed;
use crate::exchange_frames::ExchangeMessage;
use crate::script::Script;
use crate::session::CheckedSession;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let answers = script.flag();
    let mut both = [CheckedSession::new(answers), CheckedSession::new(answers)];
    while !script.is_over() {
        let step = [(); 6].map(|()| script.byte());
        match step {
            [0, binding, ..] => {
                both.iter_mut().for_each(|one| one.connect(binding & 1 == 1, binding & 2 == 0));
            }
            [1, ..] => both.iter_mut().for_each(CheckedSession::disconnect),
            [2, low, high, ..] => {
                let millis = u64::from(u16::from_le_bytes([low, high]));
                both.iter_mut().for_each(|one| one.pass(millis));
            }
            [3, what, mood, ..] => both.iter_mut().for_each(|one| one.send(what & 1 == 1, mood)),
            [4, ..] => both.iter_mut().for_each(CheckedSession::terminate),
            [kind, wrong, by, code, place, cut] => {
                let mut frame = message(&both[0], kind - 5, wrong, by, code).frame();
                if wrong & 0x40 != 0 {
                    let place = usize::from(place) % frame.len();
                    frame[place] ^= by;
                }
                both[0].bytes(&frame);
                both[1].pieces(&frame, 1 + usize::from(cut));
            }
        }
        compare(&both[0], &both[1]);
    }
}

/// Returns the expected message, with invalid values where `wrong` has a bit.
fn message(session: &CheckedSession, kind: u8, wrong: u8, by: u8, code: u8) -> ExchangeMessage {
    let mut message = ExchangeMessage::expected(kind, &session.session.progress());
    message.code = code;
    if wrong & 1 != 0 {
        message.seq_num = message.seq_num.wrapping_add(u32::from(by));
    }
    if wrong & 2 != 0 {
        message.seq_num = message.seq_num.wrapping_sub(u32::from(by));
    }
    if wrong & 4 != 0 {
        message.uuid = message.uuid.wrapping_sub(u64::from(by));
    }
    if wrong & 8 != 0 {
        message.request_timestamp = message.request_timestamp.wrapping_add(u64::from(by));
    }
    if wrong & 16 != 0 {
        // As in a Terminate or in a response to our request.
        message.seq_num = session.session.progress().next_outgoing.wrapping_sub(u32::from(by));
    }
    message
}

fn compare(whole: &CheckedSession, pieces: &CheckedSession) {
    assert_eq!(whole.session.state(), pieces.session.state());
    assert_eq!(whole.session.progress(), pieces.session.progress());
    assert_eq!(whole.session.poll_timeout(), pieces.session.poll_timeout());
    let counted = |one: &CheckedSession| {
        let mut counters = *one.session.inbound_counters();
        // The number of discarded bytes after a fault depends on the split.
        counters.bytes_discarded = 0;
        (counters, *one.session.outbound_counters())
    };
    assert_eq!(counted(whole), counted(pieces));
}

/// Returns a day with a second logon, a gap, and a reject.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let logon = [[0, 0, 0, 0, 0, 0], [5, 0, 0, 0, 0, 9], [6, 0, 0, 0, 0, 3]];
    let again = [[0, 1, 0, 0, 0, 0], [6, 0, 0, 0, 0, 1]];
    let report = [7, 0, 0, 0, 0, 50];
    let business = [[3, 0, 0, 0, 0, 0], report, [3, 1, 0, 0, 0, 0], [14, 0, 0, 7, 0, 11]];
    let quiet = [[2, 0, 40, 0, 0, 0], [8, 0, 0, 1, 0, 0], [2, 0, 40, 0, 0, 0], [8, 0, 0, 0, 0, 0]];
    let end = [[4, 0, 0, 0, 0, 0], [9, 0, 0, 0, 0, 0]];
    // A response followed by bytes that are not a frame, in one chunk.
    let short = [[0, 0, 0, 0, 0, 0], [165, 210, 30, 158, 0, 0]];
    let gap = [[7, 1, 3, 0, 0, 2], report, [1, 0, 0, 0, 0, 0]];
    let refused = [[13, 16, 1, 1, 0, 0], [12, 16, 1, 2, 0, 0]];
    let seed = |name: &str, parts: &[&[[u8; 6]]]| {
        let steps = parts.iter().flat_map(|part| part.iter().flatten());
        (name.to_owned(), [0].into_iter().chain(steps.copied()).collect())
    };
    vec![
        seed("day", &[&logon, &business, &quiet, &end, &again, &business]),
        seed("short", &[&short]),
        seed("gap", &[&logon, &gap, &again, &business]),
        seed("refused", &[&logon, &business, &refused, &business]),
        seed(
            "no-logon",
            &[&logon[..1], &[[10, 0, 0, 3, 0, 0]], &logon[..2], &[[11, 0, 0, 3, 0, 0]]],
        ),
    ]
}
