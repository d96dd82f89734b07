//! Errors and warnings about received packets.

use hairpin_sbe::DecodeError;

use crate::{Counters, Feed};

/// A fault in the data sent by the exchange or altered by the network.
///
/// Each error increments the counter of its name and is reported to [`crate::Listener::on_error`];
/// none stops the channel. If an error may have hidden entries, the affected books are out of sync
/// until a snapshot or their RptSeq restores them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The packet is shorter than its 12-byte header.
    #[error("cannot decode packet: {length} bytes are fewer than the 12 of its header")]
    PacketTooShort {
        /// The packet's length in bytes.
        length: usize,
    },
    /// MsgSize is smaller than the message header.
    #[error("cannot decode message: MsgSize {size} is smaller than the 10-byte header")]
    MessageSizeTooSmall {
        /// MsgSize.
        size: u16,
    },
    /// MsgSize exceeds the packet.
    #[error(
        "cannot decode message: MsgSize {size} exceeds the {available} bytes left in the \
         packet"
    )]
    TruncatedMessage {
        /// MsgSize.
        size: u16,
        /// The number of bytes from MsgSize to the end of the packet.
        available: usize,
    },
    /// The bytes after the last message are too few for another.
    #[error("cannot decode message: {length} trailing bytes are too few for one")]
    TrailingBytes {
        /// The number of bytes.
        length: usize,
    },
    /// The message's schema is not CME's market data schema (1).
    #[error("cannot decode message: schema is {schema_id}, expected 1")]
    ForeignSchema {
        /// The schema id of the SBE header.
        schema_id: u16,
    },
    /// The message's block or groups exceed MsgSize.
    #[error("cannot decode message of template {template_id}: {error}")]
    MalformedMessage {
        /// The template id of the SBE header, 0 without a valid header.
        template_id: u16,
        /// The decoding error.
        error: DecodeError,
    },
    /// The book entry has an unknown action, level 0, or no valid price or quantity.
    #[error(
        "cannot apply book entry to instrument {security_id}: invalid action {action}, \
         level {level}, price or quantity"
    )]
    InvalidEntry {
        /// SecurityID.
        security_id: i32,
        /// MDUpdateAction.
        action: u8,
        /// MDPriceLevel.
        level: u8,
    },
    /// The book entry names a level that the book does not have.
    #[error(
        "cannot apply action {action} to instrument {security_id}: the book has no level \
         {level}"
    )]
    InapplicableEntry {
        /// SecurityID.
        security_id: i32,
        /// MDUpdateAction.
        action: u8,
        /// MDPriceLevel.
        level: u8,
    },
    /// A new order is already in the book.
    #[error("cannot add order {order_id} to instrument {security_id}: order exists")]
    ExistingOrder {
        /// SecurityID.
        security_id: i32,
        /// OrderID.
        order_id: u64,
    },
    /// A changed or deleted order is not in the book.
    #[error("cannot change order {order_id} of instrument {security_id}: order not found")]
    MissingOrder {
        /// SecurityID.
        security_id: i32,
        /// OrderID.
        order_id: u64,
    },
    /// The order entry has an unknown action, or no valid side, price or quantity.
    #[error(
        "cannot apply order {order_id} to instrument {security_id}: invalid action, \
         side, price or quantity"
    )]
    InvalidOrder {
        /// SecurityID.
        security_id: i32,
        /// OrderID, `u64::MAX` if absent.
        order_id: u64,
    },
    /// The order entry refers to a price level missing from its message. Its instrument is unknown,
    /// so all order books are out of sync.
    #[error("cannot apply order {order_id}: its message has no entry {reference_id}")]
    DanglingOrder {
        /// OrderID.
        order_id: u64,
        /// ReferenceID, 0 if absent.
        reference_id: u8,
    },
    /// The order snapshot has an invalid chunk number, a duplicate order or an invalid order.
    #[error("cannot load order snapshot of instrument {security_id}: invalid chunk or order")]
    InvalidOrderSnapshot {
        /// SecurityID.
        security_id: i32,
    },
    /// The snapshot has gaps between its levels.
    #[error("cannot load snapshot of instrument {security_id}: gaps between its levels")]
    InvalidSnapshot {
        /// SecurityID.
        security_id: i32,
    },
}

impl Error {
    /// Returns the counter of this error.
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

/// An unexpected condition that the channel tolerates. Each is counted every time, and reported to
/// [`crate::Listener::on_warning`] the first time only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// Schema version 13 has no such template; its messages are skipped.
    #[error("skipped message of unknown template {template_id}")]
    UnknownTemplate {
        /// The template id of the SBE header.
        template_id: u16,
    },
    /// The version is newer than 13; its new fields are not decoded.
    #[error("schema version {version} is newer than 13; new fields are not decoded")]
    NewerVersion {
        /// The version of the SBE header.
        version: u16,
    },
    /// The price level is below the instrument's depth.
    #[error("instrument {security_id}: dropped level {level} below its depth")]
    BeyondDepth {
        /// SecurityID.
        security_id: i32,
        /// MDPriceLevel.
        level: u8,
    },
    /// The price of a Change entry differs from the level's.
    #[error("instrument {security_id}: Change entry altered the price of level {level}")]
    PriceChanged {
        /// SecurityID.
        security_id: i32,
        /// MDPriceLevel.
        level: u8,
    },
    /// The instrument has no definition.
    #[error("instrument {security_id} has no definition")]
    UnknownSecurity {
        /// SecurityID.
        security_id: i32,
    },
    /// More instruments exist than `Settings::max_instruments`.
    #[error("ignored instrument {security_id}: max_instruments reached")]
    InstrumentsOverCapacity {
        /// SecurityID of the first instrument that did not fit.
        security_id: i32,
    },
    /// The definition states a book deeper than [`crate::MAX_DEPTH`].
    #[error("instrument {security_id}: depth {depth} exceeds the maximum")]
    DepthCut {
        /// SecurityID.
        security_id: i32,
        /// MarketDepth.
        depth: u8,
    },
    /// The legs or underlyings of all definitions exceed `Settings::max_related`; the instrument
    /// has none.
    #[error("dropped legs or underlyings of instrument {security_id}: max_related reached")]
    RelatedOverCapacity {
        /// SecurityID.
        security_id: i32,
    },
    /// The packet does not continue the stream: its number is far ahead, or fell although it was
    /// sent later, or its SendingTime is in this host's future. The channel keeps it until another
    /// packet confirms it.
    #[error("packet {sequence} of the {feed} feed does not continue the stream")]
    SuspectPacket {
        /// The feed.
        feed: Feed,
        /// MsgSeqNum.
        sequence: u32,
    },
    /// A packet longer than `Settings::max_packet` had to be buffered.
    #[error("packet of {length} bytes is too long to buffer")]
    OversizedPacket {
        /// The packet's length in bytes.
        length: usize,
    },
    /// The recovery queue was full and dropped its oldest entry. Later snapshots are needed.
    #[error("recovery queue is full: dropped the oldest entries")]
    QueueOverflow,
    /// More orders exist than `Settings::max_orders`. The instrument's order book is empty and out
    /// of sync until a snapshot of it fits.
    #[error("dropped orders of instrument {security_id}: max_orders reached")]
    OrdersOverCapacity {
        /// SecurityID.
        security_id: i32,
    },
    /// The queue of order entries was full and dropped its oldest entry. Later snapshots are
    /// needed.
    #[error("order queue is full: dropped the oldest entries")]
    OrderQueueOverflow,
    /// More packets arrived during a TCP replay than `Replay::max_held`. The replay is given up.
    #[error("gave up TCP replay: max_held reached")]
    ReplayBufferFull,
    /// A feed is needed that is absent by the settings.
    #[error("no {feed} feed: {}", missing_feed_effect(.feed))]
    MissingFeed {
        /// The feed.
        feed: Feed,
    },
    /// A loop pass has more packets than `Settings::max_loop_packets`. It counts as complete only
    /// if the packets beyond that arrive in order.
    #[error("a pass of the {feed} loop has more packets than max_loop_packets")]
    LoopTooLong {
        /// The looping feed.
        feed: Feed,
    },
}

impl Warning {
    /// Returns the counter of this warning.
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

    /// Returns the bit number of the warning's kind, below 32.
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

/// Returns the effect of a missing feed.
const fn missing_feed_effect(feed: &Feed) -> &'static str {
    match feed {
        Feed::Instrument => "definitions arrive on the incremental feed only",
        Feed::Snapshot => "only a reset, replay or natural refresh restores a book",
        Feed::SnapshotOrders => "only a reset restores an order book",
        Feed::Incremental | Feed::Replay => "no data arrives",
    }
}
