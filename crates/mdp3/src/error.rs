//! What can be wrong with a packet, and what is odd about it.

use hairpin_sbe::DecodeError;

use crate::{Counters, Feed};

/// Something that the exchange should not have sent, or the network not have altered.
///
/// Each is counted by the counter of its name and told to [`crate::Listener::on_error`]; none
/// stops the channel. If an error may have hidden entries, the books they may have been for are
/// out of sync until a snapshot or their RptSeq says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A packet shorter than its header of 12 bytes.
    #[error("packet of {length} bytes, shorter than its header of 12")]
    PacketTooShort {
        /// Bytes of the packet.
        length: usize,
    },
    /// A MsgSize that does not even count the message's own header.
    #[error("MsgSize {size}, smaller than the message header of 10")]
    MessageSizeTooSmall {
        /// MsgSize.
        size: u16,
    },
    /// A MsgSize that reaches beyond the packet.
    #[error("MsgSize {size}, but {available} bytes are left in the packet")]
    TruncatedMessage {
        /// MsgSize.
        size: u16,
        /// Bytes from MsgSize to the end of the packet.
        available: usize,
    },
    /// Bytes after the last message, too few for another.
    #[error("{length} bytes after the last message")]
    TrailingBytes {
        /// How many.
        length: usize,
    },
    /// A message of another schema than CME's market data (1).
    #[error("message of schema {schema_id} on a market data feed")]
    ForeignSchema {
        /// The SBE header's schema.
        schema_id: u16,
    },
    /// A message whose block or groups do not fit in MsgSize.
    #[error("message of template {template_id}: {error}")]
    MalformedMessage {
        /// The SBE header's template, 0 if there is no sound header.
        template_id: u16,
        /// What does not fit.
        error: DecodeError,
    },
    /// A book entry that cannot be read as one.
    #[error("book entry of instrument {security_id}: action {action}, level {level}")]
    InvalidEntry {
        /// SecurityID.
        security_id: i32,
        /// MDUpdateAction.
        action: u8,
        /// MDPriceLevel.
        level: u8,
    },
    /// A book entry that names a level the book does not have.
    #[error("instrument {security_id} has no level {level} for action {action}")]
    InapplicableEntry {
        /// SecurityID.
        security_id: i32,
        /// MDUpdateAction.
        action: u8,
        /// MDPriceLevel.
        level: u8,
    },
    /// A new order that was in the book already.
    #[error("instrument {security_id} has an order {order_id} already")]
    ExistingOrder {
        /// SecurityID.
        security_id: i32,
        /// OrderID.
        order_id: u64,
    },
    /// A change or deletion of an order that was not in the book.
    #[error("instrument {security_id} has no order {order_id}")]
    MissingOrder {
        /// SecurityID.
        security_id: i32,
        /// OrderID.
        order_id: u64,
    },
    /// An order entry that cannot be read as one.
    #[error("instrument {security_id}: order {order_id} lacks an action, side, price or quantity")]
    InvalidOrder {
        /// SecurityID.
        security_id: i32,
        /// OrderID, `u64::MAX` if there is none.
        order_id: u64,
    },
    /// An order entry that refers to a price level its message does not have: nothing tells whose
    /// it is, so that all order books are out of sync.
    #[error("order {order_id} refers to entry {reference_id}, which is not there")]
    DanglingOrder {
        /// OrderID.
        order_id: u64,
        /// ReferenceID, 0 if there is none.
        reference_id: u8,
    },
    /// An order snapshot with a chunk of a wrong number, or with an order that is named twice or
    /// cannot be read.
    #[error("order snapshot of instrument {security_id} cannot be read")]
    InvalidOrderSnapshot {
        /// SecurityID.
        security_id: i32,
    },
    /// A snapshot whose levels have holes.
    #[error("snapshot of instrument {security_id} has holes between its levels")]
    InvalidSnapshot {
        /// SecurityID.
        security_id: i32,
    },
}

impl Error {
    /// The counter of this kind of error.
    pub(crate) fn counter<'a>(&self, counters: &'a mut Counters) -> &'a mut u64 {
        match self {
            Self::PacketTooShort { .. } => &mut counters.packets_too_short,
            Self::MessageSizeTooSmall { .. } => &mut counters.message_sizes_too_small,
            Self::TruncatedMessage { .. } => &mut counters.truncated_messages,
            Self::TrailingBytes { .. } => &mut counters.trailing_bytes,
            Self::ForeignSchema { .. } => &mut counters.foreign_schemas,
            Self::MalformedMessage { .. } => &mut counters.malformed_messages,
            Self::InvalidEntry { .. } => &mut counters.invalid_entries,
            Self::InapplicableEntry { .. } => &mut counters.inapplicable_entries,
            Self::ExistingOrder { .. } => &mut counters.existing_orders,
            Self::MissingOrder { .. } => &mut counters.missing_orders,
            Self::InvalidOrder { .. } => &mut counters.invalid_orders,
            Self::DanglingOrder { .. } => &mut counters.dangling_orders,
            Self::InvalidOrderSnapshot { .. } => &mut counters.invalid_order_snapshots,
            Self::InvalidSnapshot { .. } => &mut counters.invalid_snapshots,
        }
    }
}

/// Something odd that the channel can live with, told to [`crate::Listener::on_warning`] when it
/// happens for the first time and counted every time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// A template that schema version 13 does not have; its messages are skipped.
    #[error("unknown template {template_id}, skipped")]
    UnknownTemplate {
        /// The SBE header's template.
        template_id: u16,
    },
    /// A version newer than 13; fields it added are not read.
    #[error("schema version {version} is newer than this handler's")]
    NewerVersion {
        /// The SBE header's version.
        version: u16,
    },
    /// A price level below the instrument's depth.
    #[error("instrument {security_id}: level {level} is below its depth")]
    BeyondDepth {
        /// SecurityID.
        security_id: i32,
        /// MDPriceLevel.
        level: u8,
    },
    /// A Change whose price is not that of the level.
    #[error("instrument {security_id}: the price of level {level} was changed in place")]
    PriceChanged {
        /// SecurityID.
        security_id: i32,
        /// MDPriceLevel.
        level: u8,
    },
    /// An instrument without a definition.
    #[error("instrument {security_id} has no definition")]
    UnknownSecurity {
        /// SecurityID.
        security_id: i32,
    },
    /// There are more instruments than `Settings::max_instruments`.
    #[error("instrument {security_id} is one more than there is room for")]
    InstrumentsOverCapacity {
        /// SecurityID of the first that did not fit.
        security_id: i32,
    },
    /// A definition states a deeper book than [`crate::MAX_DEPTH`].
    #[error("instrument {security_id}: depth {depth} was cut")]
    DepthCut {
        /// SecurityID.
        security_id: i32,
        /// MarketDepth.
        depth: u8,
    },
    /// The legs or underlyings of all definitions are more than `Settings::max_related`; the
    /// instrument is without its own.
    #[error("no room for the legs or underlyings of instrument {security_id}")]
    RelatedOverCapacity {
        /// SecurityID.
        security_id: i32,
    },
    /// A packet that does not go with what came before it: far ahead in number, fallen behind
    /// though sent later, or sent in this host's future. It is set aside until another confirms
    /// it.
    #[error("packet {sequence} of the {feed} feed does not go with what came before it")]
    SuspectPacket {
        /// The feed.
        feed: Feed,
        /// MsgSeqNum.
        sequence: u32,
    },
    /// A packet longer than `Settings::max_packet` had to be held.
    #[error("packet of {length} bytes is too long to be kept")]
    OversizedPacket {
        /// Bytes of the packet.
        length: usize,
    },
    /// The recovery queue was full: its oldest entry was dropped, and later snapshots are needed.
    #[error("the recovery queue is full, the oldest entries were dropped")]
    QueueOverflow,
    /// There are more orders than `Settings::max_orders`: the instrument's order book is out of
    /// sync and empty until a snapshot of it fits.
    #[error("no room for the orders of instrument {security_id}")]
    OrdersOverCapacity {
        /// SecurityID.
        security_id: i32,
    },
    /// The queue of order entries was full: its oldest entry was dropped, and later snapshots are
    /// needed.
    #[error("the queue of order entries is full, the oldest were dropped")]
    OrderQueueOverflow,
    /// More packets came while TCP replay was under way than `Replay::max_held`: it is given up.
    #[error("more packets came during a replay than can be held; it is given up")]
    ReplayBufferFull,
    /// A feed is needed that the settings say there is not.
    #[error("there is no {feed} feed: {}", what_is_missing(.feed))]
    MissingFeed {
        /// The feed.
        feed: Feed,
    },
    /// A pass of a loop has more packets than `Settings::max_loop_packets`; it counts as seen whole
    /// only if those beyond come in order.
    #[error("a pass of the {feed} loop has more packets than can be kept account of")]
    LoopTooLong {
        /// The looping feed.
        feed: Feed,
    },
}

impl Warning {
    /// The counter of this kind of warning.
    pub(crate) fn counter<'a>(&self, counters: &'a mut Counters) -> &'a mut u64 {
        match self {
            Self::UnknownTemplate { .. } => &mut counters.unknown_templates,
            Self::NewerVersion { .. } => &mut counters.newer_versions,
            Self::BeyondDepth { .. } => &mut counters.beyond_depth,
            Self::PriceChanged { .. } => &mut counters.prices_changed,
            Self::UnknownSecurity { .. } => &mut counters.unknown_securities,
            Self::InstrumentsOverCapacity { .. } => &mut counters.instruments_over_capacity,
            Self::DepthCut { .. } => &mut counters.depths_cut,
            Self::RelatedOverCapacity { .. } => &mut counters.related_over_capacity,
            Self::SuspectPacket { .. } => &mut counters.doubtful_packets,
            Self::OversizedPacket { .. } => &mut counters.oversized_packets,
            Self::QueueOverflow => &mut counters.queue_overflows,
            Self::ReplayBufferFull => &mut counters.replay_holdings_full,
            Self::MissingFeed { .. } => &mut counters.missing_feeds,
            Self::OrdersOverCapacity { .. } => &mut counters.orders_over_capacity,
            Self::OrderQueueOverflow => &mut counters.order_queue_overflows,
            Self::LoopTooLong { .. } => &mut counters.loops_too_long,
        }
    }

    /// A number below 32 for the kind.
    pub(crate) const fn kind(&self) -> u32 {
        match self {
            Self::UnknownTemplate { .. } => 0,
            Self::NewerVersion { .. } => 1,
            Self::BeyondDepth { .. } => 2,
            Self::PriceChanged { .. } => 3,
            Self::UnknownSecurity { .. } => 4,
            Self::InstrumentsOverCapacity { .. } => 5,
            Self::DepthCut { .. } => 6,
            Self::OversizedPacket { .. } => 7,
            Self::QueueOverflow => 8,
            Self::LoopTooLong { .. } => 9,
            Self::RelatedOverCapacity { .. } => 10,
            Self::SuspectPacket { .. } => 11,
            Self::ReplayBufferFull => 24,
            Self::MissingFeed { feed: Feed::Instrument } => 25,
            Self::MissingFeed { feed: Feed::SnapshotOrders } => 27,
            Self::MissingFeed { .. } => 26,
            Self::OrdersOverCapacity { .. } => 12,
            Self::OrderQueueOverflow => 13,
        }
    }
}

/// What cannot be had without a feed.
const fn what_is_missing(feed: &Feed) -> &'static str {
    match feed {
        Feed::Instrument => "definitions come one by one, on the incremental feed",
        Feed::Snapshot => "only a reset, replay or natural refresh brings a book in sync",
        Feed::SnapshotOrders => "only a reset brings an order book in sync",
        Feed::Incremental | Feed::Replay => "nothing comes by it",
    }
}
