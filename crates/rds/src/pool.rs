//! A fixed pool of packet buffers, and queues of them.

use alloc::boxed::Box;
use alloc::vec;

use crate::packet::Flags;

/// The index of no packet.
pub(crate) const NIL: u32 = u32::MAX;

/// The state of one buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    /// The next buffer of the same queue.
    pub(crate) next: u32,
    /// The first buffer of the next message, in a queue of messages.
    pub(crate) next_message: u32,
    pub(crate) sequence: u32,
    /// The timestamp of the last transmission.
    pub(crate) sent_at: u32,
    /// The timestamp of the first transmission.
    pub(crate) first_sent_at: u32,
    /// The payload bytes.
    pub(crate) length: u16,
    /// `FIRST` and `LAST` of its message.
    pub(crate) flags: Flags,
    /// `true` if the packet must be sent again.
    pub(crate) lost: bool,
    /// `true` if the peer has received the packet out of order.
    pub(crate) received: bool,
    /// `true` if the message's outcome was requested.
    pub(crate) tracked: bool,
    /// The message's number, or the index of its sender.
    pub(crate) owner: u64,
}

impl Slot {
    const FREE: Self = Self {
        next: NIL,
        next_message: NIL,
        sequence: 0,
        sent_at: 0,
        first_sent_at: 0,
        length: 0,
        flags: Flags(0),
        lost: false,
        received: false,
        tracked: false,
        owner: 0,
    };
}

/// Buffers of equal size, allocated once.
#[derive(Debug)]
pub(crate) struct Pool {
    bytes: Box<[u8]>,
    slots: Box<[Slot]>,
    packet_max: usize,
    free: u32,
    free_count: usize,
}

impl Pool {
    pub(crate) fn new(count: usize, packet_max: usize) -> Self {
        let count_u32 = u32::try_from(count).expect("a pool has fewer than 2^32 packets");
        let mut slots = vec![Slot::FREE; count].into_boxed_slice();
        for (index, slot) in (1..).zip(&mut slots) {
            slot.next = if index < count_u32 { index } else { NIL };
        }
        Self {
            bytes: vec![0; count * packet_max].into_boxed_slice(),
            slots,
            packet_max,
            free: if count > 0 { 0 } else { NIL },
            free_count: count,
        }
    }

    pub(crate) fn free_count(&self) -> usize {
        self.free_count
    }

    pub(crate) fn is_unused(&self) -> bool {
        self.free_count == self.slots.len()
    }

    #[inline]
    pub(crate) fn allocate(&mut self) -> Option<u32> {
        let index = self.free;
        let slot = self.slots.get_mut(index as usize)?;
        self.free = slot.next;
        *slot = Slot::FREE;
        self.free_count -= 1;
        Some(index)
    }

    #[inline]
    pub(crate) fn release(&mut self, index: u32) {
        self.slots[index as usize].next = self.free;
        self.free = index;
        self.free_count += 1;
    }

    #[inline]
    pub(crate) fn slot(&self, index: u32) -> &Slot {
        &self.slots[index as usize]
    }

    #[inline]
    pub(crate) fn slot_mut(&mut self, index: u32) -> &mut Slot {
        &mut self.slots[index as usize]
    }

    /// Returns the first `length` bytes of a buffer.
    #[inline]
    pub(crate) fn bytes(&self, index: u32, length: usize) -> &[u8] {
        &self.bytes[index as usize * self.packet_max..][..length]
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self, index: u32, length: usize) -> &mut [u8] {
        &mut self.bytes[index as usize * self.packet_max..][..length]
    }

    /// Releases all buffers of a queue.
    pub(crate) fn release_all(&mut self, queue: &mut Queue) -> usize {
        let mut count = 0;
        while let Some(index) = queue.pop(self) {
            self.release(index);
            count += 1;
        }
        count
    }
}

/// A first-in first-out queue of buffers, linked through their slots.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Queue {
    pub(crate) head: u32,
    pub(crate) tail: u32,
}

impl Queue {
    pub(crate) const EMPTY: Self = Self { head: NIL, tail: NIL };

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NIL
    }

    #[inline]
    pub(crate) fn push(&mut self, pool: &mut Pool, index: u32) {
        pool.slot_mut(index).next = NIL;
        match self.tail {
            NIL => self.head = index,
            tail => pool.slot_mut(tail).next = index,
        }
        self.tail = index;
    }

    #[inline]
    pub(crate) fn pop(&mut self, pool: &Pool) -> Option<u32> {
        let index = self.head;
        if index == NIL {
            return None;
        }
        self.head = pool.slot(index).next;
        if self.head == NIL {
            self.tail = NIL;
        }
        Some(index)
    }

    /// Inserts a buffer by its sequence number, given as the distance from `base`. Returns `false`
    /// if the number is already present.
    pub(crate) fn insert(&mut self, pool: &mut Pool, index: u32, base: u32) -> bool {
        let distance = |pool: &Pool, at: u32| pool.slot(at).sequence.wrapping_sub(base);
        let new = distance(pool, index);
        let (mut before, mut at) = (NIL, self.head);
        while at != NIL && distance(pool, at) < new {
            (before, at) = (at, pool.slot(at).next);
        }
        if at != NIL && distance(pool, at) == new {
            return false;
        }
        pool.slot_mut(index).next = at;
        match before {
            NIL => self.head = index,
            before => pool.slot_mut(before).next = index,
        }
        if at == NIL {
            self.tail = index;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocates_each_buffer_once() {
        let mut pool = Pool::new(3, 128);
        let all: alloc::vec::Vec<_> = core::iter::from_fn(|| pool.allocate()).collect();
        assert_eq!((all.as_slice(), pool.free_count()), ([0, 1, 2].as_slice(), 0));
        pool.release(1);
        assert_eq!((pool.allocate(), pool.allocate()), (Some(1), None));
    }

    #[test]
    fn insert_keeps_sequence_order_and_refuses_duplicates() {
        let mut pool = Pool::new(8, 128);
        let mut queue = Queue::EMPTY;
        for (sequence, is_new) in [(1, true), (u32::MAX, true), (3, true), (1, false), (0, true)] {
            let index = pool.allocate().unwrap();
            pool.slot_mut(index).sequence = sequence;
            assert_eq!(queue.insert(&mut pool, index, u32::MAX - 5), is_new, "{sequence}");
        }
        let mut order = alloc::vec::Vec::new();
        while let Some(index) = queue.pop(&pool) {
            order.push(pool.slot(index).sequence);
        }
        assert_eq!(order, [u32::MAX, 0, 1, 3]);
    }
}
