//! The receiving half of a socket.

use std::io;
use std::net::{IpAddr, SocketAddr};

use hairpin_xdp::Stamp;

use super::UdpSocket;
use super::frames::BATCH;
use crate::data_plane::Remaining;
use crate::destination;
use crate::receive_queue::QueuedDatagram;
use crate::stack::SharedState;

/// The most frames that a socket holds between calls.
const MAX_HELD_FRAMES: usize = 1;

/// The metadata of a received datagram.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Meta {
    /// The sender.
    pub source: SocketAddr,
    /// The destination: an address of this host, a group or a broadcast address; `None` if the
    /// kernel did not report it.
    pub destination: Option<IpAddr>,
    /// The receive timestamp, if the interface provides timestamps; `None` for datagrams through
    /// the kernel.
    pub stamp: Option<Stamp>,
    /// `true` for a datagram through the kernel.
    pub via_kernel: bool,
}

/// The result of one [`UdpSocket::receive`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Received {
    /// Datagrams delivered.
    pub count: usize,
    /// `true` if no more datagrams were pending. `false` if this was not checked, to deliver
    /// sooner.
    pub drained: bool,
}

impl UdpSocket {
    /// Delivers up to `budget` datagrams, each by one call of `on`. Never waits. The payload is
    /// still in its frame.
    ///
    /// # Errors
    /// The kernel's about an earlier send, such as `ConnectionRefused`; in a strict stack
    /// `Unsupported` after a fallback; `ENODEV` after the interface was removed.
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
            received.drained = self.fetch(wanted)?;
            let count = self.deliver(wanted, &mut on);
            received.count += count;
            // The next batch is left to the next call if it would require another poll of the
            // rings.
            if count < wanted {
                break;
            }
        }
        if self.readiness.take_kernel_pending() {
            received = self.receive_via_kernel(budget, received, &mut on)?;
        }
        // A few frames may be recycled by the next call, but not so many that others lack them.
        if self.frames.delivered > MAX_HELD_FRAMES {
            self.recycle_frames();
        }
        Ok(received)
    }

    /// Returns `true` if a receive under the lock would find nothing: the usual case when spinning.
    #[inline]
    fn is_idle(&self) -> bool {
        self.is_empty
            && self.frames.are_idle()
            && !self.readiness.has_frames()
            && self.shared.rings_are_idle()
    }

    fn recycle_frames(&mut self) {
        self.frames.recycle(&mut self.shared.data_plane());
    }

    /// Fetches datagrams from the queue, or from the rings if it is empty. Returns `true` if both
    /// are empty.
    #[inline]
    fn fetch(&mut self, wanted: usize) -> io::Result<bool> {
        let shared: &SharedState = &self.shared;
        let mut data_plane = shared.data_plane();
        self.frames.recycle(&mut data_plane);
        self.is_empty = false;
        let left = data_plane.receive(self.id, &mut self.frames.received, wanted)?;
        if left == Remaining::Queued {
            return Ok(false);
        }
        self.is_empty = true;
        self.readiness.clear();
        if left == Remaining::Drained {
            data_plane.interface.reclaim_idle(self.queue);
            shared.update_needs_refill(&data_plane);
        }
        Ok(left == Remaining::Drained)
    }

    /// Delivers up to `most` fetched datagrams to the caller. Returns how many.
    #[inline]
    fn deliver(&mut self, most: usize, on: &mut impl FnMut(Meta, &[u8])) -> usize {
        let Self { shared, frames, .. } = self;
        let shared: &SharedState = shared;
        for datagram in frames.received.iter().take(most) {
            // If the callback panics, this datagram counts as delivered, and the others remain.
            frames.delivered += 1;
            let QueuedDatagram { packet, payload, stamp } = datagram;
            let frame = shared.umem.bytes(packet);
            // The engine delivered this payload, so its headers are present.
            let Some((source, destination)) = payload.endpoints(frame) else { continue };
            let meta = Meta {
                source: destination::to_socket_addr(source, shared.interface),
                destination: Some(destination.address.to_ip()),
                stamp: *stamp,
                via_kernel: false,
            };
            on(meta, &frame[payload.offset as usize..][..payload.length as usize]);
        }
        frames.delivered
    }

    #[cold]
    fn receive_via_kernel(
        &mut self,
        budget: usize,
        mut received: Received,
        on: &mut impl FnMut(Meta, &[u8]),
    ) -> io::Result<Received> {
        while received.count < budget {
            let datagram = self.backing.receive(&mut self.buffer);
            let Some(datagram) = datagram.inspect_err(|_| self.readiness.set_kernel_pending())?
            else {
                return Ok(received);
            };
            let meta = Meta {
                source: datagram.source,
                destination: datagram.destination,
                stamp: None,
                via_kernel: true,
            };
            on(meta, &self.buffer[..datagram.length]);
            received.count += 1;
        }
        // More datagrams may be pending.
        self.readiness.set_kernel_pending();
        received.drained = false;
        Ok(received)
    }
}
