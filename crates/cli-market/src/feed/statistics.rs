//! Periodic lines of statistics.

use hairpin_feed_handler::{Channel, ChannelState, Counters, FeedSkew, InstrumentIndex};
use hairpin_measure::counted;
use hairpin_time::{Duration, Instant, Now};

use crate::decode::Format;

/// Packets received by the sockets, or in the capture, of the channel's feeds.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) packets: u64,
    pub(super) bytes: u64,
    /// Packets that the kernel dropped for lack of room.
    pub(super) drops: u64,
    /// Packets that the recorder dropped for lack of room.
    pub(super) unrecorded: u64,
}

/// Parses seconds from 0.1 to an hour.
pub(super) fn parse_interval(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().unwrap_or(f64::NAN);
    if (0.1..=3_600.0).contains(&seconds) {
        Ok(Duration::from_nanos((seconds * 1e9) as u64))
    } else {
        Err("expected seconds, from 0.1 to 3600".to_owned())
    }
}

/// When statistics are due, and the values of the last line.
#[derive(Debug)]
pub(super) struct Statistics {
    interval: Duration,
    due: Option<Instant>,
    since: Instant,
    traffic: Traffic,
    counters: Counters,
}

impl Statistics {
    /// Creates statistics at each interval of any clock.
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            interval,
            due: None,
            since: Instant::ZERO,
            traffic: Traffic::default(),
            counters: Counters::default(),
        }
    }

    /// Returns when the next line is due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Returns `true` if [`Statistics::line`] has work to do at `now`.
    #[inline]
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.due.is_none_or(|due| now >= due)
    }

    /// Returns the line that is due at `now`, if any. The first call begins the first interval. If
    /// several intervals have passed, one line covers them all. `others` is the number of
    /// instruments for which the channel has no room.
    pub(super) fn line(
        &mut self,
        now: Now,
        traffic: &Traffic,
        (channel, others): (&Channel, usize),
        format: Format,
    ) -> Option<String> {
        let at = now.monotonic;
        let Some(due) = self.due else {
            (self.due, self.since) = (Some(at + self.interval), at);
            return None;
        };
        if at < due {
            return None;
        }
        let mut figures = StatisticsLine::new(self, now, traffic, channel);
        figures.instruments += others;
        let missed = at.saturating_since(due).as_nanos() / self.interval.as_nanos().max(1);
        self.due = Some(due + self.interval * (missed + 1));
        (self.since, self.traffic, self.counters) = (at, *traffic, *channel.counters());
        Some(match format {
            Format::Text => figures.text(),
            Format::Json => figures.json(),
        })
    }
}

/// The contents of a line.
struct StatisticsLine {
    time: String,
    seconds: f64,
    packets_per_second: f64,
    megabits_per_second: f64,
    messages_per_second: f64,
    events_per_second: f64,
    /// Since the last line.
    first_a: u64,
    first_b: u64,
    /// Since the beginning.
    lead: FeedSkew,
    gaps: u64,
    missed: u64,
    drops: u64,
    unrecorded: u64,
    in_sync: usize,
    instruments: usize,
    state: ChannelState,
}

impl StatisticsLine {
    fn new(before: &Statistics, now: Now, traffic: &Traffic, channel: &Channel) -> Self {
        let seconds = now.monotonic.saturating_since(before.since).as_nanos() as f64 / 1e9;
        let rate = |now: u64, before: u64| now.saturating_sub(before) as f64 / seconds;
        let (counters, old) = (channel.counters(), &before.counters);
        let instruments = channel.instruments();
        let in_sync = |index: &InstrumentIndex| instruments.book(*index).is_in_sync();
        Self {
            time: now.utc.to_string(),
            seconds,
            packets_per_second: rate(traffic.packets, before.traffic.packets),
            megabits_per_second: rate(traffic.bytes, before.traffic.bytes) * 8.0 / 1e6,
            messages_per_second: rate(counters.messages, old.messages),
            events_per_second: rate(counters.events, old.events),
            first_a: counters.first_a - old.first_a,
            first_b: counters.first_b - old.first_b,
            lead: channel.feed_skew(),
            gaps: counters.gaps,
            missed: counters.missed_packets,
            drops: traffic.drops,
            unrecorded: traffic.unrecorded,
            in_sync: instruments.iter().filter(in_sync).count(),
            instruments: instruments.len(),
            state: channel.state(),
        }
    }

    /// Returns the percentage of packets that side A delivered first.
    fn share_a(&self) -> Option<f64> {
        let both = self.first_a + self.first_b;
        (both > 0).then(|| self.first_a as f64 * 100.0 / both as f64)
    }

    fn text(&self) -> String {
        let share = match self.share_a() {
            Some(share) => format!("A first {share:.0} %"),
            None => "nothing new".to_owned(),
        };
        let lead = self.lead.mean_ns().map_or_else(String::new, |mean| {
            let [mean, min, max] = [mean, self.lead.min_ns, self.lead.max_ns].map(micros);
            format!(" by {mean:.1} µs ({min:.1} to {max:.1})")
        });
        let unrecorded = match self.unrecorded {
            0 => String::new(),
            count => format!(", {count} not recorded"),
        };
        format!(
            "{} {:?}: {:.0} packets/s, {:.3} Mbit/s, {:.0} messages/s, {:.0} events/s, \
             {share}{lead}; {}, {} missed, {} dropped{unrecorded}; {} of {} in sync",
            self.time,
            self.state,
            self.packets_per_second,
            self.megabits_per_second,
            self.messages_per_second,
            self.events_per_second,
            counted(self.gaps, "gap"),
            counted(self.missed, "packet"),
            self.drops,
            self.in_sync,
            self.instruments,
        )
    }

    fn json(&self) -> String {
        let share = self.share_a().map(|share| (share * 10.0).round() / 10.0);
        let rounded = |rate: f64| (rate * 1_000.0).round() / 1_000.0;
        serde_json::json!({ "statistics": {
            "time": self.time,
            "seconds": rounded(self.seconds),
            "state": format!("{:?}", self.state),
            "packets_per_second": rounded(self.packets_per_second),
            "megabits_per_second": rounded(self.megabits_per_second),
            "messages_per_second": rounded(self.messages_per_second),
            "events_per_second": rounded(self.events_per_second),
            "first_a_percent": share,
            "lead_a_ns": self.lead.mean_ns().map(|mean| serde_json::json!({
                "samples": self.lead.samples,
                "mean": mean,
                "min": self.lead.min_ns,
                "max": self.lead.max_ns,
            })),
            "gaps": self.gaps,
            "missed_packets": self.missed,
            "dropped_packets": self.drops,
            "unrecorded_packets": self.unrecorded,
            "in_sync": self.in_sync,
            "instruments": self.instruments,
        }})
        .to_string()
    }
}

fn micros(nanos: i64) -> f64 {
    nanos as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use hairpin_feed_handler::{Feed, FeedLine, Input, Settings};
    use hairpin_mdp3::PacketHeader;
    use hairpin_time::Utc;

    use super::*;

    fn at(millis: u64) -> Now {
        let nanos = millis * 1_000_000;
        Now { monotonic: Instant::from_nanos(nanos), utc: Utc::from_nanos(nanos) }
    }

    #[test]
    fn rates_are_of_the_time_since_the_last_line() {
        let channel = Channel::new(Settings { max_instruments: 4, ..Settings::default() });
        let mut statistics = Statistics::new(Duration::from_secs(1));
        let mut line = |millis, packets: u64| {
            let traffic = Traffic { packets, bytes: packets * 1_000, ..Traffic::default() };
            statistics.line(at(millis), &traffic, (&channel, 0), Format::Text)
        };
        assert_eq!(line(5_000, 0), None);
        assert_eq!(line(5_999, 10), None);
        let first = line(6_000, 10).unwrap();
        let words = "1970-01-01T00:00:06.000000000Z CollectingDefinitions: 10 packets/s, \
                     0.080 Mbit/s, 0 messages/s, 0 events/s, nothing new; 0 gaps, \
                     0 packets missed, 0 dropped; 0 of 0 in sync";
        assert_eq!(first, words);
        // Four seconds at once: one line.
        let second = line(10_000, 50).unwrap();
        assert!(second.contains(": 10 packets/s, "), "{second}");
        assert_eq!(line(10_999, 50), None);
        assert!(line(11_000, 50).unwrap().contains(": 0 packets/s, "));
    }

    #[test]
    fn json_is_an_object_with_the_same_figures() {
        let channel = Channel::new(Settings { max_instruments: 4, ..Settings::default() });
        let mut statistics = Statistics::new(Duration::from_millis(500));
        let traffic = Traffic { packets: 7, bytes: 800, drops: 2, unrecorded: 3 };
        assert!(statistics.line(at(0), &Traffic::default(), (&channel, 0), Format::Json).is_none());
        let line = statistics.line(at(500), &traffic, (&channel, 0), Format::Json).unwrap();
        let value: serde_json::Value = serde_json::from_str(&line).unwrap();
        let figures = &value["statistics"];
        assert_eq!(figures["packets_per_second"], 14.0);
        assert_eq!(figures["megabits_per_second"], 0.013);
        assert_eq!(figures["first_a_percent"], serde_json::Value::Null);
        assert_eq!(
            (&figures["dropped_packets"], &figures["unrecorded_packets"]),
            (&2.into(), &3.into())
        );
    }

    #[test]
    fn prints_lead_of_side_once_known() {
        let mut channel = Channel::new(Settings { max_instruments: 4, ..Settings::default() });
        while channel.poll_action().is_some() {}
        for sequence in 1..=200 {
            let sent = at(u64::from(sequence));
            let mut packet = PacketHeader { sequence, sending_time: sent.utc }.encode().to_vec();
            // MessageSize 10, BlockLength 0, AdminHeartbeat12, schema 1 version 13.
            packet.extend([10, 0, 0, 0, 12, 0, 1, 0, 13, 0]);
            for (side, micros) in [(FeedLine::A, 10), (FeedLine::B, 12 + u64::from(sequence % 2))] {
                let received = Some(sent.utc + Duration::from_micros(micros));
                let input = Input { feed: Feed::Incremental, line: side, received };
                channel.handle_packet(sent, input, &packet, &mut ());
            }
        }
        let lead = channel.feed_skew();
        assert!(lead.samples > 3 && (lead.min_ns, lead.max_ns) == (2_000, 3_000), "{lead:?}");
        let line = |format| {
            let mut statistics = Statistics::new(Duration::from_secs(1));
            statistics.line(at(0), &Traffic::default(), (&channel, 0), format);
            statistics.line(at(1_000), &Traffic::default(), (&channel, 0), format).unwrap()
        };
        let mean = lead.mean_ns().unwrap();
        let words = format!(", A first 100 % by {:.1} µs (2.0 to 3.0); ", micros(mean));
        assert!(line(Format::Text).contains(&words), "{}", line(Format::Text));
        let value: serde_json::Value = serde_json::from_str(&line(Format::Json)).unwrap();
        let expected = serde_json::json!({
            "samples": lead.samples, "mean": mean, "min": 2_000, "max": 3_000,
        });
        assert_eq!(value["statistics"]["lead_a_ns"], expected);
    }

    #[test]
    fn accepts_interval_from_100_ms_to_an_hour() {
        assert_eq!(parse_interval("0.1"), Ok(Duration::from_millis(100)));
        assert_eq!(parse_interval("3600"), Ok(Duration::from_secs(3_600)));
        for text in ["0", "0.09", "3601", "-1", "nan", "inf", "", "1s"] {
            assert!(parse_interval(text).is_err(), "{text}");
        }
    }
}
