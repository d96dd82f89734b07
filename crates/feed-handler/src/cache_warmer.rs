//! Cache warming with synthetic packets during idle periods.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_cme_codecs::mdp3::{
    MDEntryTypeBook, MDIncrementalRefreshBook46, MDUpdateAction, MatchEventIndicator, Price9,
};
use hairpin_endpoint::{Timestamp, Transport};
use hairpin_mdp3::{Channel, Feed, FeedLine, Input, LateJoin, Listener, PacketHeader, Settings};
use hairpin_time::{Duration, Instant, Now};

use crate::channel_input::{ChannelInput, deliver};
use crate::feed_handlers::{ChannelFeed, SharedLine, Subscription};
use crate::{Arrival, LineAddress, LineId};

/// The number of instruments in the synthetic channel.
const INSTRUMENTS: i32 = 4;
/// The template of synthetic packets.
const TEMPLATE: u16 = MDIncrementalRefreshBook46::TEMPLATE_ID;
/// A size that fits a packet with one entry.
const PACKET_MAX: usize = 128;
/// The source and destination address of synthetic packets.
const NO_ADDRESS: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);

/// Keeps the code path of a packet warmer during idle periods: instruction cache, branch predictors
/// and TLB.
///
/// After milliseconds without packets, the next packet finds its code evicted from the caches.
/// While a spinning loop is idle, [`CacheWarmer::poll`] therefore sends a synthetic packet through
/// a separate channel at intervals: one changed level of one book. The packet runs the same
/// arbitration, decoding, book update and end of event as a real packet, with the same instructions
/// for a given listener type. The separate channel shares no state with a real one, so no counter,
/// book, callback or timestamp of a real channel changes.
///
/// The caller provides the listener. It must have the type of the real listener, because generic
/// code is compiled per type; for example a strategy with trading disabled. It receives events of
/// instruments 1 to 4. With `()` only the path up to the callbacks is warmer.
///
/// Only real packets may change the real channel's data. [`CacheWarmer::prefetch`] reads that data,
/// one instrument per call. For several channels on one engine,
/// [`FeedHandlers::keep_warm`](crate::FeedHandlers::keep_warm) does both, and its packets also pass
/// the dispatch from lines to channels. Under a wait that sleeps, warming has no effect. Measure
/// the benefit on the target machine.
#[derive(Debug)]
pub struct CacheWarmer {
    /// The synthetic channel and its line.
    channels: [ChannelFeed; 1],
    lines: [SharedLine; 1],
    settings: Settings,
    /// The wire template id of synthetic packets.
    template_id: u16,
    interval: Duration,
    next: Instant,
    sequence: u32,
    rpt_seqs: [u32; INSTRUMENTS as usize],
    /// The current price of level 1 per instrument, indexed by side (0 ask, 1 bid).
    prices: [[Option<Price9>; 2]; INSTRUMENTS as usize],
    packet: [u8; PACKET_MAX],
    packets: u64,
    /// The instrument of the real channel to read next.
    prefetch_index: usize,
}

impl CacheWarmer {
    /// Creates a warmer that sends a packet after each idle `interval`. Typical values are 20 to
    /// 200 µs.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self::with_settings(interval, &Settings::default())
    }

    /// Creates a warmer for a channel with these settings. Remapped template ids and order books
    /// change the code path.
    #[must_use]
    pub fn with_settings(interval: Duration, settings: &Settings) -> Self {
        let templates = settings.templates;
        let settings = Settings {
            max_instruments: INSTRUMENTS as usize,
            late_join: LateJoin::Nothing,
            queue_bytes: 1 << 10,
            max_related: 0,
            max_loop_packets: 1,
            templates,
            order_books: settings.order_books,
            max_orders: 1,
            ..Settings::default()
        };
        let mut channel = Channel::new(settings);
        // The synthetic channel has no feeds to join.
        while channel.poll_action().is_some() {}
        let mut subscription = Subscription::new(0, Feed::Incremental, FeedLine::A);
        subscription.joined = true;
        let interface = Ipv4Addr::UNSPECIFIED;
        let (sources, transport) = (Vec::new(), Transport::Kernel);
        let address = LineAddress { group: NO_ADDRESS, interface, sources, transport };
        let mut line = SharedLine::new(address);
        line.subscriptions.push(subscription);
        Self {
            channels: [ChannelFeed::new(ChannelInput::new(channel), Vec::new(), None)],
            lines: [line],
            settings,
            // If no wire id maps to the template, real and synthetic messages are skipped alike.
            template_id: templates.wire(TEMPLATE).unwrap_or(TEMPLATE),
            interval,
            next: Instant::ZERO,
            sequence: 0,
            rpt_seqs: [0; INSTRUMENTS as usize],
            prices: [[None; 2]; INSTRUMENTS as usize],
            packet: [0; PACKET_MAX],
            packets: 0,
            prefetch_index: 0,
        }
    }

    /// Postpones the next synthetic packet after a real one, which has warmed the path.
    #[inline]
    pub fn on_packet(&mut self, now: Instant) {
        self.next = now + self.interval;
    }

    /// Sends a synthetic packet through the path if the interval has passed. Returns `true` if it
    /// did.
    ///
    /// Call after a loop iteration without packets. `listener` receives the packet's events and
    /// must have the type of the real listener.
    #[inline]
    pub fn poll(&mut self, now: Now, listener: &mut impl Listener) -> bool {
        self.poll_with(now, |arrival, _, [feed]| {
            let received = arrival.timestamp.utc();
            let input = Input { feed: Feed::Incremental, line: FeedLine::A, received };
            deliver(now, &mut feed.channel_input.channel, input, arrival.bytes, listener);
        })
    }

    /// Sends a synthetic packet through `deliver` if the interval has passed.
    #[inline]
    pub(crate) fn poll_with(
        &mut self,
        now: Now,
        deliver: impl FnOnce(&Arrival<'_>, &mut [SharedLine; 1], &mut [ChannelFeed; 1]),
    ) -> bool {
        if now.monotonic < self.next {
            return false;
        }
        self.next = now.monotonic + self.interval;
        let length = self.next_packet(now);
        let timestamp = Timestamp::Software(now.utc);
        let bytes = &self.packet[..length];
        let arrival = Arrival { line: LineId::new(0), source: NO_ADDRESS, timestamp, bytes };
        deliver(&arrival, &mut self.lines, &mut self.channels);
        true
    }

    /// Reads the memory that the next packet of one instrument of `channel` would read, and
    /// advances to the next instrument. Call in each idle loop iteration: the loop then reads 100
    /// instruments before the caches evict them.
    #[inline]
    pub fn prefetch(&mut self, channel: &Channel) {
        self.prefetch_index = channel.prefetch(self.prefetch_index);
    }

    /// Returns the number of synthetic packets.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the synthetic channel.
    #[must_use]
    pub fn channel(&self) -> &Channel {
        &self.channels[0].channel_input.channel
    }

    /// Builds the next packet and returns its length in bytes.
    fn next_packet(&mut self, now: Now) -> usize {
        if self.sequence == u32::MAX {
            // Once in days: a channel treats a smaller sequence number as an older packet.
            *self = Self::with_settings(self.interval, &self.settings);
        }
        self.sequence += 1;
        self.packets += 1;
        self.write(now)
    }

    /// Writes the next packet. Action, price, quantity, side and instrument vary, so that the
    /// branch predictors do not learn a single case. Uses the frequent actions, which have a fast
    /// path.
    fn write(&mut self, now: Now) -> usize {
        let header = PacketHeader { sequence: self.sequence, sending_time: now.utc }.encode();
        let (head, rest) = self.packet.split_at_mut(PacketHeader::LENGTH + 2);
        head[..PacketHeader::LENGTH].copy_from_slice(&header);
        let instrument = self.sequence % INSTRUMENTS as u32;
        let rpt_seq = &mut self.rpt_seqs[instrument as usize];
        *rpt_seq += 1;
        let is_bid = (self.sequence / 8).is_multiple_of(2);
        let price = &mut self.prices[instrument as usize][usize::from(is_bid)];
        let tick = i64::from(self.sequence % 16) + if is_bid { 0 } else { 20 };
        let action = match price {
            None => MDUpdateAction::NEW,
            Some(_) if self.sequence.is_multiple_of(3) => MDUpdateAction::DELETE,
            Some(_) => MDUpdateAction::CHANGE,
        };
        let stated = price.unwrap_or(Price9(tick * 1_000_000_000));
        *price = (action != MDUpdateAction::DELETE).then_some(stated);
        let entry_type = if is_bid { MDEntryTypeBook::BID } else { MDEntryTypeBook::OFFER };
        let encoded =
            MDIncrementalRefreshBook46::encode(rest).and_then(|(mut root, mut groups)| {
                root.set_transact_time(now.utc.as_nanos())
                    .set_match_event_indicator(MatchEventIndicator(0x84));
                groups
                    .no_md_entries()?
                    .push()?
                    .set_md_entry_px(Some(stated))
                    .set_md_entry_size(Some(1 + (self.sequence % 100) as i32))
                    .set_security_id(instrument as i32 + 1)
                    .set_rpt_seq(*rpt_seq)
                    .set_number_of_orders(1)
                    .set_md_price_level(1)
                    .set_md_update_action(action)
                    .set_md_entry_type(entry_type);
                groups.finish()
            });
        let length = encoded.expect("a packet with one entry fits into 128 bytes");
        let size = (length + 2) as u16;
        head[PacketHeader::LENGTH..].copy_from_slice(&size.to_le_bytes());
        // The template id follows the block length.
        rest[2..4].copy_from_slice(&self.template_id.to_le_bytes());
        PacketHeader::LENGTH + usize::from(size)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use hairpin_mdp3::{BookUpdate, EndOfEvent, Error, Warning};
    use hairpin_time::Utc;

    use super::*;
    use crate::{EngineError, FeedEngine, FeedHandlers, Group, Lines, Multicast};

    #[derive(Default)]
    struct RecordedEvents {
        ends: u64,
        changed: u64,
        /// The number of updates that changed a best price.
        prices: u64,
        faults: u64,
    }

    impl Listener for RecordedEvents {
        fn on_book_update(&mut self, update: &BookUpdate<'_>) {
            self.prices += u64::from(update.changes.best_price());
        }
        fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
            self.ends += 1;
            self.changed += event.changed().count() as u64;
        }
        fn on_error(&mut self, _: Option<&hairpin_mdp3::Packet>, _: &Error) {
            self.faults += 1;
        }
        fn on_warning(&mut self, _: &Warning) {
            self.faults += 1;
        }
    }

    fn at(micros: u64) -> Now {
        let utc = Utc::from_nanos(1_767_225_600_000_000_000) + Duration::from_micros(micros);
        Now { monotonic: Instant::ZERO + Duration::from_micros(micros), utc }
    }

    #[test]
    fn synthetic_packet_updates_a_book_without_faults() {
        let (mut warmer, mut events) =
            (CacheWarmer::new(Duration::from_micros(50)), RecordedEvents::default());
        for turn in 0..1_000 {
            assert!(warmer.poll(at(turn * 50), &mut events));
        }
        assert_eq!((events.ends, events.changed, events.faults), (1_000, 1_000, 0));
        assert_eq!(warmer.packets(), 1_000);
        // A New or a Delete changes the best price, a Change does not. Most actions are Changes.
        assert!((300..=400).contains(&events.prices), "{}", events.prices);
        let counters = warmer.channel().counters();
        assert_eq!((counters.book_entries, counters.gaps, counters.duplicates), (1_000, 0, 0));
    }

    #[test]
    fn rate_is_bounded_and_real_packets_postpone() {
        let (mut warmer, mut events) =
            (CacheWarmer::new(Duration::from_micros(50)), RecordedEvents::default());
        let sent = (0..1_000).filter(|&micros| warmer.poll(at(micros), &mut events)).count();
        assert_eq!(sent, 20);
        warmer.on_packet(at(1_000).monotonic);
        assert!(!warmer.poll(at(1_049), &mut events));
        assert!(warmer.poll(at(1_050), &mut events));
    }

    #[test]
    fn remapped_template_ids_still_update_a_book() {
        // Wire id 146 maps to template 46, and wire id 46 to an unrelated template.
        let templates = hairpin_mdp3::TemplateIds::AS_PUBLISHED.with(146, 46).with(46, 1_000);
        let settings = Settings { templates, ..Settings::conflated() };
        let mut warmer = CacheWarmer::with_settings(Duration::from_micros(50), &settings);
        let mut events = RecordedEvents::default();
        (0..100).for_each(|turn| _ = warmer.poll(at(turn * 50), &mut events));
        assert_eq!((events.ends, events.changed, events.faults), (100, 100, 0));
        assert_eq!(warmer.channel().counters().book_entries, 100);
    }

    #[test]
    fn prefetch_reads_the_real_channel_without_changes() {
        let mut warmer = CacheWarmer::new(Duration::from_micros(50));
        // A channel with instruments, then an empty one.
        let (mut other, mut events) =
            (CacheWarmer::new(Duration::from_micros(50)), RecordedEvents::default());
        (0..100).for_each(|turn| _ = other.poll(at(turn * 50), &mut events));
        let before = format!("{:?}", other.channel());
        let mut indices = Vec::new();
        for _ in 0..2 * INSTRUMENTS {
            warmer.prefetch(other.channel());
            indices.push(warmer.prefetch_index);
        }
        assert_eq!(indices, [1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!(format!("{:?}", other.channel()), before);
        let empty = Channel::new(Settings { max_instruments: 0, ..Settings::default() });
        warmer.prefetch(&empty);
        assert_eq!(warmer.prefetch_index, 1);
    }

    /// An engine that never delivers a packet.
    #[derive(Debug, Default)]
    struct SilentEngine(usize);

    impl FeedEngine for SilentEngine {
        fn open(&mut self, _: &LineAddress) -> io::Result<LineId> {
            self.0 += 1;
            Ok(LineId::new(self.0 - 1))
        }
        fn join(&mut self, _: LineId) -> io::Result<()> {
            Ok(())
        }
        fn leave(&mut self, _: LineId) -> io::Result<()> {
            Ok(())
        }
        fn wait(&mut self, _: Instant, _: Option<Instant>) -> io::Result<()> {
            Ok(())
        }
        fn receive(
            &mut self,
            _: Now,
            _: &mut impl FnMut(Now, Arrival<'_>),
        ) -> Result<(), EngineError> {
            Ok(())
        }
    }

    #[test]
    fn synthetic_packets_pass_dispatch_without_touching_channels() {
        let group = |last| Group::new(SocketAddrV4::new(Ipv4Addr::new(239, 1, 1, last), 7), &[]);
        let addresses = Multicast {
            incremental: Lines::only_a(group(1)),
            instrument: Lines::only_a(group(2)),
            snapshot: Lines::only_a(group(3)),
            ..Multicast::default()
        };
        let settings = Settings { max_instruments: 4, ..Settings::default() };
        let mut feeds = FeedHandlers::new(SilentEngine::default());
        let handlers = [(); 2].map(|()| feeds.add(settings, &addresses).unwrap());
        let before = format!("{feeds:?}");
        let mut warmer = CacheWarmer::new(Duration::from_micros(50));
        let mut listeners = [RecordedEvents::default()];
        let sent = (0..1_000).filter(|&micros| {
            let handler = handlers[usize::from(micros % 2 == 0)];
            feeds.keep_warm(handler, &mut warmer, at(micros), &mut listeners)
        });
        assert_eq!(sent.count(), 20);
        let [events] = listeners;
        assert_eq!((events.ends, events.changed, events.faults), (20, 20, 0));
        assert_eq!((warmer.packets(), warmer.lines[0].packets), (20, 20));
        assert_eq!(format!("{feeds:?}"), before);
    }

    #[test]
    fn restarts_when_sequence_numbers_run_out() {
        let (mut warmer, mut events) =
            (CacheWarmer::new(Duration::from_micros(50)), RecordedEvents::default());
        warmer.poll(at(0), &mut events);
        warmer.sequence = u32::MAX;
        for turn in 1..5 {
            warmer.poll(at(turn * 50), &mut events);
        }
        assert_eq!((events.ends, events.faults), (5, 0));
    }
}
