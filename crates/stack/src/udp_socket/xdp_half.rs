//! The AF_XDP half of a socket: frames in both directions, without the kernel socket.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hairpin_netstack::{Payload, SendError, SocketId};
use hairpin_xdp::{Packet, Umem};

use super::frames::{BATCH, SocketFrames};
use super::receive::{Meta, Received};
#[cfg(doc)]
use crate::UdpSocket;
use crate::bound_address::is_multicast;
use crate::data_plane::{DataPlane, Remaining};
use crate::destination::{self, Destination, Path, XdpPath};
use crate::family::Family;
use crate::readiness::Readiness;
use crate::receive_queue::QueuedDatagram;
use crate::stack::{Owner, SharedState, unsupported};
use crate::{FallbackReason, PathEvent};

/// The most frames that a socket holds between calls.
const MAX_HELD_FRAMES: usize = 1;

/// The socket of the engine, its frames and its readiness.
#[derive(Debug)]
pub(crate) struct XdpHalf {
    pub(crate) shared: Arc<Owner>,
    pub(crate) id: SocketId,
    family: Family,
    /// The transmit queue.
    pub(crate) queue: u32,
    pub(crate) readiness: Arc<Readiness>,
    pub(crate) frames: SocketFrames,
    /// `true` if the queue was empty after the last receive.
    pub(crate) is_empty: bool,
}

impl XdpHalf {
    pub(crate) fn new(
        shared: &Arc<Owner>,
        id: SocketId,
        family: Family,
        readiness: Arc<Readiness>,
    ) -> Self {
        Self {
            shared: Arc::clone(shared),
            id,
            family,
            queue: shared.queue(id.index()),
            readiness,
            frames: SocketFrames::new(shared.umem.settings().longest_frame()),
            is_empty: false,
        }
    }

    /// Delivers up to `budget` datagrams that bypassed the kernel, each with the position of its
    /// payload in its frame.
    ///
    /// # Errors
    /// As for [`UdpSocket::receive`].
    #[inline]
    pub(crate) fn receive(
        &mut self,
        budget: usize,
        on: &mut impl FnMut(Meta, Payload, &[u8]),
    ) -> io::Result<Received> {
        self.shared.check()?;
        let mut received = Received { count: 0, drained: self.is_idle() };
        while received.count < budget && !received.drained {
            let wanted = (budget - received.count).min(BATCH);
            received.drained = self.fetch(wanted)?;
            let count = self.deliver(wanted, on);
            received.count += count;
            // The next batch is left to the next call if it would require another poll of the
            // rings.
            if count < wanted {
                break;
            }
        }
        Ok(received)
    }

    /// Recycles the frames of delivered datagrams if there are many: a few may be recycled by the
    /// next call, but not so many that others lack them.
    #[inline]
    pub(crate) fn recycle_many(&mut self) {
        if self.frames.delivered > MAX_HELD_FRAMES {
            self.recycle_frames();
        }
    }

    /// Returns `true` if a receive under the lock would find nothing: the usual case when spinning.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
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
            self.readiness.enlist();
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
    fn deliver(&mut self, most: usize, on: &mut impl FnMut(Meta, Payload, &[u8])) -> usize {
        let Self { shared, frames, family, .. } = self;
        let shared: &SharedState = shared;
        for datagram in frames.received.iter().take(most) {
            // If the callback panics, this datagram counts as delivered, and the others remain.
            frames.delivered += 1;
            let QueuedDatagram { packet, payload, stamp, dropped } = datagram;
            let frame = shared.umem.bytes(packet);
            // The engine delivered this payload, so its headers are present.
            let Some((source, destination)) = payload.endpoints(frame) else { continue };
            let meta = Meta {
                source: destination::to_socket_addr(source, shared.interface, *family),
                destination: Some(family.to_socket(destination.address.to_ip())),
                stamp: *stamp,
                dropped: *dropped,
                via_kernel: false,
            };
            on(meta, *payload, frame);
        }
        frames.delivered
    }

    /// Finds the path to a destination and prepares its headers.
    ///
    /// # Errors
    /// As for [`UdpSocket::destination`].
    pub(crate) fn destination(
        &self,
        to: SocketAddr,
        multicast_loop: bool,
    ) -> io::Result<Destination> {
        let mut destination = Destination {
            address: to,
            socket: self.id,
            path: Path::Kernel(FallbackReason::NoNeighbor),
            generation: 0,
            oversize_reported: false,
        };
        self.find_path(&mut destination, true, multicast_loop)?;
        Ok(destination)
    }

    /// Finds the path to a destination, and reports a new fallback.
    ///
    /// # Errors
    /// As for [`UdpSocket::destination`].
    #[cold]
    pub(crate) fn find_path(
        &self,
        destination: &mut Destination,
        is_first: bool,
        multicast_loop: bool,
    ) -> io::Result<()> {
        self.shared.check_removed()?;
        // Any change from here on, and any error, makes the next send find the path again.
        let generation = self.shared.generation();
        let to = self.family.to_packet(destination.address)?;
        let mut control_plane = self.shared.control_plane();
        let before = destination.fallback_reason();
        let path = control_plane.path(&self.shared, self.id, to, multicast_loop)?;
        (destination.path, destination.socket) = (path, self.id);
        destination.generation = generation;
        if is_multicast(to.ip()) {
            // The watcher polls the group's members on this host from now on.
            self.shared.event_source.wake();
        }
        let Some(reason) = destination.fallback_reason() else { return Ok(()) };
        // An unresolved next hop is temporary and not reported.
        if reason == FallbackReason::NoNeighbor || !is_first && before == Some(reason) {
            return Ok(());
        }
        let event = PathEvent::TxFallback { address: destination.address, reason };
        if self.shared.strict {
            return Err(unsupported(&event.to_string()));
        }
        self.shared.report(&mut control_plane, event);
        Ok(())
    }

    /// Sends a datagram of `length` bytes, written in place by `fill`.
    ///
    /// # Errors
    /// As for [`UdpSocket::transmit_to`].
    #[inline]
    pub(crate) fn send(
        &mut self,
        path: &XdpPath,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        if self.frames.tx_frame.is_none() {
            // The second send since the last receive, so a third may follow.
            self.allocate_tx_frame();
            self.frames.bursting = true;
        }
        let shared: &SharedState = &self.shared;
        let frames = &mut self.frames;
        // The frame stays in place while the caller's closure runs, because it may panic.
        let Some(packet) = &mut frames.tx_frame else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        let frame = fill_payload(&shared.umem, packet, path, length, fill);
        path.used.store(true, Ordering::Relaxed);
        let mut data_plane = shared.data_plane();
        let sent = data_plane.engine.send(&path.header, length, frame, |_| {});
        let length = sent.map_err(send_error)? as u32;
        let Some(mut packet) = frames.tx_frame.take() else { return Ok(()) };
        packet.truncate(length);
        frames.needs_tx_frame = true;
        if frames.bursting {
            frames.allocate_tx_frame(&mut data_plane);
        }
        match shared.transmit(data_plane, self.queue, packet)? {
            Ok(()) => Ok(()),
            Err(packet) => {
                shared.data_plane().interface.release(packet.into_frame());
                Err(io::ErrorKind::WouldBlock.into())
            }
        }
    }

    #[cold]
    fn allocate_tx_frame(&mut self) {
        self.frames.allocate_tx_frame(&mut self.shared.data_plane());
    }

    /// Runs the whole send path except the transmission.
    ///
    /// # Errors
    /// As for [`UdpSocket::warm_up`].
    pub(crate) fn warm_up(
        &mut self,
        to: &Destination,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        let Path::Xdp(path) = &to.path else { return Ok(()) };
        let length = length.min(path.limit);
        if self.frames.tx_frame.is_none() {
            self.allocate_tx_frame();
        }
        let Some(packet) = &mut self.frames.tx_frame else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        let frame = fill_payload(&self.shared.umem, packet, path, length, fill);
        let data_plane = self.shared.data_plane();
        data_plane.engine.warm_up(&path.header, length, frame).map(drop).map_err(send_error)
    }

    /// Closes the engine's socket and releases all frames.
    pub(crate) fn close(&mut self, data_plane: &mut DataPlane) {
        data_plane.detach_socket(self.id);
        let _ = data_plane.engine.close(self.id);
        self.frames.release_all(data_plane);
    }
}

#[cold]
fn send_error(error: SendError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

/// Runs the closure on the payload, in place, and returns the frame.
#[inline]
fn fill_payload<'f>(
    umem: &'f Umem,
    packet: &'f mut Packet,
    path: &XdpPath,
    length: usize,
    fill: impl FnOnce(&mut [u8]),
) -> &'f mut [u8] {
    let frame = umem.bytes_mut(packet);
    fill(&mut frame[path.header.frame_length(0)..][..length]);
    frame
}
