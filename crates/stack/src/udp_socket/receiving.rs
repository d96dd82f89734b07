//! The receiving half of a socket.

use std::io;
use std::net::{IpAddr, SocketAddr};

use hairpin_xdp::Stamp;

use super::UdpSocket;
use crate::core::Reader;
use crate::destination;

/// Datagrams taken under one lock.
pub(super) const BATCH: usize = 32;
/// Frames that a socket keeps from one call to the next at most.
const KEPT: usize = 1;

/// What is known of a received datagram beside its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// Who sent it.
    pub source: SocketAddr,
    /// Where it went: an address of this host, a group or a broadcast address; `None` if the kernel
    /// brought it and did not say.
    pub destination: Option<IpAddr>,
    /// When it came in, if the interface stamps what it receives; `None` of what the kernel
    /// brought.
    pub stamp: Option<Stamp>,
    /// Whether the kernel brought it.
    pub by_kernel: bool,
}

/// What one [`UdpSocket::receive`] did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Received {
    /// Datagrams delivered.
    pub count: usize,
    /// Whether there were no more at that moment. False when it was not looked, so as to deliver
    /// the sooner.
    pub drained: bool,
}

impl UdpSocket {
    /// Delivers what has arrived, up to `budget` datagrams, each to one call of `on`. Never waits.
    /// The payload lies in its frame.
    ///
    /// # Errors
    /// The kernel's about something sent before, such as `ConnectionRefused`; in a strict stack
    /// `Unsupported` once something has to come by the kernel; "no such device" once the interface
    /// is gone.
    #[inline]
    pub fn receive(
        &mut self,
        budget: usize,
        mut on: impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        self.shared.check()?;
        let mut received = Received { count: 0, drained: self.is_idle() };
        while received.count < budget && !received.drained {
            let wanted = (budget - received.count).min(BATCH);
            received.drained = self.take(wanted)?;
            let is_empty = self.taken.is_empty();
            let count = self.deliver(&mut on);
            received.count += count;
            // The next batch is for the next call, if the rings would have to be looked at again.
            if is_empty || count < wanted {
                break;
            }
        }
        if self.readiness.take_by_kernel() {
            self.receive_by_kernel(budget, &mut received, &mut on)?;
        }
        // A few frames are for the next call to give back, but not so many that others lack them.
        if self.spent.len() > KEPT {
            self.give_back();
        }
        Ok(received)
    }

    /// Whether a look under the lock would find nothing: the usual case of who looks without end.
    #[inline]
    fn is_idle(&self) -> bool {
        self.is_empty
            && self.spent.is_empty()
            && !self.readiness.has_frames()
            && self.shared.is_quiet()
    }

    fn give_back(&mut self) {
        let mut core = self.shared.core();
        self.spent.drain(..).for_each(|frame| core.interface.give(frame));
    }

    /// Takes datagrams out of the queue, and before that off the rings if there are none; true if
    /// there are no more.
    #[inline]
    fn take(&mut self, wanted: usize) -> io::Result<bool> {
        let mut core = self.shared.core();
        for frame in self.spent.drain(..) {
            core.interface.give(frame);
        }
        self.is_empty = false;
        let drained = self.shared.pump(&mut core, Reader::Udp(self.id), wanted)?;
        let left = core.take(self.id, &mut self.taken, wanted);
        self.is_empty = left == 0;
        if self.is_empty {
            self.readiness.lower();
        }
        Ok(drained && self.is_empty)
    }

    #[inline]
    fn deliver(&mut self, on: &mut impl FnMut(Meta, &[u8])) -> usize {
        let first = self.shown;
        while let Some(held) = self.taken.get(self.shown) {
            // If the caller panics, it has seen this one, and the others are still here.
            self.shown += 1;
            let meta = Meta {
                source: destination::of_user(held.source, self.shared.interface),
                destination: Some(held.destination.address.to_ip()),
                stamp: held.stamp,
                by_kernel: false,
            };
            let frame = self.shared.umem.bytes(&held.packet);
            on(meta, &frame[held.offset as usize..][..held.length as usize]);
        }
        self.spent.extend(self.taken.drain(..).map(|held| held.packet.into_frame()));
        std::mem::take(&mut self.shown) - first
    }

    #[cold]
    fn receive_by_kernel(
        &mut self,
        budget: usize,
        received: &mut Received,
        on: &mut impl FnMut(Meta, &[u8]),
    ) -> io::Result<()> {
        while received.count < budget {
            let brought = self.kernel.receive(&mut self.buffer);
            let Some(brought) = brought.inspect_err(|_| self.readiness.set_by_kernel())? else {
                return Ok(());
            };
            let meta = Meta {
                source: brought.source,
                destination: brought.destination,
                stamp: None,
                by_kernel: true,
            };
            on(meta, &self.buffer[..brought.length]);
            received.count += 1;
        }
        // There may be more.
        self.readiness.set_by_kernel();
        received.drained = false;
        Ok(())
    }
}
