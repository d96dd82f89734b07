//! An end of the connection: our engine, or smoltcp.

use hairpin_netsim::Random;
use hairpin_time::Instant;
use smoltcp::time::Duration as SmoltcpDuration;

use super::world::Received;
use crate::handshake;
use crate::host::{Host, Shape};
use crate::smoltcp_host::SmoltcpHost;

pub(super) enum End {
    Engine(Box<Host>),
    Smoltcp(Box<SmoltcpHost>),
}

impl End {
    /// Two engines.
    pub(super) fn engines(now: Instant, shape: &Shape) -> [Self; 2] {
        [0, 1].map(|end| Self::Engine(Box::new(Host::new(now, shape, end))))
    }

    /// An engine that continues after smoltcp has connected, and smoltcp.
    pub(super) fn with_smoltcp(now: Instant, shape: &Shape, random: &mut Random) -> [Self; 2] {
        let mtu = usize::from(shape.segment_size) + 40;
        let mut peer = SmoltcpHost::new(now, 2, mtu, shape.ring, random.any());
        if !shape.config.nagle {
            peer.socket().set_nagle_enabled(false);
        }
        if shape.config.quick_ack {
            peer.socket().set_ack_delay(None);
        }
        // If an old segment closes the window while bytes are unacknowledged, smoltcp 0.14 stops
        // its retransmission timer and starts none for the window.
        peer.socket().set_keep_alive(Some(SmoltcpDuration::from_secs(60)));
        let snapshot = handshake::accept(now, shape, &mut peer);
        let host = Host::from_snapshot(now, &snapshot, shape, 0);
        [Self::Engine(Box::new(host)), Self::Smoltcp(Box::new(peer))]
    }

    pub(super) fn engine(&self) -> Option<&Host> {
        match self {
            Self::Engine(host) => Some(host),
            Self::Smoltcp(_) => None,
        }
    }

    /// Processes a frame from the peer, and leaves the last acknowledgment.
    pub(super) fn handle(&mut self, now: Instant, frame: &[u8], received: &mut Received) {
        match self {
            Self::Engine(host) => drop(host.handle_first(now, frame, received)),
            Self::Smoltcp(host) => host.arrive(frame),
        }
    }

    pub(super) fn poll_timeout(&mut self, now: Instant) -> Option<Instant> {
        match self {
            Self::Engine(host) => host.connection.poll_timeout(),
            Self::Smoltcp(host) => host.poll_timeout(now),
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Instant) {
        match self {
            Self::Engine(host) => {
                if host.connection.poll_timeout().is_some_and(|deadline| deadline <= now) {
                    host.connection.handle_timeout(now);
                }
            }
            Self::Smoltcp(host) => host.poll(now),
        }
    }

    /// Passes unread bytes to `read`.
    pub(super) fn read(&mut self, mut read: impl FnMut(&[u8]) -> usize) {
        match self {
            Self::Engine(host) => drop(host.read(read)),
            Self::Smoltcp(host) => {
                host.socket()
                    .recv(|bytes| {
                        let count = if bytes.is_empty() { 0 } else { read(bytes) };
                        (count, ())
                    })
                    .unwrap();
            }
        }
    }

    /// Returns the number of bytes that [`queue`](Self::queue) accepts.
    pub(super) fn room(&mut self) -> usize {
        match self {
            Self::Engine(host) => host.connection.room(),
            Self::Smoltcp(host) => {
                let socket = host.socket();
                socket.send_capacity() - socket.send_queue()
            }
        }
    }

    /// Queues bytes to send. Returns the number of bytes accepted.
    pub(super) fn queue(&mut self, now: Instant, bytes: &[u8]) -> usize {
        match self {
            Self::Engine(host) => host.queue(now, bytes),
            Self::Smoltcp(host) => host.socket().send_slice(bytes).unwrap(),
        }
    }

    /// Holds back short segments, or sends what waits. smoltcp cannot.
    pub(super) fn set_corked(&mut self, is_corked: bool) {
        if let Self::Engine(host) = self {
            host.connection.set_corked(is_corked);
        }
    }

    /// Does what the last frames from and to the peer have left.
    pub(super) fn catch_up(&mut self, now: Instant) {
        if let Self::Engine(host) = self {
            host.connection.catch_up(now);
        }
    }

    /// Sends bytes in one segment, written in place, and does not record it yet. smoltcp cannot.
    pub(super) fn send_in_place(&mut self, now: Instant, bytes: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Engine(host) => host.send_first(now, bytes),
            Self::Smoltcp(_) => None,
        }
    }

    /// Returns the next frame that is due.
    pub(super) fn transmit(&mut self, now: Instant) -> Option<Vec<u8>> {
        match self {
            Self::Engine(host) => host.transmit(now),
            Self::Smoltcp(host) => {
                let mut frame = None;
                host.transmit(|sent| frame = Some(sent.to_vec()));
                frame
            }
        }
    }

    pub(super) fn describe(&mut self, now: Instant) -> String {
        let host = match self {
            Self::Engine(host) => host,
            Self::Smoltcp(host) => {
                let socket = host.socket();
                let (state, unsent) = (socket.state(), socket.send_queue());
                let unread = socket.recv_queue();
                let deadline = host.poll_timeout(now);
                return format!("{state} unsent {unsent} unread {unread} deadline {deadline:?}");
            }
        };
        let connection = &host.connection;
        let window = connection.snapshot(Instant::ZERO).send_window;
        format!(
            "in flight {} unread {} room {} window {window} deadline {:?}",
            connection.in_flight(),
            connection.unread_length(),
            connection.room(),
            connection.poll_timeout(),
        )
    }
}
