//! The lower bound: frames of the same length over the minimal AF_XDP socket.

use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use hairpin_cli_harness::answer_timeout::answer_timeout;
use hairpin_cli_harness::host_pair::Role;
use hairpin_host::Clock;
use hairpin_measure::Recorder;
use hairpin_testbed::MinimalSocket;
use hairpin_time::Instant;
use hairpin_wire::Sum;

use super::Counts;
use super::sockets_case::SocketsCase;
use crate::bench::bench_context::BenchContext;

/// The offset of the message number in a frame.
const NUMBER: usize = 14;
/// The first EtherType for local experiments (IEEE 802).
const ETHER_TYPE: [u8; 2] = 0x88b5_u16.to_be_bytes();
/// The number of consecutive losses that ends the round.
const LOST_MAX: u64 = 3;
/// The number of polls between two reads of the clock.
const POLLS: u32 = 256;

/// What the echo does with the bytes after the headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Payload {
    /// Nothing: it stays in the frame that arrived.
    Ignored,
    /// It is summed and copied to a buffer, and from the buffer into the next frame.
    Copied,
}

/// The buffer of one side.
struct Message {
    payload: Payload,
    bytes: Box<[u8]>,
}

impl Message {
    fn new(payload: Payload, length: usize) -> Self {
        Self { payload, bytes: vec![0; length].into_boxed_slice() }
    }

    /// Takes the message out of a frame.
    fn read(&mut self, frame: &[u8]) {
        if self.payload == Payload::Copied {
            let message = &frame[NUMBER..];
            black_box(Sum::ZERO.bytes(message).is_valid());
            self.bytes[..message.len()].copy_from_slice(message);
        }
    }

    /// Writes the message into a frame.
    fn write(&self, frame: &mut [u8]) {
        if self.payload == Payload::Copied {
            let message = &mut frame[NUMBER..];
            message.copy_from_slice(&self.bytes[..message.len()]);
            black_box(Sum::ZERO.bytes(message).checksum());
        }
    }
}

/// Measures round trips between a thread on each host, pinned to the cores of server and client.
///
/// # Errors
/// The sockets cannot be opened; a core that a thread cannot be pinned to; 3 losses in a row.
pub(super) fn round(
    context: &BenchContext<'_>,
    case: &SocketsCase,
    payload: Payload,
) -> Result<(Recorder, Counts)> {
    // Generic mode is the default of AF_XDP on a veth.
    let open = |role| context.hosts.run(role, |index| MinimalSocket::open(index, false));
    let [mut server, mut client] = [open(Role::Pong)?, open(Role::Ping)?];
    let length = case.protocol.headers() + case.size;
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let echo = scope.spawn(|| {
            pin(context.cores.exchange)?;
            echo_until(&mut server, &mut Message::new(payload, length), &stop)
        });
        // Threads that this one starts later would inherit its core.
        let measured = scope.spawn(|| {
            pin(context.cores.trader)?;
            let total = case.load.warm_up + case.load.samples;
            let message = Message::new(payload, length);
            measure(&mut client, message, case.load.warm_up, total)
        });
        let measured = measured.join();
        stop.store(true, Ordering::Relaxed);
        let measured = measured.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        echo.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        measured
    })
    .with_context(|| case.program.names()[0])
}

fn pin(core: Option<usize>) -> io::Result<()> {
    core.map_or(Ok(()), |core| hairpin_host::pin(core).map_err(io::Error::other))
}

/// Sends all frames of ours back.
fn echo_until(
    socket: &mut MinimalSocket,
    message: &mut Message,
    stop: &AtomicBool,
) -> io::Result<()> {
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..POLLS {
            let is_echoed = socket.echo(|frame| {
                let is_ours = frame[12..NUMBER] == ETHER_TYPE;
                if is_ours {
                    frame[..12].rotate_left(6);
                    message.read(frame);
                    message.write(frame);
                }
                is_ours
            })?;
            if !is_echoed {
                std::hint::spin_loop();
            }
        }
    }
    Ok(())
}

/// Sends `total` messages, each after the previous answer, and records the round trips of all but
/// the first `warm_up`.
fn measure(
    socket: &mut MinimalSocket,
    mut message: Message,
    warm_up: u64,
    total: u64,
) -> io::Result<(Recorder, Counts)> {
    let mut clock = Clock::new();
    let mut round_trips = Recorder::with_capacity((total - warm_up) as usize);
    let mut counts = Counts::default();
    let mut lost_in_a_row = 0;
    for number in 0..total {
        let sent = clock.instant();
        message.bytes[..8].copy_from_slice(&number.to_le_bytes());
        socket.send(message.bytes.len(), |frame| {
            message.write(frame);
            write(frame, number);
        })?;
        let Some(answered) = answer(socket, &mut message, &clock, sent) else {
            counts.dropped += 1;
            lost_in_a_row += 1;
            if lost_in_a_row == LOST_MAX {
                let reason = "3 messages in a row without an answer";
                return Err(io::Error::new(io::ErrorKind::TimedOut, reason));
            }
            continue;
        };
        lost_in_a_row = 0;
        if number >= warm_up {
            round_trips.record(answered - sent);
        }
        clock.recalibrate_if_due(answered);
    }
    Ok((round_trips, counts))
}

/// Writes addresses, EtherType and number.
fn write(frame: &mut [u8], number: u64) {
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    frame[12..NUMBER].copy_from_slice(&ETHER_TYPE);
    frame[NUMBER..NUMBER + 8].copy_from_slice(&number.to_le_bytes());
}

/// Waits for the answer to the message; `None` if it is lost.
fn answer(
    socket: &mut MinimalSocket,
    message: &mut Message,
    clock: &Clock,
    sent: Instant,
) -> Option<Instant> {
    let expected: [u8; 8] = std::array::from_fn(|at| message.bytes[at]);
    loop {
        for _ in 0..POLLS {
            let is_answer = socket.receive(|frame| {
                let is_answer =
                    frame[12..NUMBER] == ETHER_TYPE && frame[NUMBER..NUMBER + 8] == expected;
                if is_answer {
                    message.read(frame);
                }
                is_answer
            });
            match is_answer {
                Some(true) => return Some(clock.instant()),
                Some(false) => {}
                None => std::hint::spin_loop(),
            }
        }
        if clock.instant().saturating_since(sent) > answer_timeout() {
            return None;
        }
    }
}
