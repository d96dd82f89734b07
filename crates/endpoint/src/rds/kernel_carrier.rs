//! UDP through the kernel.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_rds::Transmit;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::carrier::Carrier;
use super::options::RdsOptions;
use crate::Received;
use crate::error_context::is_idle;
use crate::kernel::icmp_errors::IcmpErrors;
use crate::kernel::recv_batch::RecvBatch;
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

    #[cold]
    fn send_to_new(&mut self, transmit: &Transmit<'_>) -> io::Result<()> {
        let path = SockAddr::from(udp_address(transmit.to, self.udp_port_offset)?);
        let sent = self.socket.send_to_with_flags(transmit.packet, &path, FLAGS);
        if let Some(slot) = transmit.slot {
            self.paths[slot as usize] = Some((transmit.to, path));
        }
        sent.map(drop)
    }
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
        let path = transmit.slot.and_then(|slot| self.paths[slot as usize].as_ref());
        match path {
            Some((address, path)) if *address == transmit.to => {
                self.socket.send_to_with_flags(transmit.packet, path, FLAGS).map(drop)
            }
            _ => self.send_to_new(transmit),
        }
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
