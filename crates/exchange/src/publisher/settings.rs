//! What a publisher needs to know: which kind of group it publishes, and how.

use hairpin_time::Duration;

/// BrokerTec's interval of conflation.
pub const BROKERTEC_INTERVAL: Duration = Duration::from_millis(50);
/// The interval of conflation of EBS, as published in 2021.
pub const EBS_INTERVAL: Duration = Duration::from_millis(5);

/// What a publisher needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublisherSettings {
    /// The channel's number (tag 1180).
    pub channel: i16,
    /// The market segment of all instruments (tag 1300), or the first of several.
    pub market_segment: u8,
    /// Silence after which a heartbeat is sent, once loops are paced; 10 ms at most before. CME's
    /// own figure is not public.
    pub heartbeat: Duration,
    /// Time from one loop to the next, once loops are paced.
    pub loop_period: Duration,
    /// Whether every event is published, and with which orders.
    pub group: Group,
    /// Whether quantities are sent in 64 bits, by templates 64 to 67 and 69 instead of 46, 48, 37,
    /// 51 and 52.
    pub long_quantities: bool,
    /// Whether the session's statistics are kept and sent (templates 51 and 67).
    pub statistics: bool,
    /// Instruments, the last ones, that have no definition until they are listed.
    pub unlisted: u32,
    /// Whether [`crate::Publisher::poll_fingerprint`] has something to tell.
    pub fingerprints: bool,
    /// Whether every event ends on its last message that carries data. Else the ends vary, as no
    /// receiver may count on one way: of eight in turn two are on an empty message behind it, and
    /// one in a packet of its own. For benchmarks, whose packets are to be alike.
    pub plain_endings: bool,
}

impl Default for PublisherSettings {
    /// Channel 310, segment 64, heartbeat 1 s, loops every 100 ms; every event, without orders,
    /// quantities of 32 bits, no statistics, all instruments listed.
    fn default() -> Self {
        Self {
            channel: 310,
            market_segment: 64,
            heartbeat: Duration::from_secs(1),
            loop_period: Duration::from_millis(100),
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
    /// A Premium group: every event, all orders, statistics.
    #[must_use]
    pub fn premium() -> Self {
        let group = Group::Premium { orders: Some(FullOrders::default()) };
        Self { group, statistics: true, ..Self::default() }
    }

    /// BrokerTec's conflated group: 50 ms, top orders, statistics.
    #[must_use]
    pub fn brokertec() -> Self {
        let group = Group::Conflated { intervals: &[BROKERTEC_INTERVAL], top_orders: true };
        Self { group, statistics: true, ..Self::default() }
    }

    /// EBS's conflated group: 5 ms, long quantities, statistics, and no orders.
    #[must_use]
    pub fn ebs() -> Self {
        let group = Group::Conflated { intervals: &[EBS_INTERVAL], top_orders: false };
        Self { group, long_quantities: true, statistics: true, ..Self::default() }
    }

    /// How orders are published in full, if they are.
    pub(super) fn orders(&self) -> Option<FullOrders> {
        match self.group {
            Group::Premium { orders } => orders,
            Group::Conflated { .. } => None,
        }
    }

    pub(super) fn has_top_orders(&self) -> bool {
        matches!(self.group, Group::Conflated { top_orders: true, .. })
    }

    /// Whether numbers are within what their docs say.
    pub(super) fn is_sound(&self) -> bool {
        match self.group {
            Group::Premium { orders } => {
                orders.is_none_or(|orders| (1..=FullOrders::CHUNK_MAX).contains(&orders.chunk))
            }
            Group::Conflated { intervals, .. } => {
                (1..=256).contains(&intervals.len()) && !intervals.contains(&Duration::ZERO)
            }
        }
    }

    /// The market segments that instruments are dealt out to in turn.
    pub(super) fn segments(&self) -> usize {
        match self.group {
            Group::Premium { .. } => 1,
            Group::Conflated { intervals, .. } => intervals.len(),
        }
    }
}

/// The kinds of groups that CME has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Every event is published as it happens.
    Premium {
        /// Order by order as well (MBOFD: 47, the order entries of 46, and 53), if so.
        orders: Option<FullOrders>,
    },
    /// What happens within an interval is published as one event.
    Conflated {
        /// One interval for each market segment, 1 to 256 of them: instrument `n` is of segment
        /// `n` modulo their number. Segments are numbered from the setting's on.
        intervals: &'static [Duration],
        /// The ten best orders of each side as well (MBOLD: 59, and 53 behind 52), if so.
        top_orders: bool,
    },
}

/// How orders are published in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FullOrders {
    /// Which message a change of an order goes by.
    pub path: OrderPath,
    /// The most orders of one chunk of template 53, 1 to [`FullOrders::CHUNK_MAX`].
    pub chunk: u8,
}

impl FullOrders {
    /// As many orders as fit in one packet: 12 + 2 + 8 + 28 + 3, and 29 for each.
    pub const CHUNK_MAX: u8 = 47;
}

impl Default for FullOrders {
    /// Beside their levels, and the longest chunks.
    fn default() -> Self {
        Self { path: OrderPath::BesideLevels, chunk: Self::CHUNK_MAX }
    }
}

/// Which message a change of an order goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OrderPath {
    /// Template 46, with a reference to the entry of its price; 47 where the event has no such
    /// entry, because the price is beyond the published depth or its sums are what they were.
    BesideLevels,
    /// Template 47, always.
    Apart,
}
