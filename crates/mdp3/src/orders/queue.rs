//! Order entries that wait for their instrument's snapshot, in one ring.
//!
//! Entries stand in the order of the stream; those of one instrument are chained. One whose
//! instrument waits no longer stays until the ring comes round to it, and is nobody's loss then.

use alloc::vec;
use alloc::vec::Vec;

use super::entry::OrderEntry;
use crate::InstrumentIndex;

/// An entry that waits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Queued {
    /// The packet it came in.
    pub(super) sequence: u32,
    pub(super) entry: OrderEntry,
}

#[derive(Debug, Clone, Copy)]
struct Node {
    queued: Queued,
    instrument: u32,
    /// The slot of the instrument's next entry, if there is one.
    next: u32,
}

const _: () = assert!(size_of::<Node>() == 48);

/// The entries of one instrument, by slot.
#[derive(Debug, Default, Clone, Copy)]
struct Chain {
    first: u32,
    last: u32,
    length: u32,
}

#[derive(Debug)]
pub(super) struct OrderQueue {
    /// The ring; from `head` on, `count` slots are in use.
    nodes: Vec<Node>,
    head: usize,
    count: usize,
    /// One for each instrument.
    chains: Vec<Chain>,
}

const VACANT: Node =
    Node { queued: Queued { sequence: 0, entry: OrderEntry::RESET }, instrument: 0, next: 0 };

impl OrderQueue {
    /// A ring of `bytes` bytes, but of at least one entry, for so many instruments; none if there
    /// are none.
    pub(super) fn new(bytes: usize, instruments: usize) -> Self {
        let slots = (bytes / size_of::<Node>()).clamp(1, u32::MAX as usize);
        let nodes = vec![VACANT; if instruments == 0 { 0 } else { slots }];
        Self { nodes, head: 0, count: 0, chains: vec![Chain::default(); instruments] }
    }

    /// Appends an entry. If there is no room the oldest is dropped; its packet is returned if
    /// somebody waited for it.
    pub(super) fn push(&mut self, instrument: InstrumentIndex, queued: Queued) -> Option<u32> {
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
    pub(super) fn of(&self, instrument: InstrumentIndex) -> impl Iterator<Item = &Queued> {
        let Chain { first, length, .. } = self.chains[instrument.as_usize()];
        let mut slot = first;
        (0..length).map(move |_| {
            let node = &self.nodes[slot as usize];
            slot = node.next;
            &node.queued
        })
    }

    /// The packet of the oldest entry.
    pub(super) fn oldest(&self) -> Option<u32> {
        (self.count > 0).then(|| self.nodes[self.head].queued.sequence)
    }

    /// The instrument does not wait any longer.
    pub(super) fn forget(&mut self, instrument: InstrumentIndex) {
        self.chains[instrument.as_usize()].length = 0;
    }

    /// Drops every entry.
    pub(super) fn clear(&mut self) {
        (self.head, self.count) = (0, 0);
        self.chains.fill(Chain::default());
    }

    fn drop_oldest(&mut self) -> Option<u32> {
        let sequence = self.oldest()?;
        let Node { instrument, next, .. } = self.nodes[self.head];
        let chain = &mut self.chains[instrument as usize];
        let is_waited_for = chain.length > 0 && chain.first as usize == self.head;
        if is_waited_for {
            chain.first = next;
            chain.length -= 1;
        }
        self.head = (self.head + 1) % self.nodes.len();
        self.count -= 1;
        is_waited_for.then_some(sequence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::VecDeque;
    use proptest::prelude::*;

    fn queued(sequence: u32) -> Queued {
        Queued { sequence, entry: OrderEntry::RESET }
    }

    fn of(queue: &OrderQueue, instrument: u32) -> Vec<u32> {
        queue.of(InstrumentIndex(instrument)).map(|queued| queued.sequence).collect()
    }

    #[test]
    fn a_full_ring_drops_the_oldest_entry() {
        let mut queue = OrderQueue::new(2 * size_of::<Node>(), 2);
        assert_eq!(queue.push(InstrumentIndex(0), queued(1)), None);
        assert_eq!(queue.push(InstrumentIndex(1), queued(2)), None);
        assert_eq!(queue.push(InstrumentIndex(0), queued(3)), Some(1));
        assert_eq!((of(&queue, 0), of(&queue, 1)), (vec![3], vec![2]));
    }

    #[test]
    fn an_entry_that_nobody_waits_for_is_no_loss() {
        let mut queue = OrderQueue::new(2 * size_of::<Node>(), 2);
        queue.push(InstrumentIndex(0), queued(1));
        queue.push(InstrumentIndex(1), queued(2));
        queue.forget(InstrumentIndex(0));
        assert_eq!(queue.push(InstrumentIndex(1), queued(3)), None);
        assert_eq!((of(&queue, 0), of(&queue, 1)), (vec![], vec![2, 3]));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Push(u32),
        Forget(u32),
        Clear,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            20 => (0u32..3).prop_map(Step::Push),
            3 => (0u32..3).prop_map(Step::Forget),
            1 => Just(Step::Clear),
        ]
    }

    proptest! {
        /// The ring holds what a deque holds that drops from the front as the ring does.
        #[test]
        fn agrees_with_a_deque(steps in prop::collection::vec(step(), 0..200), slots in 1usize..9) {
            let mut queue = OrderQueue::new(slots * size_of::<Node>(), 3);
            let mut deque: VecDeque<(u32, u32, bool)> = VecDeque::new();
            for (sequence, step) in (0u32..).zip(steps) {
                match step {
                    Step::Push(instrument) => {
                        let dropped = queue.push(InstrumentIndex(instrument), queued(sequence));
                        let front = if deque.len() == slots { deque.pop_front() } else { None };
                        let lost = front.filter(|(.., waits)| *waits);
                        prop_assert_eq!(dropped, lost.map(|(sequence, ..)| sequence));
                        deque.push_back((sequence, instrument, true));
                    }
                    Step::Forget(instrument) => {
                        queue.forget(InstrumentIndex(instrument));
                        deque.iter_mut().for_each(|(_, of, waits)| *waits &= *of != instrument);
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
            }
        }
    }
}
