//! The transport of pings in reliable datagrams.

use std::io;
use std::net::{SocketAddr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd};

use anyhow::Result;
use hairpin_cli_harness::transport::TransportArgs;
use hairpin_endpoint::rds::{
    Event, ProtocolError, RdsError, RdsOptions, RdsSocket, RdsTransport as Carrier,
};
use hairpin_endpoint::{
    Blocker, Meta, Receive, Received, Source, SourceDeadline, Timestamp, Timestamping, Transmit,
    Transmitted, Transport,
};
use hairpin_host::Clock;
use hairpin_mapped::CounterWriter;
use hairpin_time::{Duration, Instant};

use super::ping_transport::PingTransport;
use super::setup::PingSetup;

/// The packets processed between two messages of a flood.
const BATCH: usize = 64;
/// The calls of a spinning loop between two readings of the clock: together less than 1 µs, which
/// is short for a timeout. A reading takes longer than a check for packets.
const POLLS: u32 = 16;

/// A socket that sends to one peer, with the clock of its timeouts. Its reactor ends each wait when
/// a timeout is due, and `receive` processes it.
#[derive(Debug)]
pub(crate) struct RdsTransport {
    socket: RdsSocket,
    clock: Clock,
    peer: SocketAddr,
    /// The time of the last reading of the clock.
    now: Instant,
    is_spinning: bool,
    /// The calls since then.
    polls: u32,
}

impl RdsTransport {
    /// Binds a socket to an address of this host, with messages of up to `size` bytes.
    ///
    /// # Errors
    /// Those of the carrier.
    pub(crate) fn bind(carrier: &Carrier, local: SocketAddrV4, size: usize) -> Result<Self> {
        let clock = Clock::new();
        let mut options = RdsOptions::default();
        options.protocol.message_max = size.max(options.protocol.packet_max);
        let now = clock.instant();
        let mut socket = RdsSocket::new(now, options);
        socket.bind(now, carrier, local.into())?;
        let peer = local.into();
        let (is_spinning, polls) = (false, 0);
        Ok(Self { socket, clock, peer, now, is_spinning, polls })
    }

    /// Returns the bound address.
    pub(crate) fn local_address(&self) -> SocketAddrV4 {
        v4(self.socket.local_address().unwrap_or(self.peer))
    }

    /// Returns one line that names the carrier.
    pub(crate) fn describe(&self) -> String {
        self.socket.describe().unwrap_or_default()
    }

    /// Sends a message to any peer.
    ///
    /// # Errors
    /// `WouldBlock` if a buffer is full; those of the carrier.
    #[inline]
    pub(crate) fn send(
        &mut self,
        to: SocketAddr,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> io::Result<()> {
        // The loop has received a moment ago: one clock reading less.
        match self.socket.send(self.now, to, length, fill) {
            Ok(_) => Ok(()),
            Err(RdsError::Protocol(ProtocolError::WouldBlock | ProtocolError::Congested)) => {
                Err(io::ErrorKind::WouldBlock.into())
            }
            Err(RdsError::Io(error)) => Err(error),
            Err(error) => Err(io::Error::other(error)),
        }
    }

    /// Reads the clock if it is time.
    #[inline]
    fn advance(&mut self) {
        self.polls += 1;
        if self.is_spinning && self.polls < POLLS {
            return;
        }
        self.polls = 0;
        self.now = self.clock.instant();
        // The clock of the reactor's loop is recalibrated too, and both must agree.
        if !self.is_spinning {
            self.clock.recalibrate_if_due(self.now);
        }
    }
}

/// Returns the carrier that the arguments select.
pub(crate) fn carrier(
    is_ethernet: bool,
    args: &TransportArgs,
    device: &str,
    udp: &Transport,
) -> Carrier {
    match udp {
        _ if is_ethernet => Carrier::Ethernet {
            interface: device.to_owned(),
            settings: args.stack_settings().interface,
        },
        Transport::Kernel => Carrier::Kernel,
        Transport::Xdp(stack) => Carrier::Xdp(stack.clone()),
    }
}

/// Opens a socket for each connection to one pong.
///
/// # Errors
/// Those of the carrier.
pub(crate) fn rds(setup: &PingSetup, carrier: &Carrier) -> Result<Vec<RdsTransport>> {
    let open = |_| {
        let local = SocketAddrV4::new(setup.interface, 0);
        let mut socket = RdsTransport::bind(carrier, local, setup.size)?;
        socket.peer = setup.remote.address.into();
        Ok(socket)
    };
    (0..setup.load.connections).map(open).collect()
}

fn v4(address: SocketAddr) -> SocketAddrV4 {
    match address {
        SocketAddr::V4(address) => address,
        SocketAddr::V6(_) => unreachable!("the socket is bound to an IPv4 address"),
    }
}

impl Receive for RdsTransport {
    #[inline]
    fn receive(&mut self, budget: usize, mut on: impl FnMut(Meta, &[u8])) -> io::Result<Received> {
        self.advance();
        let received = self.socket.receive(self.now, budget, |message| {
            on(Meta { source: v4(message.source), timestamp: Timestamp::None }, message.bytes);
        })?;
        // A received message must be answered first: an error would drop it.
        while received.count == 0
            && let Some(event) = self.socket.poll_event()
        {
            if let Event::Undeliverable(_) = event {
                return Err(io::ErrorKind::ConnectionRefused.into());
            }
        }
        Ok(received)
    }
}

impl Transmit for RdsTransport {
    #[inline]
    fn transmit(&mut self, length: usize, fill: impl FnOnce(&mut [u8])) -> io::Result<()> {
        self.send(self.peer, length, fill)
    }
}

impl PingTransport for RdsTransport {
    const IS_STREAM: bool = false;

    fn stamp_transmits(&mut self, _timestamping: Timestamping) -> io::Result<()> {
        Ok(())
    }

    fn transmit_timestamps(&mut self, _on: impl FnMut(Transmitted)) -> io::Result<usize> {
        Ok(0)
    }

    /// Processes acknowledgments; returns `true` if the peer has acknowledged everything.
    fn flush(&mut self) -> io::Result<bool> {
        self.advance();
        self.socket.process(self.now, BATCH)?;
        Ok(self.socket.is_acknowledged())
    }

    fn write_counters(&self, part: &str, writer: &mut CounterWriter<'_>) {
        let carrier = self.socket.carrier_counters();
        writer.counters(part, self.socket.counters().iter().chain(carrier.iter()));
    }
}

impl AsFd for RdsTransport {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for RdsTransport {
    fn set_blocking(&mut self, timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        self.socket.set_blocking(timeout)
    }

    fn deadline(&mut self) -> Option<SourceDeadline> {
        self.socket.deadline()
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        self.is_spinning = is_spinning;
        self.socket.set_spinning(is_spinning);
    }
}
