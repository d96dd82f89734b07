//! Detection of silent lines and feeds.
//!
//! The packet path only maintains counters that exist anyway. Every eighth of `Settings::silence`
//! the counts are compared. A line whose count did not change for eight checks is silent. Silence
//! is reported between `Settings::silence` and an eighth more after the line's last packet. The
//! next packet ends it. The end is reported at once if the packet follows a pause by its
//! SendingTime, otherwise at the next check.

use hairpin_time::{Duration, Instant};

use crate::{Counters, Feed, FeedLine, Feeds, Listener};

/// The number of checks without packets before a line is silent.
const CHECKS: u8 = 8;

/// The scope of a silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SilenceScope {
    /// A line of a feed, independent of the other line.
    FeedLine {
        /// The feed.
        feed: Feed,
        /// The line.
        line: FeedLine,
    },
    /// All lines of a feed.
    Feed(Feed),
    /// All lines of all joined feeds: the channel receives nothing.
    Channel,
}

/// The start or end of a silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SilenceState {
    /// No packet has arrived for `Settings::silence`.
    Begins,
    /// A packet has arrived, or the feed was left.
    Ends,
}

/// A line, feed or channel has become silent, or receives packets again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Silence {
    /// The line, feed or channel.
    pub scope: SilenceScope,
    /// The start or end of the silence.
    pub state: SilenceState,
}

/// The activity of one line of a feed.
#[derive(Debug, Default, Clone, Copy)]
struct LineActivity {
    /// The packet count at the last check.
    count: u64,
    /// The number of checks since the count changed.
    unchanged_checks: u8,
    silent: bool,
    /// The feed was joined at the last check.
    watched_before: bool,
}

#[derive(Debug)]
pub(crate) struct SilenceDetector {
    feeds: Feeds,
    /// The time from one check to the next; `None`: silence is not reported.
    period: Option<Duration>,
    next_check: Instant,
    activity: [[LineActivity; FeedLine::ALL.len()]; Feed::ALL.len()],
    /// The packets of the looping feeds. Those of the incremental feed are counted elsewhere.
    loop_packets: [[u64; FeedLine::ALL.len()]; Feed::ALL.len()],
    silent_feeds: [bool; Feed::ALL.len()],
    channel_silent: bool,
    /// A line that is not silent yet is watched.
    can_fall_silent: bool,
}

impl SilenceDetector {
    pub(crate) fn new(silence: Duration, feeds: Feeds) -> Self {
        let eighth = Duration::from_nanos(silence.as_nanos().div_ceil(u64::from(CHECKS)));
        Self {
            feeds,
            period: (silence > Duration::ZERO).then_some(eighth),
            // The first call with a time runs a check.
            next_check: Instant::ZERO,
            activity: Default::default(),
            loop_packets: Default::default(),
            silent_feeds: Default::default(),
            channel_silent: false,
            can_fall_silent: true,
        }
    }

    /// Returns when the next check is due, or `None` while every watched line is silent.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        (self.period.is_some() && self.can_fall_silent).then_some(self.next_check)
    }

    /// Restarts the checks after a feed was joined or left.
    pub(crate) fn restart_watch(&mut self) {
        self.can_fall_silent = true;
    }

    /// Counts a packet of a looping feed.
    pub(crate) fn count(&mut self, feed: Feed, line: FeedLine) {
        if let Some(counts) = self.loop_packets.get_mut(feed as usize) {
            counts[line as usize] += 1;
        }
    }

    /// Returns `true` if a line of a feed is silent.
    pub(crate) fn is_silent(&self, feed: Feed, line: FeedLine) -> bool {
        self.activity.get(feed as usize).is_some_and(|activity| activity[line as usize].silent)
    }

    /// Compares the counts if a check is due.
    pub(crate) fn poll(
        &mut self,
        now: Instant,
        joined: [bool; Feed::ALL.len()],
        counters: &mut Counters,
        listener: &mut impl Listener,
    ) {
        let Some(period) = self.period.filter(|_| self.next_check <= now) else { return };
        // A caller that was late has not received packets meanwhile.
        let is_in_time = now < self.next_check + period;
        self.next_check = now + period;
        self.update(is_in_time, joined, counters, listener);
    }

    /// Records the packets since the last check. `time_passed` also ages lines without packets.
    pub(crate) fn update(
        &mut self,
        time_passed: bool,
        joined: [bool; Feed::ALL.len()],
        counters: &mut Counters,
        listener: &mut impl Listener,
    ) {
        for feed in Feed::ALL {
            for line in FeedLine::ALL {
                let is_watched = joined[feed as usize] && self.feeds.lines(feed).contains(line);
                self.update_line(time_passed, is_watched, (feed, line), counters, listener);
            }
        }
        let mut activity = self.activity.iter().flatten();
        self.can_fall_silent = activity.any(|activity| activity.watched_before && !activity.silent);
        self.update_scopes(joined, listener);
    }

    fn update_line(
        &mut self,
        time_passed: bool,
        is_watched: bool,
        (feed, line): (Feed, FeedLine),
        counters: &mut Counters,
        listener: &mut impl Listener,
    ) {
        let count = match (feed, line) {
            (Feed::Incremental, FeedLine::A) => counters.packets_a,
            (Feed::Incremental, FeedLine::B) => counters.packets_b,
            _ => self.loop_packets[feed as usize][line as usize],
        };
        let activity = &mut self.activity[feed as usize][line as usize];
        let was_silent = activity.silent;
        let has_come = core::mem::replace(&mut activity.count, count) != count;
        let watched_before = core::mem::replace(&mut activity.watched_before, is_watched);
        if has_come || !is_watched || !watched_before {
            (activity.unchanged_checks, activity.silent) = (0, false);
        } else if time_passed {
            activity.unchanged_checks = activity.unchanged_checks.saturating_add(1);
            activity.silent = activity.unchanged_checks >= CHECKS;
        }
        counters.silences += u64::from(activity.silent && !was_silent);
        notify(SilenceScope::FeedLine { feed, line }, was_silent, activity.silent, listener);
    }

    /// Derives the silence of feeds and channel from their lines.
    fn update_scopes(&mut self, joined: [bool; Feed::ALL.len()], listener: &mut impl Listener) {
        let mut watched = 0;
        let mut silent = 0;
        for feed in Feed::ALL {
            let lines = self.feeds.lines(feed);
            let is_watched = joined[feed as usize] && !lines.is_none();
            let is_silent = is_watched
                && FeedLine::ALL
                    .into_iter()
                    .all(|line| !lines.contains(line) || self.is_silent(feed, line));
            watched += u32::from(is_watched);
            silent += u32::from(is_silent);
            let was_silent = core::mem::replace(&mut self.silent_feeds[feed as usize], is_silent);
            notify(SilenceScope::Feed(feed), was_silent, is_silent, listener);
        }
        let is_silent = watched > 0 && silent == watched;
        let was_silent = core::mem::replace(&mut self.channel_silent, is_silent);
        notify(SilenceScope::Channel, was_silent, is_silent, listener);
    }
}

fn notify(scope: SilenceScope, was_silent: bool, is_silent: bool, listener: &mut impl Listener) {
    if was_silent != is_silent {
        let state = if is_silent { SilenceState::Begins } else { SilenceState::Ends };
        listener.on_silence(&Silence { scope, state });
    }
}
