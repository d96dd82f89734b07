//! What bypassed the kernel's socket, for `TCP_INFO`.

use std::io;

use hairpin_time::Duration;

use super::bypass::Bypass;
use super::kernel_socket::Info;

/// What bypassed the kernel's socket of a connection, and is missing in its counters (RFC 4898).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct TcpTotals {
    /// Bytes that the peer has acknowledged.
    acknowledged: u64,
    /// Bytes received in order.
    received: u64,
    /// Bytes sent for the first time.
    sent: u64,
    segments_received: u64,
    segments_sent: u64,
    data_segments_sent: u64,
    retransmitted: u64,
}

impl TcpTotals {
    /// Returns sums or differences, which may be below zero: a handback resets the kernel's
    /// counters.
    fn combined(self, other: Self, combine: fn(u64, u64) -> u64) -> Self {
        Self {
            acknowledged: combine(self.acknowledged, other.acknowledged),
            received: combine(self.received, other.received),
            sent: combine(self.sent, other.sent),
            segments_received: combine(self.segments_received, other.segments_received),
            segments_sent: combine(self.segments_sent, other.segments_sent),
            data_segments_sent: combine(self.data_segments_sent, other.data_segments_sent),
            retransmitted: combine(self.retransmitted, other.retransmitted),
        }
    }

    /// Returns the counters of the kernel's socket.
    fn of_kernel(info: &Info) -> Self {
        Self {
            acknowledged: info.acknowledged,
            received: info.received,
            sent: info.sent,
            segments_received: info.segments_received.into(),
            segments_sent: info.segments_sent.into(),
            data_segments_sent: info.data_segments_sent.into(),
            retransmitted: info.retransmitted.into(),
        }
    }

    /// Adds the totals to a `struct tcp_info`, of which `info` may be only the start.
    pub fn add_to(&self, info: &mut [u8]) {
        Info::change(info, |info| self.add(info));
    }

    fn add(&self, info: &mut Info) {
        info.acknowledged = info.acknowledged.wrapping_add(self.acknowledged);
        info.received = info.received.wrapping_add(self.received);
        info.sent = info.sent.wrapping_add(self.sent);
        for (count, more) in [
            (&mut info.segments_received, self.segments_received),
            (&mut info.segments_sent, self.segments_sent),
            (&mut info.data_segments_sent, self.data_segments_sent),
            (&mut info.retransmitted, self.retransmitted),
        ] {
            *count = count.wrapping_add(more as u32);
        }
    }
}

impl Bypass {
    /// Returns what has bypassed the kernel since the takeover.
    pub(super) fn totals(&self) -> TcpTotals {
        let counters = self.connection.counters();
        TcpTotals {
            acknowledged: counters.bytes_sent.wrapping_sub(self.connection.in_flight() as u64),
            received: counters.bytes_received.wrapping_sub(self.read_from_kernel),
            sent: counters.bytes_sent,
            segments_received: counters.segments_received,
            segments_sent: counters.segments_sent,
            data_segments_sent: counters.segments_sent.saturating_sub(counters.acks_sent),
            retransmitted: counters.retransmitted,
        }
    }

    /// Adds what has bypassed the kernel at the end of a handback. `kernel` has the state of the
    /// kernel's socket before its connection was restored, which resets the counters, and after.
    pub(super) fn add_totals(&self, totals: &mut TcpTotals, kernel: [io::Result<Info>; 2]) {
        let [Ok(before), Ok(after)] = kernel else { return };
        let [before, mut after] = [before, after].map(|info| TcpTotals::of_kernel(&info));
        // The filler is acknowledged later.
        after.acknowledged += 1;
        let missing = before.combined(after, u64::wrapping_sub);
        let missing = missing.combined(self.totals(), u64::wrapping_add);
        *totals = totals.combined(missing, u64::wrapping_add);
    }

    /// Adds the totals to a `struct tcp_info`, and writes the engine's state into it. `idle` is the
    /// time since the last frame or send.
    pub(super) fn complete_info(&self, bytes: &mut [u8], before: &TcpTotals, idle: Duration) {
        let totals = before.combined(self.totals(), u64::wrapping_add);
        let connection = &self.connection;
        let segments = |bytes: u32, info: &Info| bytes.div_ceil(info.send_mss.max(1));
        Info::change(bytes, |info| {
            totals.add(info);
            info.unacknowledged = segments(connection.in_flight() as u32, info);
            info.congestion_window = segments(connection.congestion_window(), info);
            info.unsent = connection.unsent_length();
            if let Some(round_trip) = connection.round_trip() {
                info.round_trip_us = u32::try_from(round_trip.as_micros()).unwrap_or(u32::MAX);
            }
            let idle = u32::try_from(idle.as_millis()).unwrap_or(u32::MAX);
            info.times = info.times.map(|since| since.min(idle));
        });
    }
}
