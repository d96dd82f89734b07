//! The loops of ping and pong.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use hairpin_host::Clock;
use hairpin_time::{Duration, Instant};

use crate::port::Port;

/// Round trips before those that count.
const WARM_UP: u32 = 2_000;
/// A message that is not answered for so long is lost.
const PATIENCE: Duration = Duration::from_millis(20);
/// So many lost in a row are the end.
const LOST_MAX: u64 = 100;
/// Looks at the port between two at the clock or at the flag.
const LOOKS: u32 = 256;

/// What a ping has measured.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// Whole round trips in nanoseconds.
    pub(crate) round_trips: Vec<u64>,
    pub(crate) lost: u64,
    /// Answers to what was lost.
    pub(crate) late: u64,
}

/// Sends messages, each when the last is answered.
pub(crate) fn ping(port: &mut impl Port, samples: u32, stop: &AtomicBool) -> io::Result<Sample> {
    let mut clock = Clock::new();
    let mut sample =
        Sample { round_trips: Vec::with_capacity(samples as usize), ..Sample::default() };
    let mut lost_in_a_row = 0;
    let mut number = 0;
    let mut left = WARM_UP + samples;
    while left > 0 && !stop.load(Ordering::Relaxed) {
        let sent = clock.instant();
        port.send(number)?;
        let answered = answer(port, &clock, number, sent, &mut sample.late)?;
        number += 1;
        let Some(answered) = answered else {
            sample.lost += 1;
            lost_in_a_row += 1;
            if lost_in_a_row == LOST_MAX {
                return Err(io::Error::new(io::ErrorKind::TimedOut, "nothing is answered"));
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
    Ok(sample)
}

/// When message `number` was answered; `None` if it is lost.
#[inline]
fn answer(
    port: &mut impl Port,
    clock: &Clock,
    number: u64,
    sent: Instant,
    late: &mut u64,
) -> io::Result<Option<Instant>> {
    loop {
        for _ in 0..LOOKS {
            match port.receive()? {
                Some(answered) if answered == number => return Ok(Some(clock.instant())),
                Some(_) => *late += 1,
                None => std::hint::spin_loop(),
            }
        }
        if clock.instant().saturating_since(sent) > PATIENCE {
            return Ok(None);
        }
    }
}

/// Answers messages until told to stop; how many.
pub(crate) fn pong(port: &mut impl Port, stop: &AtomicBool) -> io::Result<u64> {
    let mut answered = 0;
    while !stop.load(Ordering::Relaxed) {
        for _ in 0..LOOKS {
            if port.echo()? {
                answered += 1;
            } else {
                std::hint::spin_loop();
            }
        }
    }
    Ok(answered)
}

/// Round trips of both ends by one thread; how many were answered at once.
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

/// Ends the other loop, also when its own has panicked.
#[derive(Debug)]
pub(crate) struct Ending<'a>(pub(crate) &'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
