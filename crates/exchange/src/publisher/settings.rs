//! Publisher settings: the kind of group and the feed parameters.

use hairpin_time::Duration;

/// BrokerTec's conflation interval.
pub const BROKERTEC_INTERVAL: Duration = Duration::from_millis(50);
/// EBS's conflation interval, as published in 2021.
pub const EBS_INTERVAL: Duration = Duration::from_millis(5);

/// The settings of a publisher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublisherSettings {
    /// ApplID, the number of the channel (tag 1180).
    pub channel: i16,
    /// MarketSegmentID of all instruments (tag 1300), or the first of several segments.
    pub market_segment: u8,
    /// The silence of the incremental feed before a heartbeat, at any pace of the loops. CME's own
    /// value is not public.
    pub heartbeat: Duration,
    /// The period of the loops, once they are paced.
    pub loop_period: Duration,
    /// The highest rate of each loop before it is paced, in packets per second; `None` for no
    /// limit.
    pub loop_rate: Option<u32>,
    /// The meaning of TotNumReports (tag 911) of definitions.
    pub definition_count: DefinitionCount,
    /// The kind of group: every event or conflated, and the orders it publishes.
    pub group: Group,
    /// Sends quantities as 64 bits, with templates 64 to 67 and 69 instead of 46, 48, 37, 51 and
    /// 52.
    pub long_quantities: bool,
    /// Tracks and publishes session statistics (templates 51 and 67).
    pub statistics: bool,
    /// The number of instruments, counted from the last, that have no definition until they are
    /// listed.
    pub unlisted: u32,
    /// Records fingerprints for [`crate::Publisher::poll_fingerprint`].
    pub fingerprints: bool,
    /// Ends every event on its last message with data, for benchmarks with uniform packets.
    /// Otherwise the endings vary, because a receiver must not rely on one form. Of eight events,
    /// two end on an empty message in the same packet, and one on an empty message in a separate
    /// packet.
    pub plain_endings: bool,
}

impl Default for PublisherSettings {
    /// Returns channel 310, segment 64, heartbeat 1 s, loops every 100 ms; every event, without
    /// orders, 32-bit quantities, no statistics, all instruments listed.
    fn default() -> Self {
        Self {
            channel: 310,
            market_segment: 64,
            heartbeat: Duration::from_secs(1),
            loop_period: Duration::from_millis(100),
            loop_rate: None,
            definition_count: DefinitionCount::Instruments,
            group: Group::Premium { orders: None },
            long_quantities: false,
            statistics: false,
            unlisted: 0,
            fingerprints: false,
            plain_endings: false,
        }
    }
}

impl PublisherSettings {
    /// Creates settings for a Premium group: every event, all orders, statistics.
    #[must_use]
    pub fn premium() -> Self {
        let group = Group::Premium { orders: Some(FullOrders::default()) };
        Self { group, statistics: true, ..Self::default() }
    }

    /// Creates settings for BrokerTec's conflated group: 50 ms, top orders, statistics.
    #[must_use]
    pub fn brokertec() -> Self {
        let group = Group::Conflated { intervals: &[BROKERTEC_INTERVAL], top_orders: true };
        Self { group, statistics: true, ..Self::default() }
    }

    /// Creates settings for EBS's conflated group: 5 ms, long quantities, statistics, no orders.
    #[must_use]
    pub fn ebs() -> Self {
        let group = Group::Conflated { intervals: &[EBS_INTERVAL], top_orders: false };
        Self { group, long_quantities: true, statistics: true, ..Self::default() }
    }

    /// Returns the settings for publishing all orders, if enabled.
    pub(super) fn orders(&self) -> Option<FullOrders> {
        match self.group {
            Group::Premium { orders } => orders,
            Group::Conflated { .. } => None,
        }
    }

    pub(super) fn has_top_orders(&self) -> bool {
        matches!(self.group, Group::Conflated { top_orders: true, .. })
    }

    /// Returns `true` if all values are within their documented ranges.
    pub(super) fn is_valid(&self) -> bool {
        match self.group {
            Group::Premium { orders } => {
                orders.is_none_or(|orders| (1..=FullOrders::CHUNK_MAX).contains(&orders.chunk))
            }
            Group::Conflated { intervals, .. } => {
                (1..=256).contains(&intervals.len()) && !intervals.contains(&Duration::ZERO)
            }
        }
    }

    /// Returns the number of market segments, to which instruments are assigned in turn.
    pub(super) fn segments(&self) -> usize {
        match self.group {
            Group::Premium { .. } => 1,
            Group::Conflated { intervals, .. } => intervals.len(),
        }
    }
}

/// The meaning of TotNumReports (tag 911) of definitions. CME's pages have both: messages, and
/// instruments.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefinitionCount {
    /// Instruments. The loop has one definition of each.
    #[default]
    Instruments,
    /// Messages. The loop has the definition of the first instrument twice.
    Messages,
}

/// The kinds of CME's groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Every event is published when it happens.
    Premium {
        /// The settings for publishing all orders (MBOFD: 47, the order entries of 46, and 53), if
        /// enabled.
        orders: Option<FullOrders>,
    },
    /// The events of an interval are published as one event.
    Conflated {
        /// The interval of each market segment, 1 to 256 of them. Instrument `n` belongs to segment
        /// `n` modulo their number. Segments are numbered from
        /// [`PublisherSettings::market_segment`].
        intervals: &'static [Duration],
        /// Publishes the ten best orders of each side (MBOLD: 59, and 53 after each 52).
        top_orders: bool,
    },
}

/// The settings for publishing all orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FullOrders {
    /// The message for changes of an order.
    pub path: OrderPath,
    /// The maximum number of orders in a chunk of template 53, 1 to [`FullOrders::CHUNK_MAX`].
    pub chunk: u8,
}

impl FullOrders {
    /// The number of orders that fit in one packet: 12 + 2 + 8 + 28 + 3 bytes, and 29 for each.
    pub const CHUNK_MAX: u8 = 47;
}

impl Default for FullOrders {
    /// Returns orders attached to their levels, and the longest chunks.
    fn default() -> Self {
        Self { path: OrderPath::WithLevels, chunk: Self::CHUNK_MAX }
    }
}

/// The message for changes of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderPath {
    /// Template 46, with a reference to the entry of its level. Template 47 if the event has no
    /// such entry, because the price is beyond the published depth or the level's sums are
    /// unchanged.
    WithLevels,
    /// Template 47, always.
    Separate,
}
