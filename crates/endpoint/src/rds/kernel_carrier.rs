//! UDP through the kernel.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_rds::Transmit;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};

use super::carrier::Carrier;
use super::carrier_counters::CarrierCounters;
use super::connected_socket::{ConnectedSocket, ConnectionPolicy};
use super::options::RdsOptions;
use crate::Received;
use crate::error_context::{is_full, is_idle, is_permanent};
use crate::kernel::icmp_errors::IcmpErrors;
use crate::kernel::recv_batch::RecvBatch;
use crate::kernel::send_batch::SendBatch;
use crate::kernel::socket_option::set_receive_buffer;

/// The most packets of one system call.
const BATCH: usize = 32;
/// See the send buffer of UDP sockets.
const FLAGS: libc::c_int = libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL;

/// A UDP socket that is bound and not connected, and, while the owner spins, one that is connected
/// to the peer that most packets go to.
pub(crate) struct KernelCarrier {
    socket: Socket,
    connected: Option<ConnectedSocket>,
    /// The connected socket of an earlier peer, to be closed when its packets are received.
    closing: Option<ConnectedSocket>,
    policy: ConnectionPolicy,
    /// `true` while the owner spins, until connecting has failed.
    may_connect: bool,
    receive_buffer: Option<usize>,

    batch: RecvBatch,
    icmp_errors: IcmpErrors,
    /// `true` if a send has returned an error that may be an ICMP error about an earlier packet.
    has_icmp_errors: bool,
    counters: CarrierCounters,
    send_batch: SendBatch,
    /// `true` if the batch goes through the connected socket.
    is_batch_connected: bool,
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
            has_icmp_errors: false,
            counters: CarrierCounters::default(),
            send_batch: SendBatch::new(options.protocol.packet_max),
            is_batch_connected: false,
            batch: RecvBatch::new(BATCH, options.protocol.packet_max),
            udp_port_offset: options.udp_port_offset,
            local: bound.unwrap_or(local),
            socket,
            connected: None,
            closing: None,
            policy: ConnectionPolicy::default(),
            may_connect: false,
            receive_buffer: options.receive_buffer,
        })
    }

    /// Returns the bound UDP address.
    pub(crate) fn udp_address(&self) -> SocketAddr {
        self.local
    }

    /// Sends one packet, through the connected socket without `to`.
    #[inline]
    fn send(&mut self, packet: &[u8], to: Option<&SockAddr>) -> io::Result<()> {
        let sent = match (to, &self.connected) {
            (None, Some(connected)) => connected.socket.send_with_flags(packet, FLAGS),
            (Some(to), _) => self.socket.send_to_with_flags(packet, to, FLAGS),
            (None, None) => return Err(io::ErrorKind::NotConnected.into()),
        };
        sent.map(drop).inspect_err(|_| self.has_icmp_errors = true)
    }

    #[inline]
    fn send_or_batch(&mut self, transmit: &Transmit<'_>, to: Option<&SockAddr>) -> io::Result<()> {
        if transmit.has_more || !self.send_batch.is_empty() {
            return self.send_together(transmit, to);
        }
        self.send(transmit.packet, to)
    }

    #[cold]
    fn send_together(&mut self, transmit: &Transmit<'_>, to: Option<&SockAddr>) -> io::Result<()> {
        let is_connected = to.is_none();
        let is_other = self.is_batch_connected != is_connected && !self.send_batch.is_empty();
        let earlier = if is_other { self.send_batch() } else { Ok(()) };
        self.is_batch_connected = is_connected;
        self.send_batch.push(transmit.packet, to);
        match transmit.has_more && !self.send_batch.is_full() {
            true => earlier,
            false => earlier.and(self.send_batch()),
        }
    }

    /// Sends the batch. Packets that cannot be sent now are lost, and sent again later.
    ///
    /// # Errors
    /// Permanent ones.
    #[cold]
    fn send_batch(&mut self) -> io::Result<()> {
        let Self { send_batch, socket, connected, has_icmp_errors, counters, .. } = self;
        let socket = match &*connected {
            Some(connected) if self.is_batch_connected => connected.as_fd(),
            _ => socket.as_fd(),
        };
        let sent = send_batch.send(socket, FLAGS, |error| {
            counters.count(error);
            *has_icmp_errors = true;
            !is_full(error) && !is_permanent(error)
        });
        // The rest is lost, as if the network had no room.
        sent.or_else(|error| if is_full(&error) { Ok(()) } else { Err(error) })
    }

    /// Sends to a peer through the main socket.
    #[inline]
    fn transmit_unconnected(&mut self, transmit: &Transmit<'_>) -> io::Result<()> {
        let path = SockAddr::from(udp_address(transmit.to, self.udp_port_offset)?);
        let sent = self.send_or_batch(transmit, Some(&path));
        if self.may_connect && self.policy.record(transmit.to, self.connected.is_some()) {
            self.connect(transmit.to, &path);
        }
        sent
    }

    /// Gives the connected socket to a peer, if possible.
    #[cold]
    fn connect(&mut self, peer: SocketAddr, path: &SockAddr) {
        // One socket at a time is closed.
        if self.closing.is_some() || !self.send_batch.is_empty() {
            return;
        }
        let opened = ConnectedSocket::open(&self.socket, peer, path).and_then(|connected| {
            set_receive_buffer(&connected.socket, self.receive_buffer)?;
            self.icmp_errors.enable_also(connected.as_fd(), peer.is_ipv4())?;
            Ok(connected)
        });
        match opened {
            Ok(connected) => self.closing = self.connected.replace(connected),
            // The main socket serves all peers.
            Err(_) => self.may_connect = false,
        }
    }

    /// Receives from the connected sockets, and now and then from the main socket.
    #[inline]
    fn receive_connected(
        &mut self,
        budget: usize,
        mut on: impl FnMut(IpAddr, &[u8]),
    ) -> io::Result<Received> {
        let mut received = Received { drained: true, ..Received::default() };
        // First, so that the connected peer cannot use every budget.
        if self.connected.is_none() || self.policy.is_main_due() {
            let Self { batch, counters, socket, .. } = self;
            received = receive(batch, counters, socket.as_fd(), budget, &mut on)?;
        }
        let Self { batch, counters, closing, connected, .. } = self;
        let other = closing.as_ref().or(connected.as_ref());
        let left = budget - received.count;
        let Some(socket) = other.filter(|_| left > 0) else { return Ok(received) };
        let rest = receive(batch, counters, socket.as_fd(), left, &mut on)?;
        let drained = received.drained && rest.drained;
        if rest.drained {
            self.closing = None;
        }
        Ok(Received { count: received.count + rest.count, drained, closed: false })
    }
}

/// Receives up to `budget` packets from one socket.
#[inline]
fn receive(
    batch: &mut RecvBatch,
    counters: &mut CarrierCounters,
    socket: BorrowedFd<'_>,
    budget: usize,
    mut on: impl FnMut(IpAddr, &[u8]),
) -> io::Result<Received> {
    let mut count = 0;
    while count < budget {
        let limit = (budget - count).min(BATCH);
        let outcome = match limit {
            1 => batch.receive_plain(socket, libc::MSG_DONTWAIT).map(|()| 1),
            _ => batch.receive(socket, limit, libc::MSG_DONTWAIT),
        };
        let received = match outcome {
            Ok(received) => received,
            Err(error) if is_idle(&error) => 0,
            Err(error) if count > 0 => {
                counters.count(&error);
                return Ok(Received { count, ..Received::default() });
            }
            Err(error) => return Err(error),
        };
        for index in 0..received {
            on(batch.source(index).ip(), batch.datagram(index).bytes);
        }
        count += received;
        if received < limit {
            return Ok(Received { count, drained: true, closed: false });
        }
    }
    Ok(Received { count, drained: false, closed: false })
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
        match &self.connected {
            Some(connected) if connected.peer == transmit.to => {
                self.policy.restart();
                self.send_or_batch(transmit, None)
            }
            _ => self.transmit_unconnected(transmit),
        }
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        if self.send_batch.is_empty() { Ok(()) } else { self.send_batch() }
    }

    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(IpAddr, &[u8])) -> io::Result<Received> {
        if self.connected.is_some() || self.closing.is_some() {
            return self.receive_connected(budget, on);
        }
        receive(&mut self.batch, &mut self.counters, self.socket.as_fd(), budget, on)
    }

    fn has_icmp_errors(&mut self) -> bool {
        std::mem::take(&mut self.has_icmp_errors)
    }

    fn icmp_errors(&mut self, mut on: impl FnMut(SocketAddr, bool, &[u8])) {
        let offset = self.udp_port_offset;
        let connected = self.connected.iter().chain(&self.closing).map(AsFd::as_fd);
        for socket in [self.socket.as_fd()].into_iter().chain(connected) {
            self.icmp_errors.drain(socket, |mut peer, is_unbound, quote| {
                peer.set_port(peer.port().wrapping_sub(offset));
                on(peer, is_unbound, quote);
            });
        }
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.may_connect = is_spinning;
        if !is_spinning {
            // The descriptor is that of the main socket.
            let connected = self.connected.take();
            self.closing = self.closing.take().or(connected);
        }
    }

    fn counters(&self) -> &CarrierCounters {
        &self.counters
    }

    fn counters_mut(&mut self) -> &mut CarrierCounters {
        &mut self.counters
    }

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
