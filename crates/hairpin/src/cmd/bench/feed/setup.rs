//! What the parent of a round tells sender and receiver, and what they tell it back.

use std::net::Ipv4Addr;

use hairpin_feed_handler::Settings;
use hairpin_host::ClockSource;
use hairpin_measure::{Clock, Kind, Row, Setting};
use hairpin_time::Duration;
use serde::{Deserialize, Serialize};

use super::feed_case::{Load, Receiver};
use super::published::Span;
use super::update_flow::{INSTRUMENTS, PACKET_BYTES};
use crate::harness::multicast_groups::Groups;
use crate::harness::transport::{self, Transport};

/// The case of a socket without a handler.
const BARE: &str = "bare receiver";
/// What the case of a handler says that is kept warm.
const KEPT_WARM: &str = ", kept warm";
/// Of what does not wait or is carried by nothing.
const NONE: &str = "none";

/// What the sender needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SenderSetup {
    pub(crate) groups: Groups,
    /// The address it sends from.
    pub(crate) interface: Ipv4Addr,
    pub(crate) core: Option<usize>,
    pub(crate) load: Load,
    /// The receiver's wait, for the row.
    pub(crate) wait: String,
}

/// What the receiver needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ReceiverSetup {
    pub(crate) groups: Groups,
    /// The address of the interface that joins.
    pub(crate) interface: Ipv4Addr,
    /// The sender's address.
    pub(crate) source: Ipv4Addr,
    pub(crate) core: Option<usize>,
    pub(crate) wait: String,
    pub(crate) receiver: Receiver,
    pub(crate) transport: transport::TransportArgs,
    pub(crate) load: Load,
}

/// A side is ready: the sender sends, the receiver is in sync.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Ready {}

/// What left.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct SenderOutcome {
    /// Packets that are to be recorded.
    pub(crate) sent: u64,
    /// Of these, those that the interface had no room for.
    pub(crate) unsent: u64,
    /// How late they left; no latency.
    pub(crate) lateness: Row,
    pub(crate) interrupted: bool,
}

/// What came.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub(crate) struct ReceiverOutcome {
    pub(crate) rows: Vec<Row>,
    pub(crate) counts: ReceiverCounts,
    pub(crate) interrupted: bool,
}

/// What beside the samples was counted of a round.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReceiverCounts {
    /// Events that were told while their book was not in sync.
    pub(crate) unsynced: u64,
    /// Packets without a receive timestamp.
    pub(crate) unstamped: u64,
    /// Gaps in the stream.
    pub(crate) gaps: u64,
    /// Datagrams that found no room in the receive buffer.
    pub(crate) drops: u64,
    /// Packets that were not understood.
    pub(crate) errors: u64,
    /// Dry packets that kept the path warm.
    pub(crate) dry: u64,
    /// Samples that found no room.
    pub(crate) refused: u64,
    /// Bytes of receive buffer that the kernel granted; 0 if nothing was received by a socket.
    pub(crate) buffer: u64,
}

impl ReceiverCounts {
    /// Those of several rounds together; of buffers the smallest.
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

/// What the channel of a benchmark is like.
pub(super) fn channel_settings() -> Settings {
    // That side B brings nothing is as it should be.
    let silence = Duration::ZERO;
    Settings { max_instruments: INSTRUMENTS as usize, silence, ..Settings::default() }
}

/// The clock of a row that is read in this process.
pub(super) fn clock_of(source: ClockSource) -> Clock {
    match source {
        ClockSource::Tsc => Clock::Tsc,
        ClockSource::Kernel => Clock::Monotonic,
    }
}

/// The settings of the rows of a receiver, in the order of its rows. `clock` is what the
/// application's rows are read from; the others are from the kernel's timestamp to its clock.
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

/// What a row says of its column: who received.
pub(super) fn receiver_of(setting: &Setting) -> Receiver {
    match (setting.kind, setting.case.as_str()) {
        (Kind::Batch, _) => Receiver::Batch,
        (_, BARE) => Receiver::Bare,
        (_, case) => Receiver::Handler { is_kept_warm: case.ends_with(KEPT_WARM) },
    }
}

/// Whether a row is of a span; that of a bare receiver is of the one with network and kernel.
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
    fn a_row_tells_who_received_it_and_which_span_it_is() {
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
