//! Dry packets through the path while nothing comes.

use std::net::{Ipv4Addr, SocketAddrV4};

use hairpin_cme_codecs::mdp3::{
    MDEntryTypeBook, MDIncrementalRefreshBook46, MDUpdateAction, MatchEventIndicator, Price9,
};
use hairpin_endpoint::{Timestamp, Transport};
use hairpin_mdp3::{Channel, Feed, FeedLine, Input, LateJoin, Listener, PacketHeader, Settings};
use hairpin_time::{Duration, Instant, Now};

use crate::feed_handlers::{ChannelFeed, SharedLine, Subscription};
use crate::inlet::{Inlet, deliver};
use crate::{Arrival, LineAddress, LineId};

/// Instruments of the channel that dry packets are for.
const INSTRUMENTS: i32 = 4;
/// What dry packets have in them.
const TEMPLATE: u16 = MDIncrementalRefreshBook46::TEMPLATE_ID;
/// Longer than the packet with one entry.
const PACKET_MAX: usize = 128;
/// Where dry packets come from.
const NOWHERE: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0);

/// Keeps the way of a packet warm while nothing comes: its instructions, what the processor
/// predicts of its branches, and the translation of its pages.
///
/// A packet that comes after milliseconds of quiet finds its code gone from the caches. So while a
/// loop that spins has nothing to do, [`KeepWarm::turn`] now and then makes a dry packet, one level
/// of one book changed, and puts it through a channel of its own: arbitration, decoding, book, end
/// of event. It is the very code that packets of the feed pass: the same instructions of the same
/// listener's type. It shares no state with any real channel, so that no counter, book, callback or
/// timestamp of these tells of it.
///
/// The listener is the caller's as well, of the same type as the real one, since code is made anew
/// for each type: a strategy that is not to trade, say. It is told of instruments 1 to 4.
/// With `()` the path is warm only up to the callbacks of `()`.
///
/// The data of the real channel only real packets may change; [`KeepWarm::prefetch`] reads it, an
/// instrument a turn. Of several channels on one engine [`FeedHandlers::keep_warm`] does both, and
/// its dry packets pass what hands packets to channels as well. Under a wait that sleeps there is
/// no sense in either. Whether they pay is to be measured on the machine that they are to run on.
///
/// [`FeedHandlers::keep_warm`]: crate::FeedHandlers::keep_warm
#[derive(Debug)]
pub struct KeepWarm {
    /// Of its own: the one channel, and the one line that dry packets come by.
    channels: [ChannelFeed; 1],
    lines: [SharedLine; 1],
    settings: Settings,
    /// Which id dry packets have.
    template_id: u16,
    interval: Duration,
    next: Instant,
    sequence: u32,
    rpt_seqs: [u32; INSTRUMENTS as usize],
    /// The price of the level that each side of each book has.
    prices: [[Option<Price9>; 2]; INSTRUMENTS as usize],
    packet: [u8; PACKET_MAX],
    packets: u64,
    /// The instrument of the real channel that is read next.
    place: usize,
}

impl KeepWarm {
    /// One dry packet after every `interval` in which nothing has come; 20 to 200 µs are usual.
    #[must_use]
    pub fn new(interval: Duration) -> Self {
        Self::for_channel(interval, &Settings::default())
    }

    /// The same for a channel with these settings: its packets come with other template ids, or it
    /// keeps orders, and so they take another way.
    #[must_use]
    pub fn for_channel(interval: Duration, settings: &Settings) -> Self {
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
        // It has no feeds to join.
        while channel.poll_action().is_some() {}
        let mut subscription = Subscription::new(0, Feed::Incremental, FeedLine::A);
        subscription.is_joined = true;
        let nowhere = Ipv4Addr::UNSPECIFIED;
        let (sources, transport) = (Vec::new(), Transport::Kernel);
        let address = LineAddress { group: NOWHERE, interface: nowhere, sources, transport };
        let mut line = SharedLine::new(address);
        line.subscriptions.push(subscription);
        Self {
            channels: [ChannelFeed::new(Inlet::new(channel), Vec::new(), None)],
            lines: [line],
            settings,
            // Where no id stands for the template, its messages are skipped, the dry ones too.
            template_id: templates.wire(TEMPLATE).unwrap_or(TEMPLATE),
            interval,
            next: Instant::ZERO,
            sequence: 0,
            rpt_seqs: [0; INSTRUMENTS as usize],
            prices: [[None; 2]; INSTRUMENTS as usize],
            packet: [0; PACKET_MAX],
            packets: 0,
            place: 0,
        }
    }

    /// A real packet has come: the path is warm.
    #[inline]
    pub fn hear(&mut self, now: Instant) {
        self.next = now + self.interval;
    }

    /// Puts a dry packet through the path, if it is time; whether it did. To be called when a turn
    /// of the loop has brought nothing. `dry` is told of it, and must be of the real listener's
    /// type for its code to be the real one's.
    #[inline]
    pub fn turn(&mut self, now: Now, dry: &mut impl Listener) -> bool {
        self.turn_by(now, |arrival, _, [feed]| {
            let received = arrival.timestamp.utc();
            let input = Input { feed: Feed::Incremental, line: FeedLine::A, received };
            deliver(now, &mut feed.inlet.channel, input, arrival.bytes, dry);
        })
    }

    /// The same by another way.
    #[inline]
    pub(crate) fn turn_by(
        &mut self,
        now: Now,
        pass: impl FnOnce(&Arrival<'_>, &mut [SharedLine; 1], &mut [ChannelFeed; 1]),
    ) -> bool {
        if now.monotonic < self.next {
            return false;
        }
        self.next = now.monotonic + self.interval;
        let length = self.make(now);
        let timestamp = Timestamp::Software(now.utc);
        let bytes = &self.packet[..length];
        let arrival = Arrival { line: LineId::new(0), source: NOWHERE, timestamp, bytes };
        pass(&arrival, &mut self.lines, &mut self.channels);
        true
    }

    /// Reads what the next packet for one instrument of `channel` would read, another one each
    /// time. To be called in each turn that has brought nothing: all of 100 instruments are read
    /// in less time than memory forgets them.
    #[inline]
    pub fn prefetch(&mut self, channel: &Channel) {
        self.place = channel.prefetch(self.place);
    }

    /// Dry packets so far.
    #[must_use]
    pub fn packets(&self) -> u64 {
        self.packets
    }

    /// The channel they pass.
    #[must_use]
    pub fn channel(&self) -> &Channel {
        &self.channels[0].inlet.channel
    }

    /// Makes the next packet, of so many bytes.
    fn make(&mut self, now: Now) -> usize {
        if self.sequence == u32::MAX {
            // Once in days: a channel takes a smaller number for an older packet.
            *self = Self::for_channel(self.interval, &self.settings);
        }
        self.sequence += 1;
        self.packets += 1;
        self.write(now)
    }

    /// Writes the next packet: another action, price, quantity, side and instrument each time, so
    /// that no branch is learnt from one case alone. The actions are the usual ones, which have a
    /// way of their own.
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
        let length = encoded.expect("a packet of one entry fits into 128 bytes");
        let size = (length + 2) as u16;
        head[PacketHeader::LENGTH..].copy_from_slice(&size.to_le_bytes());
        // Behind the length of the block.
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
    struct Told {
        ends: u64,
        changed: u64,
        /// How often a best price came, changed or went.
        prices: u64,
        wrong: u64,
    }

    impl Listener for Told {
        fn on_book_update(&mut self, update: &BookUpdate<'_>) {
            self.prices += u64::from(update.changes.best_price());
        }
        fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
            self.ends += 1;
            self.changed += event.changed().count() as u64;
        }
        fn on_error(&mut self, _: Option<&hairpin_mdp3::Packet>, _: &Error) {
            self.wrong += 1;
        }
        fn on_warning(&mut self, _: &Warning) {
            self.wrong += 1;
        }
    }

    fn at(micros: u64) -> Now {
        let utc = Utc::from_nanos(1_767_225_600_000_000_000) + Duration::from_micros(micros);
        Now { monotonic: Instant::ZERO + Duration::from_micros(micros), utc }
    }

    #[test]
    fn a_dry_packet_changes_a_book_and_ends_an_event_and_nothing_is_wrong_with_it() {
        let (mut warm, mut dry) = (KeepWarm::new(Duration::from_micros(50)), Told::default());
        for turn in 0..1_000 {
            assert!(warm.turn(at(turn * 50), &mut dry));
        }
        assert_eq!((dry.ends, dry.changed, dry.wrong), (1_000, 1_000, 0));
        assert_eq!(warm.packets(), 1_000);
        // A New or a Delete is of a price, a Change is not, and most are Changes as in life.
        assert!((300..=400).contains(&dry.prices), "{}", dry.prices);
        let counters = warm.channel().counters();
        assert_eq!((counters.book_entries, counters.gaps, counters.duplicates), (1_000, 0, 0));
    }

    #[test]
    fn the_rate_is_bounded_and_real_packets_put_it_off() {
        let (mut warm, mut dry) = (KeepWarm::new(Duration::from_micros(50)), Told::default());
        let passed = (0..1_000).filter(|&micros| warm.turn(at(micros), &mut dry)).count();
        assert_eq!(passed, 20);
        warm.hear(at(1_000).monotonic);
        assert!(!warm.turn(at(1_049), &mut dry));
        assert!(warm.turn(at(1_050), &mut dry));
    }

    #[test]
    fn with_other_template_ids_a_dry_packet_is_still_a_book() {
        // What was 46 comes as 146 now, and 46 means something else.
        let templates = hairpin_mdp3::TemplateIds::AS_PUBLISHED.with(146, 46).with(46, 1_000);
        let settings = Settings { templates, ..Settings::conflated() };
        let mut warm = KeepWarm::for_channel(Duration::from_micros(50), &settings);
        let mut dry = Told::default();
        (0..100).for_each(|turn| _ = warm.turn(at(turn * 50), &mut dry));
        assert_eq!((dry.ends, dry.changed, dry.wrong), (100, 100, 0));
        assert_eq!(warm.channel().counters().book_entries, 100);
    }

    #[test]
    fn the_real_channel_is_read_and_stays_as_it_was() {
        let mut warm = KeepWarm::new(Duration::from_micros(50));
        // One with instruments, and one with none.
        let (mut other, mut dry) = (KeepWarm::new(Duration::from_micros(50)), Told::default());
        (0..100).for_each(|turn| _ = other.turn(at(turn * 50), &mut dry));
        let before = format!("{:?}", other.channel());
        let mut places = Vec::new();
        for _ in 0..2 * INSTRUMENTS {
            warm.prefetch(other.channel());
            places.push(warm.place);
        }
        assert_eq!(places, [1, 2, 3, 4, 1, 2, 3, 4]);
        assert_eq!(format!("{:?}", other.channel()), before);
        let empty = Channel::new(Settings { max_instruments: 0, ..Settings::default() });
        warm.prefetch(&empty);
        assert_eq!(warm.place, 1);
    }

    /// Lines that nothing comes on.
    #[derive(Debug, Default)]
    struct Silence(usize);

    impl FeedEngine for Silence {
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
    fn dry_packets_pass_what_hands_packets_to_channels_and_no_real_one_tells_of_them() {
        let group = |last| Group::new(SocketAddrV4::new(Ipv4Addr::new(239, 1, 1, last), 7), &[]);
        let addresses = Multicast {
            incremental: Lines::only_a(group(1)),
            instrument: Lines::only_a(group(2)),
            snapshot: Lines::only_a(group(3)),
            ..Multicast::default()
        };
        let settings = Settings { max_instruments: 4, ..Settings::default() };
        let mut feeds = FeedHandlers::new(Silence::default());
        let handlers = [(); 2].map(|()| feeds.add(settings, &addresses).unwrap());
        let before = format!("{feeds:?}");
        let mut warm = KeepWarm::new(Duration::from_micros(50));
        let mut dry = [Told::default()];
        let passed = (0..1_000).filter(|&micros| {
            let handler = handlers[usize::from(micros % 2 == 0)];
            feeds.keep_warm(handler, &mut warm, at(micros), &mut dry)
        });
        assert_eq!(passed.count(), 20);
        let [dry] = dry;
        assert_eq!((dry.ends, dry.changed, dry.wrong), (20, 20, 0));
        assert_eq!((warm.packets(), warm.lines[0].packets), (20, 20));
        assert_eq!(format!("{feeds:?}"), before);
    }

    #[test]
    fn it_begins_anew_when_numbers_run_out() {
        let (mut warm, mut dry) = (KeepWarm::new(Duration::from_micros(50)), Told::default());
        warm.turn(at(0), &mut dry);
        warm.sequence = u32::MAX;
        for turn in 1..5 {
            warm.turn(at(turn * 50), &mut dry);
        }
        assert_eq!((dry.ends, dry.wrong), (5, 0));
    }
}
