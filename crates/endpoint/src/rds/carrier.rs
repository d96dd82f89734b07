//! The carrier of packets below the protocol.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};

use hairpin_rds::Transmit;

use super::carrier_counters::CarrierCounters;
use super::ethernet_carrier::EthernetCarrier;
use super::kernel_carrier::KernelCarrier;
use super::xdp_carrier::XdpCarrier;
use crate::Received;

/// Sends packets to peers and receives packets from them.
pub(crate) trait Carrier: AsFd {
    /// Checks that there is a path to a new peer.
    ///
    /// # Errors
    /// The kernel's, such as `NetworkUnreachable`.
    fn check_path(&mut self, to: SocketAddr) -> io::Result<()>;

    /// Sends a packet, at the latest with the next [`flush`](Self::flush) if `has_more` is `true`.
    /// The packet is lost if the network has no room for it.
    ///
    /// # Errors
    /// One of `is_full` if this host has no room for the packet. Another error may concern an
    /// earlier packet or the path; the packet was not sent.
    fn transmit(&mut self, transmit: &Transmit<'_>) -> io::Result<()>;

    /// Sends the packets that waited for more.
    ///
    /// # Errors
    /// The kernel's.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Delivers up to `budget` packets with their senders. Never blocks.
    ///
    /// # Errors
    /// The kernel's.
    fn receive(&mut self, budget: usize, on: impl FnMut(IpAddr, &[u8])) -> io::Result<Received>;

    /// Returns `true` if [`icmp_errors`](Self::icmp_errors) may have some.
    fn has_icmp_errors(&mut self) -> bool {
        false
    }

    /// Calls `on` with each ICMP error: the peer, `true` if no socket is bound there, and the
    /// quoted packet.
    fn icmp_errors(&mut self, on: impl FnMut(SocketAddr, bool, &[u8]));

    /// See [`crate::Source::set_spinning`].
    fn set_spinning(&mut self, is_spinning: bool);

    /// Returns the counters.
    fn counters(&self) -> &CarrierCounters;

    /// Returns the counters, to count an error.
    fn counters_mut(&mut self) -> &mut CarrierCounters;

    /// Returns one line that names the carrier.
    fn describe(&self) -> String;
}

/// A carrier of any kind.
#[derive(Debug)]
pub(crate) enum AnyCarrier {
    Kernel(KernelCarrier),
    Xdp(XdpCarrier),
    Ethernet(EthernetCarrier),
}

/// Dispatches to the carrier.
macro_rules! dispatch {
    ($carrier:expr, $it:ident => $what:expr) => {
        match $carrier {
            AnyCarrier::Kernel($it) => $what,
            AnyCarrier::Xdp($it) => $what,
            AnyCarrier::Ethernet($it) => $what,
        }
    };
}

impl Carrier for AnyCarrier {
    fn check_path(&mut self, to: SocketAddr) -> io::Result<()> {
        dispatch!(self, it => it.check_path(to))
    }

    #[inline]
    fn transmit(&mut self, transmit: &Transmit<'_>) -> io::Result<()> {
        dispatch!(self, it => it.transmit(transmit))
    }

    #[inline]
    fn flush(&mut self) -> io::Result<()> {
        dispatch!(self, it => it.flush())
    }

    #[inline]
    fn receive(&mut self, budget: usize, on: impl FnMut(IpAddr, &[u8])) -> io::Result<Received> {
        dispatch!(self, it => it.receive(budget, on))
    }

    fn has_icmp_errors(&mut self) -> bool {
        dispatch!(self, it => it.has_icmp_errors())
    }

    fn icmp_errors(&mut self, on: impl FnMut(SocketAddr, bool, &[u8])) {
        dispatch!(self, it => it.icmp_errors(on));
    }

    fn set_spinning(&mut self, is_spinning: bool) {
        dispatch!(self, it => it.set_spinning(is_spinning));
    }

    fn counters(&self) -> &CarrierCounters {
        dispatch!(self, it => it.counters())
    }

    fn counters_mut(&mut self) -> &mut CarrierCounters {
        dispatch!(self, it => it.counters_mut())
    }

    fn describe(&self) -> String {
        dispatch!(self, it => it.describe())
    }
}

impl AsFd for AnyCarrier {
    fn as_fd(&self) -> BorrowedFd<'_> {
        dispatch!(self, it => it.as_fd())
    }
}
