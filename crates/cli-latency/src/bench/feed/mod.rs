//! `hairpin bench feed`: the published tables of feed handlers, measured on this machine.

mod args;
mod bare_receiver;
mod batch;
mod feed_case;
mod probe;
mod published_results;
pub mod receiver;
mod round;
pub mod sender;
mod setup;
mod table;
mod update_flow;

use std::process::ExitCode;

use anyhow::Result;
use hairpin_measure::{Results, Row, Style, counted};

pub(crate) use args::BenchFeedArgs;
use feed_case::FeedCase;
use round::Outcome;
use setup::ReceiverCounts;
pub(super) use table::render;

use super::bench_case::BenchCase as _;
use super::bench_context::BenchContext;
use super::rounds::Bench;
use super::run::{self, BenchOptions};

/// Measures the tables or reads them from a file, and prints them.
///
/// # Errors
/// Those of [`run::run`].
pub(crate) fn run(arguments: &BenchFeedArgs) -> Result<ExitCode> {
    let words = BenchOptions {
        from: arguments.from.as_deref(),
        interface: arguments.interface.as_deref(),
        cores: &arguments.cores,
        output: &arguments.output,
        rounds: arguments.rounds(),
    };
    run::run::<Feed>(&words, &arguments.plan())
}

/// The feed handler's tables.
struct Feed;

impl Bench for Feed {
    const NAME: &'static str = "feed";
    const SIDES: [&'static str; 2] = ["publisher", "receiver"];
    type Case = FeedCase;
    type Outcome = Outcome;
    type Tally = Tally;

    fn round(
        context: &BenchContext<'_>,
        case: &FeedCase,
        told: &mut dyn FnMut(u64),
    ) -> Result<Outcome> {
        round::run(context, case, told)
    }

    fn count(tally: &mut Tally, outcome: &Outcome) {
        tally.counts = tally.counts.plus(outcome.received.counts);
        tally.unsent += outcome.unsent;
    }

    fn rows(outcome: Outcome) -> Vec<Row> {
        let received = outcome.received;
        let ReceiverCounts { errors, refused, .. } = received.counts;
        let reason = match (errors, refused) {
            (0, 0) => None,
            (0, refused) => {
                Some(format!("{} exceeded the reserved room", counted(refused, "sample")))
            }
            (errors, _) => Some(counted(errors, "undecoded packet")),
        };
        let interrupted = received.interrupted;
        let row = |row: Row| Row { interrupted, failed: reason.clone(), ..row };
        received.rows.into_iter().map(row).collect()
    }

    /// Returns the reason if the kernel cannot be bypassed: it requires two hosts and capabilities.
    fn refusal(context: &BenchContext<'_>, case: &FeedCase) -> Option<String> {
        let words = &case.transport;
        let may = words.check_between_hosts(None).and_then(|()| context.hosts.check(words));
        may.err().map(|error| format!("{} is not available: {error}", words.transport.name()))
    }

    fn failed(case: &FeedCase, reason: &str) -> Vec<Row> {
        round::failed(case, reason)
    }

    fn describe(case: &FeedCase, tally: &Tally) -> String {
        tally.describe(case)
    }

    fn render(results: &Results, style: Style) -> String {
        table::render(results, style)
    }
}

/// The counts of one column besides its samples.
#[derive(Debug, Default, Clone, Copy)]
struct Tally {
    counts: ReceiverCounts,
    unsent: u64,
}

impl Tally {
    /// Returns a line if a count is unexpected, and one about the warm-up packets.
    fn describe(&self, case: &FeedCase) -> String {
        let ReceiverCounts { unsynced, unstamped, gaps, drops, dry, buffer, .. } = self.counts;
        let (name, pause) = (case.name(), case.pause());
        let mut text = String::new();
        if [unsynced, unstamped, gaps, drops, self.unsent] != [0; 5] {
            text += &format!(
                "{name}, {pause}: {} dropped at a receive buffer of {buffer} bytes, {} not sent \
                 because buffers were full, {}; {} of books out of sync, {} without a timestamp\n",
                counted(drops, "packet"),
                self.unsent,
                counted(gaps, "gap"),
                counted(unsynced, "event"),
                counted(unstamped, "packet")
            );
        }
        if dry > 0 {
            text += &format!("{name}, {pause}: {}\n", counted(dry, "dry packet"));
        }
        text
    }
}
