//! The receiving half of a socket.

use std::io;
use std::net::{IpAddr, SocketAddr};

use hairpin_xdp::Stamp;

use super::UdpSocket;

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
}
