//! The transports of a ping: UDP, multicast and TCP.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::{Context, Result, bail};
use hairpin_endpoint::{
    Blocker, DropNotifier, Meta, MulticastGroup, Receive, Received, Source, Stream, TcpOptions,
    TcpStream, Timestamping, Transmit, Transmitted, Transport, UdpOptions, UdpReceiver, UdpSender,
    UdpSocket, UringHandle,
};
use hairpin_host::Clock;
use hairpin_mapped::CounterWriter;
use hairpin_time::Duration;

use super::setup::{PingSetup, answers_to};

/// The first four bytes of a TCP connection; the length of its messages follows, little-endian.
pub(crate) const GREETING: [u8; 4] = *b"ping";
/// The length of a greeting.
pub(crate) const GREETING_LENGTH: usize = 8;

/// The longest wait for a TCP connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The largest number of routers to a ping on another host.
const TTL: u8 = 16;
/// The smallest receive buffer.
const DATAGRAM_MIN: usize = 64;

/// A bidirectional transport for pings.
pub(crate) trait PingTransport: Receive + Transmit + Source {
    /// `true` if message boundaries are lost.
    const IS_STREAM: bool;

    /// Enables transmit timestamps from the next packet on.
    ///
    /// # Errors
    /// Those of the kernel.
    fn stamp_transmits(&mut self, timestamping: Timestamping) -> io::Result<()>;

    /// Delivers the transmit timestamps that are available.
    ///
    /// # Errors
    /// Those of the kernel.
    fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize>;

    /// Sends bytes that waited for buffer space; returns `true` if none is left.
    ///
    /// # Errors
    /// Those of the kernel.
    fn flush(&mut self) -> io::Result<bool> {
        Ok(true)
    }

    /// Writes the counters of its protocol, if it has any.
    fn write_counters(&self, _part: &str, _writer: &mut CounterWriter<'_>) {}
}

impl PingTransport for UdpSocket {
    const IS_STREAM: bool = false;

    fn stamp_transmits(&mut self, timestamping: Timestamping) -> io::Result<()> {
        self.set_transmit_timestamping(timestamping)
    }

    fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        Self::transmit_timestamps(self, on)
    }
}

impl PingTransport for TcpStream {
    const IS_STREAM: bool = true;

    fn stamp_transmits(&mut self, timestamping: Timestamping) -> io::Result<()> {
        self.set_transmit_timestamping(timestamping)
    }

    fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        Self::transmit_timestamps(self, on)
    }

    #[inline]
    fn flush(&mut self) -> io::Result<bool> {
        Stream::flush(self)
    }
}

/// Returns the options of the UDP sockets of ping and pong: single datagrams for the lowest
/// latency.
pub(crate) fn datagrams(size: usize, batch: usize) -> UdpOptions {
    UdpOptions {
        batch,
        datagram_max: size.max(DATAGRAM_MIN),
        timestamping: Timestamping::Off,
        ..UdpOptions::default()
    }
}

/// A group to send to and a group to receive from.
#[derive(Debug)]
pub(crate) struct Multicast {
    receiver: UdpReceiver,
    sender: UdpSender,
}

impl Multicast {
    /// Receives `from` and sends `to` over `interface` with `transport`.
    ///
    /// # Errors
    /// Those of joining.
    pub(crate) fn open(
        from: SocketAddrV4,
        to: SocketAddrV4,
        interface: Ipv4Addr,
        transport: &Transport,
        options: UdpOptions,
    ) -> io::Result<Self> {
        let group = MulticastGroup { group: from, interface, sources: &[] };
        let receiver = UdpReceiver::join_with(transport, group, options)?;
        Ok(Self { receiver, sender: UdpSender::with_transport(transport, to, interface, TTL)? })
    }
}

impl Multicast {
    /// Returns the address that datagrams come from.
    pub(crate) fn source_address(&self) -> SocketAddrV4 {
        self.sender.local_address()
    }
}

impl PingTransport for Multicast {
    const IS_STREAM: bool = false;

    fn stamp_transmits(&mut self, timestamping: Timestamping) -> io::Result<()> {
        self.sender.set_transmit_timestamping(timestamping)
    }

    fn transmit_timestamps(&mut self, on: impl FnMut(Transmitted)) -> io::Result<usize> {
        self.sender.transmit_timestamps(on)
    }
}

impl Receive for Multicast {
    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        self.receiver.receive(budget, on)
    }
}

impl Transmit for Multicast {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.sender.transmit(length, fill)
    }
}

impl AsFd for Multicast {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.receiver.as_fd()
    }
}

impl Source for Multicast {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.receiver.set_blocking(timeout)
    }

    fn set_uring_handle(
        &mut self,
        notice: Option<DropNotifier>,
    ) -> io::Result<Option<UringHandle>> {
        self.receiver.set_uring_handle(notice)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.receiver.set_spinning(is_spinning);
    }
}

fn stamped(setup: &PingSetup) -> UdpOptions {
    UdpOptions { timestamping: setup.stamping.into(), ..datagrams(setup.size, 1) }
}

/// Opens a socket for each connection to one pong.
///
/// # Errors
/// Those of the kernel, with the address.
pub(crate) fn udp(setup: &PingSetup, transport: &Transport) -> Result<Vec<UdpSocket>> {
    let local = SocketAddrV4::new(setup.interface, 0);
    let options = stamped(setup);
    let open = |_| Ok(UdpSocket::connect_with(transport, local, setup.remote.address, options)?);
    (0..setup.load.connections).map(open).collect()
}

/// Opens one pair of groups.
///
/// # Errors
/// Those of the kernel, with the group and the interface.
pub(crate) fn multicast(setup: &PingSetup, transport: &Transport) -> Result<Vec<Multicast>> {
    let options = stamped(setup);
    let group = setup.remote.address;
    let answers = answers_to(group);
    Ok(vec![Multicast::open(answers, group, setup.interface, transport, options)?])
}

/// Opens the connections and sends the greetings.
///
/// # Errors
/// Those of the kernel, with the address; no answer.
pub(crate) fn tcp(
    setup: &PingSetup,
    transport: &Transport,
    clock: &Clock,
) -> Result<Vec<TcpStream>> {
    let local = Some(SocketAddrV4::new(setup.interface, 0));
    let local = local.filter(|local| !local.ip().is_unspecified());
    let message_max = setup.size.max(GREETING_LENGTH);
    let timestamping = setup.stamping.into();
    let options = TcpOptions { message_max, local, timestamping, ..TcpOptions::default() };
    let open = |_| {
        let stream = TcpStream::connect_with(transport, setup.remote.address, options)?;
        let stream = connected(stream, clock)?;
        greeted(stream, setup.size)
    };
    (0..setup.load.connections).map(open).collect()
}

fn connected(mut stream: TcpStream, clock: &Clock) -> Result<TcpStream> {
    let until = clock.instant() + CONNECT_TIMEOUT;
    while !stream.finish_connect()? {
        if clock.instant() > until {
            bail!(
                "cannot connect to {}: no answer within {CONNECT_TIMEOUT}",
                stream.peer_address()
            );
        }
        std::thread::sleep(core::time::Duration::from_micros(100));
    }
    Ok(stream)
}

fn greeted(mut stream: TcpStream, size: usize) -> Result<TcpStream> {
    let length = u32::try_from(size).context("a message of less than 4 GB")?;
    stream.transmit(GREETING_LENGTH, |greeting| {
        greeting[..4].copy_from_slice(&GREETING);
        greeting[4..].copy_from_slice(&length.to_le_bytes());
    })?;
    Ok(stream)
}
