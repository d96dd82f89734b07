//! Everything that was measured.

use hairpin_endpoint::capture::{CaptureClock, DeviceTime};
use hairpin_measure::RunningSummary;

use super::clock_steps::ClockSteps;
use super::market::{FeedFigures, Market};
use super::orders::Session;

/// The figures of captures.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) packets: u64,
    pub(super) segments: u64,
    /// Packets that are neither market data nor TCP.
    pub(super) other_packets: u64,
    /// The device whose times are used; `None` for those of the capture.
    pub(super) device: Option<DeviceTime>,
    /// Packets without a time of the device.
    pub(super) without_device_time: u64,
    /// Packets of market data without a time: only their numbers count.
    pub(super) untimed: u64,
    /// The coarsest resolution of the capture's times in nanoseconds.
    pub(super) precision: u64,
    pub(super) clock: Option<CaptureClock>,
    pub(super) first_time: u64,
    pub(super) end_time: u64,
    /// Packets earlier than the packet before them, and the most of it in nanoseconds.
    pub(super) backward: u64,
    pub(super) most_backward: u64,
    pub(super) errors: u64,
    pub(super) steps: ClockSteps,
    pub(super) market: Market,
    pub(super) sessions: Vec<Session>,
    /// Requests that were forgotten before their answer.
    pub(super) evicted: u64,
    /// From the last packet of each feed to each order, and to each cancel.
    pub(super) ticks: Vec<[RunningSummary; 2]>,
    pub(super) negative_ticks: u64,
    /// Orders with a step of the clock between them and a tick.
    pub(super) ticks_across_steps: u64,
    /// Messages of sessions beyond the most.
    pub(super) other_messages: u64,
}

impl Figures {
    /// Returns the feeds with packets.
    pub(super) fn feeds(&self) -> impl Iterator<Item = &FeedFigures> {
        self.market.feeds.iter().filter(|feed| feed.merged.range.is_some())
    }

    /// Returns the feeds with orders or cancels after them, and the times between.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (&FeedFigures, &str, &RunningSummary)> {
        let feeds = self.market.feeds.iter().zip(&self.ticks);
        let kinds = feeds.flat_map(|(feed, ticks)| {
            ["order", "cancel"].into_iter().zip(ticks).map(move |(kind, it)| (feed, kind, it))
        });
        kinds.filter(|(.., ticks)| ticks.count() > 0)
    }

    /// Returns `true` if there is no market data and no session.
    pub(super) fn is_empty(&self) -> bool {
        self.feeds().next().is_none()
            && self.sessions.iter().all(|it| it.requests + it.answers == 0)
    }

    /// Describes the source of times.
    pub(super) fn times(&self) -> String {
        let of_capture = match self.clock {
            Some(CaptureClock::Hardware) => "capture (NIC)",
            Some(CaptureClock::Software) => "capture (kernel)",
            _ => "capture",
        };
        let (source, precision) = match self.device {
            None => (of_capture, self.precision),
            Some(device) => (
                match device {
                    DeviceTime::Metamako { .. } => "Metamako trailers",
                    DeviceTime::Exablaze { .. } => "Exablaze trailers",
                    _ => "Arista headers",
                },
                device.precision().as_nanos(),
            ),
        };
        format!("{source}, resolution {precision} ns")
    }
}
