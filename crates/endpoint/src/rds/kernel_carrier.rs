//! UDP through the kernel.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_rds::Transmit;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::carrier::{Carrier, is_full};
use super::options::RdsOptions;
use crate::Received;
use crate::error_context::is_idle;
use crate::kernel::icmp_errors::IcmpErrors;
use crate::kernel::recv_batch::RecvBatch;
use crate::kernel::send_batch::SendBatch;
use crate::kernel::socket_option::set_receive_buffer;

/// The most packets of one system call.
const BATCH: usize = 32;
/// See the send buffer of UDP sockets.
const FLAGS: libc::c_int = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;

/// A UDP socket that is bound and not connected.
pub(crate) struct KernelCarrier {
    socket: Socket,
    batch: RecvBatch,
    icmp_errors: IcmpErrors,
    /// `true` if a send has returned an ICMP error about an earlier packet.
    has_reports: bool,
    send_batch: SendBatch,
    /// The kernel's form of the peers' addresses, by slot, with the address it was made from.
    paths: Vec<Option<(SocketAddr, SockAddr)>>,
    udp_port_offset: u16,
    /// The UDP address.
    local: SocketAddr,
}

impl KernelCarrier {
    /// Binds a UDP socket. `local` has the UDP port.
    pub(crate) fn bind(local: SocketAddr, options: &RdsOptions) -> io::Result<Self> {
        let domain = if local.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
        let socket = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        socket.set_nonblocking(true)?;
        set_receive_buffer(&socket, options.receive_buffer)?;
        socket.bind(&local.into())?;
        let bound = socket.local_addr()?.as_socket();
        Ok(Self {
            icmp_errors: IcmpErrors::enable(socket.as_fd(), local.is_ipv4())?,
            has_reports: false,
            send_batch: SendBatch::new(options.protocol.packet_max),
            batch: RecvBatch::new(BATCH, options.protocol.packet_max),
            paths: vec![None; options.protocol.peers],
            udp_port_offset: options.udp_port_offset,
            local: bound.unwrap_or(local),
            socket,
        })
    }

    /// Returns the bound UDP address.
    pub(crate) fn udp_address(&self) -> SocketAddr {
        self.local
    }

    /// Returns the kernel's form of a destination.
    #[inline]
    fn path(&mut self, to: SocketAddr, slot: Option<u32>) -> io::Result<SockAddr> {
        if let Some((address, path)) = slot.and_then(|slot| self.paths[slot as usize].as_ref())
            && *address == to
        {
            return Ok(path.clone());
        }
        let path = SockAddr::from(udp_address(to, self.udp_port_offset)?);
        if let Some(slot) = slot {
            self.paths[slot as usize] = Some((to, path.clone()));
        }
        Ok(path)
    }

    /// Sends one packet. The kernel returns an ICMP error about an earlier packet instead of
    /// sending; the packet is then sent again.
    #[inline]
    fn send(&mut self, packet: &[u8], to: &SockAddr) -> io::Result<()> {
        loop {
            match self.socket.send_to_with_flags(packet, to, FLAGS) {
                Ok(_) => return Ok(()),
                Err(error) if is_refusal(&error) => self.has_reports = true,
                Err(error) => return Err(error),
            }
        }
    }

    #[cold]
    fn send_together(&mut self, transmit: &Transmit<'_>, to: &SockAddr) -> io::Result<()> {
        self.send_batch.push(transmit.packet, to);
        match transmit.has_more && !self.send_batch.is_full() {
            true => Ok(()),
            false => self.send_batch(),
        }
    }

    #[cold]
    fn send_batch(&mut self) -> io::Result<()> {
        let Self { send_batch, socket, has_reports, .. } = self;
        let sent = send_batch.send(socket.as_fd(), FLAGS, |error| {
            *has_reports |= is_refusal(error);
            is_refusal(error)
        });
        // The rest is lost, as if the network had no room. Other errors concern the path.
        sent.or_else(|error| if is_full(&error) { Ok(()) } else { Err(error) })
    }
}

/// Returns `true` if the error is an ICMP error about an earlier packet.
fn is_refusal(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::ConnectionRefused
}

/// Returns the UDP address of an RDS address.
///
/// # Errors
/// `InvalidInput` if the port exceeds 65,535.
pub(crate) fn udp_address(address: SocketAddr, offset: u16) -> io::Result<SocketAddr> {
    let port = address.port().checked_add(offset).ok_or_else(|| {
        let reason = format!("RDS port {} plus offset {offset} exceeds 65535", address.port());
        io::Error::new(io::ErrorKind::InvalidInput, reason)
    })?;
    let mut address = address;
    address.set_port(port);
    Ok(address)
}

impl Carrier for KernelCarrier {
    fn check_path(&mut self, to: SocketAddr) -> io::Result<()> {
        // A connected socket has asked the kernel for a route, without sending anything.
        let domain = if to.is_ipv4() { Domain::IPV4 } else { Domain::IPV6 };
        let probe = Socket::new(domain, Type::DGRAM, Some(Protocol::UDP))?;
        let mut local = self.local;
        local.set_port(0);
        probe.bind(&local.into())?;
        probe.connect(&udp_address(to, self.udp_port_offset)?.into())
    }

    #[inline]
    fn transmit(&mut self, transmit: &Transmit<'_>) -> io::Result<()> {
        let path = self.path(transmit.to, transmit.slot)?;
        if transmit.has_more || !self.send_batch.is_empty() {
            return self.send_together(transmit, &path);
        }
        self.send(transmit.packet, &path)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        if self.send_batch.is_empty() { Ok(()) } else { self.send_batch() }
    }

    #[inline]
    fn receive(
        &mut self,
        budget: usize,
        mut on: impl FnMut(IpAddr, &[u8]),
    ) -> io::Result<Received> {
        let mut count = 0;
        while count < budget {
            let limit = (budget - count).min(BATCH);
            let received = match self.batch.receive(self.socket.as_fd(), limit, libc::MSG_DONTWAIT)
            {
                Ok(received) => received,
                Err(error) if is_idle(&error) => 0,
                Err(_) if count > 0 => return Ok(Received { count, ..Received::default() }),
                Err(error) => return Err(error),
            };
            for index in 0..received {
                on(self.batch.source(index).ip(), self.batch.datagram(index).bytes);
            }
            count += received;
            if received < limit {
                return Ok(Received { count, drained: true, closed: false });
            }
        }
        Ok(Received { count, drained: false, closed: false })
    }

    fn has_reports(&mut self) -> bool {
        std::mem::take(&mut self.has_reports)
    }

    fn undeliverable(&mut self, mut on: impl FnMut(SocketAddr, &[u8])) {
        let offset = self.udp_port_offset;
        self.icmp_errors.drain(self.socket.as_fd(), |mut peer, quote| {
            peer.set_port(peer.port().wrapping_sub(offset));
            on(peer, quote);
        });
    }

    fn set_spinning(&mut self, _is_spinning: bool) {}

    fn describe(&self) -> String {
        format!("rds: carrier: UDP through the kernel, {}", self.local)
    }
}

impl AsFd for KernelCarrier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl fmt::Debug for KernelCarrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelCarrier").field("local", &self.local).finish_non_exhaustive()
    }
}
