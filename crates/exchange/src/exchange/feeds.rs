//! The multicast senders: three feeds on two sides.

use std::io;
use std::net::SocketAddrV4;

use hairpin_endpoint::{Transmit, UdpSender};

use super::counters::ExchangeCounters;
use super::settings::{Addresses, Groups};
use crate::{Feed, MAX_PAYLOAD};

/// Linux's ENOBUFS, for which std has no kind: the queue of the interface is full.
const NO_BUFFER_SPACE: i32 = 105;

/// The senders, and the packet that is being sent.
#[derive(Debug)]
pub(super) struct Feeds {
    pub(super) senders: [[Option<UdpSender>; 2]; 3],
    pub(super) muted: [bool; 2],
    pub(super) packet: Box<[u8; MAX_PAYLOAD]>,
}

impl Feeds {
    pub(super) fn new(addresses: &Addresses) -> io::Result<Self> {
        let sender =
            |group: SocketAddrV4| UdpSender::new(group, addresses.interface, addresses.ttl);
        let pair = |groups: Groups| -> io::Result<[Option<UdpSender>; 2]> {
            Ok([Some(sender(groups.a)?), groups.b.map(sender).transpose()?])
        };
        Ok(Self {
            senders: [
                pair(addresses.incremental)?,
                pair(addresses.instruments)?,
                pair(addresses.snapshots)?,
            ],
            muted: [false; 2],
            packet: Box::new([0; MAX_PAYLOAD]),
        })
    }

    /// Sends the packet on both sides, A first.
    pub(super) fn send(
        &mut self,
        feed: Feed,
        length: usize,
        counters: &mut ExchangeCounters,
    ) -> io::Result<()> {
        let packet = &self.packet[..length];
        for (side, sender) in self.senders[feed as usize].iter_mut().enumerate() {
            let Some(sender) = sender else { continue };
            if self.muted[side] {
                counters.muted_datagrams[side] += 1;
                continue;
            }
            match sender.transmit(length, |buffer| buffer.copy_from_slice(packet)) {
                Ok(()) => {}
                Err(error) if is_full(&error) => counters.lost_datagrams[side] += 1,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(NO_BUFFER_SPACE)
}
