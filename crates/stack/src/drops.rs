//! Frames that the filter has redirected and no socket receives: counters, and the sockets that
//! have received nothing yet.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use hairpin_netstack::{Dropped, Kernel, Verdict};
use hairpin_wire::{EthernetHeader, Ipv4Header, Ipv6Header, UdpHeader, VlanTag};
use hairpin_xdp::Statistics;

/// The frames dropped for a socket that has received nothing, after which the kernel receives its
/// traffic again.
pub(crate) const GIVEN_UP_AFTER: u32 = 8;
/// The most sockets without a datagram that are remembered; the oldest is forgotten.
const WAITING_MAX: usize = 64;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident, $variant:ident, $text:literal,)*) => {
        /// The cause of dropping a frame that the filter has redirected.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DropCause {
            $($(#[$doc])* $variant,)*
        }

        impl fmt::Display for DropCause {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Self::$variant => $text,)*
                })
            }
        }

        /// The counters of redirected frames that no socket has received, of UDP and raw frames.
        /// [`TcpCounters`](crate::TcpCounters) has those of TCP.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct DropCounters {
            $($(#[$doc])* pub $name: u64,)*
            /// Frames dropped by the kernel: the receive ring was full.
            pub receive_ring_full: u64,
            /// Frames dropped by the kernel: no frame of the UMEM was free.
            pub fill_ring_empty: u64,
            /// Frames dropped by the kernel for other reasons, for example too long ones.
            pub receive_dropped: u64,
        }

        const CAUSES: usize = [$(DropCause::$variant),*].len();

        impl DropCounters {
            /// Iterates over the counters with their names, in declaration order.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [
                    $((stringify!($name), self.$name),)*
                    ("receive_ring_full", self.receive_ring_full),
                    ("fill_ring_empty", self.fill_ring_empty),
                    ("receive_dropped", self.receive_dropped),
                ]
                .into_iter()
            }

            fn from_counts(counts: &[u64; CAUSES]) -> Self {
                Self {
                    $($name: counts[DropCause::$variant as usize],)*
                    ..Self::default()
                }
            }
        }
    };
}

counters! {
    /// Frames dropped: a length or version is invalid.
    malformed, Malformed, "a length or version is invalid",
    /// Frames dropped: a checksum is neither valid nor the partial sum of a local sender.
    wrong_checksum, Checksum, "wrong checksum",
    /// Frames dropped: no wire may carry the source or destination address.
    martian, Martian, "martian source or destination address",
    /// Frames dropped: the kernel has no route back to the source, which `rp_filter` requires.
    no_reverse_path, NoReversePath, "no route back to the source, which rp_filter requires",
    /// Frames dropped: for another Ethernet address.
    other_mac, OtherMac, "the Ethernet destination is another address",
    /// Frames dropped: a VLAN that the stack does not serve.
    other_vlan, OtherVlan, "unknown VLAN",
    /// Frames dropped: IP fragments, which the filter passes to the kernel.
    fragments, Fragment, "IP fragment",
    /// Frames dropped: IP options, which the filter passes to the kernel.
    ip_options, Options, "IP options",
    /// Frames dropped: neither UDP nor a connection that is taken over.
    other_protocol, OtherProtocol, "neither UDP nor a known connection",
    /// Frames dropped: the socket was closed meanwhile.
    no_socket, NoSocket, "no socket",
    /// Frames dropped: no member of the group accepts the source.
    unwanted, Unwanted, "no member of the group accepts the source",
    /// Frames dropped: longer than a frame of the UMEM, and not TCP.
    too_long, TooLong, "longer than a frame of the UMEM",
    /// Frames dropped: the socket did not read, or all frames of the UMEM were in use.
    queue_full, QueueFull, "the socket does not read",
}

impl DropCause {
    /// Returns the cause of a verdict without a recipient.
    pub(crate) fn from_verdict(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Kernel(Kernel::OtherDevice) => Self::OtherVlan,
            Verdict::Kernel(Kernel::OtherMac) => Self::OtherMac,
            Verdict::Kernel(Kernel::OtherProtocol) => Self::OtherProtocol,
            Verdict::Kernel(Kernel::Fragment) => Self::Fragment,
            Verdict::Kernel(Kernel::Options) => Self::Options,
            Verdict::Dropped(Dropped::Malformed) => Self::Malformed,
            Verdict::Dropped(Dropped::Checksum) => Self::Checksum,
            Verdict::Dropped(Dropped::Martian) => Self::Martian,
            Verdict::Dropped(Dropped::Unwanted) => Self::Unwanted,
            _ => Self::NoSocket,
        }
    }
}

/// A local address or group of which frames were dropped before the first datagram.
#[derive(Debug)]
struct Waiting {
    address: SocketAddr,
    cause: DropCause,
    frames: u32,
    /// The frames at the last report.
    reported: u32,
}

/// A report about dropped frames of a socket that has received nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DropReport {
    pub(crate) address: SocketAddr,
    pub(crate) cause: DropCause,
    /// `true` for the first report of the address.
    pub(crate) is_first: bool,
    /// `true` if the kernel should receive the traffic again.
    pub(crate) is_lost: bool,
}

/// The counters of dropped frames, and the addresses to report.
#[derive(Debug, Default)]
pub(crate) struct Drops {
    counts: [u64; CAUSES],
    waiting: Vec<Waiting>,
}

impl Drops {
    /// Counts a frame.
    #[cold]
    pub(crate) fn count(&mut self, cause: DropCause) {
        self.counts[cause as usize] += 1;
    }

    /// Records a dropped frame to an address that has received nothing. Returns `true` if there is
    /// something to report.
    #[cold]
    pub(crate) fn record_waiting(&mut self, address: SocketAddr, cause: DropCause) -> bool {
        let at = self.waiting.iter().position(|waiting| waiting.address == address);
        let at = at.unwrap_or_else(|| {
            if self.waiting.len() == WAITING_MAX {
                self.waiting.remove(0);
            }
            self.waiting.push(Waiting { address, cause, frames: 0, reported: 0 });
            self.waiting.len() - 1
        });
        let waiting = &mut self.waiting[at];
        (waiting.cause, waiting.frames) = (cause, waiting.frames.saturating_add(1));
        [1, GIVEN_UP_AFTER].contains(&waiting.frames)
    }

    /// Forgets an address, whose next socket starts again.
    pub(crate) fn forget(&mut self, port: u16) {
        self.waiting.retain(|waiting| waiting.address.port() != port);
    }

    /// Takes the reports that are due.
    pub(crate) fn take_reports(&mut self) -> Vec<DropReport> {
        let mut reports = Vec::new();
        for waiting in &mut self.waiting {
            let &mut Waiting { address, cause, frames, reported } = waiting;
            let (is_first, is_lost) =
                (reported == 0, reported < GIVEN_UP_AFTER && frames >= GIVEN_UP_AFTER);
            if is_first || is_lost {
                reports.push(DropReport { address, cause, is_first, is_lost });
            }
            waiting.reported = frames;
        }
        reports
    }

    /// Returns the counters, with those of the kernel.
    pub(crate) fn counters(&self, kernel: impl Iterator<Item = Statistics>) -> DropCounters {
        let mut counters = DropCounters::from_counts(&self.counts);
        for statistics in kernel {
            counters.receive_ring_full += statistics.receive_ring_full;
            counters.fill_ring_empty += statistics.fill_ring_empty;
            counters.receive_dropped +=
                statistics.receive_dropped.saturating_sub(statistics.fill_ring_empty);
        }
        counters
    }
}

/// Returns source and destination of a frame with UDP or TCP, as far as they can be read.
pub(crate) fn endpoints(frame: &[u8]) -> Option<[SocketAddr; 2]> {
    let (ethernet, mut packet) = EthernetHeader::split(frame).ok()?;
    if ethernet.ether_type().is_vlan() {
        packet = VlanTag::split(packet).ok()?.1;
    }
    let (source, destination, rest): (IpAddr, IpAddr, _) = match packet.first()? >> 4 {
        4 => {
            let (ip, _) = Ipv4Header::split(packet).ok()?;
            let rest = packet.get(ip.header_length()..)?;
            (ip.source().into(), ip.destination().into(), rest)
        }
        6 => {
            let (ip, rest) = Ipv6Header::split(packet).ok()?;
            (ip.source().into(), ip.destination().into(), rest)
        }
        _ => return None,
    };
    let (ports, _) = UdpHeader::split(rest).ok()?;
    let source = SocketAddr::new(source, ports.source_port());
    Some([source, SocketAddr::new(destination, ports.destination_port())])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([10, 0, 0, 1], port))
    }

    #[test]
    fn first_drop_and_loss_are_reported_once_each() {
        let mut drops = Drops::default();
        assert!(drops.record_waiting(address(7), DropCause::Checksum));
        let report = |is_first, is_lost| {
            let (address, cause) = (address(7), DropCause::Checksum);
            [DropReport { address, cause, is_first, is_lost }]
        };
        assert_eq!(drops.take_reports(), report(true, false));
        for _ in 2..GIVEN_UP_AFTER {
            assert!(!drops.record_waiting(address(7), DropCause::Checksum));
            assert!(drops.take_reports().is_empty());
        }
        assert!(drops.record_waiting(address(7), DropCause::Checksum));
        assert_eq!(drops.take_reports(), report(false, true));
        assert!(!drops.record_waiting(address(7), DropCause::Checksum));
        assert!(drops.take_reports().is_empty());
        drops.forget(7);
        for number in 1..=GIVEN_UP_AFTER {
            let is_due = drops.record_waiting(address(7), DropCause::Checksum);
            assert_eq!(is_due, [1, GIVEN_UP_AFTER].contains(&number));
        }
        assert_eq!(drops.take_reports(), report(true, true), "reported late");
    }

    #[test]
    fn addresses_are_bounded() {
        let mut drops = Drops::default();
        for port in 1..=2 * WAITING_MAX as u16 {
            drops.record_waiting(address(port), DropCause::Malformed);
        }
        assert_eq!(drops.take_reports().len(), WAITING_MAX);
    }

    #[test]
    fn counters_have_the_causes_and_the_kernels() {
        let mut drops = Drops::default();
        drops.count(DropCause::Malformed);
        drops.count(DropCause::QueueFull);
        drops.count(DropCause::QueueFull);
        let kernel = Statistics { receive_dropped: 5, fill_ring_empty: 3, ..Statistics::default() };
        let counters = drops.counters([kernel, kernel].into_iter());
        let found: Vec<_> = counters.iter().filter(|(_, count)| *count > 0).collect();
        let expected =
            [("malformed", 1), ("queue_full", 2), ("fill_ring_empty", 6), ("receive_dropped", 4)];
        assert_eq!(found, expected);
    }

    #[test]
    fn endpoints_are_read_from_damaged_frames() {
        let mut frame = vec![0_u8; 14];
        frame[12..].copy_from_slice(&[8, 0]);
        frame.extend([0x45, 9, 0xFF, 0xFF, 0, 0, 0, 0, 64, 17, 0xAA, 0xBB]);
        frame.extend([10, 0, 0, 2, 10, 0, 0, 1, 0, 9, 0, 7, 0xFF, 0xFF, 1, 2]);
        let expected = [SocketAddr::from(([10, 0, 0, 2], 9)), address(7)];
        assert_eq!(endpoints(&frame), Some(expected));
        let tagged = [&frame[..12], &[0x81, 0, 0, 5], &frame[12..]].concat();
        assert_eq!(endpoints(&tagged), Some(expected));
        assert!((0..frame.len()).all(|length| endpoints(&frame[..length]).is_none()));
    }
}
