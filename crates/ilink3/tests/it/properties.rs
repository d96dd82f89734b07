//! Arbitrary bytes, split anywhere, are counted, reported and answered in order, and never cause a
//! panic.

use crate::test_session::{Discard, UUID, framed, now, session, transmit};
use hairpin_cme_codecs::ilink3::{
    BooleanFlag, ExecutionReportNew522, KeepAliveLapsed, Sequence506,
};
use hairpin_ilink3::*;
use hairpin_sbe::MessageHeader;
use proptest::prelude::*;

/// Every template that the exchange sends, and some that it does not.
const TEMPLATES: [u16; 46] = [
    0, 1, 500, 501, 502, 503, 504, 505, 506, 507, 508, 509, 510, 511, 513, 514, 515, 516, 519, 521,
    522, 523, 524, 525, 526, 527, 531, 532, 534, 535, 536, 538, 545, 546, 548, 549, 550, 561, 562,
    563, 564, 565, 566, 571, 572, 65_535,
];

/// A listener that counts its callbacks.
#[derive(Default)]
struct CallbackLog {
    messages: u64,
    errors: u64,
    gaps: u64,
    rejects: u64,
    terminates: u64,
}

impl Listener for CallbackLog {
    fn on_message(&mut self, _: &mut Sender<'_>, _: &Message<'_>) {
        self.messages += 1;
    }
    fn on_error(&mut self, _: &mut Sender<'_>, error: &Error) {
        assert!(!error.to_string().is_empty());
        self.errors += 1;
    }
    fn on_gap(&mut self, _: &mut Sender<'_>, gap: Gap) {
        assert!(gap.from <= gap.to);
        self.gaps += 1;
    }
    fn on_reject(&mut self, _: &mut Sender<'_>, _: &Rejected<'_>) {
        self.rejects += 1;
    }
    fn on_terminate(&mut self, _: &mut Sender<'_>, _: &Terminated<'_>) {
        self.terminates += 1;
    }
}

fn state() -> impl Strategy<Value = State> {
    prop_oneof![
        Just(State::Negotiating),
        Just(State::Establishing),
        Just(State::Established),
        Just(State::Terminating),
    ]
}

/// Creates a plausible frame: valid framing header and mostly valid schema and template.
fn plausible_frame() -> impl Strategy<Value = Vec<u8>> {
    let body = prop::collection::vec(prop_oneof![Just(0_u8), Just(255), any::<u8>()], 0..600);
    let header =
        (prop::sample::select(&TEMPLATES[..]), prop_oneof![9 => Just(8_u16), 1 => any::<u16>()]);
    let lengths = (prop::option::of(0_u16..600), 0_u16..12);
    let numbers = (any::<bool>(), prop_oneof![Just(1_u32), Just(2), Just(0), any::<u32>()]);
    (body, header, lengths, numbers).prop_map(
        |(mut body, (template_id, schema_id), lengths, at)| {
            if at.0 && body.len() >= 12 {
                body[..4].copy_from_slice(&at.1.to_le_bytes());
                body[4..12].copy_from_slice(&UUID.to_le_bytes());
            }
            let block_length = lengths.0.unwrap_or(body.len() as u16);
            let header = MessageHeader { block_length, template_id, schema_id, version: lengths.1 };
            framed(8 + body.len(), |buffer| {
                buffer[..8].copy_from_slice(&header.to_bytes());
                buffer[8..].copy_from_slice(&body);
            })
        },
    )
}

/// Creates valid frames of an established session in order, some repeated or omitted.
fn nearly_right_stream() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec((0_u8..10, any::<bool>()), 0..20).prop_map(|steps| {
        let mut next = 1;
        let mut stream = Vec::new();
        for (step, flag) in steps {
            match step {
                0 => next += 1,
                1 => next = 1.max(next - 1),
                2 => stream.extend(framed(Sequence506::ENCODED_LENGTH, |buffer| {
                    let lapsed =
                        if flag { KeepAliveLapsed::LAPSED } else { KeepAliveLapsed::NOT_LAPSED };
                    let mut message = Sequence506::encode(buffer).unwrap();
                    message.set_uuid(UUID).set_next_seq_no(next);
                    message.set_keep_alive_interval_lapsed(lapsed);
                })),
                _ => {
                    stream.extend(framed(ExecutionReportNew522::ENCODED_LENGTH, |buffer| {
                        let mut message = ExecutionReportNew522::encode(buffer).unwrap();
                        message.set_uuid(UUID).set_seq_num(next);
                        message.set_poss_retrans_flag(BooleanFlag(u8::from(flag && step == 3)));
                    }));
                    next += 1;
                }
            }
        }
        stream
    })
}

/// Creates input of any kind, from random bytes to valid streams.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let frames = prop::collection::vec(plausible_frame(), 0..6).prop_map(|frames| frames.concat());
    let broken = (nearly_right_stream(), any::<prop::sample::Index>(), any::<u8>());
    let broken = broken.prop_map(|(mut stream, index, byte)| {
        if !stream.is_empty() {
            let index = index.index(stream.len());
            stream[index] = byte;
        }
        stream
    });
    let chaos = prop::collection::vec(any::<u8>(), 0..3_000);
    prop_oneof![chaos, frames, nearly_right_stream(), broken]
}

/// Passes `bytes` split at `cuts` to a session, while time advances and session messages are sent.
fn run(state: State, bytes: &[u8], cuts: &[usize]) -> (Session, CallbackLog, Option<u16>) {
    let mut session = session(state);
    let mut log = CallbackLog::default();
    let mut start = 0;
    for end in cuts.iter().copied().chain([bytes.len()]) {
        let end = end.clamp(start, bytes.len());
        session.handle_bytes(now(1), &bytes[start..end], &mut Discard::default(), &mut log);
        start = end;
    }
    let code = transmit(&mut session, now(1));
    (session, log, code)
}

proptest! {
    #[test]
    fn faults_are_reported_counted_and_end_the_session(
        state in state(), bytes in bytes(), mut cuts in prop::collection::vec(0_usize..3_000, 0..5)
    ) {
        cuts.sort_unstable();
        let (mut session, log, code) = run(state, &bytes, &cuts);
        let counters = *session.inbound_counters();
        prop_assert_eq!(counters.errors(), log.errors);
        prop_assert!(log.errors <= 1);
        prop_assert_eq!(counters.gaps, log.gaps);
        prop_assert_eq!(counters.rejects, log.rejects);
        prop_assert_eq!(counters.terminates, log.terminates);
        prop_assert_eq!(counters.business_messages, log.messages);
        if log.errors == 1 {
            prop_assert_eq!(session.state(), State::Terminating);
            prop_assert_eq!(session.poll_action(), Some(Action::Close));
            prop_assert_eq!(code, None, "a fault closes without a message");
        }
        prop_assert!(code.is_none_or(|code| code == 0), "no Terminate has another code");
        // In every case a timeout ends the connection.
        for seconds in 1..60 {
            session.handle_timeout(now(seconds * 1_000), &mut Discard::default(), &mut ());
            transmit(&mut session, now(seconds * 1_000));
        }
        session.poll_action();
        prop_assert_eq!(session.state(), State::Terminating);
        session.handle_disconnected(now(60_000), &mut Discard::default(), &mut ());
        prop_assert_eq!(session.state(), State::Disconnected);
        prop_assert_eq!(session.poll_timeout(), None);
        prop_assert_eq!(session.connect(now(60_000), Binding::New), Ok(()));
    }

    #[test]
    fn splitting_the_stream_changes_nothing(
        state in state(), bytes in bytes(), mut cuts in prop::collection::vec(0_usize..3_000, 0..9)
    ) {
        cuts.sort_unstable();
        let (whole, _, code) = run(state, &bytes, &[]);
        let (cut, _, cut_code) = run(state, &bytes, &cuts);
        prop_assert_eq!(code, cut_code);
        prop_assert_eq!(whole.state(), cut.state());
        prop_assert_eq!(whole.progress(), cut.progress());
        let counters = |session: &Session| {
            // The number of discarded bytes after a fault depends on the split.
            let counters = session.inbound_counters().iter();
            counters.filter(|(name, _)| *name != "bytes_discarded").collect::<Vec<_>>()
        };
        prop_assert_eq!(counters(&whole), counters(&cut));
    }
}
