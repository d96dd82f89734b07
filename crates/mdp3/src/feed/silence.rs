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
const LOOKS: u8 = 8;

/// What brings nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SilenceScope {
    /// One side of a feed, whether or not the other runs.
    FeedLine {
        /// The feed.
        feed: Feed,
        /// The side.
        side: FeedLine,
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
struct Line {
    /// Packets at the last look.
    count: u64,
    /// Looks since the count has changed.
    looks: u8,
    is_silent: bool,
    /// At the last look its feed was joined.
    was_watched: bool,
}

#[derive(Debug)]
pub(crate) struct SilenceWatch {
    feeds: Feeds,
    /// From one look to the next; `None`: silence is not told.
    period: Option<Duration>,
    next_look: Instant,
    lines: [[Line; FeedLine::ALL.len()]; Feed::ALL.len()],
    /// Packets of the feeds that loop; those of the incremental feed are counted anyway.
    loop_packets: [[u64; FeedLine::ALL.len()]; Feed::ALL.len()],
    silent_feeds: [bool; Feed::ALL.len()],
    is_channel_silent: bool,
    /// A side may yet fall silent.
    is_waiting: bool,
}

impl SilenceWatch {
    pub(crate) fn new(silence: Duration, feeds: Feeds) -> Self {
        let eighth = Duration::from_nanos(silence.as_nanos().div_ceil(u64::from(LOOKS)));
        Self {
            feeds,
            period: (silence > Duration::ZERO).then_some(eighth),
            // At once, when the time is told for the first time.
            next_look: Instant::ZERO,
            lines: Default::default(),
            loop_packets: Default::default(),
            silent_feeds: Default::default(),
            is_channel_silent: false,
            is_waiting: true,
        }
    }

    /// When the next look is due; `None` while everything is silent that can be.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        (self.period.is_some() && self.is_waiting).then_some(self.next_look)
    }

    /// A feed has been joined or left.
    pub(crate) fn expect(&mut self) {
        self.is_waiting = true;
    }

    /// Counts a packet of a feed that loops.
    pub(crate) fn count(&mut self, feed: Feed, side: FeedLine) {
        if let Some(counts) = self.loop_packets.get_mut(feed as usize) {
            counts[side as usize] += 1;
        }
    }

    /// Whether a side of a feed is silent.
    pub(crate) fn is_silent(&self, feed: Feed, side: FeedLine) -> bool {
        self.lines.get(feed as usize).is_some_and(|lines| lines[side as usize].is_silent)
    }

    /// Looks at the counts if that is due.
    pub(crate) fn look(
        &mut self,
        now: Instant,
        joined: [bool; Feed::ALL.len()],
        counters: &mut Counters,
        listener: &mut impl Listener,
    ) {
        let Some(period) = self.period.filter(|_| self.next_look <= now) else { return };
        // A caller that was away for long has not listened meanwhile.
        let is_in_time = now < self.next_look + period;
        self.next_look = now + period;
        self.review(is_in_time, joined, counters, listener);
    }

    /// Takes account of packets that came since the last look; `ages` if time has passed too.
    pub(crate) fn review(
        &mut self,
        ages: bool,
        joined: [bool; Feed::ALL.len()],
        counters: &mut Counters,
        listener: &mut impl Listener,
    ) {
        for feed in Feed::ALL {
            for side in FeedLine::ALL {
                let is_watched = joined[feed as usize] && self.feeds.sides(feed).has(side);
                self.review_line(ages, is_watched, (feed, side), counters, listener);
            }
        }
        let mut lines = self.lines.iter().flatten();
        self.is_waiting = lines.any(|line| line.was_watched && !line.is_silent);
        self.sum_up(joined, listener);
    }

    fn review_line(
        &mut self,
        ages: bool,
        is_watched: bool,
        (feed, side): (Feed, FeedLine),
        counters: &mut Counters,
        listener: &mut impl Listener,
    ) {
        let count = match (feed, side) {
            (Feed::Incremental, FeedLine::A) => counters.packets_a,
            (Feed::Incremental, FeedLine::B) => counters.packets_b,
            _ => self.loop_packets[feed as usize][side as usize],
        };
        let line = &mut self.lines[feed as usize][side as usize];
        let was_silent = line.is_silent;
        let has_come = core::mem::replace(&mut line.count, count) != count;
        let was_watched = core::mem::replace(&mut line.was_watched, is_watched);
        if has_come || !is_watched || !was_watched {
            (line.looks, line.is_silent) = (0, false);
        } else if ages {
            line.looks = line.looks.saturating_add(1);
            line.is_silent = line.looks >= LOOKS;
        }
        counters.silences += u64::from(line.is_silent && !was_silent);
        tell(SilenceScope::FeedLine { feed, side }, was_silent, line.is_silent, listener);
    }

    /// What the sides together make of the feeds and the channel.
    fn sum_up(&mut self, joined: [bool; Feed::ALL.len()], listener: &mut impl Listener) {
        let mut watched = 0;
        let mut silent = 0;
        for feed in Feed::ALL {
            let sides = self.feeds.sides(feed);
            let is_watched = joined[feed as usize] && !sides.is_none();
            let is_silent = is_watched
                && FeedLine::ALL
                    .into_iter()
                    .all(|side| !sides.has(side) || self.is_silent(feed, side));
            watched += u32::from(is_watched);
            silent += u32::from(is_silent);
            let was_silent = core::mem::replace(&mut self.silent_feeds[feed as usize], is_silent);
            tell(SilenceScope::Feed(feed), was_silent, is_silent, listener);
        }
        let is_silent = watched > 0 && silent == watched;
        let was_silent = core::mem::replace(&mut self.is_channel_silent, is_silent);
        tell(SilenceScope::Channel, was_silent, is_silent, listener);
    }
}

fn tell(scope: SilenceScope, was_silent: bool, is_silent: bool, listener: &mut impl Listener) {
    if was_silent != is_silent {
        let state = if is_silent { SilenceState::Begins } else { SilenceState::Ends };
        listener.on_silence(&Silence { scope, state });
    }
}
