//! The ping and pong loops.
//!
//! All transports are open at once, each between its own two hosts, and take turns: a block of
//! messages by one, then by the next. So all of them are measured under the same conditions, which
//! change within tenths of a second on a shared machine.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hairpin_host::Clock;
use hairpin_time::{Duration, Instant};

use crate::port::Port;

/// The measured messages of a block.
const BLOCK: u32 = 2_000;
/// The messages before those, to refill the caches after the other transports' turns. The number
/// lets each receive frame, of which there are at most 1,024, be used once.
const WARM_UP: u32 = 1_200;
/// The time after which a message without an answer is lost.
const TIMEOUT: Duration = Duration::from_millis(20);
/// The number of consecutive losses that ends the run.
const LOST_MAX: u64 = 100;
/// The number of polls between two reads of the clock or of the turn.
const POLLS: u32 = 256;
/// The value of `turn` that ends the pong loop.
const OVER: usize = usize::MAX;

/// The measurements of a ping loop.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// Round trips in nanoseconds.
    pub(crate) round_trips: Vec<u64>,
    pub(crate) lost: u64,
    /// Answers to lost messages.
    pub(crate) late: u64,
    /// The number of the next message.
    number: u64,
}

/// A port during its turn.
pub(crate) trait PingLoop: Send {
    /// Sends a block of messages, each after the previous answer; up to `samples` of them are
    /// measured.
    fn ping(&mut self, clock: &mut Clock, samples: u32, sample: &mut Sample) -> io::Result<()>;

    /// Answers messages during the turn of `case`.
    fn pong(&mut self, turn: &AtomicUsize, case: usize) -> io::Result<()>;
}

impl<P: Port + Send> PingLoop for P {
    fn ping(&mut self, clock: &mut Clock, samples: u32, sample: &mut Sample) -> io::Result<()> {
        let mut lost_in_a_row = 0;
        let mut left = WARM_UP + samples;
        while left > 0 {
            let sent = clock.instant();
            self.send(sample.number)?;
            let answered = answer(self, clock, sample.number, sent, &mut sample.late)?;
            sample.number += 1;
            let Some(answered) = answered else {
                sample.lost += 1;
                lost_in_a_row += 1;
                if lost_in_a_row == LOST_MAX {
                    return Err(io::Error::new(
                        io::ErrorKind::TimedOut,
                        "cannot measure: 100 messages in a row without an answer",
                    ));
                }
                continue;
            };
            lost_in_a_row = 0;
            if left <= samples {
                sample.round_trips.push((answered - sent).as_nanos());
            }
            left -= 1;
            clock.recalibrate_if_due(answered);
        }
        Ok(())
    }

    fn pong(&mut self, turn: &AtomicUsize, case: usize) -> io::Result<()> {
        while turn.load(Ordering::Relaxed) == case {
            for _ in 0..POLLS {
                if !self.echo()? {
                    std::hint::spin_loop();
                }
            }
        }
        Ok(())
    }
}

/// Waits for the answer to message `number`; `None` if it is lost.
#[inline]
fn answer(
    port: &mut impl Port,
    clock: &Clock,
    number: u64,
    sent: Instant,
    late: &mut u64,
) -> io::Result<Option<Instant>> {
    loop {
        for _ in 0..POLLS {
            match port.receive()? {
                Some(answered) if answered == number => return Ok(Some(clock.instant())),
                Some(_) => *late += 1,
                None => std::hint::spin_loop(),
            }
        }
        if clock.instant().saturating_since(sent) > TIMEOUT {
            return Ok(None);
        }
    }
}

/// Measures blocks over all ports in turns, each time starting with the next port, until each has
/// enough samples or `stop` is set.
pub(crate) fn ping_all(
    ports: &mut [Box<dyn PingLoop>],
    samples: u32,
    turn: &AtomicUsize,
    stop: &AtomicBool,
) -> io::Result<Vec<Sample>> {
    let mut clock = Clock::new();
    let with_room =
        || Sample { round_trips: Vec::with_capacity(samples as usize), ..Sample::default() };
    let mut taken: Vec<_> = ports.iter().map(|_| with_room()).collect();
    let cases = ports.len();
    for block in 0..samples.div_ceil(BLOCK) {
        let count = BLOCK.min(samples - block * BLOCK);
        for place in 0..cases {
            if stop.load(Ordering::Relaxed) {
                return Ok(taken);
            }
            let case = (place + block as usize) % cases;
            turn.store(case, Ordering::Relaxed);
            ports[case].ping(&mut clock, count, &mut taken[case])?;
        }
    }
    Ok(taken)
}

/// Answers over the port whose turn it is.
pub(crate) fn pong_all(ports: &mut [Box<dyn PingLoop>], turn: &AtomicUsize) -> io::Result<()> {
    loop {
        let case = turn.load(Ordering::Relaxed);
        if case == OVER {
            return Ok(());
        }
        ports[case].pong(turn, case)?;
    }
}

/// Does round trips of both ends on one thread. Returns how many were answered at once.
#[inline(never)]
pub(crate) fn measured_round_trips(
    ping: &mut impl Port,
    pong: &mut impl Port,
    round_trips: u32,
) -> io::Result<u32> {
    let mut answered = 0;
    for number in 0..u64::from(round_trips) {
        ping.send(number)?;
        pong.echo()?;
        answered += u32::from(ping.receive()? == Some(number));
    }
    Ok(answered)
}

/// Ends the pong loop on drop, also after a panic of the ping loop.
#[derive(Debug)]
pub(crate) struct Ending<'a>(pub(crate) &'a AtomicUsize);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(OVER, Ordering::Relaxed);
    }
}
