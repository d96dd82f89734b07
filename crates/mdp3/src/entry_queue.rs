//! The recovery queue: entries that wait for their instrument's snapshot, in one ring.
//!
//! Entries stand in the order of the stream; those of one instrument are chained, so that
//! replaying all instruments reads each entry once, however many instruments there are.

use alloc::vec;
use alloc::vec::Vec;

use crate::InstrumentIndex;
use crate::entries::BookEntry;

/// An entry that waits.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queued {
    /// The packet it came in.
    pub(crate) sequence: u32,
    pub(crate) rpt_seq: u32,
    /// `None`: it changes no book, but its RptSeq counts.
    pub(crate) book: Option<BookEntry>,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    queued: Queued,
    instrument: u32,
    /// The slot of the instrument's next entry, if there is one.
    next: u32,
}

/// The entries of one instrument, by slot.
#[derive(Debug, Default, Clone, Copy)]
struct Chain {
    first: u32,
    last: u32,
    length: u32,
}

#[derive(Debug)]
pub(crate) struct EntryQueue {
    /// The ring; from `head` on, `count` slots are in use.
    nodes: Vec<Node>,
    head: usize,
    count: usize,
    /// One for each instrument.
    chains: Vec<Chain>,
}

const VACANT: Node =
    Node { queued: Queued { sequence: 0, rpt_seq: 0, book: None }, instrument: 0, next: 0 };

impl EntryQueue {
    /// A ring of `bytes` bytes, but of at least one entry, for so many instruments.
    pub(crate) fn new(bytes: usize, instruments: usize) -> Self {
        let slots = (bytes / size_of::<Node>()).clamp(1, u32::MAX as usize);
        let chains = vec![Chain::default(); instruments];
        Self { nodes: vec![VACANT; slots], head: 0, count: 0, chains }
    }

    /// Appends an entry. If there is no room the oldest is dropped, whose packet is returned.
    pub(crate) fn push(&mut self, instrument: InstrumentIndex, queued: Queued) -> Option<u32> {
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

    /// The entries of an instrument, oldest first.
    pub(crate) fn of(&self, instrument: InstrumentIndex) -> impl Iterator<Item = &Queued> {
        let Chain { first, length, .. } = self.chains[instrument.as_usize()];
        let mut slot = first;
        (0..length).map(move |_| {
            let node = &self.nodes[slot as usize];
            slot = node.next;
            &node.queued
        })
    }

    /// The packet of the oldest entry.
    pub(crate) fn oldest(&self) -> Option<u32> {
        (self.count > 0).then(|| self.nodes[self.head].queued.sequence)
    }

    /// Drops the entries of packets up to and including `sequence`.
    pub(crate) fn drop_through(&mut self, sequence: u32) {
        while self.oldest().is_some_and(|oldest| oldest <= sequence) {
            self.drop_oldest();
        }
    }

    /// The instrument does not wait any longer.
    pub(crate) fn forget(&mut self, instrument: InstrumentIndex) {
        self.chains[instrument.as_usize()].length = 0;
    }

    /// Drops every entry.
    pub(crate) fn clear(&mut self) {
        (self.head, self.count) = (0, 0);
        self.chains.fill(Chain::default());
    }

    fn drop_oldest(&mut self) -> Option<u32> {
        let sequence = self.oldest()?;
        let Node { instrument, next, .. } = self.nodes[self.head];
        let chain = &mut self.chains[instrument as usize];
        // An instrument that was forgotten has left its entries behind.
        if chain.length > 0 && chain.first as usize == self.head {
            chain.first = next;
            chain.length -= 1;
        }
        self.head = (self.head + 1) % self.nodes.len();
        self.count -= 1;
        Some(sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    fn queued(sequence: u32) -> Queued {
        Queued { sequence, rpt_seq: sequence, book: None }
    }

    fn of(queue: &EntryQueue, instrument: u32) -> Vec<u32> {
        queue.of(InstrumentIndex(instrument)).map(|queued| queued.sequence).collect()
    }

    #[test]
    fn a_full_ring_drops_the_oldest_entry() {
        let mut queue = EntryQueue::new(2 * size_of::<Node>(), 2);
        assert_eq!(queue.push(InstrumentIndex(0), queued(1)), None);
        assert_eq!(queue.push(InstrumentIndex(1), queued(2)), None);
        assert_eq!(queue.push(InstrumentIndex(0), queued(3)), Some(1));
        assert_eq!((of(&queue, 0), of(&queue, 1)), (vec![3], vec![2]));
        assert_eq!(queue.oldest(), Some(2));
    }

    #[test]
    fn there_is_room_for_one_entry_at_least() {
        let mut queue = EntryQueue::new(0, 1);
        assert_eq!(queue.push(InstrumentIndex(0), queued(1)), None);
        assert_eq!(queue.push(InstrumentIndex(0), queued(2)), Some(1));
        assert_eq!(of(&queue, 0), [2]);
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
        /// The ring holds what a deque holds that drops from the front as the ring does.
        #[test]
        fn agrees_with_a_deque(steps in prop::collection::vec(step(), 0..200), slots in 1usize..9) {
            let mut queue = EntryQueue::new(slots * size_of::<Node>(), 3);
            let mut deque: VecDeque<(u32, u32, bool)> = VecDeque::new();
            for (sequence, step) in (0u32..).zip(steps) {
                match step {
                    Step::Push(instrument) => {
                        let dropped = queue.push(InstrumentIndex(instrument), queued(sequence));
                        let front = if deque.len() == slots { deque.pop_front() } else { None };
                        prop_assert_eq!(dropped, front.map(|(sequence, ..)| sequence));
                        deque.push_back((sequence, instrument, true));
                    }
                    Step::Forget(instrument) => {
                        queue.forget(InstrumentIndex(instrument));
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
                    prop_assert_eq!(of(&queue, instrument), expected);
                }
                prop_assert_eq!(queue.oldest(), deque.front().map(|(sequence, ..)| *sequence));
            }
        }
    }
}
