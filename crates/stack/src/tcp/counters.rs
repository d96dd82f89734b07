//! The counters of a stack's TCP connections.

use std::sync::atomic::{AtomicU64, Ordering};

use hairpin_tcp::Reason;

use super::takeover::{TakeoverError, feature};
use crate::DropCause;

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident, $variant:ident,)*) => {
        /// The counters of a stack's TCP connections.
        #[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct TcpCounters {
            /// Connections that bypass the kernel now.
            pub bypassing: u64,
            /// Frames that the kernel dropped, because they were longer than a frame of the UMEM.
            pub long_frames: u64,
            $($(#[$doc])* pub $name: u64,)*
        }

        /// The index of a counter.
        #[derive(Debug, Clone, Copy)]
        #[repr(usize)]
        pub(super) enum Count {
            $($variant,)*
        }

        const COUNT: usize = [$(Count::$variant),*].len();

        impl TcpCounters {
            /// Iterates over the counters with their names, in declaration order.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                let gauges = [("bypassing", self.bypassing), ("long_frames", self.long_frames)];
                gauges.into_iter().chain([$((stringify!($name), self.$name)),*])
            }
        }

        impl Counts {
            pub(super) fn read(&self, bypassing: u64) -> TcpCounters {
                let read = |count: Count| self.0[count as usize].load(Ordering::Relaxed);
                TcpCounters { bypassing, long_frames: 0, $($name: read(Count::$variant),)* }
            }
        }
    };
}

counters! {
    /// Takeovers.
    taken_over, TakenOver,
    /// Handbacks.
    handed_back, HandedBack,
    /// Handbacks that the owner requested.
    requested, Requested,
    /// Handbacks because the owner did not poll for 100 ms.
    abandoned, Abandoned,
    /// Handbacks of the connection idle longest, because another one needed its place.
    displaced, Displaced,
    /// Handbacks because the peer closed its side.
    ended, Ended,
    /// Handbacks because the peer reset the connection.
    reset, Reset,
    /// Handbacks because of SYN, urgent data or an unknown option.
    unusual, Unusual,
    /// Handbacks after two retransmission timeouts in a row.
    timed_out, TimedOut,
    /// Handbacks because the peer's window was closed for 5 ms.
    window_closed, WindowClosed,
    /// Handbacks because the path changed.
    path_changed, PathChanged,
    /// Handbacks because of bulk transfer.
    bulk, Bulk,
    /// Handbacks because the program wrote to the kernel's socket by calls that were not seen.
    written_beside, WrittenBeside,
    /// Bytes that were found in the kernel's socket at handbacks, and sent after all others.
    beside_bytes, BesideBytes,
    /// Handbacks because the keeper had ended.
    keeper_lost, KeeperLost,
    /// Takeovers refused for now: sent data were not acknowledged.
    unacknowledged, Unacknowledged,
    /// Takeovers refused for now: received data were not read.
    unread, Unread,
    /// Takeovers refused for now: no frame of the connection has arrived since the interface was
    /// opened.
    unseen, Unseen,
    /// Takeovers refused for now: data were received out of order.
    out_of_order, OutOfOrder,
    /// Takeovers refused: not established, or one side has closed.
    not_established, NotEstablished,
    /// Takeovers refused: ECN.
    ecn, Ecn,
    /// Takeovers refused: MPTCP.
    mptcp, Mptcp,
    /// Takeovers refused: TCP-AO.
    authentication, Authentication,
    /// Takeovers refused: an upper layer protocol, such as kernel TLS.
    upper_layer, UpperLayer,
    /// Takeovers refused: timestamps in microseconds.
    microseconds, Microseconds,
    /// Takeovers refused: `TCP_USER_TIMEOUT`.
    user_timeout, UserTimeout,
    /// Takeovers refused: a keep-alive within a minute.
    keepalive, Keepalive,
    /// Takeovers refused: `SO_BINDTODEVICE`.
    bound_to_device, BoundToDevice,
    /// Takeovers refused: the path does not bypass the kernel.
    no_path, NoPath,
    /// Takeovers refused: all connections taken over were in use.
    full, Full,
    /// Takeovers refused: the receive window exceeds a ring.
    window, Window,
    /// Takeovers refused: the filter is full.
    filter, Filter,
    /// Takeovers refused: a rule of the host applies, of a firewall for example.
    host_rule, HostRule,
    /// Takeovers refused: the keeper had ended.
    no_keeper, NoKeeper,
    /// Takeovers refused: an error of the kernel, such as a missing capability.
    kernel_errors, KernelErrors,
    /// Bytes that the kernel still received after a takeover.
    late_bytes, LateBytes,
    /// Packets presented to the kernel at and after handbacks.
    injected, Injected,
    /// Packets that could not be presented to the kernel.
    not_injected, NotInjected,
    /// Frames dropped: an invalid length.
    malformed, Malformed,
    /// Frames dropped: a checksum is neither valid nor the partial sum of a local sender.
    wrong_checksum, WrongChecksum,
    /// Frames dropped: for another Ethernet address.
    other_mac, OtherMac,
    /// Handbacks because all received frames were dropped.
    frames_lost, FramesLost,
    /// Handbacks because no frame had arrived since the takeover.
    nothing_arrived, NothingArrived,
}

impl TcpCounters {
    /// Returns the number of takeovers refused for now: data were unacknowledged or unread, or no
    /// frame had arrived on the interface yet.
    #[must_use]
    pub fn busy(&self) -> u64 {
        self.unacknowledged + self.unread + self.out_of_order + self.unseen
    }

    /// Returns the number of takeovers refused for another reason.
    #[must_use]
    pub fn refused(&self) -> u64 {
        let features = self.ecn + self.mptcp + self.authentication + self.upper_layer;
        let others = self.not_established
            + self.microseconds
            + self.user_timeout
            + self.keepalive
            + self.bound_to_device
            + self.host_rule;
        let limits = self.no_path + self.full + self.window + self.filter;
        features + others + limits + self.no_keeper + self.kernel_errors
    }
}

/// The counters, written by any thread.
#[derive(Debug)]
pub(super) struct Counts([AtomicU64; COUNT]);

impl Counts {
    pub(super) fn new() -> Self {
        Self([const { AtomicU64::new(0) }; COUNT])
    }

    pub(super) fn add(&self, count: Count, number: u64) {
        self.0[count as usize].fetch_add(number, Ordering::Relaxed);
    }
}

impl Count {
    /// Returns the counter of a refusal. That of [`TakeoverError::Busy`] was counted where its
    /// cause is known.
    pub(super) fn refusal(error: &TakeoverError) -> Option<Self> {
        Some(match error {
            TakeoverError::Busy => return None,
            TakeoverError::State => Self::NotEstablished,
            TakeoverError::Feature(used) => match *used {
                feature::ECN => Self::Ecn,
                feature::MPTCP => Self::Mptcp,
                feature::AUTHENTICATION => Self::Authentication,
                feature::UPPER_LAYER => Self::UpperLayer,
                feature::MICROSECONDS => Self::Microseconds,
                feature::USER_TIMEOUT => Self::UserTimeout,
                feature::KEEPALIVE => Self::Keepalive,
                _ => Self::BoundToDevice,
            },
            TakeoverError::Path(_) => Self::NoPath,
            TakeoverError::Full => Self::Full,
            TakeoverError::Window(_) => Self::Window,
            TakeoverError::Keeper => Self::NoKeeper,
            TakeoverError::Rule(_) => Self::HostRule,
            TakeoverError::Filter(_) => Self::Filter,
            TakeoverError::Kernel(_) => Self::KernelErrors,
        })
    }

    /// Returns the counter of a dropped frame.
    pub(super) fn drop(cause: DropCause) -> Self {
        match cause {
            DropCause::Checksum => Self::WrongChecksum,
            DropCause::OtherMac => Self::OtherMac,
            _ => Self::Malformed,
        }
    }

    /// Returns the counter of a handback that the connection requested.
    pub(super) fn handback(reason: Reason) -> Self {
        match reason {
            Reason::Fin => Self::Ended,
            Reason::Reset => Self::Reset,
            Reason::Timeouts => Self::TimedOut,
            Reason::ClosedWindow => Self::WindowClosed,
            Reason::Path => Self::PathChanged,
            Reason::Bulk => Self::Bulk,
            Reason::FramesLost => Self::FramesLost,
            Reason::NothingArrived => Self::NothingArrived,
            // SYN, urgent data, an option.
            _ => Self::Unusual,
        }
    }
}
