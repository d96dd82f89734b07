//! The receiving half of a socket.

use std::io;
use std::net::{IpAddr, SocketAddr};

use hairpin_xdp::Stamp;

use super::UdpSocket;
use crate::PathEvent;
use crate::backing_socket::KernelDatagram;
use crate::drops::GIVEN_UP_AFTER;

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
    /// The datagrams dropped until this one was queued, because the socket did not read; `None`
    /// if it was not queued. Wraps around.
    pub dropped: Option<u32>,
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
        let mut received =
            self.xdp.receive(budget, &mut |meta, at, frame| on(meta, at.bytes(frame)))?;
        if self.xdp.readiness.take_kernel_pending() {
            received = self.receive_via_kernel(budget, received, &mut on)?;
        }
        self.xdp.recycle_many();
        Ok(received)
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
            let Some(datagram) =
                datagram.inspect_err(|_| self.xdp.readiness.set_kernel_pending())?
            else {
                return Ok(received);
            };
            self.note_interface(&datagram);
            let meta = Meta {
                source: datagram.source,
                destination: datagram.destination,
                stamp: None,
                dropped: None,
                via_kernel: true,
            };
            on(meta, &self.buffer[..datagram.length]);
            received.count += 1;
        }
        // More datagrams may be pending.
        self.xdp.readiness.set_kernel_pending();
        received.drained = false;
        Ok(received)
    }

    /// Reports once that datagrams to an address of the stack's interface arrive on another one.
    fn note_interface(&mut self, datagram: &KernelDatagram) {
        let is_ours = [0, LOOPBACK, self.xdp.shared.interface].contains(&datagram.interface);
        let Some(ip) = datagram.destination.filter(|_| !is_ours) else { return };
        self.on_other_interface = self.on_other_interface.saturating_add(1);
        if self.on_other_interface != GIVEN_UP_AFTER {
            return;
        }
        let mut control_plane = self.xdp.shared.control_plane();
        if control_plane.has_address(ip) {
            let address = SocketAddr::new(ip, self.local.port());
            let interface = interface_name(datagram.interface);
            control_plane.report(PathEvent::OtherInterface { address, interface });
        }
    }
}

/// The index of `lo`, which is the first interface of every network namespace.
const LOOPBACK: u32 = 1;

fn interface_name(index: u32) -> String {
    let mut name = [0_u8; libc::IF_NAMESIZE];
    // SAFETY: the buffer has the length that the call requires.
    let found = unsafe { libc::if_indextoname(index, name.as_mut_ptr().cast()) };
    match std::ffi::CStr::from_bytes_until_nul(&name) {
        Ok(name) if !found.is_null() => name.to_string_lossy().into_owned(),
        _ => format!("interface {index}"),
    }
}
