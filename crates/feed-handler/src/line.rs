//! One side of one feed: its socket and what it has received.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::capture::{RecordedLine, Recorder};
use hairpin_endpoint::{MulticastGroup, Receive, ReceiveBuffer, UdpOptions, UdpReceiver};
use hairpin_mdp3::{Channel, Feed, Input, Listener, Side};
use hairpin_reactor::{Interest, Reactor, Ready, Token};
use hairpin_time::Now;

use crate::{FeedError, Statistics};

/// A socket, open and known to the reactor for as long as the feed handler lives. Whether it is a
/// member of its group, and waited for, is the channel's wish.
#[derive(Debug)]
pub(crate) struct Line {
    feed: Feed,
    side: Side,
    group: SocketAddrV4,
    receiver: UdpReceiver,
    token: Token,
    is_joined: bool,
    datagrams: u64,
    bytes: u64,
}

/// What one side of one feed has received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LineStatistics {
    /// The feed.
    pub feed: Feed,
    /// The side.
    pub side: Side,
    /// The multicast group and port.
    pub group: SocketAddrV4,
    /// Whether the group is joined now.
    pub is_joined: bool,
    /// Datagrams handed to the channel.
    pub datagrams: u64,
    /// Their payloads in bytes.
    pub bytes: u64,
    /// The kernel's receive buffer, asked for and granted.
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
            ..Self::default()
        }
    }
}

impl Line {
    /// Opens a socket that is not a member of its group yet.
    pub(crate) fn open(
        (feed, side): (Feed, Side),
        group: MulticastGroup<'_>,
        reactor: &mut Reactor,
    ) -> Result<Self, FeedError> {
        let mut open = || -> io::Result<(UdpReceiver, Token)> {
            let mut receiver = UdpReceiver::join(group, UdpOptions::default())?;
            receiver.leave()?;
            let token = reactor.add(&mut receiver, Interest::NONE)?;
            Ok((receiver, token))
        };
        let (receiver, token) = open().map_err(|error| FeedError::Socket { feed, side, error })?;
        let group = group.group;
        Ok(Self { feed, side, group, receiver, token, is_joined: false, datagrams: 0, bytes: 0 })
    }

    /// Whether the line is of this feed.
    pub(crate) fn is(&self, feed: Feed) -> bool {
        self.feed == feed
    }

    /// Whether there may be something to read.
    #[inline]
    pub(crate) fn is_readable(&self, ready: Ready) -> bool {
        self.is_joined && ready.is_readable(self.token)
    }

    /// Becomes a member of the group and is waited for.
    pub(crate) fn join(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        if self.is_joined {
            return Ok(());
        }
        self.receiver.rejoin().map_err(|error| self.error(error))?;
        self.is_joined = true;
        self.wait_for(Interest::READABLE, reactor)
    }

    /// Is no longer a member, nor waited for. What was received before stays in the socket; the
    /// channel judges it by its time if the group is ever joined again.
    pub(crate) fn leave(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        if !self.is_joined {
            return Ok(());
        }
        self.is_joined = false;
        // The group is left even if the reactor will not have it: it costs the network.
        let ignored = self.wait_for(Interest::NONE, reactor);
        let left = self.receiver.leave().map_err(|error| self.error(error));
        ignored.and(left)
    }

    fn wait_for(&mut self, interest: Interest, reactor: &mut Reactor) -> Result<(), FeedError> {
        let outcome = reactor.set_interest(self.token, &self.receiver, interest);
        outcome.map_err(|error| self.error(error))
    }

    /// Takes the socket from the reactor, before it is closed.
    pub(crate) fn close(&mut self, reactor: &mut Reactor) -> Result<(), FeedError> {
        let outcome = reactor.remove(self.token, &mut self.receiver);
        outcome.map_err(|error| self.error(error))
    }

    /// Hands up to `budget` datagrams to the channel, and before that to the recorder, as those of
    /// the line with this number; true if there are no more.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        now: Now,
        budget: usize,
        (recorder, number): (&mut Option<Recorder>, usize),
        channel: &mut Channel,
        listener: &mut impl Listener,
    ) -> Result<bool, FeedError> {
        let (feed, side) = (self.feed, self.side);
        let bytes = &mut self.bytes;
        let received = self.receiver.receive(budget, |meta, datagram| {
            *bytes += datagram.len() as u64;
            if let Some(recorder) = recorder {
                recorder.record(number, meta.source, meta.timestamp, now.utc, datagram);
            }
            let input = Input { feed, side, received: meta.timestamp.utc() };
            channel.handle_packet(now, input, datagram, listener);
        });
        match received {
            Ok(received) => {
                self.datagrams += received.count as u64;
                Ok(received.drained)
            }
            Err(error) => Err(self.error(error)),
        }
    }

    /// What a recording says of the line.
    pub(crate) fn recorded(&self, channel: &str) -> RecordedLine {
        let Self { feed, side, group, .. } = self;
        let code = match feed {
            Feed::Incremental => "I",
            Feed::Instrument => "N",
            Feed::Snapshot => "S",
            _ => "",
        };
        RecordedLine {
            name: format!("{channel}{code}{side}"),
            description: format!("channel {channel}, {feed} feed, side {side}, {group}"),
            group: *group,
        }
    }

    pub(crate) fn statistics(&self) -> LineStatistics {
        LineStatistics {
            feed: self.feed,
            side: self.side,
            group: self.group,
            is_joined: self.is_joined,
            datagrams: self.datagrams,
            bytes: self.bytes,
            receive_buffer: self.receiver.receive_buffer(),
            kernel_drops: self.receiver.dropped(),
            truncated: self.receiver.truncated(),
        }
    }

    #[cold]
    fn error(&self, error: io::Error) -> FeedError {
        FeedError::Socket { feed: self.feed, side: self.side, error }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use hairpin_reactor::Wait;

    use super::*;

    fn line(port: u16, reactor: &mut Reactor) -> Line {
        let group = SocketAddrV4::new(Ipv4Addr::new(239, 192, 77, 1), port);
        let interface = Ipv4Addr::LOCALHOST;
        let group = MulticastGroup { group, interface, sources: &[] };
        let mut line = Line::open((Feed::Incremental, Side::A), group, reactor).unwrap();
        line.join(reactor).unwrap();
        line
    }

    #[test]
    fn a_group_is_left_though_the_reactor_fails() {
        let [mut reactor, mut other] = [(); 2].map(|()| Reactor::new(Wait::Epoll).unwrap());
        let (mut line, _of_other) = (line(27_701, &mut reactor), line(27_702, &mut other));
        assert!(line.receiver.is_joined());
        // This one waits for another socket by that token.
        assert!(line.leave(&mut other).is_err());
        assert!(!line.receiver.is_joined());
    }
}
