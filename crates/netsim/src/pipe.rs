//! Bytes one way, in order.

use std::collections::VecDeque;

use hairpin_time::Instant;

use crate::{Random, StreamFaults};

/// What a read has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// So many bytes.
    Bytes(usize),
    /// None now.
    Nothing,
    /// None ever again: the peer has shut its side and all it wrote has been read.
    End,
}

/// One direction of a [`crate::Connection`].
#[derive(Debug)]
pub(crate) struct Pipe {
    random: Random,
    pub(crate) faults: StreamFaults,
    /// What was written and not read yet.
    bytes: VecDeque<u8>,
    /// How much of it arrives when, in order. The last arrival of all may be the end.
    arrivals: VecDeque<(Instant, Arrival)>,
    /// The first so many bytes have arrived.
    arrived: usize,
    last_arrival: Instant,
    has_ended: bool,
    is_shut: bool,
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
            has_ended: false,
            is_shut: false,
            partial_writes: 0,
        }
    }

    /// Takes as many bytes as the window has room for.
    pub(crate) fn write(&mut self, now: Instant, bytes: &[u8]) -> usize {
        let room = self.faults.window_bytes.saturating_sub(self.bytes.len());
        let taken = bytes.len().min(room);
        self.partial_writes += u64::from(taken < bytes.len());
        let mut rest = &bytes[..taken];
        while !rest.is_empty() {
            let most = self.faults.chunk_max.clamp(1, rest.len());
            let (chunk, after) = rest.split_at(1 + self.random.below(most as u64) as usize);
            self.bytes.extend(chunk);
            if self.random.happens(self.faults.corruption) {
                self.flip_a_bit(chunk.len());
            }
            self.schedule(now, Arrival::Bytes(chunk.len()));
            rest = after;
        }
        taken
    }

    /// Whether a write would take a byte.
    pub(crate) fn has_room(&self) -> bool {
        self.bytes.len() < self.faults.window_bytes
    }

    pub(crate) fn is_shut(&self) -> bool {
        self.is_shut
    }

    /// No byte follows.
    pub(crate) fn shut(&mut self, now: Instant) {
        if !self.is_shut {
            self.is_shut = true;
            self.schedule(now, Arrival::End);
        }
    }

    /// Hands over at most `max` bytes that have arrived, in one piece.
    pub(crate) fn read(&mut self, now: Instant, max: usize, on: impl FnOnce(&[u8])) -> Reading {
        self.settle(now);
        let count = self.arrived.min(max);
        if count == 0 {
            let at_end = self.has_ended && self.arrived == 0;
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

    /// When there is something to read: now, if bytes have arrived and are not read.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        if self.arrived > 0 {
            return Some(Instant::ZERO);
        }
        self.arrivals.front().map(|(at, _)| *at)
    }

    /// Nothing arrives before `until`: what is under way waits, in order.
    pub(crate) fn stall(&mut self, until: Instant) {
        for (at, _) in &mut self.arrivals {
            *at = (*at).max(until);
        }
        self.last_arrival = self.last_arrival.max(until);
    }

    /// Bytes written that have not been read; they are lost if the connection is reset.
    pub(crate) fn clear(&mut self) -> usize {
        let lost = self.bytes.len();
        self.bytes.clear();
        self.arrivals.clear();
        self.arrived = 0;
        lost
    }

    fn settle(&mut self, now: Instant) {
        while let Some((_, arrival)) = self.arrivals.pop_front_if(|(at, _)| *at <= now) {
            match arrival {
                Arrival::Bytes(count) => self.arrived += count,
                Arrival::End => self.has_ended = true,
            }
        }
    }

    fn schedule(&mut self, now: Instant, arrival: Arrival) {
        let (delay, _) = self.faults.delay.draw(&mut self.random);
        self.last_arrival = self.last_arrival.max(now + delay);
        self.arrivals.push_back((self.last_arrival, arrival));
    }

    fn flip_a_bit(&mut self, among_last: usize) {
        let bit = self.random.below(among_last as u64 * 8) as usize;
        let first = self.bytes.len() - among_last;
        self.bytes[first + bit / 8] ^= 1 << (bit % 8);
    }
}
