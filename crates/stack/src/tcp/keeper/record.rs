//! The record of a connection in the state file, which the keeper reads after the program's death.

use std::sync::atomic::{AtomicU32, Ordering};

use hairpin_tcp::Numbers;

/// The highest window: 65,535 with a scale of 14 (RFC 7323, 2.3).
const WINDOW_MAX: u32 = 0xFFFF << 14;
/// The MSS clamps that the kernel accepts (`TCP_MIN_MSS`, `MAX_TCP_WINDOW`).
const SEGMENT_SIZES: std::ops::RangeInclusive<u32> = 88..=32_767;

/// The indices of a record's words.
mod word {
    pub(super) const PHASE: usize = 0;
    pub(super) const SEND_UNACKNOWLEDGED: usize = 1;
    pub(super) const SEND_NEXT: usize = 2;
    pub(super) const SEND_END: usize = 3;
    pub(super) const SEND_EDGE: usize = 4;
    pub(super) const SEND_WINDOW_MAX: usize = 5;
    pub(super) const SEND_WINDOW_UPDATE: usize = 6;
    pub(super) const RECEIVE_NEXT: usize = 7;
    pub(super) const RECEIVE_EDGE: usize = 8;
    pub(super) const UNREAD: usize = 9;
    pub(super) const SEGMENT_SIZE: usize = 10;
    pub(super) const REUSE: usize = 11;
}

/// The phase of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Phase {
    /// The record has no meaning: the slot is free, or the kernel has everything.
    Free = 0,
    /// The record's numbers are valid.
    Bypassing = 1,
}

/// A valid record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Record {
    /// The phase.
    pub(crate) phase: Phase,
    /// The numbers; those of `Free` have no meaning.
    pub(crate) numbers: Numbers,
    /// The kernel's MSS clamp.
    pub(crate) segment_size: u32,
    /// The value of `SO_REUSEADDR`.
    pub(crate) reuse: bool,
}

/// The reason why a record is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordError {
    /// The phase does not exist.
    Phase,
    /// More bytes are in flight or queued than a ring holds.
    Sent,
    /// A window exceeds what TCP permits, or the bytes that a receive ring holds.
    Window,
    /// The kernel rejects the segment size.
    SegmentSize,
}

impl Record {
    /// Checks what a program has written. `send_ring` and `receive_ring_max` are the lengths of its
    /// rings.
    ///
    /// # Errors
    /// See [`RecordError`]: the kernel's socket must not receive these numbers.
    pub(crate) fn parse(
        words: &[u32; 16],
        send_ring: usize,
        receive_ring_max: usize,
    ) -> Result<Self, RecordError> {
        let phase = [Phase::Free, Phase::Bypassing]
            .into_iter()
            .find(|phase| *phase as u32 == words[word::PHASE])
            .ok_or(RecordError::Phase)?;
        let numbers = Numbers {
            send_unacknowledged: words[word::SEND_UNACKNOWLEDGED],
            send_next: words[word::SEND_NEXT],
            send_end: words[word::SEND_END],
            send_edge: words[word::SEND_EDGE],
            send_window_max: words[word::SEND_WINDOW_MAX],
            send_window_update: words[word::SEND_WINDOW_UPDATE],
            receive_next: words[word::RECEIVE_NEXT],
            receive_edge: words[word::RECEIVE_EDGE],
            unread: words[word::UNREAD],
        };
        let (segment_size, reuse) = (words[word::SEGMENT_SIZE], words[word::REUSE] != 0);
        let record = Self { phase, numbers, segment_size, reuse };
        if phase == Phase::Bypassing {
            record.check(send_ring as u32, receive_ring_max as u32)?;
        }
        Ok(record)
    }

    fn check(&self, send_ring: u32, receive_ring_max: u32) -> Result<(), RecordError> {
        let (in_flight, queued) = (self.in_flight(), self.queued());
        if queued > send_ring || in_flight > queued {
            return Err(RecordError::Sent);
        }
        let numbers = &self.numbers;
        if self.send_window() > WINDOW_MAX
            || numbers.send_window_max > WINDOW_MAX
            || self.receive_window() > receive_ring_max
            || numbers.unread > receive_ring_max
        {
            return Err(RecordError::Window);
        }
        if !SEGMENT_SIZES.contains(&self.segment_size) {
            return Err(RecordError::SegmentSize);
        }
        Ok(())
    }

    /// Returns the number of bytes sent and not acknowledged.
    #[must_use]
    pub(crate) fn in_flight(&self) -> u32 {
        self.numbers.send_next.wrapping_sub(self.numbers.send_unacknowledged)
    }

    /// Returns the number of bytes in the ring: in flight and unsent.
    #[must_use]
    pub(crate) fn queued(&self) -> u32 {
        self.numbers.send_end.wrapping_sub(self.numbers.send_unacknowledged)
    }

    /// Returns the peer's window.
    #[must_use]
    pub(crate) fn send_window(&self) -> u32 {
        let window = self.numbers.send_edge.wrapping_sub(self.numbers.send_unacknowledged);
        // An edge that was stored before the acknowledgment is older.
        if window.cast_signed() < 0 { 0 } else { window }
    }

    /// Returns the window that was promised to the peer.
    #[must_use]
    pub(crate) fn receive_window(&self) -> u32 {
        self.numbers.receive_edge.wrapping_sub(self.numbers.receive_next)
    }
}

pub(crate) fn store_phase(words: &[AtomicU32; 16], phase: Phase) {
    words[word::PHASE].store(phase as u32, Ordering::Release);
}

pub(crate) fn store_constants(words: &[AtomicU32; 16], segment_size: u32, reuse: bool) {
    words[word::SEGMENT_SIZE].store(segment_size, Ordering::Release);
    words[word::REUSE].store(reuse.into(), Ordering::Release);
}

/// Stores the numbers in an order that is valid at every moment.
#[inline]
pub(crate) fn store_numbers(words: &[AtomicU32; 16], numbers: &Numbers) {
    let store = |at: usize, value| words[at].store(value, Ordering::Release);
    store(word::SEND_END, numbers.send_end);
    store(word::SEND_NEXT, numbers.send_next);
    store(word::SEND_EDGE, numbers.send_edge);
    store(word::SEND_UNACKNOWLEDGED, numbers.send_unacknowledged);
    store(word::SEND_WINDOW_MAX, numbers.send_window_max);
    store(word::SEND_WINDOW_UPDATE, numbers.send_window_update);
    store(word::RECEIVE_EDGE, numbers.receive_edge);
    store(word::RECEIVE_NEXT, numbers.receive_next);
    store(word::UNREAD, numbers.unread);
}

#[cfg(test)]
mod tests {
    use super::*;

    const RING: usize = 1 << 17;

    fn words(change: impl FnOnce(&mut [u32; 16])) -> [u32; 16] {
        let words = [const { AtomicU32::new(0) }; 16];
        let numbers = Numbers {
            send_unacknowledged: u32::MAX - 10,
            send_next: 100,
            send_end: 200,
            send_edge: 60_000,
            send_window_max: 65_535,
            send_window_update: 7,
            receive_next: 8,
            receive_edge: 65_000,
            unread: 3,
        };
        store_numbers(&words, &numbers);
        store_constants(&words, 1_460, true);
        store_phase(&words, Phase::Bypassing);
        let mut words = words.map(AtomicU32::into_inner);
        change(&mut words);
        words
    }

    fn parse(words: &[u32; 16]) -> Result<Record, RecordError> {
        Record::parse(words, RING, 1 << 23)
    }

    #[test]
    fn stored_record_is_read_back() {
        let record = parse(&words(|_| {})).unwrap();
        assert_eq!(
            (record.phase, record.segment_size, record.reuse),
            (Phase::Bypassing, 1_460, true)
        );
        assert_eq!((record.in_flight(), record.queued()), (111, 211));
        assert_eq!((record.send_window(), record.receive_window()), (60_011, 64_992));
    }

    #[test]
    fn rejects_distances_beyond_the_rings() {
        let with = |at: usize, value: u32| parse(&words(|words| words[at] = value));
        assert_eq!(with(word::SEND_END, RING as u32), Err(RecordError::Sent));
        assert_eq!(with(word::SEND_NEXT, 201), Err(RecordError::Sent));
        assert_eq!(with(word::SEND_UNACKNOWLEDGED, 101), Err(RecordError::Sent));
        assert_eq!(with(word::SEND_EDGE, 0x7000_0000), Err(RecordError::Window));
        assert_eq!(with(word::SEND_WINDOW_MAX, u32::MAX), Err(RecordError::Window));
        assert_eq!(with(word::RECEIVE_EDGE, 7), Err(RecordError::Window));
        assert_eq!(with(word::UNREAD, 1 << 24), Err(RecordError::Window));
        assert_eq!(with(word::SEGMENT_SIZE, 87), Err(RecordError::SegmentSize));
        assert_eq!(with(word::PHASE, 2), Err(RecordError::Phase));
        assert!(with(word::PHASE, 0).is_ok() && with(word::PHASE, 1).is_ok());
    }

    #[test]
    fn older_edge_is_a_closed_window() {
        let record = parse(&words(|words| words[word::SEND_EDGE] = u32::MAX - 20)).unwrap();
        assert_eq!(record.send_window(), 0);
    }
}
