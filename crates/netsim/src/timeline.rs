//! What is due when.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use hairpin_time::Instant;

/// Things in the order of their time; of two at the same time, the one that was entered first.
#[derive(Debug, Clone)]
pub struct Timeline<T> {
    due: BinaryHeap<Reverse<Entry<T>>>,
    entered: u64,
}

#[derive(Debug, Clone)]
struct Entry<T> {
    at: Instant,
    number: u64,
    thing: T,
}

impl<T> Timeline<T> {
    /// Nothing is due.
    #[must_use]
    pub const fn new() -> Self {
        Self { due: BinaryHeap::new(), entered: 0 }
    }

    /// `thing` is due at `at`.
    pub fn push(&mut self, at: Instant, thing: T) {
        self.entered += 1;
        self.due.push(Reverse(Entry { at, number: self.entered, thing }));
    }

    /// When the next thing is due.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse(entry)| entry.at)
    }

    /// Takes the next thing that is due by `now`, with its time.
    pub fn pop(&mut self, now: Instant) -> Option<(Instant, T)> {
        self.next_at().filter(|at| *at <= now)?;
        self.due.pop().map(|Reverse(entry)| (entry.at, entry.thing))
    }

    /// How many things are still to come.
    #[must_use]
    pub fn len(&self) -> usize {
        self.due.len()
    }

    /// Whether nothing is to come.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.due.is_empty()
    }

    /// Takes everything, due or not, in no order.
    pub fn drain(&mut self) -> impl Iterator<Item = T> + '_ {
        self.due.drain().map(|Reverse(entry)| entry.thing)
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
    fn things_come_by_time_and_ties_in_the_order_they_were_entered() {
        let at = Instant::from_nanos;
        let mut timeline = Timeline::default();
        for (time, thing) in [(5, 'd'), (3, 'a'), (3, 'b'), (9, 'e'), (3, 'c')] {
            timeline.push(at(time), thing);
        }
        assert_eq!(timeline.pop(at(2)), None);
        let taken: String =
            std::iter::from_fn(|| timeline.pop(at(5)).map(|(_, thing)| thing)).collect();
        assert_eq!((taken.as_str(), timeline.next_at(), timeline.len()), ("abcd", Some(at(9)), 1));
        assert_eq!(timeline.drain().collect::<String>(), "e");
        assert!(timeline.is_empty());
    }
}
