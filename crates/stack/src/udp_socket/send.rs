//! The sending half of a socket.

use std::io;
use std::net::SocketAddr;

use super::UdpSocket;
use crate::destination::{self, Destination, Path};
use crate::stack::unsupported;
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
        self.xdp.destination(to, self.options.multicast_loop)
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
        if to.generation != self.xdp.shared.generation() || to.socket != self.xdp.id {
            self.xdp.find_path(to, false, self.options.multicast_loop)?;
        }
        match &to.path {
            Path::Xdp(path) if length <= path.limit => self.xdp.send(path, length, fill),
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
        if to.generation != self.xdp.shared.generation() || to.socket != self.xdp.id {
            self.xdp.find_path(to, false, self.options.multicast_loop)?;
        }
        self.xdp.warm_up(to, length, fill)
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
        if self.xdp.shared.strict && reason != FallbackReason::NoNeighbor {
            return Err(unsupported(&event.to_string()));
        }
        if reason == FallbackReason::TooLong && !std::mem::replace(&mut to.oversize_reported, true)
        {
            self.xdp.shared.control_plane().report(event);
        }
        fill(payload);
        self.backing.send(payload, to.address)
    }
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
