//! Feeds and sides that bring nothing any more.
//!
//! Nothing is noted when a packet comes but what is counted anyway. Every eighth of
//! `Settings::silence` the counts are looked at: a side whose count has stood still for eight
//! looks is silent, which is told between `Settings::silence` and an eighth more after its last
//! packet. Its next packet ends that; it is told at once where the packet comes after a pause by
//! its own SendingTime, otherwise at the next look.

use hairpin_time::{Duration, Instant};

use crate::{Counters, Feed, FeedLine, Feeds, Listener};

/// How many looks a silence lasts before it is told.
const CHECKS: u8 = 8;

/// What brings nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SilenceScope {
    /// One side of a feed, whether or not the other runs.
    FeedLine {
        /// The feed.
        feed: Feed,
        /// The side.
        line: FeedLine,
    },
    /// All sides of a feed.
    Feed(Feed),
    /// All sides of all feeds that are joined: nothing of the channel comes any more.
    Channel,
}

/// Whether a silence begins or ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SilenceState {
    /// Nothing has come for `Settings::silence`.
    Begins,
    /// Something has come, or the feed has been left.
    Ends,
}

/// Something brings nothing any more, or brings something again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Silence {
    /// What.
    pub scope: SilenceScope,
    /// Whether it begins or ends.
    pub state: SilenceState,
}

/// One side of a feed.
#[derive(Debug, Default, Clone, Copy)]
struct LineActivity {
    /// Packets at the last look.
    count: u64,
    /// Looks since the count has changed.
    unchanged_checks: u8,
    silent: bool,
    /// At the last look its feed was joined.
    watched_before: bool,
}

#[derive(Debug)]
pub(crate) struct SilenceDetector {
    feeds: Feeds,
    /// From one look to the next; `None`: silence is not told.
    period: Option<Duration>,
    next_check: Instant,
    activity: [[LineActivity; FeedLine::ALL.len()]; Feed::ALL.len()],
    /// Packets of the feeds that loop; those of the incremental feed are counted anyway.
    loop_packets: [[u64; FeedLine::ALL.len()]; Feed::ALL.len()],
    silent_feeds: [bool; Feed::ALL.len()],
    channel_silent: bool,
    /// A side may yet fall silent.
    can_fall_silent: bool,
}

impl SilenceDetector {
    pub(crate) fn new(silence: Duration, feeds: Feeds) -> Self {
        let eighth = Duration::from_nanos(silence.as_nanos().div_ceil(u64::from(CHECKS)));
        Self {
            feeds,
            period: (silence > Duration::ZERO).then_some(eighth),
            // At once, when the time is told for the first time.
            next_check: Instant::ZERO,
            activity: Default::default(),
            loop_packets: Default::default(),
            silent_feeds: Default::default(),
            channel_silent: false,
            can_fall_silent: true,
        }
    }

    /// When the next look is due; `None` while everything is silent that can be.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        (self.period.is_some() && self.can_fall_silent).then_some(self.next_check)
    }

    /// A feed has been joined or left.
    pub(crate) fn restart_watch(&mut self) {
        self.can_fall_silent = true;
    }

    /// Counts a packet of a feed that loops.
    pub(crate) fn count(&mut self, feed: Feed, line: FeedLine) {
        if let Some(counts) = self.loop_packets.get_mut(feed as usize) {
            counts[line as usize] += 1;
        }
    }

    /// Whether a side of a feed is silent.
    pub(crate) fn is_silent(&self, feed: Feed, line: FeedLine) -> bool {
        self.activity.get(feed as usize).is_some_and(|activity| activity[line as usize].silent)
    }

    /// Looks at the counts if that is due.
    pub(crate) fn poll(
        &mut self,
        now: Instant,
        joined: [bool; Feed::ALL.len()],
        counters: &mut Counters,
        listener: &mut impl Listener,
    ) {
        let Some(period) = self.period.filter(|_| self.next_check <= now) else { return };
        // A caller that was away for long has not listened meanwhile.
        let is_in_time = now < self.next_check + period;
        self.next_check = now + period;
        self.update(is_in_time, joined, counters, listener);
    }

    /// Takes account of packets that came since the last look; `time_passed` if time has passed too.
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

    /// What the sides together make of the feeds and the channel.
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
