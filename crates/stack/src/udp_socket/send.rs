//! The sending half of a socket.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use hairpin_netstack::SendError;
use hairpin_xdp::{Packet, Umem};

use super::UdpSocket;
use crate::bound_address::is_multicast;
use crate::destination::{self, Destination, Path, XdpPath};
use crate::stack::{SharedState, unsupported};
use crate::{FallbackReason, PathEvent};

/// The number of destinations that `send_to` caches.
pub(super) const RECENT: usize = 16;

impl UdpSocket {
    /// Finds the path to a destination and prepares its headers.
    ///
    /// # Errors
    /// The kernel's: `NetworkUnreachable` and similar. In a strict stack `Unsupported` if the path
    /// does not bypass the kernel.
    pub fn destination(&self, to: SocketAddr) -> io::Result<Destination> {
        let mut destination = Destination {
            address: to,
            socket: self.id,
            path: Path::Kernel(FallbackReason::NoNeighbor),
            generation: 0,
            oversize_reported: false,
        };
        self.find_path(&mut destination, true)?;
        Ok(destination)
    }

    #[cold]
    fn find_path(&self, destination: &mut Destination, is_first: bool) -> io::Result<()> {
        self.shared.check_removed()?;
        // Any change from here on, and any error, makes the next send find the path again.
        let generation = self.shared.generation();
        let to = destination.address;
        let mut control_plane = self.shared.control_plane();
        let before = destination.fallback_reason();
        let path = control_plane.path(&self.shared, self.id, to, self.options.multicast_loop)?;
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
        let event = PathEvent::TxFallback { address: to, reason };
        if self.shared.strict {
            return Err(unsupported(&event.to_string()));
        }
        self.shared.report(&mut control_plane, event);
        Ok(())
    }

    /// Sends a datagram of `length` bytes, written in place by `fill`. The bytes passed to `fill`
    /// are not zeroed.
    ///
    /// # Errors
    /// The kernel's; `WouldBlock` if all frames are in flight; `Unsupported` in a strict stack if
    /// the datagram would go through the kernel. The datagram is lost.
    #[inline]
    pub fn transmit_to(
        &mut self,
        to: &mut Destination,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        if to.generation != self.shared.generation() || to.socket != self.id {
            self.find_path(to, false)?;
        }
        match &to.path {
            Path::Xdp(path) if length <= path.limit => self.send_over_xdp(path, length, fill),
            _ => self.send_via_kernel(to, length, fill),
        }
    }

    /// Sends to the peer, as [`transmit_to`](Self::transmit_to) does.
    ///
    /// # Errors
    /// As there; `NotConnected`.
    #[inline]
    pub fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        let peer = self.peer.take().ok_or_else(destination::no_peer)?;
        let mut borrowed = BorrowedPeer { socket: self, peer: Some(peer) };
        let BorrowedPeer { socket, peer: Some(peer) } = &mut borrowed else { return Ok(()) };
        socket.transmit_to(peer, length, fill)
    }

    /// Sends bytes to an address. The paths to the last 16 destinations are cached.
    ///
    /// # Errors
    /// As for [`transmit_to`](Self::transmit_to) and [`destination`](Self::destination).
    pub fn send_to(&mut self, payload: &[u8], to: SocketAddr) -> io::Result<()> {
        let known = self.recent.iter().position(|recent| recent.address == to);
        let mut destination = match known {
            Some(known) => self.recent.remove(known),
            None => self.destination(to)?,
        };
        let fill = |bytes: &mut [u8]| bytes.copy_from_slice(payload);
        let result = self.transmit_to(&mut destination, payload.len(), fill);
        if self.recent.len() == RECENT {
            self.recent.remove(0);
        }
        self.recent.push(destination);
        result
    }

    #[inline]
    fn send_over_xdp(
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
        let sent =
            data_plane.engine.with(|engine| engine.send(&path.header, length, frame, |_| {}));
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

    /// Runs the whole send path except the transmission, to bring its code and data into the
    /// caches. Nothing is sent or counted.
    ///
    /// # Errors
    /// As for [`transmit_to`](Self::transmit_to).
    pub fn warm_up(
        &mut self,
        to: &mut Destination,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        if to.generation != self.shared.generation() || to.socket != self.id {
            self.find_path(to, false)?;
        }
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
        data_plane.engine.get().warm_up(&path.header, length, frame).map(drop).map_err(send_error)
    }

    #[cold]
    fn send_via_kernel(
        &mut self,
        to: &mut Destination,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        let Some(payload) = self.buffer.get_mut(..length) else {
            return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
        };
        let (address, reason) =
            (to.address, to.fallback_reason().unwrap_or(FallbackReason::TooLong));
        let event = PathEvent::TxFallback { address, reason };
        if self.shared.strict && reason != FallbackReason::NoNeighbor {
            return Err(unsupported(&event.to_string()));
        }
        if reason == FallbackReason::TooLong && !std::mem::replace(&mut to.oversize_reported, true)
        {
            self.shared.control_plane().report(event);
        }
        fill(payload);
        self.backing.send(payload, to.address)
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

/// Borrows the peer during a send and restores it even if the caller's closure panics.
struct BorrowedPeer<'s> {
    socket: &'s mut UdpSocket,
    peer: Option<Box<Destination>>,
}

impl Drop for BorrowedPeer<'_> {
    fn drop(&mut self) {
        self.socket.peer = self.peer.take();
    }
}
