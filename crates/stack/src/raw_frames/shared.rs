//! An EtherType of a stack: its frames wait beside those of the stack's other sockets.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hairpin_xdp::{Entry, EntryError, Frame, Packet, Stamp};

use crate::core::Reader;
use crate::readiness::{Epoll, Readiness};
use crate::stack::Owner;

/// Frames that wait to go back to the pool before that is worth a lock of its own.
const SPENT: usize = 16;

#[derive(Debug)]
pub(super) struct Shared {
    owner: Arc<Owner>,
    ether_type: u16,
    entry: Entry,
    readiness: Arc<Readiness>,
    /// Whether nothing was left in the queue when something was last taken out of it.
    is_empty: bool,
    spent: Vec<Frame>,
    queue: u32,
    epoll: Epoll,
}

impl Shared {
    pub(super) fn open(owner: &Arc<Owner>, ether_type: u16) -> io::Result<Self> {
        let readiness = Arc::new(Readiness::new()?);
        let epoll = Epoll::new()?;
        epoll.add(readiness.as_fd(), libc::EPOLLIN, 0)?;
        let entry = Entry::EtherType { vlan: None, ether_type };
        let mut control = owner.control();
        let mut core = owner.core();
        epoll.watch(core.interface.sockets(), true)?;
        if core.raw_seat(ether_type).is_some() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        core.sit_raw(ether_type, Arc::clone(&readiness));
        let entered = control.entries.add(&core.interface, entry);
        if entered.is_err() {
            core.stand_up_raw(ether_type);
        }
        entered.map_err(|error| match error {
            EntryError::EtherType(_) => io::Error::new(io::ErrorKind::InvalidInput, error),
            error => io::Error::other(error),
        })?;
        drop((core, control));
        let (owner, queue) = (Arc::clone(owner), owner.queue(u32::from(ether_type)));
        let spent = Vec::with_capacity(SPENT);
        let is_empty = false;
        Ok(Self { owner, ether_type, entry, readiness, is_empty, spent, queue, epoll })
    }

    #[inline]
    pub(super) fn receive(&mut self) -> io::Result<Option<Packet>> {
        self.owner.check()?;
        if self.is_idle() {
            return Ok(None);
        }
        let mut core = self.owner.core();
        for frame in self.spent.drain(..) {
            core.interface.give(frame);
        }
        self.is_empty = false;
        let (packet, has_more) = core.receive_raw(self.ether_type)?;
        self.is_empty = !has_more;
        if packet.is_none() {
            self.owner.note_frames(&core);
        }
        if self.is_empty {
            self.readiness.lower();
        }
        Ok(packet)
    }

    /// Whether a look under the lock would find nothing: the usual case of who looks without end.
    #[inline]
    fn is_idle(&self) -> bool {
        self.is_empty
            && self.spent.is_empty()
            && !self.readiness.has_frames()
            && self.owner.is_quiet()
    }

    #[inline]
    pub(super) fn frame(&mut self, length: u32) -> Option<Packet> {
        self.owner.core().interface.packet(length)
    }

    #[inline]
    pub(super) fn transmit(&mut self, packet: Packet) -> io::Result<Result<(), Packet>> {
        self.owner.transmit(self.owner.core(), self.queue, packet)
    }

    #[inline]
    pub(super) fn put(&mut self, packet: Packet) -> Result<(), Packet> {
        self.owner.core().interface.transmit(self.queue, packet)
    }

    #[inline]
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let frames = self.owner.core().interface.submit(self.queue);
        self.owner.kick(self.queue, frames)
    }

    #[inline]
    pub(super) fn give(&mut self, packet: Packet) {
        if self.spent.len() == SPENT {
            let mut core = self.owner.core();
            self.spent.drain(..).for_each(|frame| core.interface.give(frame));
        }
        self.spent.push(packet.into_frame());
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
        self.owner.core().interface.receive_stamp(packet)
    }

    pub(super) fn wait(&mut self, timeout: Option<Duration>) -> io::Result<bool> {
        self.watch(true)?;
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 4];
        loop {
            {
                let mut core = self.owner.core();
                for frame in self.spent.drain(..) {
                    core.interface.give(frame);
                }
                self.is_empty = false;
                self.owner.pump(&mut core, Reader::Raw(self.ether_type), 1)?;
                if core.raw_seat(self.ether_type).is_some_and(|seat| seat.len() > 0) {
                    return Ok(true);
                }
                self.readiness.lower();
            }
            self.owner.check()?;
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                return Ok(false);
            }
            if self.epoll.wait(&mut events, left)?.is_empty() && left.is_none() {
                return Ok(false);
            }
        }
    }

    pub(super) fn set_spinning(&mut self, is_spinning: bool) {
        // What cannot be watched stays as it is, and `wait` tells.
        let _ = self.watch(!is_spinning);
    }

    /// Has the kernel and others wake whoever sleeps, or not.
    fn watch(&mut self, is_watching: bool) -> io::Result<()> {
        if is_watching == self.readiness.is_awaited() {
            return Ok(());
        }
        let mut core = self.owner.core();
        self.epoll.watch(core.interface.sockets(), is_watching)?;
        self.readiness.set_awaited(is_watching);
        // Nobody was woken for what came meanwhile.
        if is_watching && core.raw_seat(self.ether_type).is_some_and(|seat| seat.len() > 0) {
            self.readiness.raise();
        }
        Ok(())
    }

    pub(super) fn lost(&self) -> u64 {
        self.owner.core().raw_seat(self.ether_type).map_or(0, |seat| seat.lost())
    }

    pub(super) fn mac(&self) -> [u8; 6] {
        self.owner.control().mac()
    }

    pub(super) fn longest(&self) -> u32 {
        self.owner.umem.settings().longest_frame()
    }

    pub(super) fn describe(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.owner.description())
    }
}

impl AsFd for Shared {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let mut control = self.owner.control();
        let mut core = self.owner.core();
        control.entries.remove(&core.interface, &self.entry);
        core.stand_up_raw(self.ether_type);
        for frame in self.spent.drain(..) {
            core.interface.give(frame);
        }
    }
}
