//! `hairpin feed`: a market data channel through the feed handler, from the network or a capture.
//!
//! What the channel takes is printed in its order: packets of both sides arbitrated, each once, and
//! of the loops of definitions and snapshots what the channel wants of them. A message is a line as
//! `hairpin decode` prints it. With `--books` there are lines for what the channel tells, in the
//! same form without a template: at each end of event a `TopOfBook` for every instrument that is in
//! sync and whose book the event has changed, and `Gap`, `ChannelState` and `ChannelReset`. With
//! `--stats` there are lines of statistics in place of messages, and with `--watch` books and rates
//! on the terminal in place of all lines.
//!
//! Which group carries which feed and side a config.xml says; of a capture it is else found out by
//! reading it once before ([`groups`]). How the channel joins follows from the feeds that are
//! there: by definitions and snapshots; by snapshots alone; or, of a capture of the incremental
//! feed alone, with books that begin empty. In such books entries for levels that were stated
//! before the capture began are no errors; their number is told.
//!
//! Of a capture time is the capture's, at any `--speed`: gaps, holes and silence are judged as they
//! would have been then, and what is printed is the same. Other traffic is left out. The last lines
//! are what the channel has come to and, as of `decode`, the counts; a message by name or unknown
//! is one that was printed.

mod arguments;
mod callbacks;
mod figures;
pub(crate) mod groups;
mod input;
mod live;
mod printer;
mod replay;
mod screen;
mod selection;
mod statistics;
mod throughput;
mod watch;

use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use hairpin_endpoint::capture::Speed;
use hairpin_feed_handler::{
    Channel, Feed, Filter, LateJoin, OrderBooks, Replay as Refill, Settings,
};
use hairpin_host::{Clock, interface_address};
use hairpin_time::Duration;

pub(crate) use arguments::Arguments;

use crate::decode::capture::Links;
use crate::decode::codecs::{Codecs, SchemaFile};
use crate::decode::{Counts, Format};
use crate::signals::Signals;
use arguments::groups_of;
use figures::Figures;
use groups::Groups;
use live::Live;
use printer::Printer;
use replay::Replay;
use statistics::Traffic;

/// Room for every instrument that one of CME's channels has; about 25 MB.
const MOST_INSTRUMENTS: usize = 1 << 15;
/// A capture may have long runs to be kept until a snapshot comes.
const QUEUE_BYTES: usize = 64 << 20;

/// Runs the command: exit status 0 if everything was understood, 1 if anything was wrong.
///
/// # Errors
/// A schema or configuration file that is wrong, an interface that is missing, a file to record in
/// that cannot be written, or the network's.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    arguments.check()?;
    let files = arguments.schema.iter().map(|path| SchemaFile::read(path));
    let files = files.collect::<Result<Vec<_>, _>>().map_err(|what| anyhow!(what))?;
    let codecs = Codecs::new(&files).map_err(|what| anyhow!(what))?;
    if arguments.watch && !io::stdout().is_terminal() {
        bail!("--watch needs a terminal on standard output; --stats prints lines");
    }
    let filter = arguments.filter();
    let signals = Signals::take()?;
    let how = How {
        codecs: &codecs,
        format: arguments.format,
        messages: arguments.stats.is_none() && !arguments.watch,
        books: arguments.books || arguments.callbacks,
        callbacks: arguments.callbacks,
        filter: &filter,
        orders: arguments.orders.into(),
        statistics: arguments.stats,
        watch: arguments.watch,
    };
    let (out, err) = (BufWriter::new(io::stdout().lock()), io::stderr().lock());
    let mut counts = Counts::default();
    let asked_to_stop = || signals.asked_to_stop();
    let status = match &arguments.pcap {
        Some(path) => {
            let groups = arguments.groups().map_err(|what| anyhow!(what))?;
            let source = (path.as_path(), arguments.speed, arguments.duration);
            let outcome = feed(source, groups, how, &mut counts, (out, err), &asked_to_stop);
            counts.status(outcome, path)
        }
        None => {
            live(arguments, how, &mut counts, (out, err), &asked_to_stop)?;
            if counts.errors > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
    };
    Ok(signals.exit_status().unwrap_or(status))
}

/// How a feed is to be printed.
#[derive(Clone, Copy)]
struct How<'a> {
    codecs: &'a Codecs<'a>,
    format: Format,
    messages: bool,
    books: bool,
    callbacks: bool,
    filter: &'a Filter,
    orders: OrderBooks,
    statistics: Option<Duration>,
    watch: bool,
}

/// Prints the capture at `path`, until it ends or `asked_to_stop`.
///
/// # Errors
/// If the file cannot be read or is no capture, if there is not one channel in it, or if nothing
/// can be written.
fn feed(
    (path, speed, duration): (&Path, Speed, Option<Duration>),
    groups: Option<Groups>,
    how: How<'_>,
    counts: &mut Counts,
    (out, err): (impl Write, impl Write),
    asked_to_stop: &dyn Fn() -> bool,
) -> io::Result<()> {
    let (groups, input) = input::open(path, groups)?;
    let settings = settings(&groups, how.orders);
    let channel = Channel::new_with_filter(settings, how.filter.clone());
    let title = format!("feed --pcap {}", path.display());
    let clock = Clock::from_kernel();
    let replay = Replay {
        figures: Figures::publish(&title, &channel),
        channel,
        printer: Printer::new(how, &title, settings.late_join, counts, (out, err))?,
        groups,
        until: duration.map(|duration| clock.instant() + duration),
        clock,
        links: Links::default(),
        traffic: Traffic::default(),
    };
    replay.run(input, speed, asked_to_stop)
}

/// Prints a channel on the network, until `asked_to_stop`.
///
/// # Errors
/// A configuration file that is wrong, no such interface, and those of the network.
fn live(
    arguments: &Arguments,
    how: How<'_>,
    counts: &mut Counts,
    (out, err): (impl Write, impl Write),
    asked_to_stop: &dyn Fn() -> bool,
) -> Result<()> {
    let interface = arguments.interface.as_deref().context("no interface")?;
    let address = interface_address(interface)?;
    let channel = arguments.channel().map_err(|what| anyhow!(what))?.context("no channel")?;
    let addresses = arguments.addresses(&channel, address).map_err(|what| anyhow!(what))?;
    arguments.transport.check_feed(&addresses)?;
    let mut settings = settings(&groups_of(&addresses).unwrap_or_default(), how.orders);
    settings.late_join = live::late_join(&addresses, settings.late_join);
    settings.silence = Settings::default().silence;
    settings.replay = arguments.replay.then(Refill::default);
    let words = live::Words {
        interface,
        transport: arguments.transport,
        wait: arguments.wait,
        duration: arguments.duration,
        recording: arguments.recording(),
        filter: how.filter,
    };
    let title = format!("feed --channel {} --interface {interface}", channel.id);
    let feed = Live::open(words, &channel, addresses, settings)?;
    let printer = Printer::new(how, &title, settings.late_join, counts, (out, err))?;
    feed.run(&title, printer.of_network(), asked_to_stop)
}

/// A channel that joins by what there is.
fn settings(groups: &Groups, order_books: OrderBooks) -> Settings {
    let [incremental, definitions, snapshots] =
        [Feed::Incremental, Feed::Instrument, Feed::Snapshot].map(|feed| groups.has(feed));
    let late_join = match (definitions, snapshots) {
        (true, true) => LateJoin::InstrumentsAndBooks,
        (true, false) if !incremental => LateJoin::InstrumentsAndBooks,
        (false, true) => LateJoin::Books,
        _ => LateJoin::Nothing,
    };
    Settings {
        late_join,
        max_instruments: MOST_INSTRUMENTS,
        queue_bytes: QUEUE_BYTES,
        // A recording begins and ends, and time passes in it as it likes.
        silence: Duration::ZERO,
        order_books,
        order_snapshots: match groups.has(Feed::SnapshotOrders) {
            true => Feed::SnapshotOrders,
            false => Feed::Snapshot,
        },
        ..Settings::default()
    }
}

#[cfg(test)]
mod tests;
