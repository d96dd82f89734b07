//! The published figures and their stages.

/// The source of the published figures.
pub(super) const SOURCE: &str = "OnixS C++ CME iLink 3 handler 1.10.0, i7-7700K at 5 GHz, SFN8542";

/// A stage of the path of an order and its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// From the report's bytes in the process to its callback.
    Receive,
    /// From the send call to the order's bytes at the socket.
    Send,
    /// Both stages of the same order.
    Both,
    /// From the send call to its return.
    System,
    /// Half of the time from the send call to the callback.
    OneWay,
}

/// The published latencies of one kind of sockets, in nanoseconds: min, median and 99th percentile
/// of each stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Column {
    pub(super) sockets: &'static str,
    pub(super) nanos: [[u64; 3]; Stage::ALL.len()],
}

impl Stage {
    /// All stages, in the order of the table.
    pub(super) const ALL: [Self; 5] =
        [Self::Receive, Self::Send, Self::Both, Self::System, Self::OneWay];
    /// The stages of a handler in memory.
    pub(super) const IN_MEMORY: [Self; 3] = [Self::Receive, Self::Send, Self::Both];

    /// Returns the case of its rows in a results file, which is its name in the table.
    pub(super) const fn case(self) -> &'static str {
        match self {
            Self::Receive => "handler receive",
            Self::Send => "handler send",
            Self::Both => "handler send + receive",
            Self::System => "OS + handler send",
            Self::OneWay => "one way",
        }
    }
}

/// The published table.
pub(super) const COLUMNS: [Column; 3] = [
    Column {
        sockets: "native sockets",
        nanos: [
            [34, 65, 84],
            [44, 46, 60],
            [81, 112, 132],
            [1_782, 1_945, 3_639],
            [3_327, 4_131, 4_921],
        ],
    },
    Column {
        sockets: "OpenOnload",
        nanos: [[30, 37, 73], [44, 46, 62], [76, 84, 124], [454, 571, 693], [2_127, 2_189, 2_643]],
    },
    Column {
        sockets: "TCPDirect",
        nanos: [[21, 23, 34], [44, 46, 56], [66, 69, 82], [198, 203, 297], [1_804, 1_954, 2_180]],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_rise_and_the_whole_is_more_than_its_parts() {
        for Column { nanos, sockets } in COLUMNS {
            for [min, median, tail] in nanos {
                assert!(min < median && median < tail, "{sockets}");
            }
            let [receive, send, both, system, one_way] = nanos.map(|[_, median, _]| median);
            assert!(receive.max(send) < both && both < system && system < one_way, "{sockets}");
        }
    }
}
