//! The feeds on two lines: multicast senders and TCP connections.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::capture::{RecordedLine, Recorder, RecorderSettings};
use hairpin_endpoint::{TcpListener, Timestamp, Transport, UdpSender};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

use super::counters::ExchangeCounters;
use super::settings::{Addresses, FeedLine, Groups, Multicast};
use super::tcp_line::TcpLine;
use crate::{Feed, FeedFaults, MAX_PAYLOAD, Transmit};

/// Bytes of the little-endian length prefix of each packet on TCP.
const LENGTH_PREFIX: usize = 2;

/// The multicast senders, indexed by feed and line.
type Senders = [[Option<UdpSender>; 2]; 4];

/// All receivers of packets, and the packet being sent.
#[derive(Debug)]
pub(super) struct Feeds {
    senders: Senders,
    tcp: [Option<TcpLine>; 2],
    muted: [bool; 2],
    /// The faults injected into multicast packets, if any.
    faults: Option<Box<FeedFaults>>,
    recorder: Option<Recorder>,
    /// The packet, after its TCP length prefix.
    frame: Box<[u8; LENGTH_PREFIX + MAX_PAYLOAD]>,
}

impl Feeds {
    pub(super) fn new(
        addresses: &Addresses,
        transport: &Transport,
        now: Instant,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let senders = addresses.multicast.as_ref();
        let senders = senders.map(|multicast| open(multicast, transport)).transpose()?;
        let mut tcp = [None, None];
        if let Some(feed) = &addresses.tcp {
            let a = TcpListener::bind(feed.a)?;
            let b = feed.b.map(TcpListener::bind).transpose()?;
            let mut line = |listener| TcpLine::new(listener, feed, now, reactor);
            tcp = [Some(line(a)?), b.map(line).transpose()?];
        }
        Ok(Self {
            senders: senders.unwrap_or_default(),
            tcp,
            muted: [false; 2],
            faults: None,
            recorder: None,
            frame: Box::new([0; LENGTH_PREFIX + MAX_PAYLOAD]),
        })
    }

    /// Returns the buffer for the next packet. Write it before [`Feeds::send`].
    #[inline]
    pub(super) fn packet(&mut self) -> &mut [u8] {
        &mut self.frame[LENGTH_PREFIX..]
    }

    /// Sends the packet on both lines, A first. On each line, multicast is first.
    #[inline]
    pub(super) fn send(
        &mut self,
        now: Now,
        transmit: &Transmit,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        let &Transmit { feed, length, shows_feed, .. } = transmit;
        // The length is at most the payload of a datagram.
        self.frame[..LENGTH_PREFIX].copy_from_slice(&(length as u16).to_le_bytes());
        let frame = &self.frame[..LENGTH_PREFIX + length];
        for line in FeedLine::ALL {
            let sender = self.senders[feed as usize][line as usize].as_mut();
            let tcp = self.tcp[line as usize].as_mut().filter(|_| shows_feed);
            if self.muted[line as usize] {
                *counters.muted(line) += u64::from(sender.is_some() || tcp.is_some());
                continue;
            }
            if let (Some(sender), Some(recorder)) = (&sender, &mut self.recorder) {
                let (index, packet) = (recording_index(feed, line), &frame[LENGTH_PREFIX..]);
                recorder.record(index, sender.local_address(), Timestamp::None, now.utc, packet);
            }
            if let Some(faults) = &mut self.faults {
                let packet = &frame[LENGTH_PREFIX..];
                let mut outcome = Ok(());
                {
                    let mut send = send_to_lines(&mut self.senders, counters, &mut outcome);
                    faults.handle_packet(now.monotonic, (line, feed), packet, &mut send);
                }
                outcome?;
            } else if let Some(sender) = sender {
                send_datagram(sender, &frame[LENGTH_PREFIX..], counters.lost_datagrams(line))?;
            }
            if let Some(tcp) = tcp {
                tcp.send(frame, feed != Feed::Incremental, counters);
            }
        }
        Ok(())
    }

    /// Returns the time at which [`Feeds::poll`] has work to do even if nothing arrives.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let faults = self.faults.as_ref().and_then(|faults| faults.poll_timeout());
        self.tcp.iter().flatten().filter_map(TcpLine::poll_timeout).chain(faults).min()
    }

    /// Serves the TCP connections; see [`TcpLine::poll`]. Sends held-back packets that are due.
    #[inline]
    pub(super) fn poll(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        if let Some(faults) = &mut self.faults {
            let mut outcome = Ok(());
            faults
                .handle_timeout(now, &mut send_to_lines(&mut self.senders, counters, &mut outcome));
            outcome?;
        }
        self.tcp.iter_mut().flatten().try_for_each(|line| line.poll(now, ready, reactor, counters))
    }

    /// Records the multicast packets from now on.
    pub(super) fn record(&mut self, settings: &RecorderSettings, channel: &str) -> io::Result<()> {
        let feeds = [Feed::Incremental, Feed::Instruments, Feed::Snapshots, Feed::SnapshotOrders];
        // Most groups do not have the last feed.
        let has_orders = self.senders[Feed::SnapshotOrders as usize].iter().any(Option::is_some);
        let mut lines = Vec::new();
        for &feed in &feeds[..feeds.len() - usize::from(!has_orders)] {
            for line in FeedLine::ALL {
                let sender = self.senders[feed as usize][line as usize].as_ref();
                let group = sender.map(UdpSender::remote_address);
                lines.push(recorded_line(channel, feed, line, group.unwrap_or(NO_GROUP)));
            }
        }
        if lines.iter().all(|line| line.group == NO_GROUP) {
            let cause = "cannot record market data: all feeds use TCP";
            return Err(io::Error::new(io::ErrorKind::Unsupported, cause));
        }
        self.recorder = Some(Recorder::start(settings, lines)?);
        Ok(())
    }

    pub(super) fn recorder(&mut self) -> &mut Option<Recorder> {
        &mut self.recorder
    }

    pub(super) fn set_muted(&mut self, line: FeedLine, muted: bool) {
        self.muted[line as usize] = muted;
    }

    pub(super) fn set_faults(&mut self, faults: Option<FeedFaults>) {
        self.faults = faults.map(Box::new);
    }

    pub(super) fn faults(&self) -> Option<&FeedFaults> {
        self.faults.as_deref()
    }

    pub(super) fn source(&self, feed: Feed, line: FeedLine) -> Option<SocketAddrV4> {
        self.senders[feed as usize][line as usize].as_ref().map(UdpSender::local_address)
    }

    pub(super) fn tcp_line(&self, line: FeedLine) -> Option<&TcpLine> {
        self.tcp[line as usize].as_ref()
    }
}

/// The address of a line without multicast.
const NO_GROUP: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::UNSPECIFIED, 0);

/// Returns the index of a feed line in a recording.
#[inline]
const fn recording_index(feed: Feed, line: FeedLine) -> usize {
    feed as usize * FeedLine::ALL.len() + line as usize
}

/// Describes a feed line for a recording.
fn recorded_line(channel: &str, feed: Feed, line: FeedLine, group: SocketAddrV4) -> RecordedLine {
    let (code, label) = match feed {
        Feed::Incremental => ("I", "incremental"),
        Feed::Instruments => ("N", "instrument"),
        Feed::Snapshots => ("S", "snapshot"),
        Feed::SnapshotOrders => ("SMBO", "order snapshot"),
    };
    let name = format!("{channel}{code}{line:?}");
    let description = format!("channel {channel}, {label} feed, line {line:?}, {group}");
    RecordedLine { name, description, group }
}

fn open(multicast: &Multicast, transport: &Transport) -> io::Result<Senders> {
    let Multicast { interface, ttl, .. } = *multicast;
    let sender = |group| UdpSender::with_transport(transport, group, interface, ttl);
    let pair = |groups: Groups| -> io::Result<[Option<UdpSender>; 2]> {
        Ok([Some(sender(groups.a)?), groups.b.map(sender).transpose()?])
    };
    Ok([
        pair(multicast.incremental)?,
        pair(multicast.instruments)?,
        pair(multicast.snapshots)?,
        multicast.order_snapshots.map_or(Ok([None, None]), pair)?,
    ])
}

/// Returns a closure that sends a datagram on its line and feed. The first error is stored in
/// `outcome`, and later datagrams are dropped.
fn send_to_lines<'a>(
    senders: &'a mut Senders,
    counters: &'a mut ExchangeCounters,
    outcome: &'a mut io::Result<()>,
) -> impl FnMut(FeedLine, Feed, &[u8]) + 'a {
    move |line, feed, packet| {
        let sender = senders[feed as usize][line as usize].as_mut();
        if let (Ok(()), Some(sender)) = (&outcome, sender) {
            *outcome = send_datagram(sender, packet, counters.lost_datagrams(line));
        }
    }
}

/// Sends a datagram, or counts it as lost if this host has no room for it or no path.
#[inline]
fn send_datagram(
    sender: &mut impl hairpin_endpoint::Transmit,
    packet: &[u8],
    lost: &mut u64,
) -> io::Result<()> {
    match sender.transmit(packet.len(), |buffer| buffer.copy_from_slice(packet)) {
        Err(error) if hairpin_endpoint::is_lost(&error) => {
            *lost += 1;
            Ok(())
        }
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use hairpin_endpoint::memory::datagrams;
    use hairpin_time::Utc;

    use super::*;

    /// Sends two datagrams to a queue of one, and checks that only counter `name` is incremented.
    fn assert_counts_loss(line: FeedLine, name: &str) {
        let (mut sender, _receiver) = datagrams(1);
        let mut counters = ExchangeCounters::default();
        for _ in 0..2 {
            send_datagram(&mut sender, b"packet", counters.lost_datagrams(line)).unwrap();
        }
        for (other, count) in counters.iter() {
            assert_eq!(count, u64::from(other == name), "{other}");
        }
    }

    #[test]
    fn counts_lost_datagrams_a_only() {
        assert_counts_loss(FeedLine::A, "lost_datagrams_a");
    }

    #[test]
    fn counts_lost_datagrams_b_only() {
        assert_counts_loss(FeedLine::B, "lost_datagrams_b");
    }

    #[test]
    fn tcp_skips_packets_without_feed_id() {
        let local = SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 0);
        let tcp = Some(crate::TcpFeed::new(local, local));
        let addresses = Addresses { multicast: None, tcp, gateway: local };
        let (now, mut counters) = (Instant::ZERO, ExchangeCounters::default());
        let mut reactor = Reactor::new(hairpin_reactor::Wait::Poll).unwrap();
        let mut feeds = Feeds::new(&addresses, &Transport::Kernel, now, &mut reactor).unwrap();
        let address = feeds.tcp_line(FeedLine::A).unwrap().address();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        while counters.feed_connections == 0 {
            let ready = reactor.wait(now, None).unwrap();
            feeds.poll(now, ready, &mut reactor, &mut counters).unwrap();
        }
        for (sequence, shows_feed) in [(1, false), (2, true)] {
            feeds.packet()[0] = sequence as u8;
            let feed = Feed::Snapshots;
            let transmit = Transmit { feed, length: 1, sequence, event: None, shows_feed };
            feeds.send(Now { monotonic: now, utc: Utc::EPOCH }, &transmit, &mut counters).unwrap();
        }
        let mut frame = [0; 3];
        stream.read_exact(&mut frame).unwrap();
        assert_eq!(frame, [1, 0, 2]);
    }
}
