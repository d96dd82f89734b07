//! The receiving half of a socket.

use std::io;
use std::net::{IpAddr, SocketAddr};

use hairpin_xdp::Stamp;

use super::UdpSocket;
use super::frames::BATCH;
use crate::core::Left;
use crate::destination;
use crate::seat::Held;
use crate::stack::Shared;

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
            let count = self.deliver(wanted, &mut on);
            received.count += count;
            // The next batch is for the next call, if the rings would have to be looked at again.
            if count < wanted {
                break;
            }
        }
        if self.readiness.take_by_kernel() {
            received = self.receive_by_kernel(budget, received, &mut on)?;
        }
        // A few frames are for the next call to give back, but not so many that others lack them.
        if self.frames.shown > KEPT {
            self.give_back();
        }
        Ok(received)
    }

    /// Whether a look under the lock would find nothing: the usual case of who looks without end.
    #[inline]
    fn is_idle(&self) -> bool {
        self.is_empty
            && self.frames.are_settled()
            && !self.readiness.has_frames()
            && self.shared.is_quiet()
    }

    fn give_back(&mut self) {
        self.frames.settle(&mut self.shared.core());
    }

    /// Takes datagrams out of the queue, and off the rings if there are none; true if there are no
    /// more.
    #[inline]
    fn take(&mut self, wanted: usize) -> io::Result<bool> {
        let shared: &Shared = &self.shared;
        let mut core = shared.core();
        self.frames.settle(&mut core);
        self.is_empty = false;
        let left = core.take(self.id, &mut self.frames.taken, wanted)?;
        if left == Left::Waiting {
            return Ok(false);
        }
        self.is_empty = true;
        self.readiness.lower();
        if left == Left::Nothing {
            core.interface.tidy(self.queue);
            shared.note_frames(&core);
        }
        Ok(left == Left::Nothing)
    }

    /// Shows the caller up to `most` of what was taken; how much.
    #[inline]
    fn deliver(&mut self, most: usize, on: &mut impl FnMut(Meta, &[u8])) -> usize {
        let Self { shared, frames, .. } = self;
        let shared: &Shared = shared;
        for held in frames.taken.iter().take(most) {
            // If the caller panics, it has seen this one, and the others are still here.
            frames.shown += 1;
            let Held { packet, payload, stamp } = held;
            let frame = shared.umem.bytes(packet);
            // The engine has delivered it, so there are headers.
            let Some((source, destination)) = payload.ends(frame) else { continue };
            let meta = Meta {
                source: destination::of_user(source, shared.interface),
                destination: Some(destination.address.to_ip()),
                stamp: *stamp,
                by_kernel: false,
            };
            on(meta, &frame[payload.offset as usize..][..payload.length as usize]);
        }
        frames.shown
    }

    #[cold]
    fn receive_by_kernel(
        &mut self,
        budget: usize,
        mut received: Received,
        on: &mut impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        while received.count < budget {
            let brought = self.kernel.receive(&mut self.buffer);
            let Some(brought) = brought.inspect_err(|_| self.readiness.set_by_kernel())? else {
                return Ok(received);
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
        Ok(received)
    }
}
