//! The recovery queue: a ring of entries that wait for their instrument's snapshot.
//!
//! Entries are in stream order, and those of one instrument are linked. Restoring all instruments
//! thus reads each entry once, however many instruments there are. An entry whose instrument no
//! longer waits stays until the ring overwrites it.

use alloc::vec;
use alloc::vec::Vec;

use crate::InstrumentIndex;

/// An entry of the queue.
pub(crate) trait QueueEntry: Copy {
    /// The contents of unused memory.
    const VACANT: Self;

    /// Returns the sequence of the entry's packet.
    fn sequence(&self) -> u32;
}

/// An entry dropped for lack of room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dropped {
    /// The sequence of its packet.
    pub(crate) sequence: u32,
    /// The entry's instrument still waited for it.
    pub(crate) still_needed: bool,
}

#[derive(Debug, Clone, Copy)]
struct Node<E> {
    queued: E,
    instrument: u32,
    /// The slot of the instrument's next entry, if any.
    next: u32,
}

/// The linked entries of one instrument.
#[derive(Debug, Default, Clone, Copy)]
struct Chain {
    first: u32,
    last: u32,
    length: u32,
}

#[derive(Debug)]
pub(crate) struct RecoveryQueue<E> {
    /// The ring; `count` slots from `head` on are in use.
    nodes: Vec<Node<E>>,
    head: usize,
    count: usize,
    /// The chain of each instrument.
    chains: Vec<Chain>,
}

impl<E: QueueEntry> RecoveryQueue<E> {
    /// The size of an entry in bytes.
    pub(crate) const NODE_BYTES: usize = size_of::<Node<E>>();

    /// Creates a ring of `bytes` bytes, at least one entry, for `instruments` instruments.
    /// Allocates nothing for 0 instruments.
    pub(crate) fn new(bytes: usize, instruments: usize) -> Self {
        let slots = (bytes / Self::NODE_BYTES).clamp(1, u32::MAX as usize);
        let vacant = Node { queued: E::VACANT, instrument: 0, next: 0 };
        let nodes = vec![vacant; if instruments == 0 { 0 } else { slots }];
        Self { nodes, head: 0, count: 0, chains: vec![Chain::default(); instruments] }
    }

    /// Appends an entry. Returns the oldest one if it had to be dropped.
    pub(crate) fn push(&mut self, instrument: InstrumentIndex, queued: E) -> Option<Dropped> {
        let dropped = if self.count == self.nodes.len() { self.drop_oldest() } else { None };
        let slot = (self.head + self.count) % self.nodes.len();
        self.nodes[slot] = Node { queued, instrument: instrument.0, next: 0 };
        self.count += 1;
        let chain = &mut self.chains[instrument.as_usize()];
        if chain.length == 0 {
            chain.first = slot as u32;
        } else {
            self.nodes[chain.last as usize].next = slot as u32;
        }
        chain.last = slot as u32;
        chain.length += 1;
        dropped
    }

    /// Returns the entries of an instrument, oldest first.
    pub(crate) fn entries(&self, instrument: InstrumentIndex) -> impl Iterator<Item = &E> {
        let Chain { first, length, .. } = self.chains[instrument.as_usize()];
        let mut slot = first;
        (0..length).map(move |_| {
            let node = &self.nodes[slot as usize];
            slot = node.next;
            &node.queued
        })
    }

    /// Returns the packet sequence of the oldest entry.
    pub(crate) fn oldest(&self) -> Option<u32> {
        (self.count > 0).then(|| self.nodes[self.head].queued.sequence())
    }

    /// Drops the entries of packets up to and including `sequence`.
    pub(crate) fn drop_through(&mut self, sequence: u32) {
        while self.oldest().is_some_and(|oldest| oldest <= sequence) {
            self.drop_oldest();
        }
    }

    /// Discards the entries of an instrument that no longer waits.
    pub(crate) fn discard(&mut self, instrument: InstrumentIndex) {
        self.chains[instrument.as_usize()].length = 0;
    }

    /// Drops all entries.
    pub(crate) fn clear(&mut self) {
        (self.head, self.count) = (0, 0);
        self.chains.fill(Chain::default());
    }

    fn drop_oldest(&mut self) -> Option<Dropped> {
        let sequence = self.oldest()?;
        let Node { instrument, next, .. } = self.nodes[self.head];
        let chain = &mut self.chains[instrument as usize];
        let still_needed = chain.length > 0 && chain.first as usize == self.head;
        if still_needed {
            chain.first = next;
            chain.length -= 1;
        }
        self.head = (self.head + 1) % self.nodes.len();
        self.count -= 1;
        Some(Dropped { sequence, still_needed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    impl QueueEntry for u32 {
        const VACANT: Self = 0;

        fn sequence(&self) -> u32 {
            *self
        }
    }

    type Queue = RecoveryQueue<u32>;

    fn entries(queue: &Queue, instrument: u32) -> Vec<u32> {
        queue.entries(InstrumentIndex(instrument)).copied().collect()
    }

    fn lost(sequence: u32) -> Option<Dropped> {
        Some(Dropped { sequence, still_needed: true })
    }

    #[test]
    fn full_ring_drops_oldest_entry() {
        let mut queue = Queue::new(2 * Queue::NODE_BYTES, 2);
        assert_eq!(queue.push(InstrumentIndex(0), 1), None);
        assert_eq!(queue.push(InstrumentIndex(1), 2), None);
        assert_eq!(queue.push(InstrumentIndex(0), 3), lost(1));
        assert_eq!((entries(&queue, 0), entries(&queue, 1)), (vec![3], vec![2]));
        assert_eq!(queue.oldest(), Some(2));
    }

    #[test]
    fn holds_at_least_one_entry() {
        let mut queue = Queue::new(0, 1);
        assert_eq!(queue.push(InstrumentIndex(0), 1), None);
        assert_eq!(queue.push(InstrumentIndex(0), 2), lost(1));
        assert_eq!(entries(&queue, 0), [2]);
    }

    #[test]
    fn unneeded_entry_is_no_loss() {
        let mut queue = Queue::new(2 * Queue::NODE_BYTES, 2);
        queue.push(InstrumentIndex(0), 1);
        queue.push(InstrumentIndex(1), 2);
        queue.discard(InstrumentIndex(0));
        let dropped = Dropped { sequence: 1, still_needed: false };
        assert_eq!(queue.push(InstrumentIndex(1), 3), Some(dropped));
        assert_eq!((entries(&queue, 0), entries(&queue, 1)), (vec![], vec![2, 3]));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Push(u32),
        Forget(u32),
        DropThrough(u32),
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            20 => (0u32..3).prop_map(Step::Push),
            2 => (0u32..3).prop_map(Step::Forget),
            2 => (0u32..120).prop_map(Step::DropThrough),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        /// The ring equals a deque that drops from the front in the same cases.
        #[test]
        fn matches_deque(steps in prop::collection::vec(step(), 0..200), slots in 1usize..9) {
            let mut queue = Queue::new(slots * Queue::NODE_BYTES, 3);
            let mut deque: VecDeque<(u32, u32, bool)> = VecDeque::new();
            for (sequence, step) in (0u32..).zip(steps) {
                match step {
                    Step::Push(instrument) => {
                        let dropped = queue.push(InstrumentIndex(instrument), sequence);
                        let front = if deque.len() == slots { deque.pop_front() } else { None };
                        let expected = front.map(|(sequence, _, still_needed)| {
                            Dropped { sequence, still_needed }
                        });
                        prop_assert_eq!(dropped, expected);
                        deque.push_back((sequence, instrument, true));
                    }
                    Step::Forget(instrument) => {
                        queue.discard(InstrumentIndex(instrument));
                        deque.iter_mut().for_each(|(_, of, waits)| *waits &= *of != instrument);
                    }
                    Step::DropThrough(sequence) => {
                        queue.drop_through(sequence);
                        deque.retain(|(queued, ..)| *queued > sequence);
                    }
                    Step::Clear => {
                        queue.clear();
                        deque.clear();
                    }
                }
                for instrument in 0..3 {
                    let expected: Vec<_> = deque
                        .iter()
                        .filter(|(_, of, waits)| *of == instrument && *waits)
                        .map(|(sequence, ..)| *sequence)
                        .collect();
                    prop_assert_eq!(entries(&queue, instrument), expected);
                }
                prop_assert_eq!(queue.oldest(), deque.front().map(|(sequence, ..)| *sequence));
            }
        }
    }
}
