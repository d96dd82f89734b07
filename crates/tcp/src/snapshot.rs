//! The state of a connection as another TCP can continue it.

use hairpin_time::{Duration, Instant};

/// The state of an established connection between two calls, without its bytes.
///
/// The kernel's names (`TCP_REPAIR_WINDOW`, `tcp_info`) are in parentheses. Sequence numbers are
/// those of the wire. Windows are in bytes, after scaling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Snapshot {
    /// SND.UNA: the first byte that the peer has not acknowledged (`snd_una`).
    pub send_unacknowledged: u32,
    /// SND.NXT: the first byte that was never sent (`snd_nxt`).
    pub send_next: u32,
    /// SND.WND: the peer's window, from the last acknowledgment on (`snd_wnd`).
    pub send_window: u32,
    /// The largest window that the peer has advertised (`max_window`).
    pub send_window_max: u32,
    /// SND.WL1: the sequence number of the last window update (`snd_wl1`).
    pub send_window_update: u32,
    /// RCV.NXT: the next byte expected from the peer (`rcv_nxt`).
    pub receive_next: u32,
    /// The number of bytes from `receive_next` on that the peer may send. The promise is never
    /// taken back (`rcv_wup + rcv_wnd - rcv_nxt`).
    pub receive_window: u32,
    /// The shift of the peer's windows: 0 to 14 (`snd_wscale`).
    pub send_scale: u8,
    /// The shift of our windows: 0 to 14 (`rcv_wscale`).
    pub receive_scale: u8,
    /// The longest segment that may be sent, in bytes of options and payload: at least 88 (MSS
    /// clamp).
    pub segment_size: u16,
    /// `true` if both ends permit selective acknowledgments (RFC 2018).
    pub selective: bool,
    /// The timestamps, if both ends send them (RFC 7323).
    pub timestamps: Option<Timestamps>,
    /// The smoothed round-trip time, if measured (`tcpi_rtt`).
    pub round_trip: Option<Duration>,
}

/// The numbers of a connection that change with each segment, for another process to continue it.
///
/// Windows are right edges, so that each number is valid together with older values of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Numbers {
    /// SND.UNA.
    pub send_unacknowledged: u32,
    /// SND.NXT.
    pub send_next: u32,
    /// The end of the bytes queued to be sent.
    pub send_end: u32,
    /// SND.UNA + SND.WND.
    pub send_edge: u32,
    /// The largest window that the peer has advertised.
    pub send_window_max: u32,
    /// SND.WL1.
    pub send_window_update: u32,
    /// RCV.NXT.
    pub receive_next: u32,
    /// RCV.NXT + RCV.WND.
    pub receive_edge: u32,
    /// The number of bytes received in order and not read.
    pub unread: u32,
}

/// The timestamps of a connection. The clock has milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamps {
    /// The clock at the time of the snapshot.
    pub value: u32,
    /// The lowest TSval that may be sent: one like it may already be on the wire.
    pub floor: u32,
    /// TS.Recent: the peer's TSval to echo; `None` if unknown.
    pub recent: Option<u32>,
}

impl Timestamps {
    /// Returns the timestamps as they are at `to`, from those of the time `from`.
    #[must_use]
    pub fn at(self, from: Instant, to: Instant) -> Self {
        let millis = |time: Instant| (time.as_nanos() / 1_000_000) as u32;
        let passed = millis(to).wrapping_sub(millis(from));
        Self { value: self.value.wrapping_add(passed), ..self }
    }
}

/// The reason why a connection cannot be created from a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A ring's length is not a power of two from 4,096 to 1 GiB.
    RingLength,
    /// More bytes are unacknowledged than the send ring holds, or `send_next` does not match them.
    Unacknowledged,
    /// The receive ring does not hold the promised window.
    ReceiveWindow,
    /// A scale exceeds 14 (RFC 7323 §2.3).
    Scale,
    /// The segment size is below 88 bytes, the kernel's minimum.
    SegmentSize,
}

impl core::fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let cause = match self {
            Self::RingLength => "a ring's length is not a power of two from 4096 to 1 GiB",
            Self::Unacknowledged => "the unacknowledged bytes do not match the sequence numbers",
            Self::ReceiveWindow => "the receive ring is smaller than the promised window",
            Self::Scale => "a window scale exceeds 14",
            Self::SegmentSize => "the segment size is below 88 bytes",
        };
        write!(f, "cannot continue the connection: {cause}")
    }
}

impl core::error::Error for SnapshotError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// After a pause between the reading of the kernel's clock and its use, segments were older
    /// than the kernel's last, and the peer discarded them (PAWS).
    #[test]
    fn clock_continues_from_the_time_of_its_reading() {
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000 + 999_999);
        let read = Timestamps { value: u32::MAX - 4, floor: u32::MAX - 2, recent: Some(7) };
        assert_eq!(read.at(at(30), at(50)), Timestamps { value: 15, ..read });
        assert_eq!(read.at(at(50), at(30)), Timestamps { value: u32::MAX - 24, ..read });
    }
}
