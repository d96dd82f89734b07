//! The receive queue of a socket.

use std::collections::VecDeque;
use std::sync::Arc;

use hairpin_netstack::Payload;
use hairpin_xdp::{Packet, Stamp};

use crate::readiness::Readiness;

/// A received datagram in its frame.
#[derive(Debug)]
pub(crate) struct QueuedDatagram {
    pub(crate) packet: Packet,
    /// The position of the payload in the packet.
    pub(crate) payload: Payload,
    pub(crate) stamp: Option<Stamp>,
    /// The socket's drops until this datagram was queued; `None` if it never was.
    pub(crate) dropped: Option<u32>,
}

/// The datagrams or frames queued for one socket.
#[derive(Debug)]
pub(crate) struct ReceiveQueue<T> {
    items: VecDeque<T>,
    dropped: u64,
    /// The number of items ever queued.
    queued: u64,
    pub(crate) readiness: Arc<Readiness>,
}

impl<T> ReceiveQueue<T> {
    /// Creates a queue with memory for `capacity` items.
    pub(crate) fn new(capacity: usize, readiness: Arc<Readiness>) -> Self {
        Self { items: VecDeque::with_capacity(capacity), dropped: 0, queued: 0, readiness }
    }

    /// Returns `true` if another item fits, where all sockets together may queue `budget` more.
    ///
    /// A socket may queue as much as it leaves to the others, so sockets that do not read cannot
    /// occupy all frames: one alone gets half, two get a third each, and as much remains for the
    /// next.
    #[inline]
    pub(crate) fn has_room(&self, budget: usize) -> bool {
        self.items.len() < budget
    }

    #[inline]
    pub(crate) fn push(&mut self, item: T) {
        self.items.push_back(item);
        self.queued += 1;
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.items.pop_front()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.items.len()
    }

    /// Counts a datagram dropped because the queue was full.
    pub(crate) fn record_drop(&mut self) {
        self.dropped += 1;
    }

    pub(crate) fn queued(&self) -> u64 {
        self.queued
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }
}
