//! The mutants of rds that its simulation must detect.

use super::mutant::{Mutant, change};

/// Every mutant of reliable datagrams.
pub(super) const RDS_MUTANTS: &[Mutant] = &[
    Mutant {
        name: "gap reports ignored, so that only probes repair",
        changes: &[change(
            "rds/src/socket/receive.rs",
            "if !slot.received && !slot.lost && was_sent_before && !is_congested {",
            "if !slot.received && !slot.lost && was_sent_before && is_congested {",
        )],
    },
    Mutant {
        name: "the message after a missing one is delivered",
        changes: &[change(
            "rds/src/socket/receive.rs",
            "&& header.sequence == receive.expected\n",
            "&& header.sequence.wrapping_sub(receive.expected) < 2\n",
        )],
    },
    Mutant {
        name: "no probes",
        changes: &[change(
            "rds/src/socket/timeout.rs",
            "        peer.probe_due = peer.send.lost == 0;\n",
            "",
        )],
    },
    Mutant {
        name: "duplicates accepted when late",
        changes: &[change(
            "rds/src/socket/receive.rs",
            "        if distance >= WINDOW {",
            "        if distance >= WINDOW && distance as i32 >= 0 {",
        )],
    },
    Mutant {
        name: "floor ignored",
        changes: &[change(
            "rds/src/socket/receive.rs",
            "if is_before(receive.expected, floor) {",
            "if is_before(receive.expected, floor) && receive.bitmap == u64::MAX {",
        )],
    },
    Mutant {
        name: "challenge drops nothing",
        changes: &[change(
            "rds/src/socket/association.rs",
            "let count = self.drop_messages(index, Dropped::SentUntil(until));",
            "let count = 0 * until as usize;",
        )],
    },
    Mutant {
        name: "any incarnation accepted",
        changes: &[change(
            "rds/src/socket/association.rs",
            "        let is_to_us = header.destination_incarnation == self.incarnation;",
            "        let is_to_us = header.destination_incarnation != 0;",
        )],
    },
    Mutant {
        name: "new socket accepts without a challenge",
        changes: &[change(
            "rds/src/socket/association.rs",
            "let is_trusted = now.saturating_since(self.cleared.at) >= PACKET_LIFETIME;",
            "let is_trusted = now >= self.cleared.at;",
        )],
    },
    Mutant {
        name: "end of congestion not reported",
        changes: &[change(
            "rds/src/socket/receive.rs",
            "            if core::mem::take(&mut peer.send.was_refused) {",
            "            if false {",
        )],
    },
    Mutant {
        name: "congestion never ends",
        changes: &[change(
            "rds/src/socket/receive.rs",
            "if self.congested && self.queued_buffers < self.receive_limit.div_ceil(2) {",
            "if self.congested && self.queued_buffers > self.receive_limit {",
        )],
    },
    Mutant {
        name: "congestion without unread messages",
        changes: &[change(
            "rds/src/socket/receive.rs",
            "if !self.congested && self.queued_buffers > 0 {",
            "if !self.congested {",
        )],
    },
    Mutant {
        name: "packets out of order use all buffers",
        changes: &[change(
            "rds/src/socket/receive.rs",
            "let has_room = peer.confirmed && self.receive_pool.free_count() > reserve;",
            "let has_room = peer.confirmed && reserve > 0;",
        )],
    },
    Mutant {
        name: "message delivered before the fragments of the earlier one",
        changes: &[change("rds/src/socket/receive.rs", "            && receive.queued == 0\n", "")],
    },
    Mutant {
        name: "stale packets accepted",
        changes: &[change(
            "rds/src/clock_offset.rs",
            "if age as i32 > timestamp::units(PACKET_LIFETIME) as i32 {",
            "if age as i32 == i32::MAX {",
        )],
    },
    Mutant {
        name: "cancelled messages reported as delivered",
        changes: &[change(
            "rds/src/socket/send.rs",
            "let outcome = if is_seen { Outcome::Unknown } else { Outcome::NotDelivered };",
            "let outcome = if is_seen { Outcome::Delivered } else { Outcome::NotDelivered };",
        )],
    },
    Mutant {
        name: "rejected packet drops later messages",
        changes: &[change(
            "rds/src/socket/send.rs",
            "let count = self.drop_messages(index, dropped);",
            "let count = self.drop_messages(index, Dropped::All);",
        )],
    },
    Mutant {
        name: "acknowledgment of an earlier socket counts",
        changes: &[change(
            "rds/src/socket/receive.rs",
            "        if !header.flags.has(Flags::NO_ACKNOWLEDGMENT) {",
            "        if header.echo != 1 {",
        )],
    },
    Mutant {
        name: "CRC-32C not checked",
        changes: &[change(
            "rds/src/packet.rs",
            "if u32_at(bytes, 0) != crc32c(0, &packet[CRC..]) {",
            "if u32_at(bytes, 0) != crc32c(0, &packet[CRC..]) && length == 0xFFFF {",
        )],
    },
];
