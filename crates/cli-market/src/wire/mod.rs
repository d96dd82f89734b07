//! `hairpin wire FILE…`: latencies and losses from captures, of any program.
//!
//! Reads captures with the times of a tap, a switch or a NIC, and measures what they show:
//!
//! - Market data, by feed and line: missing packets, duplicates, packets out of order, the skew of
//!   lines A and B, and bursts (`market`).
//! - Order entry, by session: from requests to their answers (`orders`).
//! - From the last packet of each feed to an order, which is a lower bound of a reaction.
//!
//! Everything is measured in one pass in bounded memory. What cannot be measured is counted: spans
//! that would be negative, spans across a step of the clock (`clock_steps`), and messages without
//! their counterpart.

mod clock_steps;
mod figures;
mod input;
mod layouts;
mod line;
mod market;
mod orders;
mod rows;
mod tables;

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, anyhow};
use hairpin_cli_harness::output::{self, OutputArgs};
use hairpin_endpoint::capture::{CaptureReader, DeviceTime, Frame, Payload};
use hairpin_feed_handler::config::{ChannelConfig, Config};
use hairpin_feed_handler::{CapturedFeed, Feed};
use hairpin_host::Clock;
use hairpin_measure::Style;

use crate::decode::capture::{self, Links};
use crate::decode::codecs::Codecs;
use crate::decode::decoder::Decoder;
use crate::decode::error_lines::ErrorLines;
use crate::decode::{DecodeCounts, Format, Framing, Settings};
use crate::feed::lines_of;
use figures::Figures;
use market::Market;
use orders::Orders;

/// Measure the latencies and losses of any program from captures
///
/// Reads captures with the times of a tap, a switch or a NIC (pcap, pcapng, ERF; also compressed
/// with gzip or zstd), in the order of their packets' times. Prints for each market data feed what
/// each line lacks, the skew of lines A and B, and bursts; for each iLink 3 session the times from
/// requests to their answers; and from the last packet of each feed to an order, which is a lower
/// bound of the reaction. Exit status: 0, 1 after any error and if nothing was found.
#[derive(clap::Args, Debug, Clone)]
pub struct WireArgs {
    /// Capture file, `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    file: Vec<PathBuf>,

    /// CME's config.xml with the feeds of the channels [default: detected]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    /// Channels in that file [default: all]
    #[arg(long, value_name = "ID", requires = "config", value_delimiter = ',')]
    channel: Vec<String>,

    /// Source of times: the capture's, or those that a device wrote into the frames
    #[arg(long, value_enum, value_name = "SOURCE", default_value_t = Times::Auto)]
    times: Times,

    /// Keep the last N requests until their answers, about 150 bytes each
    #[arg(long, value_name = "N", default_value_t = 500_000,
          value_parser = clap::value_parser!(u32).range(1..=50_000_000))]
    requests: u32,

    #[command(flatten)]
    output: OutputArgs,
}

/// Sources of times.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// Those of a device if nearly all packets have one, else the capture's
    Auto,
    /// Those of the capture
    Capture,
    /// Trailers of Metamako, or Arista MetaWatch
    Metamako,
    /// Trailers of Exablaze, or Cisco Nexus 3550
    Exablaze,
    /// Headers of Arista 7280 and others (EtherType 0xD28B)
    Arista,
}

/// Runs the command. Exit status 1 if nothing of market data or iLink 3 was found, and after any
/// error in the captures.
///
/// # Errors
/// A configuration file that is wrong, a capture that cannot be read, results that cannot be
/// written.
pub fn run(arguments: &WireArgs) -> Result<ExitCode> {
    arguments.output.check()?;
    let known = arguments.feeds().map_err(|what| anyhow!(what))?;
    let mut results = output::results(&Clock::from_kernel(), "capture");
    let measured = measure(arguments, known);
    let named = |error| anyhow!("{}: {error}", capture::name_of(&arguments.file));
    let (figures, mut errors, mut notes) = measured.map_err(named)?;
    let saved = if arguments.output.is_requested() {
        results.rows = rows::rows(&figures);
        results.capture = Some(rows::document(&figures));
        arguments.output.save(&results)
    } else {
        Ok(())
    };
    let style = Style::for_stdout();
    output::print(&tables::text(&figures, style))?;
    let mut err = io::stderr().lock();
    errors.write("", &mut err)?;
    notes.write("note: ", &mut err)?;
    if figures.is_empty() {
        writeln!(err, "hairpin: no market data and no iLink 3 in {} packets", figures.packets)?;
    }
    saved?;
    let failed = figures.errors > 0 || figures.is_empty();
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Measures the captures. Returns the lines of errors and notes too.
fn measure(
    arguments: &WireArgs,
    known: Option<Vec<CapturedFeed>>,
) -> io::Result<(Figures, ErrorLines, ErrorLines)> {
    let detects = known.is_none();
    let input = input::open(&arguments.file, arguments.times, known)?;
    let codecs = Codecs::default();
    let settings = Settings {
        codecs: Codecs::default(),
        framing: Some(Framing::Ilink3),
        format: Format::Text,
    };
    let mut counts = DecodeCounts::default();
    let orders = Orders::new(&codecs, arguments.requests as usize);
    let mut wire = Wire {
        figures: Figures { device: input.device, ..Figures::default() },
        market: Market::new(input.feeds, detects),
        decoder: Decoder::new(&settings, &mut counts, orders, io::sink()),
        links: Links::default(),
        errors: ErrorLines::default(),
        last_time: 0,
    };
    let mut reader = CaptureReader::new(input.reader)?;
    loop {
        match reader.next_frame() {
            Ok(Some(frame)) => wire.frame(&frame)?,
            Ok(None) => break,
            Err(error) => {
                wire.error(&error.to_string());
                break;
            }
        }
    }
    wire.finish()
}

/// The state while captures are read.
struct Wire<'a> {
    figures: Figures,
    market: Market,
    decoder: Decoder<'a, Orders<'a>, io::Sink>,
    links: Links,
    errors: ErrorLines,
    last_time: u64,
}

impl Wire<'_> {
    fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        self.figures.packets += 1;
        let packet = self.figures.packets;
        let captured = self.links.captured(frame);
        let time = match (&captured.payload, self.figures.device) {
            (Ok(payload), Some(device)) => self.device_time(frame, payload, device),
            _ => captured.time.map(|time| time.as_nanos()),
        };
        if let Some(time) = time {
            self.record_time(time, frame);
        }
        match captured.payload {
            Ok(Payload::Datagram { destination, bytes, .. }) => {
                self.decoder.skip();
                let steps = &mut self.decoder.sink().steps;
                match self.market.datagram(destination, bytes, (time, packet), steps) {
                    true => self.figures.untimed += u64::from(time.is_none()),
                    false => self.figures.other_packets += 1,
                }
            }
            Ok(Payload::Segment { bytes, .. }) => {
                if !bytes.is_empty() {
                    self.decoder.sink().record_packet(packet, time, &self.market.ticks);
                }
                self.figures.segments += 1;
                self.decoder.packet(captured)?;
            }
            Ok(Payload::Other) => {
                self.decoder.skip();
                self.figures.other_packets += 1;
            }
            Err(what) => {
                self.decoder.skip();
                self.error(&what);
            }
        }
        Ok(())
    }

    /// Returns the time that a device wrote.
    fn device_time(
        &mut self,
        frame: &Frame<'_>,
        payload: &Payload<'_>,
        device: DeviceTime,
    ) -> Option<u64> {
        let time = device.read(frame, payload).map(|time| time.as_nanos());
        self.figures.without_device_time += u64::from(time.is_none() && *payload != Payload::Other);
        time
    }

    /// Records the span of the capture, and times that go back.
    fn record_time(&mut self, time: u64, frame: &Frame<'_>) {
        let figures = &mut self.figures;
        if self.last_time == 0 {
            figures.first_time = time;
        }
        if let Some(back) = self.last_time.checked_sub(time).filter(|back| *back > 0) {
            figures.backward += 1;
            figures.most_backward = figures.most_backward.max(back);
        }
        self.last_time = time;
        figures.first_time = figures.first_time.min(time);
        figures.end_time = figures.end_time.max(time);
        if let Some(captured) = frame.time {
            figures.precision = figures.precision.max(captured.precision.as_nanos());
            figures.clock.get_or_insert(captured.clock);
        }
    }

    fn error(&mut self, what: &str) {
        self.figures.errors += 1;
        self.errors.record(self.figures.packets, what);
    }

    fn finish(self) -> io::Result<(Figures, ErrorLines, ErrorLines)> {
        let Self { mut figures, mut market, decoder, mut errors, .. } = self;
        market.finish();
        let (mut orders, stream_errors, notes) = decoder.into_sink()?;
        orders.finish_sessions();
        figures.errors += errors.append(stream_errors) + market.damaged;
        figures.steps = orders.steps;
        (figures.market, figures.evicted) = (market, orders.evicted);
        figures.sessions = std::mem::take(&mut orders.sessions);
        figures.ticks = std::mem::take(&mut orders.ticks);
        figures.negative_ticks = orders.negative_ticks;
        figures.ticks_across_steps = orders.ticks_across_steps;
        figures.other_messages = orders.other_messages;
        Ok((figures, errors, notes))
    }
}

impl WireArgs {
    /// Returns the feeds in the configuration file, if one is given.
    ///
    /// # Errors
    /// One line with the file and the cause.
    fn feeds(&self) -> Result<Option<Vec<CapturedFeed>>, String> {
        let Some(path) = &self.config else { return Ok(None) };
        let named = |what: &dyn std::fmt::Display| format!("{}: {what}", path.display());
        let config = Config::read(path).map_err(|error| named(&error))?;
        let chosen: Vec<&ChannelConfig> = match &self.channel[..] {
            [] => config.channels.iter().collect(),
            ids => {
                let channel = |id: &String| config.channel(Some(id)).map_err(|error| named(&error));
                ids.iter().map(channel).collect::<Result<_, _>>()?
            }
        };
        let mut feeds = Vec::new();
        for channel in chosen {
            let Ok(addresses) = channel.addresses(Ipv4Addr::UNSPECIFIED) else { continue };
            let lines = lines_of(&addresses);
            for feed in Feed::ALL {
                let mut groups = [None; 2];
                for (group, _, line) in lines.iter().filter(|line| line.1 == feed) {
                    groups[*line as usize] = Some(*group);
                }
                if groups != [None; 2] {
                    feeds.push(CapturedFeed::new(channel.id.clone(), feed, groups));
                }
            }
        }
        if feeds.is_empty() {
            return Err(named(&"no channel has multicast feeds"));
        }
        Ok(Some(feeds))
    }
}

#[cfg(test)]
mod tests;
