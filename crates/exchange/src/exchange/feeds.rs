//! The three feeds on two sides: multicast senders and TCP connections.

use std::io;
use std::net::SocketAddrV4;
use std::ops::Range;

use hairpin_cme_codecs::mdp3::AdminHeartbeat12;
use hairpin_endpoint::{TcpListener, Transmit, UdpSender};
use hairpin_reactor::{Reactor, Ready};
use hairpin_time::Instant;

use super::counters::ExchangeCounters;
use super::settings::{Addresses, FeedSide, Groups, Multicast};
use super::tcp_side::TcpSide;
use crate::{Feed, MAX_PAYLOAD};

/// Linux's ENOBUFS, for which std has no kind: the queue of the interface is full.
const NO_BUFFER_SPACE: i32 = 105;

/// Where the first message of a packet has its template: behind the packet's header, MsgSize and
/// the length of its block.
const TEMPLATE: Range<usize> = 16..18;

/// Bytes of the length that stands before each packet by TCP, little-endian.
const LENGTH_PREFIX: usize = 2;

/// Whoever takes packets, and the packet that is being sent.
#[derive(Debug)]
pub(super) struct Feeds {
    senders: [[Option<UdpSender>; 2]; 3],
    tcp: [Option<TcpSide>; 2],
    muted: [bool; 2],
    /// The packet, behind the length that it has by TCP.
    frame: Box<[u8; LENGTH_PREFIX + MAX_PAYLOAD]>,
}

impl Feeds {
    pub(super) fn new(
        addresses: &Addresses,
        now: Instant,
        reactor: &mut Reactor,
    ) -> io::Result<Self> {
        let senders = addresses.multicast.as_ref().map(senders).transpose()?;
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
        feed: Feed,
        length: usize,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        // Never longer than the payload of a datagram.
        self.frame[..LENGTH_PREFIX].copy_from_slice(&(length as u16).to_le_bytes());
        let frame = &self.frame[..LENGTH_PREFIX + length];
        let goes_by_tcp = goes_by_tcp(feed, &frame[LENGTH_PREFIX..]);
        for side in FeedSide::ALL {
            let sender = self.senders[feed as usize][side as usize].as_mut();
            let tcp = self.tcp[side as usize].as_mut().filter(|_| goes_by_tcp);
            if self.muted[side as usize] {
                *counters.muted(side) += u64::from(sender.is_some() || tcp.is_some());
                continue;
            }
            if let Some(sender) = sender {
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
        self.tcp.iter().flatten().filter_map(TcpSide::poll_timeout).min()
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
        self.tcp.iter_mut().flatten().try_for_each(|side| side.tend(now, ready, reactor, counters))
    }

    pub(super) fn set_muted(&mut self, side: FeedSide, muted: bool) {
        self.muted[side as usize] = muted;
    }

    pub(super) fn source(&self, feed: Feed, side: FeedSide) -> Option<SocketAddrV4> {
        self.senders[feed as usize][side as usize].as_ref().map(UdpSender::local_address)
    }

    pub(super) fn tcp_side(&self, side: FeedSide) -> Option<&TcpSide> {
        self.tcp[side as usize].as_ref()
    }
}

fn senders(multicast: &Multicast) -> io::Result<[[Option<UdpSender>; 2]; 3]> {
    let sender = |group: SocketAddrV4| UdpSender::new(group, multicast.interface, multicast.ttl);
    let pair = |groups: Groups| -> io::Result<[Option<UdpSender>; 2]> {
        Ok([Some(sender(groups.a)?), groups.b.map(sender).transpose()?])
    };
    Ok([pair(multicast.incremental)?, pair(multicast.instruments)?, pair(multicast.snapshots)?])
}

/// Whether a packet goes by TCP, where its first message tells which feed it is of: a heartbeat is
/// the incremental feed's there, so that of an empty loop of snapshots stays away.
fn goes_by_tcp(feed: Feed, packet: &[u8]) -> bool {
    feed == Feed::Incremental
        || packet.get(TEMPLATE) != Some(&AdminHeartbeat12::TEMPLATE_ID.to_le_bytes())
}

/// Sends a datagram, or counts it as lost if there is no room for it.
#[inline]
fn send_datagram(sender: &mut impl Transmit, packet: &[u8], lost: &mut u64) -> io::Result<()> {
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
    use hairpin_endpoint::memory::datagrams;

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
    fn heartbeats_of_a_loop_do_not_go_by_tcp() {
        let packet = |template: u8| [[0; 16].as_slice(), &[template, 0, 1, 0, 13, 0]].concat();
        let goes = [(Feed::Incremental, 12), (Feed::Snapshots, 52), (Feed::Instruments, 54)];
        for (feed, template) in goes {
            assert!(goes_by_tcp(feed, &packet(template)), "{feed:?}");
        }
        assert!(!goes_by_tcp(Feed::Snapshots, &packet(12)));
    }

    #[test]
    fn a_full_interface_is_no_reason_to_stop() {
        assert!(is_full(&io::Error::from_raw_os_error(NO_BUFFER_SPACE)));
        assert!(!is_full(&io::ErrorKind::NetworkUnreachable.into()));
    }
}
