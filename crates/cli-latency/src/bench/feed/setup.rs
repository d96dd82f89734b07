//! The messages between the parent of a round and its sender and receiver.

use std::net::Ipv4Addr;

use hairpin_cli_harness::multicast_groups::MulticastGroups;
use hairpin_cli_harness::transport::{self, Transport};
use hairpin_feed_handler::Settings;
use hairpin_host::ClockSource;
use hairpin_measure::{Clock, Kind, Row, Setting};
use hairpin_time::Duration;
use serde::{Deserialize, Serialize};

use super::feed_case::{Load, Receiver};
use super::published_results::Span;
use super::update_flow::{INSTRUMENTS, PACKET_BYTES};

/// The case of a bare socket.
const BARE: &str = "bare receiver";
/// The suffix of the case of a handler that is kept warm.
const KEPT_WARM: &str = ", kept warm";
/// The value for settings without wait or transport.
const NONE: &str = "none";

/// The setup of the sender.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SenderSetup {
    pub(crate) groups: MulticastGroups,
    /// The address to send from.
    pub(crate) interface: Ipv4Addr,
    pub(crate) core: Option<usize>,
    pub(crate) load: Load,
    /// The receiver's wait, for the row.
    pub(crate) wait: String,
}

/// The setup of the receiver.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReceiverSetup {
    pub(crate) groups: MulticastGroups,
    /// The address of the interface that joins the groups.
    pub(crate) interface: Ipv4Addr,
    /// The sender's address.
    pub(crate) source: Ipv4Addr,
    pub(crate) core: Option<usize>,
    pub(crate) wait: String,
    pub(crate) receiver: Receiver,
    pub(crate) transport: transport::TransportArgs,
    pub(crate) load: Load,
}

/// The process is ready: the sender sends, or the receiver is in sync.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Ready {}

/// The results of the sender.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SenderOutcome {
    /// Recorded packets sent.
    pub(crate) sent: u64,
    /// Recorded packets that the interface could not send.
    pub(crate) unsent: u64,
    /// A row with the lateness of the packets and without latency.
    pub(crate) lateness: Row,
    pub(crate) interrupted: bool,
}

/// The results of the receiver.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct ReceiverOutcome {
    pub(crate) rows: Vec<Row>,
    pub(crate) counts: ReceiverCounts,
    pub(crate) interrupted: bool,
}

/// The counts of a round besides its samples.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReceiverCounts {
    /// Events whose book was not in sync.
    pub(crate) unsynced: u64,
    /// Packets without a receive timestamp.
    pub(crate) unstamped: u64,
    /// Gaps in the stream.
    pub(crate) gaps: u64,
    /// Datagrams dropped because the receive buffer was full.
    pub(crate) drops: u64,
    /// Packets that could not be decoded.
    pub(crate) errors: u64,
    /// Warm-up packets.
    pub(crate) dry: u64,
    /// Samples that did not fit.
    pub(crate) refused: u64,
    /// The receive buffer that the kernel granted, in bytes; 0 without a socket.
    pub(crate) buffer: u64,
}

impl ReceiverCounts {
    /// Returns the sum over several rounds, with the smallest buffer.
    pub(crate) fn plus(self, other: Self) -> Self {
        let least = [self.buffer, other.buffer].into_iter().filter(|&bytes| bytes > 0).min();
        Self {
            unsynced: self.unsynced + other.unsynced,
            unstamped: self.unstamped + other.unstamped,
            gaps: self.gaps + other.gaps,
            drops: self.drops + other.drops,
            errors: self.errors + other.errors,
            dry: self.dry + other.dry,
            refused: self.refused + other.refused,
            buffer: least.unwrap_or(0),
        }
    }
}

/// Returns the settings of a benchmark channel.
pub(super) fn channel_settings() -> Settings {
    // Line B is not sent, so its silence is expected.
    let silence = Duration::ZERO;
    Settings { max_instruments: INSTRUMENTS as usize, silence, ..Settings::default() }
}

/// Returns the clock of a row that is read in this process.
pub(super) fn clock_of(source: ClockSource) -> Clock {
    match source {
        ClockSource::Tsc => Clock::Tsc,
        ClockSource::Kernel => Clock::Monotonic,
    }
}

/// Returns the settings of a receiver's rows, in their order. `clock` is the clock of the
/// application rows; the others are measured from the kernel's timestamp with the kernel's clock.
pub(crate) fn settings(
    receiver: Receiver,
    transport: Transport,
    wait: &str,
    load: &Load,
    clock: Clock,
) -> Vec<Setting> {
    let setting = |case: String, clock| Setting {
        bench: "feed".to_owned(),
        case,
        feed: Some("multicast".to_owned()),
        transport: transport.name().to_owned(),
        wait: wait.to_owned(),
        protocol: "multicast".to_owned(),
        size_bytes: PACKET_BYTES as u64,
        interval_us: load.interval_us,
        kind: Kind::Stage,
        clock,
        rounds: 1,
    };
    let [application, network] = [Span::Application, Span::Network].map(Span::case);
    match receiver {
        Receiver::Handler { is_kept_warm } => {
            let suffix = if is_kept_warm { KEPT_WARM } else { "" };
            vec![
                setting(format!("{application}{suffix}"), clock),
                setting(format!("{network}{suffix}"), Clock::SoftwareTimestamp),
            ]
        }
        Receiver::Bare => vec![setting(BARE.to_owned(), Clock::SoftwareTimestamp)],
        Receiver::Batch => vec![Setting {
            feed: None,
            transport: NONE.to_owned(),
            wait: NONE.to_owned(),
            protocol: NONE.to_owned(),
            kind: Kind::Batch,
            ..setting(application.to_owned(), clock)
        }],
    }
}

/// Returns the receiver of a row.
pub(super) fn receiver_of(setting: &Setting) -> Receiver {
    match (setting.kind, setting.case.as_str()) {
        (Kind::Batch, _) => Receiver::Batch,
        (_, BARE) => Receiver::Bare,
        (_, case) => Receiver::Handler { is_kept_warm: case.ends_with(KEPT_WARM) },
    }
}

/// Returns `true` if a row belongs to a span. A bare receiver belongs to the span with network and
/// kernel.
pub(super) fn is_of(span: Span, setting: &Setting) -> bool {
    let case = setting.case.trim_end_matches(KEPT_WARM);
    case == span.case() || (span == Span::Network && case == BARE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECEIVERS: [Receiver; 4] = [
        Receiver::Handler { is_kept_warm: false },
        Receiver::Handler { is_kept_warm: true },
        Receiver::Bare,
        Receiver::Batch,
    ];

    #[test]
    fn row_has_receiver_and_span() {
        let load = Load { interval_us: 0, warm_up: 0, samples: 1, seed: 1 };
        for receiver in RECEIVERS {
            let settings = settings(receiver, Transport::Kernel, "spin", &load, Clock::Tsc);
            assert!(settings.iter().all(|setting| receiver_of(setting) == receiver));
            let spans = settings
                .iter()
                .map(|setting| [Span::Application, Span::Network].map(|span| is_of(span, setting)));
            let expected: &[[bool; 2]] = match receiver {
                Receiver::Handler { .. } => &[[true, false], [false, true]],
                Receiver::Bare => &[[false, true]],
                Receiver::Batch => &[[true, false]],
            };
            assert_eq!(spans.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn counts_add_up_but_for_the_buffer() {
        let one = ReceiverCounts { gaps: 1, drops: 2, buffer: 9, ..ReceiverCounts::default() };
        let other = ReceiverCounts { gaps: 3, buffer: 7, ..ReceiverCounts::default() };
        let none = ReceiverCounts::default();
        let both = one.plus(other).plus(none);
        assert_eq!((both.gaps, both.drops, both.buffer), (4, 2, 7));
    }
}
