//! A socket of one side of one feed.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::capture::{RecordedLine, Recorder};
use hairpin_endpoint::{ReceiveBuffer, UdpOptions};
use hairpin_mdp3::{Feed, FeedLine, Input, Listener};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::Now;

use crate::channel_input::ChannelInput;
use crate::line_socket::LineSocket;
use crate::{FeedError, LineAddress, Statistics};

/// A line socket with its feed and side, registered in the reactor for the lifetime of the handler.
/// The channel decides when it is joined and polled.
#[derive(Debug)]
pub(crate) struct FeedSocket {
    feed: Feed,
    side: FeedLine,
    socket: LineSocket,
}

/// Counters of one side of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineStatistics {
    /// The feed.
    pub feed: Feed,
    /// The side.
    pub side: FeedLine,
    /// The multicast group and port.
    pub group: SocketAddrV4,
    /// `true` while the group is joined.
    pub joined: bool,
    /// Datagrams delivered to the channel.
    pub datagrams: u64,
    /// The payload bytes of these datagrams.
    pub bytes: u64,
    /// The kernel's receive buffer, requested and granted; zero without a socket buffer.
    pub receive_buffer: ReceiveBuffer,
    /// Datagrams that the kernel dropped because the buffer was full. The kernel reports drops
    /// together with a later datagram, so the count can lag.
    pub kernel_drops: u64,
    /// Datagrams longer than a receive slot, delivered truncated.
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

impl FeedSocket {
    /// Opens the socket without joining its group.
    pub(crate) fn open(
        (feed, side): (Feed, FeedLine),
        address: LineAddress,
        options: UdpOptions,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        let socket = LineSocket::open(address, options, reactor)
            .map_err(|error| FeedError::Socket { feed, side, error })?;
        Ok(Self { feed, side, socket })
    }

    /// Returns `true` if this is a side of the feed.
    pub(crate) fn is(&self, feed: Feed) -> bool {
        self.feed == feed
    }

    /// Returns `true` if the socket may have datagrams to read.
    #[inline]
    pub(crate) fn is_readable(&self, ready: Ready) -> bool {
        self.socket.is_readable(ready)
    }

    /// Returns the line socket.
    pub(crate) fn socket(&mut self) -> &mut LineSocket {
        &mut self.socket
    }

    /// Joins the group.
    pub(crate) fn join(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        self.socket.join(reactor).map_err(|error| self.error(error))
    }

    /// Leaves the group.
    pub(crate) fn leave(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        self.socket.leave(reactor).map_err(|error| self.error(error))
    }

    /// Removes the socket from the reactor before it is dropped.
    pub(crate) fn close(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        self.socket.close(reactor).map_err(|error| self.error(error))
    }

    /// Delivers up to `budget` datagrams to the channel, and to the recorder as capture interface
    /// `number`. Returns the number of datagrams, and `true` if the socket is drained.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Now,
        budget: usize,
        (recorder, number): (&mut Option<Recorder>, usize),
        channel_input: &mut ChannelInput,
        listener: &mut impl Listener,
    ) -> Result<(usize, bool), FeedError> {
        let (feed, side) = (self.feed, self.side);
        let received = self.socket.receive(budget, |meta, datagram| {
            if let Some(recorder) = recorder {
                recorder.record(number, meta.source, meta.timestamp, now.utc, datagram);
            }
            let input = Input { feed, line: side, received: meta.timestamp.utc() };
            channel_input.handle_packet(now, input, datagram, listener);
        });
        match received {
            Ok(received) => Ok((received.count, received.drained)),
            Err(error) => Err(self.error(error)),
        }
    }

    /// Returns the capture interface of this line for a recording.
    pub(crate) fn capture_interface(&self, channel: &str) -> RecordedLine {
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
            joined: self.socket.is_joined(),
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
