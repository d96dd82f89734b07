//! Where a socket's frames wait for it.

use std::collections::VecDeque;
use std::sync::Arc;

use hairpin_netstack::Payload;
use hairpin_xdp::{Packet, Stamp};

use crate::readiness::Readiness;

/// A datagram that has arrived, in its frame.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) packet: Packet,
    /// Where in the packet.
    pub(crate) payload: Payload,
    pub(crate) stamp: Option<Stamp>,
}

/// What has arrived for one socket and was not taken by it yet.
#[derive(Debug)]
pub(crate) struct Seat<T> {
    arrived: VecDeque<T>,
    lost: u64,
    pub(crate) readiness: Arc<Readiness>,
}

impl<T> Seat<T> {
    /// It has memory for all that one socket can leave unread of `room`.
    pub(crate) fn new(room: usize, readiness: Arc<Readiness>) -> Self {
        Self { arrived: VecDeque::with_capacity(room / 2 + 1), lost: 0, readiness }
    }

    /// Whether there is a place, where all sockets together may leave `room` more unread.
    ///
    /// A socket has as much as it leaves to others, so that those that do not read cannot have all
    /// frames: one alone has half, two have a third each, and as much is left for the next.
    #[inline]
    pub(crate) fn has_place(&self, room: usize) -> bool {
        self.arrived.len() < room
    }

    #[inline]
    pub(crate) fn put(&mut self, item: T) {
        self.arrived.push_back(item);
    }

    #[inline]
    pub(crate) fn take(&mut self) -> Option<T> {
        self.arrived.pop_front()
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.arrived.len()
    }

    /// One more was lost for want of room.
    pub(crate) fn lose(&mut self) {
        self.lost += 1;
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }
}
