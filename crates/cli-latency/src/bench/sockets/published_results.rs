//! The published figures.

/// The source of the published figures.
pub(super) const SOURCE: &str =
    "Exablaze, Reducing latency with Exasock, 2014: ExaNIC, 12 bytes, blocking";

/// A published distribution of half round trips, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Published {
    pub(super) heading: &'static str,
    /// One value for each line of [`LINES`]; `None` if not published.
    pub(super) values: [Option<f64>; LINES.len()],
}

/// The lines of a distribution.
pub(super) const LINES: [&str; 12] = [
    "mean",
    "deviation",
    "min",
    "25 %",
    "50 %",
    "75 %",
    "90 %",
    "95 %",
    "99 %",
    "99.9 %",
    "99.99 %",
    "max",
];

/// Kernel sockets, and the same program accelerated, over UDP.
pub(super) const UDP: [Published; 2] = [
    Published { heading: "kernel", values: central(12.462, 0.181, 12.432) },
    Published {
        heading: "exasock",
        values: [
            Some(1.091),
            Some(0.050),
            Some(1.038),
            Some(1.073),
            Some(1.083),
            Some(1.102),
            Some(1.117),
            Some(1.130),
            Some(1.182),
            Some(1.973),
            Some(2.403),
            Some(10.729),
        ],
    },
];

/// The same over TCP.
pub(super) const TCP: [Published; 2] = [
    Published { heading: "kernel", values: central(16.318, 0.374, 16.235) },
    Published { heading: "exasock", values: central(1.554, 6.217, 1.132) },
];

/// Returns a distribution of which mean, deviation and median are published.
const fn central(mean: f64, deviation: f64, median: f64) -> [Option<f64>; LINES.len()] {
    let mut values = [None; LINES.len()];
    values[0] = Some(mean);
    values[1] = Some(deviation);
    values[4] = Some(median);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_percentiles_increase() {
        for published in UDP.into_iter().chain(TCP) {
            let percentiles: Vec<f64> = published.values[2..].iter().filter_map(|it| *it).collect();
            assert!(percentiles.is_sorted(), "{published:?}");
        }
    }
}
