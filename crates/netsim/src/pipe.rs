//! The bytes of one direction of a connection.

use std::collections::VecDeque;

use hairpin_time::Instant;

use crate::{Random, StreamFaults};

/// The result of a read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// The number of bytes read.
    Bytes(usize),
    /// No bytes have arrived.
    Nothing,
    /// The end of the stream: the peer has shut down its direction, and all bytes have been read.
    End,
}

/// A direction of a [`crate::Connection`].
#[derive(Debug)]
pub(crate) struct Pipe {
    random: Random,
    pub(crate) faults: StreamFaults,
    /// The bytes that were written and not read yet.
    bytes: VecDeque<u8>,
    /// The arrivals of these bytes, in order. The last one may be the end.
    arrivals: VecDeque<(Instant, Arrival)>,
    /// The number of unread bytes that have arrived.
    arrived: usize,
    last_arrival: Instant,
    ended: bool,
    shut: bool,
    pub(crate) partial_writes: u64,
}

#[derive(Debug, Clone, Copy)]
enum Arrival {
    Bytes(usize),
    End,
}

impl Pipe {
    pub(crate) fn new(random: Random, faults: StreamFaults) -> Self {
        Self {
            random,
            faults,
            bytes: VecDeque::new(),
            arrivals: VecDeque::new(),
            arrived: 0,
            last_arrival: Instant::ZERO,
            ended: false,
            shut: false,
            partial_writes: 0,
        }
    }

    /// Writes as many bytes as fit in the window. Returns their number.
    pub(crate) fn write(&mut self, now: Instant, bytes: &[u8]) -> usize {
        let room = self.faults.window_bytes.saturating_sub(self.bytes.len());
        let accepted = bytes.len().min(room);
        self.partial_writes += u64::from(accepted < bytes.len());
        let mut rest = &bytes[..accepted];
        while !rest.is_empty() {
            let max = self.faults.chunk_max.clamp(1, rest.len());
            let (chunk, after) = rest.split_at(1 + self.random.below(max as u64) as usize);
            self.bytes.extend(chunk);
            if self.random.happens(self.faults.corruption) {
                self.flip_bit(chunk.len());
            }
            self.schedule(now, Arrival::Bytes(chunk.len()));
            rest = after;
        }
        accepted
    }

    /// Returns `true` if a write would accept at least one byte.
    pub(crate) fn has_room(&self) -> bool {
        self.bytes.len() < self.faults.window_bytes
    }

    pub(crate) fn is_shut(&self) -> bool {
        self.shut
    }

    /// Ends the stream after the bytes written so far.
    pub(crate) fn shut(&mut self, now: Instant) {
        if !self.shut {
            self.shut = true;
            self.schedule(now, Arrival::End);
        }
    }

    /// Passes at most `max` bytes that have arrived to `on`, in one slice.
    pub(crate) fn read(&mut self, now: Instant, max: usize, on: impl FnOnce(&[u8])) -> Reading {
        self.update_arrived(now);
        let count = self.arrived.min(max);
        if count == 0 {
            let at_end = self.ended && self.arrived == 0;
            return if at_end { Reading::End } else { Reading::Nothing };
        }
        if self.bytes.as_slices().0.len() < count {
            self.bytes.make_contiguous();
        }
        on(&self.bytes.as_slices().0[..count]);
        self.bytes.drain(..count);
        self.arrived -= count;
        Reading::Bytes(count)
    }

    /// Returns the next arrival, or zero if unread bytes have arrived.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        if self.arrived > 0 {
            return Some(Instant::ZERO);
        }
        self.arrivals.front().map(|(at, _)| *at)
    }

    /// Delays all arrivals to `until` at the earliest, in order.
    pub(crate) fn stall(&mut self, until: Instant) {
        for (at, _) in &mut self.arrivals {
            *at = (*at).max(until);
        }
        self.last_arrival = self.last_arrival.max(until);
    }

    /// Drops all unread bytes. Returns their number.
    pub(crate) fn clear(&mut self) -> usize {
        let lost = self.bytes.len();
        self.bytes.clear();
        self.arrivals.clear();
        self.arrived = 0;
        lost
    }

    fn update_arrived(&mut self, now: Instant) {
        while let Some((_, arrival)) = self.arrivals.pop_front_if(|(at, _)| *at <= now) {
            match arrival {
                Arrival::Bytes(count) => self.arrived += count,
                Arrival::End => self.ended = true,
            }
        }
    }

    fn schedule(&mut self, now: Instant, arrival: Arrival) {
        let (delay, _) = self.faults.delay.draw(&mut self.random);
        self.last_arrival = self.last_arrival.max(now + delay);
        self.arrivals.push_back((self.last_arrival, arrival));
    }

    fn flip_bit(&mut self, among_last: usize) {
        let bit = self.random.below(among_last as u64 * 8) as usize;
        let first = self.bytes.len() - among_last;
        self.bytes[first + bit / 8] ^= 1 << (bit % 8);
    }
}
