//! `hairpin exchange --publish FILE`: a capture's market data to the wire, as its publisher would.

use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use hairpin_endpoint::capture::{CaptureReader, Payload, Replay, Step};
use hairpin_endpoint::{Transmit, UdpSender};
use hairpin_host::{Clock, interface_address};
use hairpin_time::{Duration, Instant};
use hairpin_xdp::ReceiveStamps;

use super::Arguments;
use crate::decode::capture;
use crate::output;
use crate::signals::Signals;
use crate::way::{Room, Way};

/// The longest sleep: so soon a signal is heard.
const SLEEP_MAX: Duration = Duration::from_millis(50);
/// Packets stay on the link, as those of the exchange itself.
const TTL: u8 = 1;
/// Linux's ENOBUFS, for which std has no kind: the queue of the interface is full.
const NO_BUFFER_SPACE: i32 = 105;

/// Plays the capture at `path` once.
///
/// Every datagram to a multicast group of IPv4 leaves from the interface for its own group and
/// port, byte for byte; nothing else does. Its SendingTime is that of then.
///
/// # Errors
/// No such interface; a file that cannot be read or is no capture; the network's.
pub(super) fn run(arguments: &Arguments, path: &Path) -> Result<ExitCode> {
    let interface = interface_address(&arguments.interface)?;
    let named = || path.display().to_string();
    if arguments.wants_config() {
        let groups = crate::feed::groups::Groups::detect(capture::open(path)?);
        arguments.write_detected(&groups.with_context(named)?, interface)?;
    }
    let input = capture::open(path).with_context(named)?;
    let reader = CaptureReader::new(input).map_err(|error| anyhow!(error)).with_context(named)?;
    let signals = Signals::take()?;
    let mut publication = Publication {
        interface,
        way: Way::open(
            &arguments.transport,
            &arguments.interface,
            Room::Usual,
            ReceiveStamps::Off,
        )?,
        senders: HashMap::new(),
        counts: Counts::default(),
        clock: Clock::from_kernel(),
    };
    let speed = arguments.speed;
    let outcome = publication.play(Replay::new(reader, speed), &|| signals.asked_to_stop())?;
    output::print(&publication.counts.to_string())?;
    if let Some(what) = &outcome {
        let _ = writeln!(io::stderr(), "hairpin: {}: {what}", path.display());
    }
    let is_whole = outcome.is_none() && publication.counts.lost == 0;
    let status = if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    Ok(signals.exit_status().unwrap_or(status))
}

/// What has left.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Counts {
    packets: u64,
    bytes: u64,
    groups: usize,
    /// Packets that the interface had no room for.
    lost: u64,
    /// Packets of the capture that are no market data.
    others: u64,
    /// The longest that a packet left behind its time.
    latest: Duration,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { packets, bytes, groups, lost, others, latest } = self;
        writeln!(
            f,
            "{packets} packets of {bytes} bytes to {groups} groups, {lost} lost for want of room, \
             {others} others left out; at most {} µs late",
            latest.as_micros()
        )
    }
}

/// A capture that is being played.
struct Publication {
    interface: Ipv4Addr,
    way: Way,
    senders: HashMap<SocketAddrV4, UdpSender>,
    counts: Counts,
    clock: Clock,
}

impl Publication {
    /// Plays to the end, or until `asked_to_stop`; gives what is wrong with the file's end, if
    /// anything.
    fn play(
        &mut self,
        mut replay: Replay<impl Read>,
        asked_to_stop: &dyn Fn() -> bool,
    ) -> Result<Option<String>> {
        let mut intended = None;
        let mut ending = None;
        while !asked_to_stop() {
            let now = self.clock.instant();
            match replay.step(now, None) {
                Ok(Step::Wait(until)) => {
                    self.way.tell_if_due(now, true);
                    intended = Some(until);
                    std::thread::sleep(until.saturating_since(now).min(SLEEP_MAX).into());
                }
                Ok(Step::Frame(_)) => {
                    if let Some(frame) = replay.frame() {
                        self.frame(frame.payload().unwrap_or(Payload::Other))?;
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

    /// Sends a datagram to its group.
    fn frame(&mut self, payload: Payload<'_>) -> Result<()> {
        let Payload::Datagram { destination: SocketAddr::V4(group), bytes, .. } = payload else {
            self.counts.others += 1;
            return Ok(());
        };
        if !group.ip().is_multicast() {
            self.counts.others += 1;
            return Ok(());
        }
        let sender = match self.senders.entry(group) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => {
                let transport = self.way.transport();
                new.insert(UdpSender::with_transport(transport, group, self.interface, TTL)?)
            }
        };
        match sender.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)) {
            Ok(()) => {
                self.counts.packets += 1;
                self.counts.bytes += bytes.len() as u64;
            }
            Err(error) if is_full(&error) => self.counts.lost += 1,
            Err(error) => return Err(error).with_context(|| format!("{group}")),
        }
        Ok(())
    }

    fn note_lateness(&mut self, intended: Instant) {
        let late = self.clock.instant().saturating_since(intended);
        self.counts.latest = self.counts.latest.max(late);
    }
}

fn is_full(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::WouldBlock || error.raw_os_error() == Some(NO_BUFFER_SPACE)
}
