//! The published figures.

/// The source of the published figures.
pub(super) const SOURCE: &str =
    "OnixS C++ CME MDP Conflated UDP Handler 1.1.2, programmer's guide, Benchmarking Results";

/// The names of a column's figures, in their order.
pub(super) const FIGURES: [&str; 6] = ["min", "median", "mean", "95 %", "99 %", "max"];

/// The measured span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Span {
    /// From the packet in the process to the callback.
    Application,
    /// From the receive timestamp of the kernel or the card.
    Network,
}

/// The published latency of one engine, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Column {
    pub(super) engine: &'static str,
    pub(super) micros: [f64; 6],
}

/// One published table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Table {
    pub(super) span: Span,
    /// The interval between packets in microseconds; 0 for no delay.
    pub(super) interval_us: u64,
    pub(super) columns: &'static [Column],
}

impl Span {
    /// Returns the case of its rows in a results file.
    pub(super) const fn case(self) -> &'static str {
        match self {
            Self::Application => "application only",
            Self::Network => "with network and kernel",
        }
    }

    /// Describes the start and the end of the span.
    pub(super) const fn describe(self) -> &'static str {
        match self {
            Self::Application => "packet in the process to callback",
            Self::Network => "receive timestamp to callback",
        }
    }
}

const fn column(engine: &'static str, micros: [f64; 6]) -> Column {
    Column { engine, micros }
}

const SOCKETS: &str = "SocketFeedEngine";
const ONLOAD: &str = "+ OpenOnload";
const SOLARFLARE: &str = "SolarflareFeedEngine";
/// For channel 360, on an i7-7700K: the callbacks of a packet's messages, without a book.
const MESSAGES: &str = "messages, no network";

/// All four.
pub(super) const TABLES: [Table; 4] = [
    Table {
        span: Span::Application,
        interval_us: 5_000,
        columns: &[
            column(SOCKETS, [0.993, 1.144, 1.203, 1.493, 2.047, 14.344]),
            column(SOLARFLARE, [0.856, 1.017, 1.071, 1.383, 1.830, 14.680]),
        ],
    },
    Table {
        span: Span::Network,
        interval_us: 5_000,
        columns: &[
            column(SOCKETS, [14.007, 52.087, 48.853, 55.894, 60.966, 79.933]),
            column(SOLARFLARE, [2.190, 2.664, 2.709, 3.152, 3.798, 16.385]),
        ],
    },
    Table {
        span: Span::Application,
        interval_us: 0,
        columns: &[
            column(SOCKETS, [0.507, 0.667, 0.739, 1.156, 1.564, 14.019]),
            column(ONLOAD, [0.533, 0.693, 0.765, 1.113, 1.560, 14.617]),
            column(SOLARFLARE, [0.600, 0.714, 0.778, 1.067, 1.490, 14.756]),
            column(MESSAGES, [0.047, 0.049, 0.052, 0.066, 0.099, 0.378]),
        ],
    },
    Table {
        span: Span::Network,
        interval_us: 0,
        columns: &[
            column(SOCKETS, [10.786, 12.610, 12.676, 14.238, 15.562, 64.169]),
            column(ONLOAD, [3.235, 4.148, 4.267, 5.260, 9.407, 22.261]),
            column(SOLARFLARE, [1.925, 2.353, 2.377, 2.853, 3.310, 16.210]),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_rise_but_for_the_mean() {
        for column in TABLES.iter().flat_map(|table| table.columns) {
            let [min, median, mean, p95, p99, max] = column.micros;
            let order = [min, median, p95, p99, max];
            assert!(order.windows(2).all(|pair| pair[0] < pair[1]), "{column:?}");
            assert!(min < mean && mean < p95, "{column:?}");
        }
    }

    #[test]
    fn plans_both_intervals_for_each_span() {
        let mut sets = TABLES.map(|table| (table.span.case(), table.interval_us));
        sets.sort_unstable();
        let expected = [
            ("application only", 0),
            ("application only", 5_000),
            ("with network and kernel", 0),
            ("with network and kernel", 5_000),
        ];
        assert_eq!(sets, expected);
    }
}
