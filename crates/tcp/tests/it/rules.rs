//! Rules in the form of packet traces.

use hairpin_tcp::{Action, Reason, Verdict};
use hairpin_testkit::Random;
use hairpin_time::{Duration, Instant};
use hairpin_wire::{TcpFlags, TcpHeader, TcpOption};

use crate::host::{Host, Shape, segment};

const MS: Duration = Duration::from_millis(1);
/// A peer's clock does not start at zero.
const START: Instant = Instant::from_nanos(1_000_000_000);

fn pair(shape: &Shape) -> [Host; 2] {
    [0, 1].map(|end| Host::new(START, shape, end))
}

/// A segment in the form of a trace.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    sequence: u32,
    acknowledgment: u32,
    length: usize,
    blocks: Vec<(u32, u32)>,
}

fn seen(frame: &[u8]) -> Seen {
    let (header, options, payload) = TcpHeader::parse(segment(frame).unwrap()).unwrap();
    let mut blocks = Vec::new();
    for option in options {
        if let TcpOption::Sack(found) = option.unwrap() {
            blocks.extend(found.iter());
        }
    }
    Seen {
        sequence: header.sequence_number(),
        acknowledgment: header.acknowledgement_number(),
        length: payload.len(),
        blocks,
    }
}

fn all(host: &mut Host, now: Instant) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| host.transmit(now)).collect()
}

/// Changes flags of a frame and computes its checksum again by sending zeros through the parser.
fn with_flags(frame: &[u8], flags: TcpFlags) -> Vec<u8> {
    let mut frame = frame.to_vec();
    let old = frame[34 + 13];
    frame[34 + 13] = flags.0;
    let checksum = u16::from_be_bytes([frame[34 + 16], frame[34 + 17]]);
    let updated = hairpin_wire::update(checksum, u16::from(old), u16::from(flags.0));
    frame[34 + 16..34 + 18].copy_from_slice(&updated.to_be_bytes());
    assert!(segment(&frame).is_some());
    frame
}

#[test]
fn answer_carries_the_acknowledgment() {
    let [mut a, mut b] = pair(&Shape::USUAL);
    let request = a.send_in_place(START, b"request").unwrap();
    assert_eq!(seen(&request).length, 7);
    assert_eq!(b.handle(START, &request, &mut ()), Some(Verdict::Handled));
    assert!(b.transmit(START).is_none(), "the acknowledgment is delayed");
    let answer = b.send_in_place(START, b"answer").unwrap();
    assert_eq!(seen(&answer).acknowledgment, 1_007);
    let _ = a.handle(START, &answer, &mut ());
    assert_eq!((a.connection.in_flight(), a.connection.unread_length()), (0, 6));
    assert_eq!(b.connection.counters().predicted, 1);
}

#[test]
fn acknowledgment_is_delayed_by_20_ms_or_until_two_full_segments() {
    let [mut a, mut b] = pair(&Shape::USUAL);
    let first = a.send_in_place(START, &[1; 1_448]).unwrap();
    let _ = b.handle(START, &first, &mut ());
    assert!(b.transmit(START).is_none());
    assert_eq!(b.connection.poll_timeout(), Some(START + MS * 20));
    b.connection.handle_timeout(START + MS * 20);
    assert_eq!(all(&mut b, START + MS * 20).len(), 1);
    for _ in 0..2 {
        let frame = a.send_in_place(START, &[1; 1_448]).unwrap();
        let _ = b.handle(START, &frame, &mut ());
    }
    assert_eq!(seen(&b.transmit(START).unwrap()).acknowledgment, 1_000 + 3 * 1_448);
}

#[test]
fn gap_is_reported_with_the_latest_block_first() {
    let [mut a, mut b] = pair(&Shape::USUAL);
    let frames: Vec<_> = (0..5).map(|_| a.send_in_place(START, &[1; 100]).unwrap()).collect();
    let _ = b.handle(START, &frames[1], &mut ());
    assert_eq!(seen(&b.transmit(START).unwrap()).blocks, [(1_100, 1_200)]);
    let _ = b.handle(START, &frames[3], &mut ());
    let seen = seen(&b.transmit(START).unwrap());
    assert_eq!((seen.acknowledgment, seen.blocks), (1_000, vec![(1_300, 1_400), (1_100, 1_200)]));
}

#[test]
fn segment_before_three_that_arrived_is_resent_at_once() {
    let [mut a, mut b] = pair(&Shape::USUAL);
    let frames: Vec<_> = (0..4).map(|_| a.send_in_place(START, &[1; 100]).unwrap()).collect();
    let later = START + MS;
    for frame in &frames[1..] {
        let _ = b.handle(later, frame, &mut ());
    }
    let report = b.transmit(later).unwrap();
    let _ = a.handle(later, &report, &mut ());
    let resent = a.transmit(later).unwrap();
    assert_eq!((seen(&resent).sequence, seen(&resent).length), (1_000, 100));
    let _ = b.handle(later, &resent, &mut ());
    assert_eq!(seen(&b.transmit(later).unwrap()).acknowledgment, 1_400);
    assert_eq!(a.connection.counters().timeouts, 0);
}

#[test]
fn lost_last_segment_is_sent_again_within_three_round_trips() {
    // Of a few exchanges or many, after short and long round trips.
    for round_trip in [MS / 50, MS / 2, MS * 2, MS * 30, MS * 100] {
        for exchanges in [1, 3, 20] {
            for length in [1, 100, 1_448] {
                assert_resent(round_trip, exchanges, length);
            }
        }
    }
}

/// Loses the last segment after some exchanges, and checks that it is sent again in time.
fn assert_resent(round_trip: Duration, exchanges: u32, length: usize) {
    let [mut a, mut b] = pair(&Shape::USUAL);
    let mut now = START;
    let half = Duration::from_nanos(round_trip.as_nanos() / 2);
    for _ in 0..exchanges {
        let frame = a.send_in_place(now, &vec![1; length]).unwrap();
        let _ = b.handle(now + half, &frame, &mut ());
        let answer = b.send_in_place(now + half, &[1; 100]).unwrap();
        now += round_trip;
        let _ = a.handle(now, &answer, &mut ());
        a.read(<[u8]>::len);
        b.read(<[u8]>::len);
    }
    let lost = a.send_in_place(now, &vec![1; length]).unwrap();
    let (at, resent) = loop {
        let at = a.connection.poll_timeout().unwrap();
        a.connection.handle_timeout(at);
        if let Some(frame) = all(&mut a, at).into_iter().find(|frame| seen(frame).length > 0) {
            break (at, frame);
        }
    };
    assert_eq!(seen(&resent).sequence, seen(&lost).sequence);
    let (delay, margin) = (a.connection.ack_delay(), MS * 10);
    let limit = round_trip.as_nanos() * 3 + delay.as_nanos() + margin.as_nanos();
    let took = at - now;
    assert!(took.as_nanos() <= limit, "{took:?} after {exchanges} round trips of {round_trip:?}");
}

#[test]
fn second_timeout_in_a_row_hands_back() {
    let [mut a, _] = pair(&Shape::USUAL);
    a.send_in_place(START, b"lost").unwrap();
    while a.connection.poll_action().is_none() {
        let at = a.connection.poll_timeout().unwrap();
        a.connection.handle_timeout(at);
        all(&mut a, at);
    }
    assert_eq!(a.connection.poll_action(), Some(Action::HandBack(Reason::Timeouts)));
    assert_eq!(a.connection.counters().timeouts, 2);
}

#[test]
fn reset_needs_the_exact_number() {
    let [mut a, mut b] = pair(&Shape::USUAL);
    let first = a.send_in_place(START, b"lost").unwrap();
    let second = a.send_in_place(START, b"next").unwrap();
    let _ = b.handle(START, &with_flags(&second, TcpFlags::RST | TcpFlags::ACK), &mut ());
    assert_eq!(b.connection.poll_action(), None);
    assert_eq!(b.connection.counters().challenges, 1);
    assert_eq!(seen(&b.transmit(START).unwrap()).acknowledgment, 1_000);
    let _ = b.handle(START, &with_flags(&first, TcpFlags::RST | TcpFlags::ACK), &mut ());
    assert_eq!(b.connection.poll_action(), Some(Action::HandBack(Reason::Reset)));
}

#[test]
fn syn_and_urgent_data_are_the_kernels() {
    for (flags, reason) in [(TcpFlags::SYN, Reason::Syn), (TcpFlags::URG, Reason::Urgent)] {
        let [mut a, mut b] = pair(&Shape::USUAL);
        let frame = a.send_in_place(START, b"data").unwrap();
        let frame = with_flags(&frame, flags | TcpFlags::ACK);
        assert_eq!(b.handle(START, &frame, &mut ()), Some(Verdict::Kernel));
        assert_eq!(b.connection.poll_action(), Some(Action::HandBack(reason)));
        assert_eq!(b.connection.unread_length(), 0);
    }
}

#[test]
fn fin_hands_back_when_everything_before_it_was_received() {
    let [mut a, mut b] = pair(&Shape::USUAL);
    let first = a.send_in_place(START, b"first").unwrap();
    let last = a.send_in_place(START, b"last").unwrap();
    let last = with_flags(&last, TcpFlags::FIN | TcpFlags::ACK);
    let _ = b.handle(START, &last, &mut ());
    assert_eq!(b.connection.poll_action(), None);
    let _ = b.handle(START, &first, &mut ());
    assert_eq!(b.connection.poll_action(), Some(Action::HandBack(Reason::Fin)));
    assert!(b.connection.is_at_end() && b.connection.unread_length() == 9);
}

#[test]
fn old_timestamp_is_dropped() {
    let [mut a, mut b] = pair(&Shape::USUAL);
    let first = a.send_in_place(START, b"first").unwrap();
    let second = a.send_in_place(START + MS * 5, b"second").unwrap();
    let third = a.send_in_place(START + MS * 9, b"third").unwrap();
    let _ = b.handle(START, &first, &mut ());
    all(&mut b, START);
    let _ = b.handle(START, &third, &mut ());
    all(&mut b, START);
    // In order, with a later time: the third does not update the time to echo.
    let _ = b.handle(START, &second, &mut ());
    assert_eq!((b.connection.unread_length(), b.connection.counters().old_timestamps), (16, 0));
    all(&mut b, START);
    let _ = b.handle(START, &first, &mut ());
    assert_eq!(b.connection.counters().old_timestamps, 1);
}

#[test]
fn nagle_holds_a_second_short_segment() {
    let mut shape = Shape::USUAL;
    shape.config.nagle = true;
    let [mut a, mut b] = pair(&shape);
    let first = a.send_in_place(START, b"short").unwrap();
    assert!(a.send_in_place(START, b"short").is_none());
    a.queue(START, b"short");
    assert!(a.transmit(START).is_none());
    let _ = b.handle(START, &first, &mut ());
    let answer = b.send_in_place(START, b"answer").unwrap();
    let _ = a.handle(START, &answer, &mut ());
    assert_eq!(seen(&a.transmit(START).unwrap()).length, 5);
}

#[test]
fn short_segments_wait_while_corked_for_at_most_200_ms() {
    let [mut a, mut b] = pair(&Shape::USUAL);
    a.connection.set_corked(true);
    assert!(a.send_in_place(START, b"short").is_none());
    a.queue(START, &[1; 1_460]);
    let lengths = |frames: Vec<Vec<u8>>| frames.iter().map(|it| seen(it).length).collect();
    let full = all(&mut a, START);
    let _ = b.handle(START, &full[0], &mut ());
    b.connection.request_acknowledgment();
    let _ = a.handle(START, &b.transmit(START).unwrap(), &mut ());
    let sent: Vec<usize> = lengths(full);
    assert_eq!(sent, [1_448]);
    let deadline = START + MS * 200;
    assert_eq!(a.connection.poll_timeout(), Some(deadline));
    a.connection.handle_timeout(deadline);
    let waited: Vec<usize> = lengths(all(&mut a, deadline));
    assert_eq!(waited, [12]);
    // Other bytes wait again, until the cork is removed.
    a.queue(deadline, b"more");
    let held: Vec<usize> = lengths(all(&mut a, deadline));
    assert_eq!(held, []);
    a.connection.set_corked(false);
    let freed: Vec<usize> = lengths(all(&mut a, deadline));
    assert_eq!(freed, [4]);
}

#[test]
fn closed_window_hands_back_after_5_ms() {
    let mut shape = Shape::USUAL;
    (shape.ring, shape.scale) = (4_096, 0);
    let [mut a, mut b] = pair(&shape);
    let mut now = START;
    while a.connection.poll_action().is_none() {
        a.queue(now, &[1; 4_096]);
        for frame in all(&mut a, now) {
            let _ = b.handle(now, &frame, &mut ());
        }
        b.connection.handle_timeout(now);
        for frame in all(&mut b, now) {
            let _ = a.handle(now, &frame, &mut ());
        }
        now += MS;
        a.connection.handle_timeout(now);
    }
    assert_eq!(a.connection.poll_action(), Some(Action::HandBack(Reason::ClosedWindow)));
    assert!(b.connection.unread_length() >= 2_800);
}

#[test]
fn bulk_transfer_hands_back_after_100_ms_in_spite_of_short_pauses() {
    let shape = Shape { ring: 1 << 18, ..Shape::USUAL };
    // Every acknowledgment leaves nothing in flight; a pause of 20 ms starts the time again.
    for (pause, is_handed_back) in [(MS * 4, true), (MS * 20, false)] {
        let [mut a, mut b] = pair(&shape);
        let mut now = START;
        let end = START + MS * 400;
        while now < end && a.connection.poll_action().is_none() {
            a.queue(now, &[1; 100_000]);
            for frame in all(&mut a, now) {
                let _ = b.handle(now, &frame, &mut ());
            }
            b.read(<[u8]>::len);
            for frame in all(&mut b, now) {
                let _ = a.handle(now, &frame, &mut ());
            }
            now += pause;
            a.connection.handle_timeout(now);
            b.connection.handle_timeout(now);
        }
        let expected = is_handed_back.then_some(Action::HandBack(Reason::Bulk));
        assert_eq!(a.connection.poll_action(), expected);
    }
}

#[test]
fn acknowledgment_of_unsent_data_is_challenged() {
    let [mut a, mut b] = pair(&Shape::USUAL);
    let frame = a.send_in_place(START, b"data").unwrap();
    let _ = b.handle(START, &frame, &mut ());
    let answer = b.send_in_place(START, b"answer").unwrap();
    // The receiver of the answer has never sent these four bytes.
    let [mut other, _] = pair(&Shape::USUAL);
    let _ = other.handle(START, &answer, &mut ());
    assert_eq!(other.connection.counters().challenges, 1);
    assert_eq!(other.connection.unread_length(), 0);
}

#[test]
fn peer_that_answers_after_30_ms_is_rarely_sent_again() {
    const ROUNDS: u32 = 10_000;
    // Always, and now and then among fast answers.
    for slow_every in [1, 10] {
        let [mut a, mut b] = pair(&Shape::USUAL);
        let mut now = START;
        for round in 0..ROUNDS {
            let mut frames = vec![a.send_in_place(now, b"request").unwrap()];
            let is_slow = round % slow_every == 0;
            let answer_at = now + if is_slow { MS * 30 } else { Duration::from_micros(20) };
            while let Some(at) = a.connection.poll_timeout().filter(|&at| at < answer_at) {
                a.connection.handle_timeout(at);
                frames.extend(all(&mut a, at));
            }
            now = answer_at;
            for frame in &frames {
                let _ = b.handle(now, frame, &mut ());
            }
            let answer = b.send_in_place(now, b"answer").unwrap();
            let _ = a.handle(now, &answer, &mut ());
            assert_eq!((a.read(<[u8]>::len), b.read(<[u8]>::len)), (6, 7));
            now += Duration::from_micros(100);
        }
        let counters = a.connection.counters();
        assert!(counters.retransmitted <= u64::from(ROUNDS / 100), "{counters:?}");
    }
}

#[test]
fn forged_segments_change_nothing() {
    let [mut a, mut b] = pair(&Shape::USUAL);
    let mut random = Random::new(5);
    let mut below = |limit: u64| random.below(limit);
    let (mut now, mut position) = (START, 0_u64);
    for _ in 0..10_000 {
        let bytes: Vec<u8> = (position..position + 1 + below(99)).map(|at| at as u8).collect();
        let frame = a.send_in_place(now, &bytes).unwrap();
        // Old timestamps are known from the second segment on.
        for _ in 0..if position > 0 { 10 } else { 0 } {
            let forged = forge(segment(&frame).unwrap(), &mut below);
            let mut rings = hairpin_tcp::Rings { send: &mut b.send, receive: &mut b.receive };
            let verdict = b.connection.handle_segment(now, &forged, &mut rings, &mut ());
            assert_eq!(verdict, Verdict::Handled);
        }
        let _ = b.handle(now, &frame, &mut ());
        let mut received = Vec::<u8>::new();
        b.read(|part| {
            received.extend_from_slice(part);
            part.len()
        });
        assert_eq!(received, bytes, "at {position}");
        position += bytes.len() as u64;
        b.connection.request_acknowledgment();
        for answer in all(&mut b, now) {
            let _ = a.handle(now, &answer, &mut ());
        }
        now += MS;
    }
    assert_eq!((a.connection.poll_action(), b.connection.poll_action()), (None, None));
    assert_eq!(b.connection.counters().bytes_received, position);
}

/// Returns a segment like this one, with other bytes, and with a number that a receiver rejects.
fn forge(segment: &[u8], below: &mut impl FnMut(u64) -> u64) -> Vec<u8> {
    let mut forged = segment.to_vec();
    let (header, payload) = TcpHeader::split_mut(&mut forged).unwrap();
    payload[12..].fill(0xBB);
    let (sequence, acknowledgment) = (header.sequence_number(), header.acknowledgement_number());
    let near = 1 + below(30_000) as u32;
    match below(5) {
        // An RST, a SYN or urgent data within the window, but not with the next number, or with an
        // acknowledgment of what was never sent.
        0 => {
            header.set_flags(TcpFlags::RST);
            header.set_sequence_number(sequence.wrapping_add(near));
        }
        1 => {
            header.set_flags(TcpFlags(TcpFlags::SYN.0 | TcpFlags::URG.0));
            header.set_acknowledgement_number(acknowledgment.wrapping_add(near));
        }
        // Every flag but RST, beyond the window.
        2 => {
            header.set_flags(TcpFlags(below(256) as u8 & !TcpFlags::RST.0));
            header.set_sequence_number(sequence.wrapping_add(0x10_0000 + near));
        }
        // Data that were received, again.
        3 => header.set_sequence_number(sequence.wrapping_sub(2_000 + near)),
        // Next data with an old timestamp.
        _ => payload[4..8].copy_from_slice(&1_u32.to_be_bytes()),
    }
    forged
}
