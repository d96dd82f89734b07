//! The settings of a gateway.

use super::Credentials;
use super::faults::GatewayFaults;
use super::rate_limits::RateLimits;

/// The kind of a gateway (CME, page 457220437).
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GatewayKind {
    /// A market segment gateway: one session per market segment.
    #[default]
    Msgw,
    /// A convenience gateway: one session for all market segments. It answers status requests for
    /// all orders (tag 585 = 7), and has no split-message safeguard.
    Cgw,
}

/// The venue, which decides some fields of requests.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Venue {
    /// Futures and options.
    #[default]
    FuturesAndOptions,
    /// BrokerTec: replacements and cancels require the OrderID (tag 37).
    BrokerTec,
    /// EBS: an operator (tag 5392) has exactly three characters; reports repeat it in upper case.
    Ebs,
}

/// The settings of a [`Gateway`](crate::Gateway).
#[derive(Debug, Clone)]
pub struct GatewaySettings {
    /// The accounts that may log on.
    pub accounts: Vec<Credentials>,
    /// The maximum number of connections, including those to the backup.
    pub connections: u32,
    /// The number of orders that the matching engine holds.
    pub orders: u32,
    /// The size of each account's retransmit buffer in business messages, at least 1. Each message
    /// uses 1,408 bytes. The buffer stores the latest messages of any UUID, and none of the
    /// previous week; CME stores a whole week. A slow client may have as many pending reports
    /// before it is disconnected.
    pub kept_messages: u32,
    /// A PartyDetailsListReqID that every session may use without registering it, if any.
    pub registered_party: Option<u64>,
    /// The PartyDetailsListReqID of on-demand party details. CME specifies 0 (page 46209693); the
    /// schema's descriptions have `FFFFFFFF`.
    pub on_demand_party: u64,
    /// The maximum number of party details that a session may register, about 400 bytes each.
    pub party_definitions: u16,
    /// Closes a session's ports at the fifth bad logon within a minute.
    pub closes_ports: bool,
    /// Cancels the orders of a session that is lost without a Terminate handshake, except
    /// GTC and GTD orders.
    pub cancels_on_disconnect: bool,
    /// The limits on the message rate of a session, if any.
    pub limits: Option<RateLimits>,
    /// The maximum number of messages queued behind one that was split over TCP segments, or `None`
    /// to disable the safeguard. CME uses 15 for futures and options, and 50 for BrokerTec.
    /// Exceeding the maximum ends the session by Terminate 29; with 0, the first queued message
    /// ends it by Terminate 28.
    pub split_queue_max: Option<u32>,
    /// The kind of the gateway.
    pub kind: GatewayKind,
    /// The venue.
    pub venue: Venue,
    /// The registered SelfMatchPreventionIDs (tag 2362): party details with another one are
    /// rejected. `None` accepts every id.
    pub self_match_ids: Option<Vec<u64>>,
    /// The faults to inject for tests and simulations, if any.
    pub faults: Option<GatewayFaults>,
}

impl GatewaySettings {
    /// Creates settings with CME's rules, except for the split-message safeguard. It requires that
    /// each chunk of bytes is one TCP segment.
    #[must_use]
    pub fn new(accounts: Vec<Credentials>, connections: u32, orders: u32) -> Self {
        Self {
            closes_ports: true,
            cancels_on_disconnect: true,
            limits: Some(RateLimits::default()),
            ..Self::lenient(accounts, connections, orders)
        }
    }

    /// Creates settings for benchmarks: no rate limits, no port closure, and orders of lost
    /// sessions stay.
    #[must_use]
    pub fn lenient(accounts: Vec<Credentials>, connections: u32, orders: u32) -> Self {
        Self {
            accounts,
            connections,
            orders,
            kept_messages: 4_096,
            registered_party: Some(1),
            on_demand_party: 0,
            party_definitions: 256,
            closes_ports: false,
            cancels_on_disconnect: false,
            limits: None,
            split_queue_max: None,
            kind: GatewayKind::Msgw,
            venue: Venue::FuturesAndOptions,
            self_match_ids: None,
            faults: None,
        }
    }
}

/// The settings that are protocol rules.
#[derive(Debug, Clone)]
pub(super) struct Rules {
    pub(super) closes_ports: bool,
    pub(super) cancels_on_disconnect: bool,
    pub(super) limits: Option<RateLimits>,
    pub(super) split_queue_max: Option<u32>,
    pub(super) registered_party: Option<u64>,
    pub(super) on_demand_party: u64,
    pub(super) kind: GatewayKind,
    pub(super) venue: Venue,
    pub(super) self_match_ids: Option<Vec<u64>>,
    /// The market is in the pre-open state.
    pub(super) pre_open: bool,
}

impl From<&GatewaySettings> for Rules {
    fn from(settings: &GatewaySettings) -> Self {
        Self {
            closes_ports: settings.closes_ports,
            cancels_on_disconnect: settings.cancels_on_disconnect,
            limits: settings.limits,
            // A convenience gateway has no safeguard (page 46175517).
            split_queue_max: settings
                .split_queue_max
                .filter(|_| settings.kind == GatewayKind::Msgw),
            registered_party: settings.registered_party,
            on_demand_party: settings.on_demand_party,
            kind: settings.kind,
            venue: settings.venue,
            self_match_ids: settings.self_match_ids.clone(),
            pre_open: false,
        }
    }
}
