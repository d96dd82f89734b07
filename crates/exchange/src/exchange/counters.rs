//! What has happened at the sockets.

/// What has happened at the sockets, counted; see [`crate::GatewayCounters`] for what lies above.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeCounters {
    /// Matching events of the generator: ticks.
    pub ticks: u64,
    /// Packets of the incremental feed, each counted once for both sides.
    pub incremental_packets: u64,
    /// Packets of the instrument feed.
    pub instrument_packets: u64,
    /// Packets of the snapshot feed.
    pub snapshot_packets: u64,
    /// Datagrams that the kernel had no room for, by side.
    pub lost_datagrams: [u64; 2],
    /// Datagrams withheld because their side was muted, by side.
    pub muted_datagrams: [u64; 2],
    /// Bytes read from sessions.
    pub bytes_received: u64,
    /// Bytes written to sessions.
    pub bytes_sent: u64,
    /// Connections that ended by an error of the network.
    pub broken_connections: u64,
}
