//! Counters of a socket.

/// Adds an iterator over the counters to their struct.
macro_rules! with_iterator {
    (
        $(#[$attribute:meta])*
        pub struct $struct:ident {
            $($(#[$doc:meta])* pub $name:ident: u64,)*
        }
    ) => {
        $(#[$attribute])*
        pub struct $struct {
            $($(#[$doc])* pub $name: u64,)*
        }

        impl $struct {
            /// Iterates over the counters with their names, in declaration order.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + use<> {
                [$((stringify!($name), self.$name)),*].into_iter()
            }
        }
    };
}

with_iterator! {
/// The counters of a socket. All of them only rise.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Messages accepted by `send`.
    pub messages_sent: u64,
    /// Payload bytes of these messages.
    pub bytes_sent: u64,
    /// Messages passed to the owner or queued for it.
    pub messages_received: u64,
    /// Payload bytes of these messages.
    pub bytes_received: u64,
    /// Packets transmitted, of all types.
    pub packets_sent: u64,
    /// Packets received, valid or not.
    pub packets_received: u64,
    /// Data packets transmitted again.
    pub retransmitted: u64,
    /// Probes, because an answer was late.
    pub probes_sent: u64,
    /// Acknowledgments without data.
    pub acks_sent: u64,
    /// Acknowledgments that report a gap.
    pub naks_sent: u64,
    /// Acknowledgments that report a gap, received.
    pub naks_received: u64,
    /// Data packets that arrived before an earlier one.
    pub out_of_order: u64,
    /// Losses that halved the window to a peer.
    pub windows_halved: u64,
    /// Gaps skipped, because the sender has cancelled the messages.
    pub gaps_skipped: u64,
    /// Data packets received before.
    pub duplicates: u64,
    /// Packets dropped: wrong length or unknown type.
    pub dropped_malformed: u64,
    /// Packets dropped: unknown version.
    pub dropped_version: u64,
    /// Packets dropped: wrong CRC-32C.
    pub dropped_checksum: u64,
    /// Packets dropped: addressed to another port.
    pub dropped_port: u64,
    /// Packets dropped: of or for another incarnation.
    pub dropped_incarnation: u64,
    /// Packets dropped: more than 10 s old.
    pub dropped_stale: u64,
    /// Packets dropped: outside the window, or an acknowledgment of what was not sent.
    pub dropped_window: u64,
    /// Packets dropped: no buffer for them. They are sent again.
    pub dropped_no_buffer: u64,
    /// Packets dropped: no room for another peer.
    pub dropped_no_peer: u64,
    /// Messages dropped because they are longer than 1 MiB.
    pub dropped_too_long: u64,
    /// Messages longer than this socket accepts, delivered without their end.
    pub messages_truncated: u64,
    /// Challenges sent to unknown senders.
    pub challenges_sent: u64,
    /// Unconfirmed or idle peers evicted.
    pub peers_evicted: u64,
    /// Peers that restarted.
    pub peers_restarted: u64,
    /// Peers without a bound socket.
    pub peers_undeliverable: u64,
    /// Peers reported as unreachable.
    pub peers_unreachable: u64,
    /// ICMP errors that count: port unreachable, with a quote of a packet of this socket.
    pub icmp_accepted: u64,
    /// Other ICMP errors. They drop nothing, and at most cause a probe.
    pub icmp_ignored: u64,
    /// Messages cancelled.
    pub messages_cancelled: u64,
    /// Messages dropped because their peer restarted, was evicted or has no socket.
    pub messages_dropped: u64,
    /// Events dropped because they were not read. Outcomes are never dropped.
    pub events_dropped: u64,
    /// Sends refused: destination congested.
    pub send_congested: u64,
    /// Sends refused: send buffer full.
    pub send_would_block: u64,
    /// Times that this socket became congested.
    pub congestions: u64,
}
}
