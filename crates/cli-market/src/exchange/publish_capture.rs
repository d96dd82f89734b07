//! `hairpin exchange --publish FILE`: sends the market data of a capture.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use hairpin_cli_harness::datapath::{BufferSize, OpenTransport};
use hairpin_cli_harness::output;
use hairpin_cli_harness::signals::Signals;
use hairpin_endpoint::capture::{CaptureReader, Frame, Payload, Replay, Step};
use hairpin_endpoint::{Transmit, UdpSender};
use hairpin_feed_handler::CaptureGroups;
use hairpin_host::{Clock, interface_address};
use hairpin_measure::counted;
use hairpin_time::{Duration, Instant};
use hairpin_xdp::ReceiveStamps;

use super::ExchangeArgs;
use super::files::Files;
use crate::decode::capture::{self, Captured, Links};
use crate::decode::error_lines::ErrorLines;
use crate::decode::other_traffic::{OtherTraffic, Service};

/// The longest sleep, so that a signal is seen in time.
const MAX_SLEEP: Duration = Duration::from_millis(50);
/// The TTL: packets stay on the link.
const TTL: u8 = 1;

/// Plays the captures at `paths` once.
///
/// Every datagram to an IPv4 multicast group with market data is sent from the interface to its own
/// group and port, byte for byte, with its recorded SendingTime. Other packets are counted, and so
/// are errors.
///
/// # Errors
/// No such interface; a file that cannot be read or is not a capture; those of the network.
pub(super) fn run(arguments: &ExchangeArgs, paths: &[PathBuf]) -> Result<ExitCode> {
    let interface = interface_address(&arguments.interface)?;
    let named = || capture::name_of(paths);
    let files = Files::new(arguments)?;
    if files.has_config() {
        let groups = CaptureGroups::detect(capture::open_all(paths)?);
        files.write_detected(&groups.with_context(named)?, interface)?;
    }
    let input = capture::open_all(paths).with_context(named)?;
    let reader = CaptureReader::new(input).map_err(|error| anyhow!(error)).with_context(named)?;
    let signals = Signals::take()?;
    let mut publication = Publication {
        interface,
        datapath: OpenTransport::open(
            &arguments.transport,
            &arguments.interface,
            BufferSize::Default,
            ReceiveStamps::Off,
        )?,
        senders: HashMap::new(),
        counts: PublishedCounts::default(),
        ignored: Ignored::default(),
        clock: Clock::from_kernel(),
    };
    let speed = arguments.speed;
    let outcome = publication.play(Replay::new(reader, speed), &|| signals.stop_requested())?;
    output::print(&publication.counts.to_string())?;
    publication.ignored.write()?;
    if let Some(what) = &outcome {
        let _ = writeln!(io::stderr(), "hairpin: {}: {what}", named());
    }
    let is_empty = publication.counts.packets == 0 && signals.exit_status().is_none();
    if is_empty {
        let what = "no market data to IPv4 multicast groups in this capture";
        let _ = writeln!(io::stderr(), "hairpin: {}: {what}", named());
    }
    let is_whole = outcome.is_none() && publication.counts.lost == 0 && !is_empty;
    let status = if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    Ok(signals.exit_status().unwrap_or(status))
}

/// The counts of a publication.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct PublishedCounts {
    packets: u64,
    bytes: u64,
    groups: usize,
    /// Packets that did not fit into the send buffer.
    lost: u64,
    /// The greatest lateness of a packet.
    latest: Duration,
}

impl std::fmt::Display for PublishedCounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { packets, bytes, groups, lost, latest } = self;
        writeln!(
            f,
            "{} of {} to {}, {lost} lost because buffers were full, at most {} µs late",
            counted(*packets, "packet"),
            counted(*bytes, "byte"),
            counted(*groups, "group"),
            latest.as_micros()
        )
    }
}

/// What was not published.
#[derive(Debug, Default)]
struct Ignored {
    links: Links,
    /// All packets of the capture so far, also those that were published.
    packets: u64,
    traffic: OtherTraffic,
    errors: ErrorLines,
}

impl Ignored {
    /// Counts the last packet.
    fn count(&mut self, Captured { payload, protocol, .. }: Captured<'_>) {
        match payload {
            Ok(Payload::Datagram { destination, .. }) => {
                self.traffic.count_service(Service::Udp(destination.port()), 1);
            }
            Ok(Payload::Segment { destination, .. }) => {
                self.traffic.count_service(Service::Tcp(destination.port()), 1);
            }
            Ok(Payload::Other) => {}
            Err(what) => drop(self.errors.record(self.packets, &what)),
        }
        protocol.into_iter().for_each(|protocol| self.traffic.count_protocol(protocol));
    }

    /// Writes a line for each kind of error and of traffic.
    ///
    /// # Errors
    /// Those of standard error.
    fn write(&mut self) -> io::Result<()> {
        let mut err = io::stderr().lock();
        self.errors.write("", &mut err)?;
        self.traffic.write(&mut err)
    }
}

/// A capture that is being played.
struct Publication {
    interface: Ipv4Addr,
    datapath: OpenTransport,
    senders: HashMap<SocketAddrV4, UdpSender>,
    counts: PublishedCounts,
    ignored: Ignored,
    clock: Clock,
}

impl Publication {
    /// Plays to the end or until `stop_requested` returns `true`. Returns the error at the end of
    /// the file, if any.
    fn play(
        &mut self,
        mut replay: Replay<impl Read>,
        stop_requested: &dyn Fn() -> bool,
    ) -> Result<Option<String>> {
        let mut intended = None;
        let mut ending = None;
        while !stop_requested() {
            let now = self.clock.instant();
            match replay.step(now, None) {
                Ok(Step::Wait(until)) => {
                    self.datapath.print_pending_notices(now, true);
                    intended = Some(until);
                    std::thread::sleep(until.saturating_since(now).min(MAX_SLEEP).into());
                }
                Ok(Step::Frame(_)) => {
                    if let Some(frame) = replay.frame() {
                        self.frame(&frame)?;
                    }
                    if let Some(intended) = intended.take() {
                        self.note_lateness(intended);
                    }
                }
                Ok(Step::Timeout(_)) => {}
                Ok(Step::End) => break,
                Err(error) => ending = Some(error.to_string()),
            }
        }
        self.counts.groups = self.senders.len();
        Ok(ending)
    }

    /// Sends a datagram with market data to its group, and counts any other frame.
    fn frame(&mut self, frame: &Frame<'_>) -> Result<()> {
        self.ignored.packets += 1;
        let captured = self.ignored.links.captured(frame);
        let Ok(Payload::Datagram { destination: SocketAddr::V4(group), bytes, .. }) =
            captured.payload
        else {
            self.ignored.count(captured);
            return Ok(());
        };
        let sender = match self.senders.entry(group) {
            // A damaged packet too is one of the group's.
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(_)
                if !group.ip().is_multicast() || !CaptureGroups::is_market_data(bytes) =>
            {
                self.ignored.count(captured);
                return Ok(());
            }
            Entry::Vacant(new) => {
                let transport = self.datapath.transport();
                new.insert(UdpSender::with_transport(transport, group, self.interface, TTL)?)
            }
        };
        match sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)) {
            Ok(()) => {
                self.counts.packets += 1;
                self.counts.bytes += bytes.len() as u64;
            }
            Err(error) if hairpin_endpoint::is_lost(&error) => self.counts.lost += 1,
            Err(error) => return Err(error).with_context(|| format!("{group}")),
        }
        Ok(())
    }

    fn note_lateness(&mut self, intended: Instant) {
        let late = self.clock.instant().saturating_since(intended);
        self.counts.latest = self.counts.latest.max(late);
    }
}
