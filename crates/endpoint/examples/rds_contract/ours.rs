//! Our reliable datagrams, with the names of RDS's errors.

use std::collections::HashSet;
use std::io;
use std::net::SocketAddr;

use hairpin_endpoint::rds::{Event, ProtocolError, RdsError, RdsOptions, RdsSocket, RdsTransport};
use hairpin_endpoint::xdp::{Stack, StackSettings};
use hairpin_host::Clock;
use hairpin_time::Instant;

use crate::hosts::Host;
use crate::rds::{Buffers, Implementation, Outcome, Rds};

/// Reliable datagrams over UDP.
pub(crate) struct OurRds {
    is_bypassed: bool,
}

struct OurSocket {
    socket: RdsSocket,
    host: Host,
    /// The destinations so far.
    known: HashSet<SocketAddr>,
    has_restarted: bool,
    is_bypassed: bool,
    clock: Clock,
}

impl OurRds {
    /// Over the kernel's UDP.
    pub(crate) fn kernel_udp() -> Self {
        Self { is_bypassed: false }
    }

    /// Over AF_XDP.
    pub(crate) fn bypassed() -> Self {
        Self { is_bypassed: true }
    }
}

impl Implementation for OurRds {
    fn number(&self) -> u8 {
        1
    }

    fn open(&self, host: &Host, buffers: Buffers) -> Box<dyn Rds> {
        let clock = Clock::from_kernel();
        let mut options = RdsOptions::default();
        options.protocol.send_buffer = buffers.send;
        options.protocol.receive_buffer = buffers.receive;
        // As RDS in Linux does: a peer may come back at any time.
        options.protocol.unreachable_after = None;
        let socket = RdsSocket::new(clock.instant(), options);
        let (host, known, is_bypassed) = (host.clone(), HashSet::new(), self.is_bypassed);
        Box::new(OurSocket { socket, host, known, has_restarted: false, is_bypassed, clock })
    }
}

impl OurSocket {
    fn now(&self) -> Instant {
        self.clock.instant()
    }
}

impl Rds for OurSocket {
    fn bind(&mut self, host: &Host, address: SocketAddr) -> Outcome<SocketAddr> {
        host.enter();
        let transport = if self.is_bypassed {
            let stack = Stack::open(&host.interface, &StackSettings::default());
            RdsTransport::Xdp(stack.expect("cannot open the interface"))
        } else {
            RdsTransport::Kernel
        };
        self.socket.bind(self.now(), &transport, address).map_err(|error| name(&error))?;
        Ok(self.socket.local_address().expect("a bound socket"))
    }

    fn send(&mut self, to: SocketAddr, bytes: &[u8]) -> Outcome<()> {
        if self.known.insert(to) {
            // The path to a new destination is found in the calling thread's namespace.
            self.host.enter();
        }
        let now = self.now();
        let sent = self.socket.send(now, to, bytes.len(), |buffer| buffer.copy_from_slice(bytes));
        sent.map(drop).map_err(|error| match error {
            RdsError::Protocol(error) => protocol_name(error),
            RdsError::Io(error) => name(&error),
            error => error.to_string(),
        })
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Outcome<(SocketAddr, usize)> {
        let received = self.socket.receive_into(self.now(), buffer);
        received.map_err(|error| name(&error))?.ok_or("EAGAIN".to_owned())
    }

    fn peek(&mut self) -> Outcome<usize> {
        let message = self.socket.peek(self.clock.instant()).map_err(|error| name(&error))?;
        message.map(|message| message.length).ok_or("EAGAIN".to_owned())
    }

    fn cancel(&mut self, to: SocketAddr) -> Outcome<()> {
        self.socket.cancel(self.now(), to).map(drop).map_err(|error| name(&error))
    }

    fn work(&mut self) {
        let now = self.now();
        // Before its bind a socket has nothing to process.
        if self.socket.local_address().is_some() {
            self.socket.process(now, 32).expect("no permanent error");
            while let Some(event) = self.socket.poll_event() {
                self.has_restarted |= matches!(event, Event::PeerRestarted(_));
            }
        }
    }

    fn has_peer_restarted(&mut self) -> bool {
        std::mem::take(&mut self.has_restarted)
    }

    fn is_settled(&self) -> bool {
        self.socket.is_acknowledged()
    }

    fn counts(&self) -> Outcome<[u64; 2]> {
        let counters = self.socket.counters();
        Ok([counters.messages_sent, counters.messages_received])
    }
}

fn protocol_name(error: ProtocolError) -> String {
    let name = match error {
        ProtocolError::NotBound => "ENOTCONN",
        ProtocolError::TooLong { .. } => "EMSGSIZE",
        ProtocolError::Congested => "ENOBUFS",
        ProtocolError::WouldBlock => "EAGAIN",
        ProtocolError::InvalidDestination => "EINVAL",
        error => return error.to_string(),
    };
    name.to_owned()
}

fn name(error: &io::Error) -> String {
    let name = match error.kind() {
        io::ErrorKind::InvalidInput => "EINVAL",
        io::ErrorKind::AddrInUse => "EADDRINUSE",
        io::ErrorKind::AddrNotAvailable => "EADDRNOTAVAIL",
        io::ErrorKind::NotConnected => "ENOTCONN",
        io::ErrorKind::WouldBlock => "EAGAIN",
        _ => return error.to_string(),
    };
    name.to_owned()
}
