//! Events ordered by time.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use hairpin_time::Instant;

/// A queue of events ordered by time. Events at the same time keep the order of insertion.
#[derive(Debug, Clone)]
pub struct Timeline<T> {
    heap: BinaryHeap<Reverse<Entry<T>>>,
    inserted: u64,
}

#[derive(Debug, Clone)]
struct Entry<T> {
    at: Instant,
    number: u64,
    event: T,
}

impl<T> Timeline<T> {
    /// Returns an empty timeline.
    #[must_use]
    pub const fn new() -> Self {
        Self { heap: BinaryHeap::new(), inserted: 0 }
    }

    /// Adds an event at `at`.
    pub fn push(&mut self, at: Instant, event: T) {
        self.inserted += 1;
        self.heap.push(Reverse(Entry { at, number: self.inserted, event }));
    }

    /// Returns the time of the next event.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// Removes the next event that is due at `now` and returns it with its time.
    pub fn pop(&mut self, now: Instant) -> Option<(Instant, T)> {
        self.next_at().filter(|at| *at <= now)?;
        self.heap.pop().map(|Reverse(entry)| (entry.at, entry.event))
    }

    /// Returns the number of events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns `true` if there are no events.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Removes all events, due or not, in arbitrary order.
    pub fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.heap.drain().map(|Reverse(entry)| entry.event)
    }
}

impl<T> Default for Timeline<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Entry<T> {
    fn key(&self) -> (Instant, u64) {
        (self.at, self.number)
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_ordered_by_time_then_by_insertion() {
        let at = Instant::from_nanos;
        let mut timeline = Timeline::default();
        for (time, event) in [(5, 'd'), (3, 'a'), (3, 'b'), (9, 'e'), (3, 'c')] {
            timeline.push(at(time), event);
        }
        assert_eq!(timeline.pop(at(2)), None);
        let removed: String =
            std::iter::from_fn(|| timeline.pop(at(5)).map(|(_, event)| event)).collect();
        assert_eq!(
            (removed.as_str(), timeline.next_at(), timeline.len()),
            ("abcd", Some(at(9)), 1)
        );
        assert_eq!(timeline.drain().collect::<String>(), "e");
        assert!(timeline.is_empty());
    }
}
