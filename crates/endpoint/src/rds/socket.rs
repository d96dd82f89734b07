//! A reliable datagram socket.

use std::fs::File;
use std::io::{self, Read};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_rds::{
    Counters, Delivery, Event, Message, MessageId, SendError as ProtocolError, Socket, Transmit,
};
use hairpin_time::{Duration, Instant};
use thiserror::Error;

use super::carrier::{AnyCarrier, Carrier};
use super::carrier_counters::CarrierCounters;
use super::ethernet_carrier::EthernetCarrier;
use super::kernel_carrier::{KernelCarrier, udp_address};
use super::options::{RdsOptions, RdsTransport};
use super::xdp_carrier::XdpCarrier;
use crate::error_context::{Context, is_full, is_permanent};
use crate::{Blocker, Received, Source, SourceDeadline};

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
/// The owner calls [`receive`](Self::receive) whenever its reactor reports the socket as ready.
/// The reactor also does so when acknowledgments or retransmissions are due, which `receive` sends
/// ([`Source::deadline`]). An owner without a reactor calls `receive` or
/// [`handle_timeout`](Self::handle_timeout) when [`poll_timeout`](Self::poll_timeout) has passed.
///
/// No error of the network ends the socket: it is counted ([`CarrierCounters`]), and what was sent
/// is sent again. Only the errors of [`is_permanent`] are returned.
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
    /// The deadline for the reactor that waits for this socket, if there is one.
    deadline: Option<SourceDeadline>,
    /// The time from which on `receive` processes timeouts: exact with a deadline, otherwise up to
    /// [`RECHECK`] late.
    timers_due: Instant,
    /// The time of the next try after the carrier had no room.
    retry_at: Option<Instant>,
}

/// The most packets that one turn of a receive takes from the carrier.
const BATCH: usize = 32;
/// The errors after which a receive returns, so that a flood of them does not hold up the owner.
const ERRORS: usize = 8;
/// The interval at which a spinning owner's receive checks for timeouts: a message may have been
/// sent meanwhile.
const RECHECK: Duration = Duration::from_millis(1);
/// The time until the next try after the carrier had no room.
const RETRY: Duration = Duration::from_micros(50);

impl RdsSocket {
    /// Allocates a socket, which is not yet bound.
    #[must_use]
    pub fn new(now: Instant, options: RdsOptions) -> Self {
        let protocol = Socket::new(options.protocol, now);
        let options = RdsOptions { protocol: *protocol.config(), ..options };
        let (carrier, deadline, retry_at) = (None, None, None);
        Self { protocol, carrier, options, deadline, timers_due: now, retry_at }
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
        self.transmit_pending(now)?;
        Ok(id)
    }

    /// Passes up to `budget` messages to `on`. A message that arrived in one packet, in order, is
    /// lent from the carrier's own buffer. Processes timeouts that have expired. Never blocks.
    ///
    /// # Errors
    /// Permanent ones ([`is_permanent`]), and `NotConnected` before `bind`.
    pub fn receive(
        &mut self,
        now: Instant,
        budget: usize,
        on: impl FnMut(Message<'_>),
    ) -> io::Result<Received> {
        if now >= self.timers_due {
            self.process_timeouts(now);
        }
        let received = self.receive_messages(now, budget, on);
        self.update_deadline(now);
        received
    }

    fn receive_messages(
        &mut self,
        now: Instant,
        budget: usize,
        mut on: impl FnMut(Message<'_>),
    ) -> io::Result<Received> {
        // A spinning owner mostly finds nothing to do here.
        if self.protocol.has_pending_transmit() {
            self.transmit_packets(now)?;
        }
        let Self { protocol, carrier: Some(carrier), .. } = self else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let mut count = deliver_queued(protocol, budget, &mut on);
        let (mut drained, mut errors) = (false, 0);
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
                Err(error) => {
                    handle_error(protocol, carrier, error)?;
                    errors += 1;
                    drained = errors == ERRORS;
                }
            }
            count += deliver_queued(protocol, budget - count, &mut on);
        }
        let drained = drained && protocol.is_receive_queue_empty();
        // After a message, acknowledgments wait for the owner's answer, which carries them.
        if count == 0 && protocol.has_pending_transmit() {
            self.transmit_packets(now)?;
        }
        Ok(Received { count, drained, closed: false })
    }

    /// Processes packets without delivering messages, which are queued: for an owner that only
    /// sends for a while. Returns `true` if the carrier had no more packets.
    ///
    /// # Errors
    /// As for [`receive`](Self::receive).
    pub fn process(&mut self, now: Instant, budget: usize) -> io::Result<bool> {
        if now >= self.timers_due {
            self.process_timeouts(now);
        }
        let Self { protocol, carrier: Some(carrier), .. } = self else {
            return Err(io::ErrorKind::NotConnected.into());
        };
        let received = carrier.receive(budget, |from, packet| {
            protocol.handle_packet(now, from, packet, Delivery::Queue);
        });
        let drained = match received {
            Ok(received) => received.drained,
            Err(error) => {
                handle_error(protocol, carrier, error)?;
                false
            }
        };
        self.transmit_pending(now)?;
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
        if self.protocol.has_pending_transmit() {
            return Some(self.retry_at.unwrap_or(now));
        }
        self.protocol.poll_timeout()
    }

    /// Sends pending acknowledgments, and probes of peers whose answer is late.
    ///
    /// # Errors
    /// As for [`receive`](Self::receive).
    pub fn handle_timeout(&mut self, now: Instant) -> io::Result<()> {
        self.protocol.handle_timeout(now);
        self.transmit_pending(now)
    }

    /// Returns the counters of the carrier; zeros before `bind`.
    #[must_use]
    pub fn carrier_counters(&self) -> CarrierCounters {
        self.carrier.as_ref().map(Carrier::counters).copied().unwrap_or_default()
    }

    /// Returns the counters of the protocol.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        self.protocol.counters()
    }

    /// Processes expired deadlines. Their packets leave with the next transmission.
    #[cold]
    fn process_timeouts(&mut self, now: Instant) {
        self.protocol.handle_timeout(now);
        let latest = now + RECHECK;
        self.timers_due = self.protocol.poll_timeout().map_or(latest, |due| due.min(latest));
    }

    /// Shares the time of the next work with the reactor, if there is one.
    #[inline]
    fn update_deadline(&mut self, now: Instant) {
        if let Some(deadline) = &self.deadline {
            let due = self.poll_timeout(now);
            deadline.set(due);
            self.timers_due = due.unwrap_or(Instant::MAX);
        }
    }

    /// Sends what the protocol has to send.
    ///
    /// # Errors
    /// Permanent ones.
    #[inline]
    fn transmit_pending(&mut self, now: Instant) -> io::Result<()> {
        let outcome = self.transmit_packets(now);
        self.update_deadline(now);
        outcome
    }

    /// Sends what the protocol has to send, until the carrier has no room.
    #[inline]
    fn transmit_packets(&mut self, now: Instant) -> io::Result<()> {
        let Self { protocol, carrier: Some(carrier), retry_at, .. } = self else { return Ok(()) };
        *retry_at = None;
        while let Some(transmit) = protocol.poll_transmit(now) {
            let Err(error) = carrier.transmit(&transmit) else { continue };
            if !transmit_again(carrier, &transmit, error)? {
                protocol.retry_last();
                *retry_at = Some(now + RETRY);
                break;
            }
        }
        // A packet may wait for one that was not needed any more.
        if let Err(error) = carrier.flush() {
            handle_error(protocol, carrier, error)?;
        }
        if carrier.has_icmp_errors() {
            process_icmp_errors(protocol, carrier);
        }
        Ok(())
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

/// Sends a packet once more after an error, which may have been about an earlier packet. A packet
/// that fails again is lost, and repeated after its timeout. Returns `false` if this host has no
/// room for it.
///
/// # Errors
/// Permanent ones.
#[cold]
fn transmit_again(
    carrier: &mut AnyCarrier,
    transmit: &Transmit<'_>,
    mut error: io::Error,
) -> io::Result<bool> {
    carrier.counters_mut().count(&error);
    if !is_full(&error) && !is_permanent(&error) {
        match carrier.transmit(transmit) {
            Ok(()) => return Ok(true),
            Err(again) => error = again,
        }
        carrier.counters_mut().count(&error);
    }
    if is_permanent(&error) { Err(error) } else { Ok(!is_full(&error)) }
}

/// Counts an error of the carrier, and processes the ICMP errors that may be its cause.
///
/// # Errors
/// A permanent error.
#[cold]
fn handle_error(
    protocol: &mut Socket,
    carrier: &mut AnyCarrier,
    error: io::Error,
) -> io::Result<()> {
    carrier.counters_mut().count(&error);
    if is_permanent(&error) {
        return Err(error);
    }
    process_icmp_errors(protocol, carrier);
    Ok(())
}

#[cold]
fn process_icmp_errors(protocol: &mut Socket, carrier: &mut AnyCarrier) {
    carrier.icmp_errors(|peer, is_unbound, quote| match is_unbound {
        true => protocol.handle_undeliverable(peer.ip(), peer.port(), quote),
        false => protocol.handle_unreachable(peer.ip(), peer.port()),
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

    fn deadline(&mut self) -> Option<SourceDeadline> {
        let deadline = self.deadline.get_or_insert_default().clone();
        // The first receive finds out.
        deadline.set(Some(Instant::ZERO));
        self.timers_due = Instant::ZERO;
        Some(deadline)
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        if is_spinning {
            // No reactor waits: its owner receives all the time.
            self.deadline = None;
            self.timers_due = Instant::ZERO;
        }
        if let Some(carrier) = &mut self.carrier {
            carrier.set_spinning(is_spinning);
        }
    }
}
