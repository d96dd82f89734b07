//! Segments to a TCP connection, arbitrary or almost valid.
//!
//! Checks:
//!
//! - No segment causes a panic, and every segment that the connection sends is valid.
//! - The received stream never moves back, and no more is received than was promised.
//! - The first unacknowledged byte never moves back, nor beyond what was sent.
//!
//! Input: steps. A step sends bytes, reads, lets time pass, or processes a segment: its payload
//! and options are bytes of the input, its numbers are near those of the connection.

use hairpin_tcp::Action;
use hairpin_time::{Duration, Instant};
use hairpin_wire::{TcpFlags, TcpHeader};

use crate::Seed;
use crate::script::Script;
use crate::tcp_host::{Host, Shape, segment};

/// The most steps of an input.
const STEPS: usize = 2_000;
/// The sequence numbers at which the two ends start: the first wraps around.
const STARTS: [u32; 2] = [u32::MAX - 5_000, 5_000];

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    let shape = Shape {
        timestamps: script.flag(),
        selective: script.flag(),
        scale: script.below(15),
        starts: STARTS,
        ..Shape::USUAL
    };
    let mut now = Instant::from_nanos(1_000_000_000);
    let mut host = Host::new(now, &shape, 0);
    for _ in 0..STEPS {
        if script.is_over() {
            break;
        }
        let before = (host.connection.receive_next(), host.connection.send_unacknowledged());
        let sent = before.1.wrapping_add(host.connection.in_flight() as u32);
        match script.below(8) {
            0 => {
                let count = usize::from(script.word());
                host.queue(now, &vec![7; count]);
            }
            1 => {
                let most = usize::from(script.word());
                host.read(|part| part.len().min(most));
            }
            2 => {
                now = now + Duration::from_micros(u64::from(script.word()) * 10);
                host.connection.handle_timeout(now);
            }
            3 => host.restore(now),
            4 => {
                let length = usize::from(script.byte());
                handle(&mut host, now, script.bytes(length));
            }
            _ => {
                let segment = near(&mut script, before.0, before.1);
                handle(&mut host, now, &segment);
            }
        }
        let received = host.connection.receive_next().wrapping_sub(before.0);
        assert!(received as usize <= shape.ring, "received {received} bytes");
        let acknowledged = host.connection.send_unacknowledged().wrapping_sub(before.1);
        assert!(acknowledged <= sent.wrapping_sub(before.1), "acknowledged what was never sent");
        assert!(host.connection.unread_length() <= shape.ring);
        while let Some(frame) = host.transmit(now) {
            assert!(segment(&frame).is_some(), "sent an invalid segment");
        }
        if let Some(Action::HandBack(_)) = host.connection.poll_action() {
            host.restore(now);
        }
    }
}

fn handle(host: &mut Host, now: Instant, segment: &[u8]) {
    let mut rings = hairpin_tcp::Rings { send: &mut host.send, receive: &mut host.receive };
    let _ = host.connection.handle_segment(now, segment, &mut rings, &mut ());
}

/// Returns a segment with numbers near those of the connection.
fn near(script: &mut Script<'_>, receive_next: u32, send_unacknowledged: u32) -> Vec<u8> {
    let offset =
        |script: &mut Script<'_>| (i32::from(script.word() as i16) >> script.below(16)) as u32;
    let (sequence, acknowledgment) = (offset(script), offset(script));
    let flags = TcpFlags(script.byte() & script.byte() | TcpFlags::ACK.0);
    let window = script.word();
    let words = usize::from(script.below(11));
    let options = script.bytes(words * 4);
    let options_length = options.len() / 4 * 4;
    let payload = usize::from(script.word() % 1_500);
    let mut segment = vec![0; TcpHeader::SIZE];
    segment.extend(&options[..options_length]);
    segment.extend(std::iter::repeat_n(9, payload));
    if let Ok((header, _)) = TcpHeader::split_mut(&mut segment) {
        header.set_sequence_number(receive_next.wrapping_add(sequence));
        header.set_acknowledgement_number(send_unacknowledged.wrapping_add(acknowledgment));
        header.set_header_length(TcpHeader::SIZE + options_length);
        header.set_flags(flags);
        header.set_window(window);
    }
    segment
}

/// Returns inputs with data, acknowledgments, options and a restart.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let data = |flags: u8, payload: u8| [5, 0, 0, 0, 0, 0, 0, flags, flags, 0, 2, 0, payload, 0];
    let options = [
        &[5, 0, 0, 0, 0, 0, 0, 16, 16, 0, 2, 3][..],
        &[1, 1, 8, 10, 1, 0, 0, 0, 0, 0, 0, 0],
        &[9, 0],
    ];
    vec![
        ("data".to_owned(), [&[0, 1, 7][..], &data(24, 100), &[1, 255, 0], &data(24, 9)].concat()),
        ("fin".to_owned(), [&[0, 0, 0][..], &data(17, 3)].concat()),
        ("reset".to_owned(), [&[0, 1, 2][..], &data(4, 0)].concat()),
        ("timestamps".to_owned(), [&[1, 1, 7][..], &options.concat()].concat()),
        (
            "restart".to_owned(),
            [&[0, 1, 7, 0, 200, 0][..], &data(16, 50), &[3, 2, 255, 255]].concat(),
        ),
    ]
}
