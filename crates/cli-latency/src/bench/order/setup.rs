//! What the parent of a round sends to gateway and client, and what they send back.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_cli_harness::transport::{Transport, TransportArgs};
use hairpin_host::ClockSource;
use hairpin_measure::{Clock, Kind, Row, Setting};
use serde::{Deserialize, Serialize};

use super::order_case::{Load, Subject};
use super::published_results::Stage;

/// Ends the case name of a session against a bare gateway.
const BARE_GATEWAY: &str = ", bare gateway";
/// Begins the case name of a socket without a session.
const BARE: &str = "bare sockets, ";
/// The wait or transport of a row that has none.
const NONE: &str = "none";
/// The length of an order in bytes: NewOrderSingle514 with its framing header.
pub(super) const ORDER_BYTES: usize = 144;

/// The setup of the gateway.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct GatewaySetup {
    /// Where it listens; with port 0 the kernel chooses.
    pub(crate) address: SocketAddrV4,
    pub(crate) core: Option<usize>,
    pub(crate) transport: TransportArgs,
    pub(crate) subject: Subject,
    pub(crate) seed: u64,
}

/// The setup of the client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ClientSetup {
    pub(crate) gateway: SocketAddrV4,
    /// The address of the client's interface.
    pub(crate) interface: Ipv4Addr,
    pub(crate) core: Option<usize>,
    pub(crate) transport: TransportArgs,
    pub(crate) wait: String,
    pub(crate) subject: Subject,
    pub(crate) load: Load,
}

/// Sent by the gateway once it listens.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Ready {
    pub(crate) address: SocketAddrV4,
}

/// The outcome of a round.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct ClientOutcome {
    pub(crate) rows: Vec<Row>,
    pub(crate) counts: ClientCounts,
    pub(crate) interrupted: bool,
}

/// The counts of a round besides its samples.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClientCounts {
    /// Orders that the connection did not take at once.
    pub(crate) waited: u64,
    /// Unexpected messages: rejects, gaps, warnings.
    pub(crate) errors: u64,
    /// Samples for which there was no room.
    pub(crate) refused: u64,
}

impl ClientCounts {
    /// Returns the sum of both.
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            waited: self.waited + other.waited,
            errors: self.errors + other.errors,
            refused: self.refused + other.refused,
        }
    }
}

/// Returns the clock of a row that is read in this process.
pub(super) fn clock_of(source: ClockSource) -> Clock {
    match source {
        ClockSource::Tsc => Clock::Tsc,
        ClockSource::Kernel => Clock::Monotonic,
    }
}

/// Returns the measured stages of `subject`, in the order of its rows.
pub(super) fn stages(subject: Subject) -> &'static [Stage] {
    match subject {
        Subject::Gateway | Subject::BareGateway => &Stage::ALL,
        Subject::BareSockets => &[Stage::System, Stage::OneWay],
        Subject::Batch => &Stage::IN_MEMORY,
    }
}

/// Returns the settings of the rows of `subject`, one per stage.
pub(super) fn settings(
    subject: Subject,
    transport: Transport,
    wait: &str,
    load: &Load,
    clock: Clock,
) -> Vec<Setting> {
    let is_batch = subject == Subject::Batch;
    let of = |stage: &Stage| Setting {
        bench: "order".to_owned(),
        case: match subject {
            Subject::Gateway | Subject::Batch => stage.case().to_owned(),
            Subject::BareGateway => format!("{}{BARE_GATEWAY}", stage.case()),
            Subject::BareSockets => format!("{BARE}{}", stage.case()),
        },
        feed: None,
        transport: if is_batch { NONE } else { transport.name() }.to_owned(),
        wait: if is_batch { NONE } else { wait }.to_owned(),
        protocol: if is_batch { NONE } else { "tcp" }.to_owned(),
        size_bytes: ORDER_BYTES as u64,
        interval_us: load.interval_us,
        kind: match (is_batch, stage) {
            (true, _) => Kind::Batch,
            (false, Stage::OneWay) => Kind::Rtt,
            (false, _) => Kind::Stage,
        },
        clock,
        rounds: 1,
    };
    stages(subject).iter().map(of).collect()
}

/// Returns the column and the line of a row.
pub(super) fn subject_and_stage(setting: &Setting) -> Option<(Subject, Stage)> {
    let case = setting.case.as_str();
    let (subject, case) = match (case.strip_prefix(BARE), case.strip_suffix(BARE_GATEWAY)) {
        (Some(case), _) => (Subject::BareSockets, case),
        (None, Some(case)) => (Subject::BareGateway, case),
        (None, None) if setting.kind == Kind::Batch => (Subject::Batch, case),
        (None, None) => (Subject::Gateway, case),
    };
    let stage = Stage::ALL.into_iter().find(|stage| stage.case() == case)?;
    Some((subject, stage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_has_subject_and_stage() {
        let load = Load { interval_us: 0, warm_up: 0, samples: 1, seed: 1 };
        let subjects =
            [Subject::Gateway, Subject::BareGateway, Subject::BareSockets, Subject::Batch];
        for subject in subjects {
            let settings = settings(subject, Transport::Xdp, "spin", &load, Clock::Tsc);
            let told: Vec<_> = settings.iter().filter_map(subject_and_stage).collect();
            let expected: Vec<_> = stages(subject).iter().map(|&stage| (subject, stage)).collect();
            assert_eq!(told, expected);
        }
    }

    #[test]
    fn counts_add_up() {
        let one = ClientCounts { waited: 1, errors: 2, refused: 3 };
        let other = ClientCounts { waited: 10, errors: 20, refused: 30 };
        assert_eq!(one.plus(other), ClientCounts { waited: 11, errors: 22, refused: 33 });
    }
}
