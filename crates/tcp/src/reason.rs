//! The reasons to hand a connection back to the kernel.

use core::fmt;

/// The reason why a connection asks to be handed back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The peer has sent a FIN, and everything before it was received. Present a FIN with
    /// [`Connection::receive_next`](crate::Connection::receive_next) to the kernel.
    Fin,
    /// The peer has reset the connection. Present an RST with the next number to the kernel.
    Reset,
    /// A segment with a SYN. The kernel must receive that segment.
    Syn,
    /// A segment with urgent data. The kernel must receive that segment.
    Urgent,
    /// An option that is not negotiated or unknown. The kernel must receive that segment.
    Option,
    /// The retransmission timer expired twice in a row.
    Timeouts,
    /// The peer's window was closed for 5 ms while data waited.
    ClosedWindow,
    /// The path no longer bypasses the kernel, or its MTU is too small. Set by the owner.
    Path,
    /// 64 KiB were in flight for 100 ms: the kernel has segmentation offload.
    Bulk,
    /// All frames received since the takeover were dropped. Set by the owner.
    FramesLost,
    /// [`Timeouts`](Self::Timeouts) of takeovers in a row, without a frame. Set by the owner.
    NothingArrived,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 11] = [
        Self::Fin,
        Self::Reset,
        Self::Syn,
        Self::Urgent,
        Self::Option,
        Self::Timeouts,
        Self::ClosedWindow,
        Self::Path,
        Self::Bulk,
        Self::FramesLost,
        Self::NothingArrived,
    ];
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fin => "the peer has closed its side",
            Self::Reset => "the peer has reset the connection",
            Self::Syn => "SYN received",
            Self::Urgent => "urgent data received",
            Self::Option => "unknown option received",
            Self::Timeouts => "two retransmission timeouts in a row",
            Self::ClosedWindow => "window closed for 5 ms",
            Self::Path => "the path has changed",
            Self::Bulk => "64 KiB in flight for 100 ms",
            Self::FramesLost => "all received frames were dropped",
            Self::NothingArrived => "no frame has arrived since the takeover",
        })
    }
}
