//! One side of one feed on a socket of its own.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::capture::{RecordedLine, Recorder};
use hairpin_endpoint::{ReceiveBuffer, UdpOptions};
use hairpin_mdp3::{Feed, FeedLine, Input, Listener};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::Now;

use crate::inlet::Inlet;
use crate::socket_line::SocketLine;
use crate::{FeedError, LineAddress, Statistics};

/// A socket, open and known to the reactor for as long as the feed handler lives. Whether it is a
/// member of its group, and waited for, is the channel's wish.
#[derive(Debug)]
pub(crate) struct Line {
    feed: Feed,
    side: FeedLine,
    socket: SocketLine,
}

/// What one side of one feed has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineStatistics {
    /// The feed.
    pub feed: Feed,
    /// The side.
    pub side: FeedLine,
    /// The multicast group and port.
    pub group: SocketAddrV4,
    /// Whether the group is joined now.
    pub is_joined: bool,
    /// Datagrams handed to the channel.
    pub datagrams: u64,
    /// Their payloads in bytes.
    pub bytes: u64,
    /// The kernel's receive buffer, asked for and granted; zero where there is none.
    pub receive_buffer: ReceiveBuffer,
    /// Datagrams that the kernel dropped since that buffer was full, as far as it has told: it
    /// does so with the datagrams that follow.
    pub kernel_drops: u64,
    /// Datagrams longer than a receive slot, handed over cut.
    pub truncated: u64,
}

impl From<LineStatistics> for Statistics {
    fn from(line: LineStatistics) -> Self {
        Self {
            packets: line.datagrams,
            bytes: line.bytes,
            kernel_drops: line.kernel_drops,
            truncated: line.truncated,
            receive_buffers_short: u64::from(line.receive_buffer.is_short()),
            ..Self::default()
        }
    }
}

impl Line {
    /// Opens a socket that is not a member of its group yet.
    pub(crate) fn open(
        (feed, side): (Feed, FeedLine),
        address: LineAddress,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        let socket = SocketLine::open(address, UdpOptions::default(), reactor)
            .map_err(|error| FeedError::Socket { feed, side, error })?;
        Ok(Self { feed, side, socket })
    }

    /// Whether it is a side of this feed.
    pub(crate) fn is(&self, feed: Feed) -> bool {
        self.feed == feed
    }

    /// Whether there may be something to read.
    #[inline]
    pub(crate) fn is_readable(&self, ready: Ready) -> bool {
        self.socket.is_readable(ready)
    }

    /// Its socket, where it is, and from whom it receives.
    pub(crate) fn socket(&mut self) -> &mut SocketLine {
        &mut self.socket
    }

    /// Is a member of the group from now on.
    pub(crate) fn join(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        self.socket.join(reactor).map_err(|error| self.error(error))
    }

    /// Is no longer a member of the group.
    pub(crate) fn leave(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        self.socket.leave(reactor).map_err(|error| self.error(error))
    }

    /// Takes the socket from the reactor, before it is closed.
    pub(crate) fn close(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        self.socket.close(reactor).map_err(|error| self.error(error))
    }

    /// Hands up to `budget` datagrams on, and before that to the recorder, as those of the line
    /// with this number: how many, and whether there are no more.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Now,
        budget: usize,
        (recorder, number): (&mut Option<Recorder>, usize),
        inlet: &mut Inlet,
        listener: &mut impl Listener,
    ) -> Result<(usize, bool), FeedError> {
        let (feed, side) = (self.feed, self.side);
        let received = self.socket.receive(budget, |meta, datagram| {
            if let Some(recorder) = recorder {
                recorder.record(number, meta.source, meta.timestamp, now.utc, datagram);
            }
            let input = Input { feed, line: side, received: meta.timestamp.utc() };
            inlet.handle_packet(now, input, datagram, listener);
        });
        match received {
            Ok(received) => Ok((received.count, received.drained)),
            Err(error) => Err(self.error(error)),
        }
    }

    /// What a recording says of the line.
    pub(crate) fn recorded(&self, channel: &str) -> RecordedLine {
        let (Self { feed, side, .. }, group) = (self, self.socket.address().group);
        let code = match feed {
            Feed::Incremental => "I",
            Feed::Instrument => "N",
            Feed::Snapshot => "S",
            Feed::SnapshotOrders => "SMBO",
            _ => "",
        };
        RecordedLine {
            name: format!("{channel}{code}{side}"),
            description: format!("channel {channel}, {feed} feed, side {side}, {group}"),
            group,
        }
    }

    pub(crate) fn statistics(&self) -> LineStatistics {
        LineStatistics {
            feed: self.feed,
            side: self.side,
            group: self.socket.address().group,
            is_joined: self.socket.is_wanted(),
            datagrams: self.socket.datagrams(),
            bytes: self.socket.bytes(),
            receive_buffer: self.socket.receive_buffer(),
            kernel_drops: self.socket.drops(),
            truncated: self.socket.truncated(),
        }
    }

    #[cold]
    fn error(&self, error: io::Error) -> FeedError {
        FeedError::Socket { feed: self.feed, side: self.side, error }
    }
}
