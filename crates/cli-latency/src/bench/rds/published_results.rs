//! The published figures.

/// The source of the published figures.
pub(super) const SOURCE: &str =
    "Zach Brown, RDS/eth round trip latency, zabbo.net (dual Opteron, e1000)";

/// The fastest round trips of one message size, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Published {
    /// The message size in bytes.
    pub(super) size: usize,
    pub(super) tcp: u64,
    pub(super) udp: u64,
    pub(super) rds: u64,
}

const fn line(size: usize, tcp: u64, udp: u64, rds: u64) -> Published {
    Published { size, tcp, udp, rds }
}

/// All sizes.
pub(super) const TABLE: [Published; 9] = [
    line(4, 86, 63, 67),
    line(8, 88, 63, 68),
    line(16, 92, 63, 70),
    line(32, 98, 66, 73),
    line(64, 110, 74, 79),
    line(128, 135, 88, 92),
    line(256, 185, 115, 121),
    line(512, 285, 173, 180),
    line(1_024, 485, 287, 295),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rds_is_between_udp_and_tcp_and_grows_with_the_size() {
        assert!(TABLE.iter().all(|line| line.udp < line.rds && line.rds < line.tcp));
        let grows = |of: fn(&Published) -> u64| TABLE.windows(2).all(|it| of(&it[0]) <= of(&it[1]));
        assert!(grows(|it| it.tcp) && grows(|it| it.udp) && grows(|it| it.rds));
        assert!(TABLE.windows(2).all(|it| it[1].size == 2 * it[0].size));
    }
}
