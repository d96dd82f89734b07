//! A client's session, given frames that an exchange could send, with right numbers and wrong ones,
//! and a second session that is given the same bytes in pieces.
//!
//! Proves what `ilink3_session_bytes` does, deeper in, and that where a stream is cut makes no
//! difference.
//!
//! An input is whether the listeners send too, then steps of six bytes.

use crate::Seed;
use crate::exchange_frames::Said;
use crate::script::Script;
use crate::session::Watched;

/// One input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let answers = script.flag();
    let mut both = [Watched::new(answers), Watched::new(answers)];
    while !script.is_over() {
        let step = [(); 6].map(|()| script.byte());
        match step {
            [0, binding, ..] => {
                both.iter_mut().for_each(|one| one.connect(binding & 1 == 1, binding & 2 == 0));
            }
            [1, ..] => both.iter_mut().for_each(Watched::disconnect),
            [2, low, high, ..] => {
                let millis = u64::from(u16::from_le_bytes([low, high]));
                both.iter_mut().for_each(|one| one.pass(millis));
            }
            [3, what, mood, ..] => both.iter_mut().for_each(|one| one.send(what & 1 == 1, mood)),
            [4, ..] => both.iter_mut().for_each(Watched::terminate),
            [kind, wrong, by, code, place, cut] => {
                let mut frame = said(&both[0], kind - 5, wrong, by, code).frame();
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

/// What fits, but for the values that `wrong` has a bit for.
fn said(watched: &Watched, kind: u8, wrong: u8, by: u8, code: u8) -> Said {
    let mut said = Said::rightly(kind, &watched.session.progress());
    said.code = code;
    if wrong & 1 != 0 {
        said.seq_num = said.seq_num.wrapping_add(u32::from(by));
    }
    if wrong & 2 != 0 {
        said.seq_num = said.seq_num.wrapping_sub(u32::from(by));
    }
    if wrong & 4 != 0 {
        said.uuid = said.uuid.wrapping_sub(u64::from(by));
    }
    if wrong & 8 != 0 {
        said.request_timestamp = said.request_timestamp.wrapping_add(u64::from(by));
    }
    if wrong & 16 != 0 {
        // As of a Terminate, or of what answers a request of ours.
        said.seq_num = watched.session.progress().next_outgoing.wrapping_sub(u32::from(by));
    }
    said
}

fn compare(whole: &Watched, pieces: &Watched) {
    assert_eq!(whole.session.state(), pieces.session.state());
    assert_eq!(whole.session.progress(), pieces.session.progress());
    assert_eq!(whole.session.poll_timeout(), pieces.session.poll_timeout());
    let counted = |one: &Watched| {
        let mut counters = *one.session.inbound_counters();
        // How much is left behind a fault depends on where the stream was cut.
        counters.bytes_discarded = 0;
        (counters, *one.session.outbound_counters())
    };
    assert_eq!(counted(whole), counted(pieces));
}

/// A day with a second logon; a gap; a refusal.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let logon = [[0, 0, 0, 0, 0, 0], [5, 0, 0, 0, 0, 9], [6, 0, 0, 0, 0, 3]];
    let again = [[0, 1, 0, 0, 0, 0], [6, 0, 0, 0, 0, 1]];
    let report = [7, 0, 0, 0, 0, 50];
    let business = [[3, 0, 0, 0, 0, 0], report, [3, 1, 0, 0, 0, 0], [14, 0, 0, 7, 0, 11]];
    let quiet = [[2, 0, 40, 0, 0, 0], [8, 0, 0, 1, 0, 0], [2, 0, 40, 0, 0, 0], [8, 0, 0, 0, 0, 0]];
    let end = [[4, 0, 0, 0, 0, 0], [9, 0, 0, 0, 0, 0]];
    // An answer, and bytes behind it that are no frame, in one chunk.
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
