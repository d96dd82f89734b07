//! What a gateway is made from.

use super::Credentials;
use super::faults::GatewayFaults;
use super::limits::RateLimits;

/// What a [`Gateway`](crate::Gateway) is made from.
#[derive(Debug, Clone)]
pub struct GatewaySettings {
    /// Who may log on.
    pub accounts: Vec<Credentials>,
    /// Connections at once, those to the backup included.
    pub connections: u32,
    /// Orders that the engine behind it holds.
    pub orders: u32,
    /// The last so many business messages of each account, at least one, are kept for
    /// retransmission, 1,408 bytes each: whatever their UUIDs, and none of the week before. CME
    /// keeps a week's. A client that reads slowly may be as many behind before it is given up.
    pub kept_messages: u32,
    /// The PartyDetailsListReqID that every session is taken to have registered already, if there
    /// is one.
    pub registered_party: Option<u64>,
    /// The PartyDetailsListReqID that stands for party details on demand. CME's documents say
    /// `FFFFFFFF`.
    pub on_demand_party: u64,
    /// Party details that a session may register, some 400 bytes each.
    pub party_definitions: u16,
    /// Whether the fifth bad logon within a minute closes a session's ports.
    pub closes_ports: bool,
    /// Whether a session that is lost without a Terminate handshake loses its orders but for those
    /// good till cancelled or till a date.
    pub cancels_on_disconnect: bool,
    /// How many messages a session may send, if that is limited.
    pub limits: Option<RateLimits>,
    /// The safeguard against messages split over TCP segments, if there is one: how many messages
    /// may wait behind a split one (CME: 15 for futures and options, 50 for BrokerTec). More end
    /// the session by Terminate 29, where none may wait the first by Terminate 28.
    pub split_queue_max: Option<u32>,
    /// Faults for tests and simulations, if any are to be made.
    pub faults: Option<GatewayFaults>,
}

impl GatewaySettings {
    /// As CME runs it, but for the safeguard against split messages, which only makes sense where
    /// a chunk of bytes is a segment.
    #[must_use]
    pub fn new(accounts: Vec<Credentials>, connections: u32, orders: u32) -> Self {
        Self {
            closes_ports: true,
            cancels_on_disconnect: true,
            limits: Some(RateLimits::default()),
            ..Self::lenient(accounts, connections, orders)
        }
    }

    /// For benchmarks: no limits, no closed ports, and orders stay when their session is lost.
    #[must_use]
    pub fn lenient(accounts: Vec<Credentials>, connections: u32, orders: u32) -> Self {
        Self {
            accounts,
            connections,
            orders,
            kept_messages: 4_096,
            registered_party: Some(1),
            on_demand_party: 0xFFFF_FFFF,
            party_definitions: 256,
            closes_ports: false,
            cancels_on_disconnect: false,
            limits: None,
            split_queue_max: None,
            faults: None,
        }
    }
}

/// The settings that are rules.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) closes_ports: bool,
    pub(super) cancels_on_disconnect: bool,
    pub(super) limits: Option<RateLimits>,
    pub(super) split_queue_max: Option<u32>,
    pub(super) registered_party: Option<u64>,
    pub(super) on_demand_party: u64,
    /// The house is in a pre-open window.
    pub(super) is_pre_open: bool,
}

impl From<&GatewaySettings> for Rules {
    fn from(settings: &GatewaySettings) -> Self {
        Self {
            closes_ports: settings.closes_ports,
            cancels_on_disconnect: settings.cancels_on_disconnect,
            limits: settings.limits,
            split_queue_max: settings.split_queue_max,
            registered_party: settings.registered_party,
            on_demand_party: settings.on_demand_party,
            is_pre_open: false,
        }
    }
}
