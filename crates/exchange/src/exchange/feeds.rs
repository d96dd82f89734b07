//! The feeds on two sides: multicast senders and TCP connections.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::capture::{RecordedLine, Recorder, RecorderSettings};
use hairpin_endpoint::{TcpListener, Timestamp, Transport, UdpSender};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::{Instant, Now};

use super::counters::ExchangeCounters;
use super::settings::{Addresses, FeedSide, Groups, Multicast};
use super::tcp_side::TcpSide;
use crate::{Feed, FeedFaults, MAX_PAYLOAD, Transmit};

/// Linux's ENOBUFS, for which std has no kind: the queue of the interface is full.
const NO_BUFFER_SPACE: i32 = 105;

/// Bytes of the length that stands before each packet by TCP, little-endian.
const LENGTH_PREFIX: usize = 2;

/// By feed and side.
type Senders = [[Option<UdpSender>; 2]; 4];

/// Whoever takes packets, and the packet that is being sent.
#[derive(Debug)]
pub(super) struct Feeds {
    senders: Senders,
    tcp: [Option<TcpSide>; 2],
    muted: [bool; 2],
    /// Of what goes by multicast, if any are made.
    faults: Option<Box<FeedFaults>>,
    recorder: Option<Recorder>,
    /// The packet, behind the length that it has by TCP.
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
            let mut side = |listener| TcpSide::new(listener, feed, now, reactor);
            tcp = [Some(side(a)?), b.map(side).transpose()?];
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

    /// Where the next packet is written, before it is sent.
    #[inline]
    pub(super) fn packet(&mut self) -> &mut [u8] {
        &mut self.frame[LENGTH_PREFIX..]
    }

    /// Sends the packet on both sides, A first, and there by multicast first.
    #[inline]
    pub(super) fn send(
        &mut self,
        now: Now,
        transmit: &Transmit,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        let &Transmit { feed, length, shows_feed, .. } = transmit;
        // Never longer than the payload of a datagram.
        self.frame[..LENGTH_PREFIX].copy_from_slice(&(length as u16).to_le_bytes());
        let frame = &self.frame[..LENGTH_PREFIX + length];
        for side in FeedSide::ALL {
            let sender = self.senders[feed as usize][side as usize].as_mut();
            let tcp = self.tcp[side as usize].as_mut().filter(|_| shows_feed);
            if self.muted[side as usize] {
                *counters.muted(side) += u64::from(sender.is_some() || tcp.is_some());
                continue;
            }
            if let (Some(sender), Some(recorder)) = (&sender, &mut self.recorder) {
                let (line, packet) = (line(feed, side), &frame[LENGTH_PREFIX..]);
                recorder.record(line, sender.local_address(), Timestamp::None, now.utc, packet);
            }
            if let Some(faults) = &mut self.faults {
                let packet = &frame[LENGTH_PREFIX..];
                let mut outcome = Ok(());
                {
                    let mut send = sending(&mut self.senders, counters, &mut outcome);
                    faults.handle_packet(now.monotonic, (side, feed), packet, &mut send);
                }
                outcome?;
            } else if let Some(sender) = sender {
                send_datagram(sender, &frame[LENGTH_PREFIX..], counters.lost_datagrams(side))?;
            }
            if let Some(tcp) = tcp {
                tcp.send(frame, feed != Feed::Incremental, counters);
            }
        }
        Ok(())
    }

    /// When [`Feeds::tend`] has something to do although nothing arrives.
    pub(super) fn poll_timeout(&self) -> Option<Instant> {
        let faults = self.faults.as_ref().and_then(|faults| faults.poll_timeout());
        self.tcp.iter().flatten().filter_map(TcpSide::poll_timeout).chain(faults).min()
    }

    /// Looks after the connections; see [`TcpSide::tend`].
    #[inline]
    pub(super) fn tend(
        &mut self,
        now: Instant,
        ready: Ready,
        reactor: &mut Reactor,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        if let Some(faults) = &mut self.faults {
            let mut outcome = Ok(());
            faults.handle_timeout(now, &mut sending(&mut self.senders, counters, &mut outcome));
            outcome?;
        }
        self.tcp.iter_mut().flatten().try_for_each(|side| side.tend(now, ready, reactor, counters))
    }

    /// Records what is published by multicast from now on.
    pub(super) fn record(&mut self, settings: &RecorderSettings, channel: &str) -> io::Result<()> {
        let feeds = [Feed::Incremental, Feed::Instruments, Feed::Snapshots, Feed::SnapshotOrders];
        // The last is the one that most groups have not.
        let has_orders = self.senders[Feed::SnapshotOrders as usize].iter().any(Option::is_some);
        let mut lines = Vec::new();
        for &feed in &feeds[..feeds.len() - usize::from(!has_orders)] {
            for side in FeedSide::ALL {
                let sender = self.senders[feed as usize][side as usize].as_ref();
                let group = sender.map(UdpSender::remote_address);
                lines.push(recorded(channel, feed, side, group.unwrap_or(NOWHERE)));
            }
        }
        if lines.iter().all(|line| line.group == NOWHERE) {
            let why = "market data that goes by TCP is not recorded";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        self.recorder = Some(Recorder::start(settings, lines)?);
        Ok(())
    }

    pub(super) fn recorder(&mut self) -> &mut Option<Recorder> {
        &mut self.recorder
    }

    pub(super) fn set_muted(&mut self, side: FeedSide, muted: bool) {
        self.muted[side as usize] = muted;
    }

    pub(super) fn set_faults(&mut self, faults: Option<FeedFaults>) {
        self.faults = faults.map(Box::new);
    }

    pub(super) fn faults(&self) -> Option<&FeedFaults> {
        self.faults.as_deref()
    }

    pub(super) fn source(&self, feed: Feed, side: FeedSide) -> Option<SocketAddrV4> {
        self.senders[feed as usize][side as usize].as_ref().map(UdpSender::local_address)
    }

    pub(super) fn tcp_side(&self, side: FeedSide) -> Option<&TcpSide> {
        self.tcp[side as usize].as_ref()
    }
}

/// The group of a side that is not sent.
const NOWHERE: SocketAddrV4 = SocketAddrV4::new(std::net::Ipv4Addr::UNSPECIFIED, 0);

/// The number of a side of a feed in a recording.
#[inline]
const fn line(feed: Feed, side: FeedSide) -> usize {
    feed as usize * FeedSide::ALL.len() + side as usize
}

/// What a recording says of it.
fn recorded(channel: &str, feed: Feed, side: FeedSide, group: SocketAddrV4) -> RecordedLine {
    let (code, words) = match feed {
        Feed::Incremental => ("I", "incremental"),
        Feed::Instruments => ("N", "instrument"),
        Feed::Snapshots => ("S", "snapshot"),
        Feed::SnapshotOrders => ("SMBO", "order snapshot"),
    };
    let name = format!("{channel}{code}{side:?}");
    let description = format!("channel {channel}, {words} feed, side {side:?}, {group}");
    RecordedLine { name, description, group }
}

fn open(multicast: &Multicast, transport: &Transport) -> io::Result<Senders> {
    let Multicast { interface, ttl, .. } = *multicast;
    let sender = |group| UdpSender::new_by(transport, group, interface, ttl);
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

/// Sends each datagram that it is given by its side and feed; the first error is the outcome.
fn sending<'a>(
    senders: &'a mut Senders,
    counters: &'a mut ExchangeCounters,
    outcome: &'a mut io::Result<()>,
) -> impl FnMut(FeedSide, Feed, &[u8]) + 'a {
    move |side, feed, packet| {
        let sender = senders[feed as usize][side as usize].as_mut();
        if let (Ok(()), Some(sender)) = (&outcome, sender) {
            *outcome = send_datagram(sender, packet, counters.lost_datagrams(side));
        }
    }
}

/// Sends a datagram, or counts it as lost if there is no room for it.
#[inline]
fn send_datagram(
    sender: &mut impl hairpin_endpoint::Transmit,
    packet: &[u8],
    lost: &mut u64,
) -> io::Result<()> {
    match sender.transmit(packet.len(), |buffer| buffer.copy_from_slice(packet)) {
        Err(error) if is_full(&error) => {
            *lost += 1;
            Ok(())
        }
        outcome => outcome,
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(NO_BUFFER_SPACE)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use hairpin_endpoint::memory::datagrams;
    use hairpin_time::Utc;

    use super::*;

    /// A path that has room for one datagram; what its loss counts, and nothing else.
    fn counts_a_loss_only(side: FeedSide, name: &str) {
        let (mut sender, _receiver) = datagrams(1);
        let mut counters = ExchangeCounters::default();
        for _ in 0..2 {
            send_datagram(&mut sender, b"packet", counters.lost_datagrams(side)).unwrap();
        }
        for (other, count) in counters.iter() {
            assert_eq!(count, u64::from(other == name), "{other}");
        }
    }

    #[test]
    fn counts_lost_datagrams_a_only() {
        counts_a_loss_only(FeedSide::A, "lost_datagrams_a");
    }

    #[test]
    fn counts_lost_datagrams_b_only() {
        counts_a_loss_only(FeedSide::B, "lost_datagrams_b");
    }

    #[test]
    fn what_does_not_show_its_feed_stays_away_from_tcp() {
        let local = SocketAddrV4::new(std::net::Ipv4Addr::LOCALHOST, 0);
        let tcp = Some(crate::TcpFeed::new(local, local));
        let addresses = Addresses { multicast: None, tcp, gateway: local };
        let (now, mut counters) = (Instant::ZERO, ExchangeCounters::default());
        let mut reactor = Reactor::new(hairpin_reactor::Wait::Poll).unwrap();
        let mut feeds = Feeds::new(&addresses, &Transport::Kernel, now, &mut reactor).unwrap();
        let address = feeds.tcp_side(FeedSide::A).unwrap().address();
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        while counters.feed_connections == 0 {
            let ready = reactor.wait(now, None).unwrap();
            feeds.tend(now, ready, &mut reactor, &mut counters).unwrap();
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

    #[test]
    fn a_full_interface_is_no_reason_to_stop() {
        assert!(is_full(&io::Error::from_raw_os_error(NO_BUFFER_SPACE)));
        assert!(!is_full(&io::ErrorKind::NetworkUnreachable.into()));
    }
}
