//! The sending half of a socket.

use std::io;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;

use hairpin_netstack::SendError;
use hairpin_xdp::{Packet, Umem};

use super::UdpSocket;
use crate::addresses::is_multicast;
use crate::destination::{self, Destination, Direct, Way};
use crate::stack::{Shared, unsupported};
use crate::{FallbackReason, PathEvent};

/// Destinations that `send_to` remembers.
pub(super) const RECENT: usize = 16;

impl UdpSocket {
    /// Finds the way to a destination, and prepares the headers of what goes there.
    ///
    /// # Errors
    /// The kernel's: `NetworkUnreachable` and the like. In a strict stack `Unsupported` if the way
    /// is not past the kernel.
    pub fn destination(&self, to: SocketAddr) -> io::Result<Destination> {
        let mut destination = Destination {
            address: to,
            socket: self.id,
            way: Way::Kernel(FallbackReason::NoNeighbour),
            generation: 0,
            is_length_told: false,
        };
        self.find_way(&mut destination, true)?;
        Ok(destination)
    }

    #[cold]
    fn find_way(&self, destination: &mut Destination, is_new: bool) -> io::Result<()> {
        self.shared.check_gone()?;
        // Whatever changes from here on, the way is found again; so too after an error.
        let generation = self.shared.generation();
        let to = destination.address;
        let mut control = self.shared.control();
        let before = destination.by_kernel();
        let way = control.way(&self.shared, self.id, to, self.options.multicast_loop)?;
        (destination.way, destination.socket) = (way, self.id);
        destination.generation = generation;
        if is_multicast(to.ip()) {
            // Its members on this host are looked after from now on.
            self.shared.alarm.wake();
        }
        let Some(reason) = destination.by_kernel() else { return Ok(()) };
        // What is only not known yet is no reason to say anything.
        if reason == FallbackReason::NoNeighbour || !is_new && before == Some(reason) {
            return Ok(());
        }
        let notice = PathEvent::TxFallback { address: to, reason };
        if self.shared.is_strict {
            return Err(unsupported(&notice.to_string()));
        }
        self.shared.tell(&mut control, notice);
        Ok(())
    }

    /// Has `fill` write a datagram of `length` bytes where it leaves from, and sends it. The bytes
    /// that `fill` is given are not zeroed.
    ///
    /// # Errors
    /// The kernel's; `WouldBlock` if all frames are on their way; `Unsupported` in a strict stack
    /// if it would have to go through the kernel. The datagram is lost.
    #[inline]
    pub fn transmit_to(
        &mut self,
        to: &mut Destination,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        if to.generation != self.shared.generation() || to.socket != self.id {
            self.find_way(to, false)?;
        }
        match &to.way {
            Way::Direct(direct) if length <= direct.limit => self.send_direct(direct, length, fill),
            _ => self.send_by_kernel(to, length, fill),
        }
    }

    /// As [`transmit_to`](Self::transmit_to), to the peer.
    ///
    /// # Errors
    /// As there; `NotConnected`.
    #[inline]
    pub fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        let peer = self.peer.take().ok_or_else(destination::no_peer)?;
        let mut lent = LentPeer { socket: self, peer: Some(peer) };
        let LentPeer { socket, peer: Some(peer) } = &mut lent else { return Ok(()) };
        socket.transmit_to(peer, length, fill)
    }

    /// Sends bytes somewhere. The ways to the last 16 destinations are remembered.
    ///
    /// # Errors
    /// As [`transmit_to`](Self::transmit_to) and [`destination`](Self::destination).
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
    fn send_direct(
        &mut self,
        direct: &Direct,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        if self.frames.spare.is_none() {
            // The second since something was received, so there may be a third.
            self.find_spare();
            self.frames.is_bursting = true;
        }
        let shared: &Shared = &self.shared;
        let frames = &mut self.frames;
        // It stays where it is while the caller writes, who may panic.
        let Some(packet) = &mut frames.spare else { return Err(io::ErrorKind::WouldBlock.into()) };
        let frame = written(&shared.umem, packet, direct, length, fill);
        direct.is_used.store(true, Ordering::Relaxed);
        let mut core = shared.core();
        let sent = core.engine.edit().send(&direct.header, length, frame, |_| {});
        let length = sent.map_err(refused)? as u32;
        let Some(mut packet) = frames.spare.take() else { return Ok(()) };
        packet.truncate(length);
        frames.wants_spare = true;
        if frames.is_bursting {
            frames.find_spare(&mut core);
        }
        match shared.transmit(core, self.queue, packet)? {
            Ok(()) => Ok(()),
            Err(packet) => {
                shared.core().interface.give(packet.into_frame());
                Err(io::ErrorKind::WouldBlock.into())
            }
        }
    }

    #[cold]
    fn find_spare(&mut self) {
        self.frames.find_spare(&mut self.shared.core());
    }

    /// Goes through all of a send but for the send itself, so that its code and data are in the
    /// caches when it counts. Nothing leaves, and nothing is counted.
    ///
    /// # Errors
    /// As [`transmit_to`](Self::transmit_to).
    pub fn warm(
        &mut self,
        to: &mut Destination,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        if to.generation != self.shared.generation() || to.socket != self.id {
            self.find_way(to, false)?;
        }
        let Way::Direct(direct) = &to.way else { return Ok(()) };
        let length = length.min(direct.limit);
        if self.frames.spare.is_none() {
            self.find_spare();
        }
        let Some(packet) = &mut self.frames.spare else {
            return Err(io::ErrorKind::WouldBlock.into());
        };
        let frame = written(&self.shared.umem, packet, direct, length, fill);
        let core = self.shared.core();
        core.engine.get().rehearse(&direct.header, length, frame).map(drop).map_err(refused)
    }

    #[cold]
    fn send_by_kernel(
        &mut self,
        to: &mut Destination,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        let Some(payload) = self.buffer.get_mut(..length) else {
            return Err(io::Error::from_raw_os_error(libc::EMSGSIZE));
        };
        let (address, reason) = (to.address, to.by_kernel().unwrap_or(FallbackReason::TooLong));
        let notice = PathEvent::TxFallback { address, reason };
        if self.shared.is_strict && reason != FallbackReason::NoNeighbour {
            return Err(unsupported(&notice.to_string()));
        }
        if reason == FallbackReason::TooLong && !std::mem::replace(&mut to.is_length_told, true) {
            self.shared.control().tell(notice);
        }
        fill(payload);
        self.kernel.send(payload, to.address)
    }
}

#[cold]
fn refused(error: SendError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

/// A frame whose payload the caller has written, where it leaves from.
#[inline]
fn written<'f>(
    umem: &'f Umem,
    packet: &'f mut Packet,
    direct: &Direct,
    length: usize,
    fill: impl FnOnce(&mut [u8]),
) -> &'f mut [u8] {
    let frame = umem.bytes_mut(packet);
    fill(&mut frame[direct.header.frame_length(0)..][..length]);
    frame
}

/// The peer while something is sent to it, which goes back however that ends.
struct LentPeer<'s> {
    socket: &'s mut UdpSocket,
    peer: Option<Box<Destination>>,
}

impl Drop for LentPeer<'_> {
    fn drop(&mut self) {
        self.socket.peer = self.peer.take();
    }
}
