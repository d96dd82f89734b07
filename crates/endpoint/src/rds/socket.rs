//! A reliable datagram socket.

use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_rds::{
    Counters, Delivery, Event, Message, MessageId, SendError as ProtocolError, Socket,
};
use hairpin_time::{Duration, Instant};
use thiserror::Error;

use super::carrier::{AnyCarrier, Carrier, is_full};
use super::ethernet_carrier::EthernetCarrier;
use super::kernel_carrier::{KernelCarrier, udp_address};
use super::options::{RdsOptions, RdsTransport};
use super::xdp_carrier::XdpCarrier;
use crate::error_context::Context;
use crate::{Blocker, Received, Source};

/// The reason why a send failed. Nothing was queued, except after [`RdsError::Io`] from a carrier.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RdsError {
    /// The protocol does not accept the message.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// There is no path to the destination, or the carrier failed.
    #[error("cannot send: {0}")]
    Io(#[from] io::Error),
}

/// A socket that exchanges whole messages with any peer: each delivered once, and in order per pair
/// of sockets. The contract is that of RDS; see `hairpin_rds`.
///
/// The owner calls [`receive`](Self::receive) whenever the socket may be readable, and
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) has passed.
/// Both also send acknowledgments and retransmissions.
///
/// ```no_run
/// use hairpin_endpoint::rds::{RdsOptions, RdsSocket, RdsTransport};
/// use hairpin_time::Instant;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let now = Instant::from_nanos(0);
/// let mut socket = RdsSocket::new(now, RdsOptions::default());
/// socket.bind(now, &RdsTransport::Kernel, "10.0.0.1:4000".parse()?)?;
/// socket.send(now, "10.0.0.2:4000".parse()?, 5, |message| message.copy_from_slice(b"hello"))?;
/// socket.receive(now, 16, |message| println!("{} bytes", message.bytes.len()))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct RdsSocket {
    protocol: Socket,
    carrier: Option<AnyCarrier>,
    options: RdsOptions,
}

/// The most packets that one turn of a receive takes from the carrier.
const BATCH: usize = 32;

impl RdsSocket {
    /// Allocates a socket, which is not yet bound.
    #[must_use]
    pub fn new(now: Instant, options: RdsOptions) -> Self {
        let protocol = Socket::new(options.protocol, now);
        let options = RdsOptions { protocol: *protocol.config(), ..options };
        Self { protocol, carrier: None, options }
    }

    /// Binds the socket to an address of this host and an RDS port. Port 0 chooses a free port.
    ///
    /// # Errors
    /// One line with the address. `AddrInUse`: the port is taken. `AddrNotAvailable`: not an
    /// address of this host, or, with raw Ethernet, of the interface. (UDP over AF_XDP falls back
    /// to the kernel at an address of another interface.) `InvalidInput`: bound already, not a
    /// unicast address, or RDS port 1, which is reserved. `PermissionDenied`: raw Ethernet needs
    /// capabilities. `NotFound`: there is no such interface. `ResourceBusy`: another socket has the
    /// interface for raw Ethernet, or another program has it for XDP.
    pub fn bind(
        &mut self,
        now: Instant,
        transport: &RdsTransport,
        local: SocketAddr,
    ) -> io::Result<()> {
        self.try_bind(now, transport, local).context(format_args!("bind to {local}"))
    }

    fn try_bind(
        &mut self,
        now: Instant,
        transport: &RdsTransport,
        mut local: SocketAddr,
    ) -> io::Result<()> {
        let invalid = |reason: &str| io::Error::new(io::ErrorKind::InvalidInput, reason);
        if self.carrier.is_some() {
            return Err(invalid("the socket is already bound"));
        }
        if local.port() == 1 {
            return Err(invalid("RDS port 1 is reserved"));
        }
        if local.ip().is_unspecified() || local.ip().is_multicast() {
            return Err(invalid("not a unicast address"));
        }
        let offset = self.options.udp_port_offset;
        let udp = match local.port() {
            0 => local,
            _ => udp_address(local, offset)?,
        };
        let port = |bound: SocketAddr| bound.port().wrapping_sub(offset);
        let carrier = match transport {
            RdsTransport::Kernel => {
                let carrier = KernelCarrier::bind(udp, &self.options)?;
                local.set_port(port(carrier.udp_address()));
                AnyCarrier::Kernel(carrier)
            }
            RdsTransport::Xdp(stack) => {
                let carrier = XdpCarrier::bind(stack, udp, &self.options)?;
                local.set_port(port(carrier.udp_address()));
                AnyCarrier::Xdp(carrier)
            }
            RdsTransport::Ethernet { interface, settings } => {
                let carrier = EthernetCarrier::open(interface, settings, local, &self.options)?;
                local.set_port(carrier.port());
                AnyCarrier::Ethernet(carrier)
            }
        };
        let bound = self.protocol.bind(now, local, random_incarnation()?);
        bound.map_err(|error| invalid(&error.to_string()))?;
        self.carrier = Some(carrier);
        Ok(())
    }

    /// Returns the bound address and RDS port.
    #[must_use]
    pub fn local_address(&self) -> Option<SocketAddr> {
        self.protocol.local_address()
    }

    /// Returns one line that names the carrier; `None` before `bind`.
    #[must_use]
    pub fn describe(&self) -> Option<String> {
        self.carrier.as_ref().map(Carrier::describe)
    }

    /// Sends a message of `length` bytes to any peer; `fill` writes the message in place. Returns
    /// at once: the message is queued, and leaves at once if the window allows it.
    ///
    /// # Errors
    /// See [`RdsError`]. `fill` was called only if the error is of the carrier.
    #[inline]
    pub fn send(
        &mut self,
        now: Instant,
        to: SocketAddr,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<MessageId, RdsError> {
        self.send_with(now, to, length, false, fill)
    }

    /// Sends like [`send`](Self::send), and requests [`Event::Outcome`].
    ///
    /// # Errors
    /// As for `send`.
    pub fn send_tracked(
        &mut self,
        now: Instant,
        to: SocketAddr,
        length: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<MessageId, RdsError> {
        self.send_with(now, to, length, true, fill)
    }

    #[inline]
    fn send_with(
        &mut self,
        now: Instant,
        to: SocketAddr,
        length: usize,
        tracked: bool,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<MessageId, RdsError> {
        let Self { protocol, carrier: Some(carrier), .. } = self else {
            return Err(ProtocolError::NotBound.into());
        };
        let check_path = || carrier.check_path(to).map_err(RdsError::Io);
        let id = protocol.send_with(now, to, length, tracked, check_path, fill)?;
        transmit_pending(protocol, carrier, now)?;
        Ok(id)
    }

    /// Passes up to `budget` messages to `on`. A message that arrived in one packet, in order, is
    /// lent from the carrier's own buffer. Never blocks.
    ///
    /// # Errors
    /// The carrier's. The socket stays usable.
    pub fn receive(
        &mut self,
        now: Instant,
        budget: usize,
        mut on: impl FnMut(Message<'_>),
    ) -> io::Result<Received> {
        let Self { protocol, carrier: Some(carrier), .. } = self else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        // A spinning owner mostly finds nothing to do here.
        if protocol.has_pending_transmit() {
            transmit_pending(protocol, carrier, now)?;
        }
        let mut count = deliver_queued(protocol, budget, &mut on);
        let mut drained = false;
        while count < budget && !drained {
            let wanted = (budget - count).min(BATCH);
            let received = carrier.receive(wanted, |from, packet| {
                // Each packet completes at most one message in place.
                if let Some(message) = protocol.handle_packet(now, from, packet, Delivery::InPlace)
                {
                    on(message);
                    count += 1;
                }
            });
            match received {
                Ok(received) => drained = received.drained,
                Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                    report_undeliverable(protocol, carrier);
                }
                Err(error) => return Err(error),
            }
            count += deliver_queued(protocol, budget - count, &mut on);
        }
        // After a message, acknowledgments wait for the owner's answer, which carries them.
        if count == 0 && protocol.has_pending_transmit() {
            transmit_pending(protocol, carrier, now)?;
        }
        Ok(Received { count, drained: drained && protocol.is_receive_queue_empty(), closed: false })
    }

    /// Processes packets without delivering messages, which are queued: for an owner that only
    /// sends for a while. Returns `true` if the carrier had no more packets.
    ///
    /// # Errors
    /// As for [`receive`](Self::receive).
    pub fn process(&mut self, now: Instant, budget: usize) -> io::Result<bool> {
        let Self { protocol, carrier: Some(carrier), .. } = self else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let received = carrier.receive(budget, |from, packet| {
            protocol.handle_packet(now, from, packet, Delivery::Queue);
        });
        let drained = match received {
            Ok(received) => received.drained,
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                report_undeliverable(protocol, carrier);
                false
            }
            Err(error) => return Err(error),
        };
        transmit_pending(protocol, carrier, now)?;
        Ok(drained)
    }

    /// Copies the next message into `buffer` and returns the sender and the message's whole length.
    /// A longer message is truncated, and its rest is discarded. Returns `None` if there is no
    /// message.
    ///
    /// # Errors
    /// As for [`receive`](Self::receive).
    pub fn receive_into(
        &mut self,
        now: Instant,
        buffer: &mut [u8],
    ) -> io::Result<Option<(SocketAddr, usize)>> {
        let mut received = None;
        self.receive(now, 1, |message| {
            let length = message.bytes.len().min(buffer.len());
            buffer[..length].copy_from_slice(&message.bytes[..length]);
            received = Some((message.source, message.length));
        })?;
        Ok(received)
    }

    /// Returns the next message without removing it.
    ///
    /// # Errors
    /// As for [`receive`](Self::receive).
    pub fn peek(&mut self, now: Instant) -> io::Result<Option<Message<'_>>> {
        if self.protocol.is_receive_queue_empty() {
            self.process(now, BATCH)?;
        }
        Ok(self.protocol.peek())
    }

    /// Returns `true` if the next send to `to` is accepted.
    pub fn is_writable(&mut self, to: SocketAddr) -> bool {
        self.protocol.is_writable(to)
    }

    /// Returns `true` if no message waits for an acknowledgment.
    #[must_use]
    pub fn is_acknowledged(&self) -> bool {
        self.protocol.is_acknowledged()
    }

    /// Cancels all messages to `to` that are not yet acknowledged, and returns their number.
    ///
    /// # Errors
    /// The carrier's, from notifying the receiver.
    pub fn cancel(&mut self, now: Instant, to: SocketAddr) -> io::Result<usize> {
        let count = self.protocol.cancel(now, to);
        self.transmit_pending(now)?;
        Ok(count)
    }

    /// Cancels all messages to all peers.
    ///
    /// # Errors
    /// As for [`cancel`](Self::cancel).
    pub fn cancel_all(&mut self, now: Instant) -> io::Result<usize> {
        let count = self.protocol.cancel_all(now);
        self.transmit_pending(now)?;
        Ok(count)
    }

    /// Returns the next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.protocol.poll_event()
    }

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) has something to do: at
    /// once if acknowledgments wait to be sent.
    #[inline]
    #[must_use]
    pub fn poll_timeout(&self, now: Instant) -> Option<Instant> {
        if self.protocol.has_pending_transmit() { Some(now) } else { self.protocol.poll_timeout() }
    }

    /// Sends pending acknowledgments, and probes of peers whose answer is late.
    ///
    /// # Errors
    /// The carrier's.
    pub fn handle_timeout(&mut self, now: Instant) -> io::Result<()> {
        self.protocol.handle_timeout(now);
        self.transmit_pending(now)
    }

    /// Returns the number of received packets that the carrier dropped because they were malformed
    /// or for another address. The protocol's drops are in [`counters`](Self::counters).
    #[must_use]
    pub fn carrier_dropped(&self) -> u64 {
        self.carrier.as_ref().map_or(0, Carrier::dropped)
    }

    /// Returns the counters.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.protocol.counters()
    }

    #[inline]
    fn transmit_pending(&mut self, now: Instant) -> io::Result<()> {
        match &mut self.carrier {
            Some(carrier) => transmit_pending(&mut self.protocol, carrier, now),
            None => Ok(()),
        }
    }
}

/// Passes queued messages to `on` and returns their number.
#[inline]
fn deliver_queued(protocol: &mut Socket, budget: usize, on: &mut impl FnMut(Message<'_>)) -> usize {
    let mut count = 0;
    while count < budget && !protocol.is_receive_queue_empty() && protocol.receive(&mut *on) {
        count += 1;
    }
    count
}

/// Sends what the protocol has to send, until the carrier has no room.
#[inline]
fn transmit_pending(
    protocol: &mut Socket,
    carrier: &mut AnyCarrier,
    now: Instant,
) -> io::Result<()> {
    while let Some(transmit) = protocol.poll_transmit(now) {
        let Err(error) = carrier.transmit(&transmit) else { continue };
        if !handle_failure(protocol, carrier, &error) {
            return Err(error);
        }
        if is_full(&error) {
            break;
        }
    }
    // A packet may wait for one that was not needed any more.
    if let Err(error) = carrier.flush()
        && !is_path_failure(&error)
    {
        return Err(error);
    }
    if carrier.has_reports() {
        report_undeliverable(protocol, carrier);
    }
    Ok(())
}

/// Returns `true` if packets are lost because there is no path now. Probes continue until there is
/// one again.
fn is_path_failure(error: &io::Error) -> bool {
    use io::ErrorKind::{HostUnreachable, NetworkDown, NetworkUnreachable};
    matches!(error.kind(), HostUnreachable | NetworkUnreachable | NetworkDown)
}

/// Processes a failed transmission. Returns `false` if the carrier cannot be used.
#[cold]
fn handle_failure(protocol: &mut Socket, carrier: &mut AnyCarrier, error: &io::Error) -> bool {
    match error.kind() {
        // The error concerns an earlier packet; this one was not sent.
        io::ErrorKind::ConnectionRefused => {
            protocol.retry_last();
            report_undeliverable(protocol, carrier);
            true
        }
        _ if is_path_failure(error) => true,
        _ if is_full(error) => {
            protocol.retry_last();
            true
        }
        _ => false,
    }
}

#[cold]
fn report_undeliverable(protocol: &mut Socket, carrier: &mut AnyCarrier) {
    carrier.undeliverable(|peer, quote| {
        protocol.handle_undeliverable(peer.ip(), peer.port(), quote);
    });
}

/// Returns a random incarnation.
fn random_incarnation() -> io::Result<NonZeroU32> {
    let mut bytes = [0; 4];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(NonZeroU32::new(u32::from_ne_bytes(bytes)).unwrap_or(NonZeroU32::MIN))
}

impl AsFd for RdsSocket {
    /// # Panics
    /// If the socket is not bound.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.carrier.as_ref().expect("the socket is bound").as_fd()
    }
}

impl Source for RdsSocket {
    /// Returns `None`: the reactor polls the socket.
    fn set_blocking(&mut self, _timeout: Option<Duration>) -> io::Result<Option<Blocker>> {
        Ok(None)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        if let Some(carrier) = &mut self.carrier {
            carrier.set_spinning(is_spinning);
        }
    }
}
