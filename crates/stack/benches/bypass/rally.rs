//! The loops of ping and pong.
//!
//! All ways that are measured are open at once, each between two hosts of its own, and take turns:
//! a block of messages by one, a block by the next. So all of them meet the same moods of the
//! machine, which change within tenths of a second where others share it.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hairpin_host::Clock;
use hairpin_time::{Duration, Instant};

use crate::port::Port;

/// Messages that count, of a block.
const BLOCK: u32 = 2_000;
/// Messages before those, for what the other ways have driven out of the caches: so many that each
/// frame to receive into, of which there are 1,024 at most, has been used once.
const WARM_UP: u32 = 1_200;
/// A message that is not answered for so long is lost.
const PATIENCE: Duration = Duration::from_millis(20);
/// So many lost in a row are the end.
const LOST_MAX: u64 = 100;
/// Looks at the port between two at the clock or at whose turn it is.
const LOOKS: u32 = 256;
/// Nobody's turn any more.
const OVER: usize = usize::MAX;

/// What a ping has measured.
#[derive(Debug, Default)]
pub(crate) struct Sample {
    /// Whole round trips in nanoseconds.
    pub(crate) round_trips: Vec<u64>,
    pub(crate) lost: u64,
    /// Answers to what was lost.
    pub(crate) late: u64,
    /// Of the next message.
    number: u64,
}

/// A port, for as long as it is its turn.
pub(crate) trait Rally: Send {
    /// A block of messages, each sent when the last is answered; `samples` of them count at most.
    fn ping(&mut self, clock: &mut Clock, samples: u32, sample: &mut Sample) -> io::Result<()>;

    /// Answers messages while it is the turn of `side`.
    fn pong(&mut self, turn: &AtomicUsize, side: usize) -> io::Result<()>;
}

impl<P: Port + Send> Rally for P {
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
        Ok(())
    }

    fn pong(&mut self, turn: &AtomicUsize, side: usize) -> io::Result<()> {
        while turn.load(Ordering::Relaxed) == side {
            for _ in 0..LOOKS {
                if !self.echo()? {
                    std::hint::spin_loop();
                }
            }
        }
        Ok(())
    }
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

/// Blocks by all ports in turns, the side that begins moving on by one, until each has so many
/// samples or it is told to stop.
pub(crate) fn ping_all(
    ports: &mut [Box<dyn Rally>],
    samples: u32,
    turn: &AtomicUsize,
    stop: &AtomicBool,
) -> io::Result<Vec<Sample>> {
    let mut clock = Clock::new();
    let with_room =
        || Sample { round_trips: Vec::with_capacity(samples as usize), ..Sample::default() };
    let mut taken: Vec<_> = ports.iter().map(|_| with_room()).collect();
    let sides = ports.len();
    for block in 0..samples.div_ceil(BLOCK) {
        let count = BLOCK.min(samples - block * BLOCK);
        for place in 0..sides {
            if stop.load(Ordering::Relaxed) {
                return Ok(taken);
            }
            let side = (place + block as usize) % sides;
            turn.store(side, Ordering::Relaxed);
            ports[side].ping(&mut clock, count, &mut taken[side])?;
        }
    }
    Ok(taken)
}

/// Answers by the port whose turn it is.
pub(crate) fn pong_all(ports: &mut [Box<dyn Rally>], turn: &AtomicUsize) -> io::Result<()> {
    loop {
        let side = turn.load(Ordering::Relaxed);
        if side == OVER {
            return Ok(());
        }
        ports[side].pong(turn, side)?;
    }
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
pub(crate) struct Ending<'a>(pub(crate) &'a AtomicUsize);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(OVER, Ordering::Relaxed);
    }
}
