//! `hairpin feed --pcap FILE`: a capture of a market data channel through the feed handler.
//!
//! What the channel takes is printed in its order: packets of both sides arbitrated, each once, and
//! of the loops of definitions and snapshots what the channel wants of them. A message is a line as
//! `hairpin decode` prints it. With `--books` there are lines for what the channel tells, in the
//! same form without a template: at each end of event a `TopOfBook` for every instrument that is in
//! sync and whose book the event has changed, and `Gap`, `ChannelState` and `ChannelReset`.
//!
//! Which group carries which feed and side a config.xml may say; else it is found out by reading
//! the capture once before ([`groups`]). How the channel joins follows from the feeds that are
//! there: by definitions and snapshots; by snapshots alone; or, of a capture of the incremental
//! feed alone, with books that begin empty. In such books entries for levels that were stated
//! before the capture began are no errors; their number is told.
//!
//! Time is the capture's. Other traffic is left out. The last lines are what the channel has come
//! to and, as of `decode`, the counts; a message by name or unknown is one that was printed.

mod figures;
mod groups;
mod printer;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hairpin_feed_handler::config::{Config, ConfigError};
use hairpin_feed_handler::{Addresses, Channel, Feed, Input, LateJoin, Settings, Side};
use hairpin_time::{Duration, Instant, Now, Utc};

use crate::decode::capture::{self, Captured, Payload};
use crate::decode::codecs::{Codecs, SchemaFile};
use crate::decode::{Counts, Format};
use figures::Figures;
use groups::Groups;
use printer::Printer;

/// The feed handler on a capture (pcap or pcapng)
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct Arguments {
    /// A capture of one market data channel
    #[arg(long, value_name = "FILE")]
    pcap: PathBuf,

    /// CME's config.xml, which says where each feed of the channel is [default: found out]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The channel in that file [default: the only one]
    #[arg(long, value_name = "ID", requires = "config")]
    channel: Option<String>,

    /// Print the top of each book that an event has changed, gaps and states too
    #[arg(long)]
    books: bool,

    /// An SBE schema (XML) to print messages with; may be given several times
    #[arg(long, value_name = "FILE")]
    schema: Vec<PathBuf>,

    /// How messages are printed
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Room for every instrument that one of CME's channels has; about 25 MB.
const MOST_INSTRUMENTS: usize = 1 << 15;
/// A capture may have long runs to be kept until a snapshot comes.
const QUEUE_BYTES: usize = 64 << 20;

/// Runs the command: exit status 0 if the whole capture was understood, 1 if anything was wrong.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let files = arguments.schema.iter().map(|path| SchemaFile::read(path));
    let files = files.collect::<Result<Vec<_>, _>>();
    let codecs = match files.as_deref().map_err(Clone::clone).and_then(Codecs::new) {
        Ok(codecs) => codecs,
        Err(what) => {
            let _ = writeln!(io::stderr(), "hairpin: {what}");
            return ExitCode::FAILURE;
        }
    };
    let groups = match arguments.groups() {
        Ok(groups) => groups,
        Err(what) => {
            let _ = writeln!(io::stderr(), "hairpin: {what}");
            return ExitCode::FAILURE;
        }
    };
    let (out, err) = (BufWriter::new(io::stdout().lock()), io::stderr().lock());
    let mut counts = Counts::default();
    let how = How { codecs: &codecs, format: arguments.format, books: arguments.books };
    let outcome = feed(&arguments.pcap, groups, how, &mut counts, out, err);
    counts.status(outcome, &arguments.pcap)
}

impl Arguments {
    /// The groups that a configuration file names, if there is one.
    fn groups(&self) -> Result<Option<Groups>, String> {
        let Some(path) = &self.config else { return Ok(None) };
        let named = |error: ConfigError| format!("{}: {error}", path.display());
        let config = Config::read(path).map_err(named)?;
        let channel = config.channel(self.channel.as_deref()).map_err(named)?;
        match channel.addresses(Ipv4Addr::UNSPECIFIED).map_err(named)? {
            Addresses::Multicast(feeds) => {
                let each =
                    Feed::ALL.into_iter().flat_map(|feed| Side::ALL.map(|side| (feed, side)));
                Ok(Some(Groups::new(each.filter_map(|(feed, side)| {
                    let group = feeds.group(feed, side)?;
                    Some((SocketAddr::V4(group.address), feed, side))
                }))))
            }
            Addresses::Tcp(_) => Err(format!(
                "{}: channel {} goes by TCP, and this reads datagrams",
                path.display(),
                channel.id
            )),
        }
    }
}

/// How a capture is to be printed.
#[derive(Clone, Copy)]
struct How<'a> {
    codecs: &'a Codecs<'a>,
    format: Format,
    books: bool,
}

/// Prints the capture at `path`.
///
/// # Errors
/// If the file cannot be read or is no capture, if there is not one channel in it, or if nothing
/// can be written.
fn feed(
    path: &Path,
    groups: Option<Groups>,
    how: How<'_>,
    counts: &mut Counts,
    out: impl Write,
    err: impl Write,
) -> io::Result<()> {
    let groups = match groups {
        Some(groups) => groups,
        None => Groups::detect(File::open(path)?)?,
    };
    let channel = Channel::new(settings(&groups));
    let mut replay = Replay {
        figures: Figures::publish(path, &channel),
        channel,
        printer: Printer::new(how, settings(&groups).late_join, counts, out, err),
        groups,
        now: Now { monotonic: Instant::ZERO, utc: Utc::EPOCH },
    };
    let ending = capture::read(File::open(path)?, |packet| replay.packet(packet))?;
    replay.finish(ending)
}

/// A channel that joins by what the capture has.
fn settings(groups: &Groups) -> Settings {
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
        ..Settings::default()
    }
}

/// A capture on its way through a channel.
struct Replay<'a, O, E> {
    channel: Channel,
    figures: Figures,
    printer: Printer<'a, O, E>,
    groups: Groups,
    now: Now,
}

impl<O: Write, E: Write> Replay<'_, O, E> {
    /// Takes the next packet of the file.
    fn packet(&mut self, packet: Captured<'_>) -> io::Result<()> {
        self.printer.counts.packets += 1;
        if let Some(time) = packet.time {
            self.pass_to(time);
        }
        match packet.payload {
            Ok(Payload::Datagram { flow: (_, to), bytes }) => {
                if let Some((feed, side)) = self.groups.find(to) {
                    let input = Input { feed, side, received: packet.time };
                    self.channel.handle_packet(self.now, input, bytes, &mut self.printer);
                    while self.channel.poll_action().is_some() {}
                }
            }
            Ok(_) => {}
            Err(what) => self.printer.error(&what),
        }
        self.figures.update_if_due(self.printer.counts, &self.channel);
        self.printer.outcome()
    }

    /// Lets time pass, which never goes back, and what was due before happen.
    fn pass_to(&mut self, time: Utc) {
        let monotonic = Instant::from_nanos(time.as_nanos()).max(self.now.monotonic);
        while let Some(due) = self.channel.poll_timeout().filter(|due| *due <= monotonic) {
            self.now.monotonic = due.max(self.now.monotonic);
            self.channel.handle_timeout(self.now, &mut self.printer);
        }
        // Whatever clock the capture was made with, the channel is not to judge SendingTime by it.
        self.now = Now { monotonic, utc: Utc::EPOCH };
    }

    /// Ends with what the channel has come to; `ending` says if the file ended in a packet.
    fn finish(mut self, ending: Option<String>) -> io::Result<()> {
        // What waits for a packet that the capture does not have.
        while let Some(due) = self.channel.poll_timeout() {
            self.now.monotonic = due.max(self.now.monotonic);
            self.channel.handle_timeout(self.now, &mut self.printer);
        }
        if let Some(what) = ending {
            self.printer.error(&what);
        }
        self.figures.update(self.printer.counts, &self.channel);
        self.printer.finish(&self.channel)
    }
}

#[cfg(test)]
mod tests;
