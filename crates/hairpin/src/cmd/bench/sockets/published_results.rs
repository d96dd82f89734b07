//! The published figures.

/// The source of the published figures.
pub(super) const SOURCE: &str =
    "Exablaze, Reducing latency with Exasock, 2014: ExaNIC, 12 bytes, blocking";

/// A published distribution of half round trips over UDP, in microseconds.
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

/// Kernel sockets, and the same program accelerated.
pub(super) const UDP: [Published; 2] = [
    Published {
        heading: "kernel",
        values: [
            Some(12.462),
            Some(0.181),
            None,
            None,
            Some(12.432),
            None,
            None,
            None,
            None,
            None,
            None,
            None,
        ],
    },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_percentiles_increase() {
        for published in UDP {
            let percentiles: Vec<f64> = published.values[2..].iter().filter_map(|it| *it).collect();
            assert!(percentiles.is_sorted(), "{published:?}");
        }
    }
}
