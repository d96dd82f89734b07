//! `hairpin feed`: runs the feed handler on a market data channel, from the network or a capture.
//!
//! Prints what the channel processes, in order: the packets of both sides, arbitrated, each once,
//! and the parts of the definition and snapshot loops that the channel needs. A message is a line
//! as `hairpin decode` prints it. With `--books`, callbacks add lines in the same form without a
//! template: at each end of event a `TopOfBook` for every instrument that is in sync and whose book
//! the event has changed, and `Gap`, `ChannelState` and `ChannelReset`. With `--stats`, lines of
//! statistics replace messages, and with `--watch` a display of books and rates on the terminal
//! replaces all lines.
//!
//! A config.xml maps groups to feeds and sides; without one, those of a capture are detected by
//! reading it once before (see [`CaptureGroups`]). How the channel joins depends on the available
//! feeds: with definitions and snapshots; with snapshots alone; or, for a capture of the
//! incremental feed alone, with empty books. In such books, entries for levels from before the
//! beginning of the capture are not errors; their number is printed.
//!
//! For a capture, time is the capture's, at any `--speed`: gaps, holes and silence are detected as
//! they would have been then, and the output is the same. Other traffic is ignored. The last lines
//! are the state of the channel and, as for `decode`, the counts; messages and unknown ones are
//! those that were printed.

mod args;
mod book_watch;
mod callback_lines;
mod capture_input;
mod capture_replay;
mod counters;
mod live_channel;
mod message_filter;
mod printer;
mod screen;
mod selection_check;
mod statistics;
mod throughput;

use std::cell::Cell;
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use hairpin_endpoint::InterfaceTimestamping;
use hairpin_endpoint::capture::Speed;
use hairpin_feed_handler::{
    CaptureGroups, Channel, Filter, OrderBooks, Replay as Refill, Settings,
};
use hairpin_host::{Clock, interface_address};
use hairpin_time::Duration;

pub(crate) use args::lines_of;
pub use args::{FeedArgs, channels_in};

use hairpin_cli_harness::readiness;
use hairpin_cli_harness::signals::Signals;
use hairpin_cli_harness::stdout;

use crate::decode::capture::{self, Links};
use crate::decode::codecs::{Codecs, SchemaFile};
use crate::decode::{DecodeCounts, Format};
use args::{Timestamps, groups_of};
use capture_replay::CaptureReplay;
use counters::ChannelCounters;
use live_channel::LiveChannel;
use printer::Printer;
use selection_check::Names;
use statistics::Traffic;

/// Runs the command. Exit status 0 if every packet was understood, 1 after any error.
///
/// # Errors
/// A wrong schema or configuration file, a missing interface, a recording file that cannot be
/// written, or an error of the network.
pub fn run(arguments: &FeedArgs) -> Result<ExitCode> {
    arguments.check()?;
    let files = arguments.schema.iter().map(|path| SchemaFile::read(path));
    let files = files.collect::<Result<Vec<_>, _>>().map_err(|what| anyhow!(what))?;
    let codecs = Codecs::new(&files).map_err(|what| anyhow!(what))?;
    if arguments.watch && !io::stdout().is_terminal() {
        bail!("--watch needs a terminal on standard output; --stats prints lines");
    }
    let (filter, names) = (arguments.filter(), arguments.names());
    let signals = Signals::take()?;
    let quit = Cell::new(false);
    let options = PrintOptions {
        codecs: &codecs,
        format: arguments.format,
        messages: arguments.stats.is_none() && !arguments.watch,
        books: arguments.books || arguments.callbacks,
        callbacks: arguments.callbacks,
        filter: &filter,
        names: &names,
        instruments: arguments.instruments as usize,
        orders: arguments.orders.into(),
        statistics: arguments.stats,
        watch: arguments.watch.then_some(&quit),
    };
    let (out, err) = (BufWriter::new(stdout::lock()), io::stderr().lock());
    let mut counts = DecodeCounts::default();
    let stop_requested = || signals.stop_requested() || quit.get();
    let status = match &arguments.pcap[..] {
        paths @ [_, ..] => {
            let groups = arguments.groups().map_err(|what| anyhow!(what))?;
            let source = (paths, arguments.speed, arguments.duration);
            let outcome = feed(source, groups, options, &mut counts, (out, err), &stop_requested);
            counts.status(outcome, &capture::name_of(paths))
        }
        [] => {
            live(arguments, options, &mut counts, (out, err), &stop_requested)?;
            if counts.errors > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
        }
    };
    Ok(signals.exit_status().unwrap_or(status))
}

/// How to print a feed.
#[derive(Clone, Copy)]
struct PrintOptions<'a> {
    codecs: &'a Codecs<'a>,
    format: Format,
    messages: bool,
    books: bool,
    callbacks: bool,
    filter: &'a Filter,
    /// The names in the filter, each of which an instrument must have.
    names: &'a Names,
    instruments: usize,
    orders: OrderBooks,
    statistics: Option<Duration>,
    /// The display of books, and the flag that ends it.
    watch: Option<&'a Cell<bool>>,
}

/// Prints the captures at `paths`, until it ends or `stop_requested` returns `true`.
///
/// # Errors
/// If the file cannot be read or is not a capture, if it does not contain exactly one channel, or
/// if nothing can be written.
fn feed(
    (paths, speed, duration): (&[PathBuf], Speed, Option<Duration>),
    groups: Option<CaptureGroups>,
    options: PrintOptions<'_>,
    counts: &mut DecodeCounts,
    (out, mut err): (impl Write, impl Write),
    stop_requested: &dyn Fn() -> bool,
) -> io::Result<()> {
    let (groups, input) = capture_input::open(paths, groups, &mut err)?;
    let settings =
        Settings { max_instruments: options.instruments, ..groups.settings(options.orders) };
    let channel = Channel::new_with_filter(settings, options.filter.clone());
    let title = format!("feed --pcap {}", capture::name_of(paths));
    let clock = Clock::from_kernel();
    let replay = CaptureReplay {
        figures: ChannelCounters::new(&title, &channel),
        channel,
        printer: Printer::new(options, &title, settings.late_join, counts, (out, err))?,
        groups,
        until: duration.map(|duration| clock.instant() + duration),
        clock,
        links: Links::default(),
        traffic: Traffic::default(),
    };
    replay.run(input, speed, stop_requested)
}

/// Prints a channel on the network until `stop_requested` returns `true`.
///
/// # Errors
/// A wrong configuration file, a missing interface, or an error of the network.
fn live(
    arguments: &FeedArgs,
    options: PrintOptions<'_>,
    counts: &mut DecodeCounts,
    (out, err): (impl Write, impl Write),
    stop_requested: &dyn Fn() -> bool,
) -> Result<()> {
    let (interface, other) = arguments.interfaces().context("no interface")?;
    let [address, other_address] = [interface_address(interface)?, interface_address(other)?];
    let channel = arguments.channel().map_err(|what| anyhow!(what))?.context("no channel")?;
    let mut addresses = arguments.addresses(&channel, address).map_err(|what| anyhow!(what))?;
    arguments.set_interfaces(&channel, &mut addresses, address, other_address)?;
    if arguments.timestamps == Timestamps::Hardware {
        [interface, other].into_iter().try_for_each(check_hardware_timestamps)?;
    }
    arguments.transport.check_feed(&addresses)?;
    let mut settings = groups_of(&addresses).unwrap_or_default().settings(options.orders);
    settings.late_join = live_channel::late_join(&addresses, settings.late_join);
    settings.max_instruments = options.instruments;
    settings.silence = Settings::default().silence;
    settings.replay = arguments.replay.then(Refill::default);
    let words = live_channel::ChannelArgs {
        interfaces: [interface, other],
        timestamping: arguments.timestamps.into(),
        transport: arguments.transport,
        wait: arguments.wait,
        duration: arguments.duration,
        recording: arguments.recording(),
        filter: options.filter,
    };
    let interfaces = match &arguments.interface {
        Some(interface) => format!("--interface {interface}"),
        None => format!("--interface-a {interface} --interface-b {other}"),
    };
    let title = format!("feed --channel {} {interfaces}", channel.id);
    let feed = LiveChannel::open(words, &channel, addresses, settings)?;
    let printer = Printer::new(options, &title, settings.late_join, counts, (out, err))?;
    readiness::report();
    feed.run(&title, printer.of_network(), stop_requested)
}

/// Checks that the NIC timestamps received packets.
///
/// # Errors
/// The interface does not exist, or what is missing.
fn check_hardware_timestamps(interface: &str) -> Result<()> {
    let state = InterfaceTimestamping::query(interface)?;
    missing_timestamps(interface, state)
        .map_or(Ok(()), |missing| bail!("cannot use hardware timestamps of {interface}: {missing}"))
}

/// Returns what prevents hardware receive timestamps, if anything.
fn missing_timestamps(interface: &str, state: InterfaceTimestamping) -> Option<String> {
    if !state.hardware_receive {
        let cause = "the NIC or its driver takes none of received packets";
        return Some(format!("{cause}; use --timestamps software"));
    }
    if state.clock.is_none() {
        return Some("the NIC has no clock (/dev/ptp)".to_owned());
    }
    (!state.receive_enabled)
        .then(|| format!("they are off; enable them by hwstamp_ctl -i {interface} -r 1"))
}

#[cfg(test)]
mod tests;
