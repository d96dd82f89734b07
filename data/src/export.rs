//! `hairpin export`: captures of market data as DBN, Parquet and Arrow, and journals of orders as
//! Parquet.
//!
//! Each channel is one pass over the captures, through the same channel as in `hairpin feed`:
//! arbitration, recovery and books are its own. A listener makes records of the callbacks, which
//! wait for the end of their event in memory and for the end of their file on disk. So memory has
//! a limit, whatever the input.
//!
//! ```text
//!   captures ─▶ channel ─▶ exporter ─▶ event buffer ─▶ output ─▶ unnamed file of records
//!                          (records)   (flag LAST)     (split)        │ complete
//!                                                                     ▼
//!                                            metadata + records ─▶ renamed into place
//! ```

mod args;
pub(crate) mod captures;
mod definition_rows;
mod encode;
mod event_buffer;
mod exporter;
mod journal;
mod journal_columns;
mod market_rows;
mod output;
mod parquet_file;
pub(crate) mod partial_file;
mod progress;
mod report;
mod rows;
mod symbols;
mod unheld;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use dbn::Schema;
use hairpin_endpoint::capture::{CaptureReader, Payload, Replay, Speed, Step};
use hairpin_feed_handler::config::Config;
use hairpin_feed_handler::{
    Addresses, CaptureGroups, Channel, Feed, FeedLine, Input, LateJoin, OrderBooks, Settings,
};
use hairpin_time::{Instant, Now, Utc};

pub(crate) use args::ExportArgs;

use args::SchemaName;
use captures::BytesRead;
use exporter::{Exporter, Outputs};
use output::{Output, Target};
use progress::Progress;
use report::Report;

/// Frames between two checks of the progress.
const FRAMES_PER_CHECK: u64 = 1 << 12;
/// Bytes of the recovery queue: 75,000 entries.
const QUEUE_BYTES: usize = 4 << 20;

/// A channel to export.
struct ChannelInCaptures {
    /// Its id in the configuration file.
    id: Option<String>,
    groups: CaptureGroups,
}

/// Runs the command. Exit status 0 if every packet was exported, 1 after an error in a capture.
///
/// # Errors
/// An unreadable file, captures without market data, an output that exists, or an error of the file
/// system. No incomplete file remains.
pub(crate) fn run(arguments: &ExportArgs) -> Result<ExitCode> {
    if let Some(journal) = &arguments.journal {
        return journal::run(arguments, journal);
    }
    let bytes = BytesRead::default();
    let channels = channels(arguments, &bytes)?;
    fs::create_dir_all(&arguments.out)
        .with_context(|| format!("cannot create {}", arguments.out.display()))?;
    partial_file::remove_abandoned(&arguments.out);
    let mut status = ExitCode::SUCCESS;
    let passes = channels.len() as u64 + u64::from(arguments.config.is_none());
    let total = captures::total_bytes(&arguments.captures);
    let mut progress = Progress::new(bytes.clone(), total, passes);
    let mut has_any = false;
    for (number, channel) in channels.iter().enumerate() {
        let export = ChannelExport::new(arguments, channel, number)?;
        let outcome = export.run(&bytes, &mut progress);
        progress.clear();
        let Some(report) = outcome? else {
            if let (Some(id), false) = (&channel.id, arguments.channel.is_empty()) {
                writeln!(io::stderr(), "hairpin: no market data of channel {id}")?;
                status = ExitCode::FAILURE;
            }
            continue;
        };
        has_any = true;
        if report.print()? {
            status = ExitCode::FAILURE;
        }
        progress = Progress::new(bytes.clone(), total, passes);
    }
    if !has_any {
        let name = captures::name_of(&arguments.captures);
        bail!("cannot export {name}: no market data of the channels found");
    }
    Ok(status)
}

/// Returns the channels: those of a configuration file, or the one that the captures contain.
fn channels(arguments: &ExportArgs, bytes: &BytesRead) -> Result<Vec<ChannelInCaptures>> {
    let name = captures::name_of(&arguments.captures);
    let input = captures::open(&arguments.captures, bytes)?;
    let Some(path) = &arguments.config else {
        let groups = CaptureGroups::detect(input)
            .with_context(|| format!("cannot export {name}: no market data found"))?;
        return Ok(vec![ChannelInCaptures { id: None, groups }]);
    };
    let config = Config::read(path).with_context(|| path.display().to_string())?;
    let ids = match &arguments.channel[..] {
        [] => config.channels.iter().map(|channel| channel.id.clone()).collect(),
        ids => ids.to_vec(),
    };
    let mut channels = Vec::new();
    for id in ids {
        let channel = config.channel(Some(&id)).with_context(|| path.display().to_string())?;
        let addresses = match channel.addresses(Ipv4Addr::UNSPECIFIED) {
            Ok(addresses) => addresses,
            Err(_) if arguments.channel.is_empty() => continue,
            Err(error) => return Err(error).context(path.display().to_string()),
        };
        match groups_of(&addresses) {
            Some(groups) => channels.push(ChannelInCaptures { id: Some(id), groups }),
            None if arguments.channel.is_empty() => {}
            None => bail!("channel {id} has no multicast feeds"),
        }
    }
    if arguments.channel.is_empty() {
        retain_captured(&mut channels, input);
    }
    Ok(channels)
}

/// Returns which group carries which feed; none for a channel over TCP.
fn groups_of(addresses: &Addresses) -> Option<CaptureGroups> {
    let Addresses::Multicast(feeds) = addresses else { return None };
    let each = Feed::ALL.into_iter().flat_map(|feed| FeedLine::ALL.map(|line| (feed, line)));
    Some(CaptureGroups::new(each.filter_map(|(feed, line)| {
        let group = feeds.group(feed, line)?;
        Some((SocketAddr::V4(group.address), feed, line))
    })))
}

/// Removes the channels without a datagram in the captures, as far as these can be read.
fn retain_captured(channels: &mut Vec<ChannelInCaptures>, input: impl io::Read) {
    let mut is_captured = vec![false; channels.len()];
    if let Ok(mut reader) = CaptureReader::new(input) {
        while let Ok(true) = reader.advance() {
            let payload = reader.frame().map(|frame| frame.payload());
            let Some(Ok(Payload::Datagram { destination, .. })) = payload else { continue };
            for (channel, is_captured) in channels.iter().zip(&mut is_captured) {
                *is_captured |= channel.groups.find(destination).is_some();
            }
        }
    }
    let mut is_captured = is_captured.into_iter();
    channels.retain(|_| is_captured.next() == Some(true));
}

/// The export of one channel.
struct ChannelExport<'a> {
    arguments: &'a ExportArgs,
    groups: &'a CaptureGroups,
    channel: Channel,
    exporter: Exporter,
    /// Frames that cannot be decoded, and the first of their errors.
    wrong: (u64, Option<String>),
    /// The error at which the captures end.
    end: Option<String>,
}

impl<'a> ChannelExport<'a> {
    fn new(
        arguments: &'a ExportArgs,
        ChannelInCaptures { id, groups }: &'a ChannelInCaptures,
        number: usize,
    ) -> Result<Self> {
        let mut outputs = Outputs::default();
        let schemas: BTreeSet<SchemaName> = arguments.schema.iter().copied().collect();
        let has_orders = schemas.contains(&SchemaName::Mbo);
        for name in schemas {
            let target = Target {
                folder: arguments.out.clone(),
                channel: id.clone(),
                schema: schema(name),
                format: arguments.format,
                split: arguments.split,
                force: arguments.force,
            };
            outputs.add(target.schema, Output::new(target)?);
        }
        let orders = if has_orders { OrderBooks::Full } else { OrderBooks::None };
        let settings = Settings {
            max_instruments: arguments.instruments as usize,
            max_orders: arguments.orders as usize,
            queue_bytes: QUEUE_BYTES,
            ..groups.settings(orders)
        };
        let number = u8::try_from(number).unwrap_or(u8::MAX);
        Ok(Self {
            arguments,
            groups,
            channel: Channel::new(settings),
            exporter: Exporter::new(outputs, number),
            wrong: (0, None),
            end: None,
        })
    }

    /// Reads the captures to their end, and completes the files. Returns `None` if no packet
    /// belongs to the channel.
    fn run(mut self, bytes: &BytesRead, progress: &mut Progress) -> Result<Option<Report>> {
        let name = captures::name_of(&self.arguments.captures);
        let input = captures::open(&self.arguments.captures, bytes)?;
        let frames = CaptureReader::new(input).with_context(|| format!("cannot read {name}"))?;
        let mut replay = Replay::new(frames, Speed::FlatOut);
        let mut count = 0_u64;
        loop {
            count += 1;
            if count.is_multiple_of(FRAMES_PER_CHECK) {
                progress.draw_if_due();
            }
            match replay.step(Instant::ZERO, self.channel.poll_timeout()) {
                Ok(Step::Frame(at)) => self.handle_frame(&replay, at),
                Ok(Step::Timeout(at)) => {
                    self.channel.handle_timeout(without_utc(at), &mut self.exporter);
                }
                Ok(Step::Wait(_)) => {}
                Ok(Step::End) => break,
                // The next step is the end.
                Err(error) => self.end = Some(error.to_string()),
            }
            self.exporter.outcome()?;
        }
        if !self.exporter.has_packets() {
            return Ok(None);
        }
        let counters = *self.channel.counters();
        let without_snapshots =
            self.groups.settings(OrderBooks::None).late_join == LateJoin::Nothing;
        let Self { channel, exporter, wrong, end, .. } = self;
        // Columns need its memory.
        drop(channel);
        let (written, unheld) = exporter.finish()?;
        Ok(Some(Report { name, written, unheld, counters, without_snapshots, wrong, end }))
    }

    #[inline]
    fn handle_frame<R: io::Read>(&mut self, replay: &Replay<R>, at: Now) {
        let Some(frame) = replay.frame() else { return };
        match frame.payload() {
            Ok(Payload::Datagram { destination, bytes, .. }) => {
                let Some((feed, line)) = self.groups.find(destination) else { return };
                let input = Input { feed, line, received: frame.time.map(|time| time.utc) };
                self.channel.handle_packet(without_utc(at), input, bytes, &mut self.exporter);
                while self.channel.poll_action().is_some() {}
            }
            Ok(_) => {}
            Err(error) => {
                let (count, first) = &mut self.wrong;
                *count += 1;
                first.get_or_insert_with(|| error.to_string());
            }
        }
    }
}

/// The capture's clock is unknown, so the channel must not compare SendingTime with it.
fn without_utc(now: Now) -> Now {
    Now { utc: Utc::EPOCH, ..now }
}

/// Returns the schema of DBN.
fn schema(name: SchemaName) -> Schema {
    match name {
        SchemaName::Mbo => Schema::Mbo,
        SchemaName::Mbp1 => Schema::Mbp1,
        SchemaName::Mbp10 => Schema::Mbp10,
        SchemaName::Trades => Schema::Trades,
        SchemaName::Statistics => Schema::Statistics,
        SchemaName::Status => Schema::Status,
        SchemaName::Definition => Schema::Definition,
    }
}
