//! Raw frames of a stack: they are queued like the datagrams of its sockets.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

use hairpin_xdp::{Entry, EntryError, Frame, Packet, Stamp};

use crate::data_plane::Reader;
use crate::readiness::{Epoll, Readiness};
use crate::stack::Owner;

/// Released frames that are returned to the pool under one lock.
const RELEASE_BATCH: usize = 16;

#[derive(Debug)]
pub(super) struct SharedSource {
    owner: Arc<Owner>,
    ether_type: u16,
    entry: Entry,
    readiness: Arc<Readiness>,
    /// `true` if the queue was empty after the last receive.
    is_empty: bool,
    released: Vec<Frame>,
    queue: u32,
    epoll: Epoll,
}

impl SharedSource {
    pub(super) fn open(owner: &Arc<Owner>, ether_type: u16) -> io::Result<Self> {
        let readiness = Arc::new(Readiness::new()?);
        let epoll = Epoll::new()?;
        epoll.add_readiness(&readiness, 0)?;
        let entry = Entry::EtherType { vlan: None, ether_type };
        let mut control_plane = owner.control_plane();
        let mut data_plane = owner.data_plane();
        epoll.watch(data_plane.interface.sockets(), true)?;
        if data_plane.raw_queue(ether_type).is_some() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        data_plane.attach_raw(ether_type, Arc::clone(&readiness));
        let entered = control_plane.entries.add(&data_plane, entry, -1);
        if entered.is_err() {
            data_plane.detach_raw(ether_type);
        }
        entered.map_err(|error| match error {
            EntryError::EtherType(_) => io::Error::new(io::ErrorKind::InvalidInput, error),
            error => io::Error::other(error),
        })?;
        drop((data_plane, control_plane));
        let (owner, queue) = (Arc::clone(owner), owner.queue(u32::from(ether_type)));
        let released = Vec::with_capacity(RELEASE_BATCH);
        let is_empty = false;
        Ok(Self { owner, ether_type, entry, readiness, is_empty, released, queue, epoll })
    }

    #[inline]
    pub(super) fn receive(&mut self) -> io::Result<Option<Packet>> {
        self.owner.check()?;
        if self.is_idle() {
            return Ok(None);
        }
        let mut data_plane = self.owner.data_plane();
        for frame in self.released.drain(..) {
            data_plane.interface.release(frame);
        }
        self.is_empty = false;
        let (packet, has_more) = data_plane.receive_raw(self.ether_type)?;
        self.is_empty = !has_more;
        if packet.is_none() {
            self.owner.update_needs_refill(&data_plane);
        }
        if self.is_empty {
            self.readiness.clear();
        }
        Ok(packet)
    }

    /// Returns `true` if a receive under the lock would find nothing: the usual case when spinning.
    #[inline]
    fn is_idle(&self) -> bool {
        self.is_empty
            && self.released.is_empty()
            && !self.readiness.has_frames()
            && self.owner.rings_are_idle()
    }

    #[inline]
    pub(super) fn frame(&mut self, length: u32) -> Option<Packet> {
        self.owner.data_plane().interface.packet(length)
    }

    #[inline]
    pub(super) fn transmit(&mut self, packet: Packet) -> io::Result<Result<(), Packet>> {
        self.owner.transmit(self.owner.data_plane(), self.queue, packet)
    }

    #[inline]
    pub(super) fn enqueue(&mut self, packet: Packet) -> Result<(), Packet> {
        self.owner.data_plane().interface.transmit(self.queue, packet)
    }

    #[inline]
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let frames = self.owner.data_plane().interface.submit(self.queue);
        self.owner.kick(self.queue, frames)
    }

    #[inline]
    pub(super) fn release(&mut self, packet: Packet) {
        if self.released.len() == RELEASE_BATCH {
            let mut data_plane = self.owner.data_plane();
            self.released.drain(..).for_each(|frame| data_plane.interface.release(frame));
        }
        self.released.push(packet.into_frame());
    }

    #[inline]
    pub(super) fn bytes<'a>(&'a self, packet: &'a Packet) -> &'a [u8] {
        self.owner.umem.bytes(packet)
    }

    #[inline]
    pub(super) fn bytes_mut<'a>(&'a self, packet: &'a mut Packet) -> &'a mut [u8] {
        self.owner.umem.bytes_mut(packet)
    }

    pub(super) fn receive_stamp(&self, packet: &Packet) -> Option<Stamp> {
        self.owner.data_plane().interface.receive_stamp(packet)
    }

    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        self.watch(true)?;
        let Self { owner, ether_type, readiness, is_empty, released, epoll, .. } = self;
        epoll.wait_until(timeout, |_| {
            let mut data_plane = owner.data_plane();
            for frame in released.drain(..) {
                data_plane.interface.release(frame);
            }
            *is_empty = false;
            owner.distribute_frames(&mut data_plane, Reader::Raw(*ether_type))?;
            if data_plane.raw_queue(*ether_type).is_some_and(|queue| queue.len() > 0) {
                return Ok(true);
            }
            readiness.clear();
            drop(data_plane);
            owner.check().map(|()| false)
        })
    }

    pub(super) fn set_spinning(&mut self, spinning: bool) {
        // On failure the sockets stay as they are, and `wait` reports the error.
        let _ = self.watch(!spinning);
    }

    /// Makes the kernel and other sockets wake waiters, or not.
    fn watch(&mut self, watching: bool) -> io::Result<()> {
        if watching == self.readiness.has_waiters() {
            return Ok(());
        }
        let mut data_plane = self.owner.data_plane();
        self.epoll.watch(data_plane.interface.sockets(), watching)?;
        self.readiness.set_has_waiters(watching);
        // No waiter was signaled for frames queued meanwhile.
        if watching && data_plane.raw_queue(self.ether_type).is_some_and(|queue| queue.len() > 0) {
            self.readiness.signal();
        }
        Ok(())
    }

    pub(super) fn dropped(&self) -> u64 {
        self.owner.data_plane().raw_queue(self.ether_type).map_or(0, |queue| queue.dropped())
    }

    pub(super) fn mac(&self) -> [u8; 6] {
        self.owner.control_plane().mac()
    }

    pub(super) fn max_length(&self) -> u32 {
        self.owner.umem.settings().longest_frame()
    }

    pub(super) fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.owner.description())
    }
}

impl AsFd for SharedSource {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl Drop for SharedSource {
    fn drop(&mut self) {
        let mut control_plane = self.owner.control_plane();
        let mut data_plane = self.owner.data_plane();
        control_plane.entries.remove(&data_plane, &self.entry, -1);
        data_plane.detach_raw(self.ether_type);
        for frame in self.released.drain(..) {
            data_plane.interface.release(frame);
        }
    }
}
