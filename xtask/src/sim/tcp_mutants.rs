//! The mutants of tcp that its simulation must detect.

use super::mutant::{Mutant, change};

/// Every mutant of TCP connections.
pub(super) const TCP_MUTANTS: &[Mutant] = &[
    Mutant {
        name: "bytes received before delivered again",
        changes: &[change(
            "tcp/src/connection/receive.rs",
            "let known = distance(sequence, self.receive_next) as usize;",
            "let known = 0 * distance(sequence, self.receive_next) as usize;",
        )],
    },
    Mutant {
        name: "bytes after a gap delivered",
        changes: &[change(
            "tcp/src/connection/receive.rs",
            "if start == self.receive_next {",
            "if start.wrapping_sub(self.receive_next) < 5_000 {",
        )],
    },
    Mutant {
        name: "bytes that the listener leaves forgotten",
        changes: &[change(
            "tcp/src/connection/receive.rs",
            "self.unread += rest.len() as u32;",
            "self.unread += 0 * rest.len() as u32;",
        )],
    },
    Mutant {
        name: "ranges joined across gaps",
        changes: &[change(
            "tcp/src/reassembly.rs",
            "if is_before(right, start) || is_before(end, left) {",
            "if is_before(right.wrapping_add(2_000), start) || is_before(end, left) {",
        )],
    },
    Mutant {
        name: "no retransmission timeout",
        changes: &[change(
            "tcp/src/connection/timeout.rs",
            "if take_expired(&mut self.timeout_at, now) {",
            "if take_expired(&mut self.timeout_at, now) && self.backoff > 9 {",
        )],
    },
    Mutant {
        name: "segment sent again with the first bytes",
        changes: &[change(
            "tcp/src/connection/transmit.rs",
            "ring::copy(rings.send, start, &mut frame[at..]);",
            "ring::copy(rings.send, self.send_unacknowledged, &mut frame[at..]);",
        )],
    },
    Mutant {
        name: "selectively acknowledged segments not sent again after a timeout",
        changes: &[change(
            "tcp/src/scoreboard.rs",
            "(sent.sacked, sent.lost) = (false, true);",
            "(sent.sacked, sent.lost) = (sent.sacked, !sent.sacked);",
        )],
    },
    Mutant {
        name: "round trips of repeated segments measured",
        changes: &[change(
            "tcp/src/connection/acknowledge.rs",
            "delivered.round_trip.filter(|_| !delivered.resent)",
            "delivered.round_trip.filter(|_| now > Instant::ZERO)",
        )],
    },
    Mutant {
        name: "closed window not reported",
        changes: &[change(
            "tcp/src/connection/timeout.rs",
            "self.closed_at = now + CLOSED;",
            "self.closed_at = NEVER.max(now + CLOSED);",
        )],
    },
    Mutant {
        name: "short segments held back without limit",
        changes: &[change(
            "tcp/src/connection/timeout.rs",
            "if take_expired(&mut self.cork.until, now) {",
            "if take_expired(&mut self.cork.until, now) && self.backoff > 9 {",
        )],
    },
    Mutant {
        name: "segment sent before an acknowledgment was processed forgotten",
        changes: &[change(
            "tcp/src/connection.rs",
            "        if sent > 0 {",
            "        if sent > 0 && acknowledgment.is_none() {",
        )],
    },
    Mutant {
        name: "snapshot without the bytes in flight",
        changes: &[change(
            "tcp/src/connection.rs",
            "            send_next: self.send_next,\n            send_window:",
            "            send_next: self.send_unacknowledged,\n            send_window:",
        )],
    },
    Mutant {
        name: "window promised beyond the ring",
        changes: &[change(
            "tcp/src/connection/transmit.rs",
            "let fits = up << self.receive_scale <= room;",
            "let fits = up << self.receive_scale <= room + room;",
        )],
    },
];
