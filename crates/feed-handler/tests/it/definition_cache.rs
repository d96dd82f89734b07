//! The cache of definitions across restarts.
use crate::packets::{PacketBuilder, YEAR_2026, packet};
use hairpin_cme_codecs::mdp3::{MDInstrumentDefinitionFuture54, SecurityUpdateAction};
use hairpin_feed_handler::{
    CacheError, Channel, ChannelState, DefinitionCache, DefinitionUpdate, Feed, FeedLine, Input,
    LateJoin, Listener, Packet, Settings,
};
use hairpin_mdp3::Action;
use hairpin_time::{Duration, Instant, Now, Utc};
use proptest::prelude::*;

const CHANNEL: u16 = 310;

/// A time in the week of the packets; 2026 begins on a Thursday.
fn now() -> Now {
    Now { monotonic: Instant::ZERO, utc: YEAR_2026 + Duration::from_secs(3_600) }
}

/// Returns a future's definition; `updated` is in seconds after the start of the year.
fn definition(id: i32, updated: u64, action: u8, depth: i8, channel: u16) -> PacketBuilder {
    definition_in(packet(1), (id, updated, action, depth, channel))
}

fn definition_in(
    packet: PacketBuilder,
    (id, updated, action, depth, channel): (i32, u64, u8, i8, u16),
) -> PacketBuilder {
    packet.message(|buffer| {
        let (mut root, mut groups) = MDInstrumentDefinitionFuture54::encode(buffer).unwrap();
        root.set_security_id(id)
            .set_tot_num_reports(Some(9_999))
            .set_appl_id(channel as i16)
            .set_security_update_action(SecurityUpdateAction(action))
            .set_last_update_time((YEAR_2026 + Duration::from_secs(updated)).as_nanos());
        let mut feed_types = groups.no_md_feed_types().unwrap();
        feed_types.push().unwrap().set_md_feed_type("GBX").set_market_depth(depth);
        groups.finish().unwrap()
    })
}

fn cache(packets: &[PacketBuilder]) -> DefinitionCache {
    let mut cache = DefinitionCache::new(CHANNEL);
    packets.iter().for_each(|packet| cache.record(packet.bytes()));
    cache
}

/// Definitions received by a listener (id, depth, update time), and packet sequence numbers.
#[derive(Default)]
struct RecordedEvents(Vec<(i32, u8, Utc)>, Vec<u32>);

impl Listener for RecordedEvents {
    fn on_packet(&mut self, packet: &Packet) {
        self.1.push(packet.sequence);
    }
    fn on_definition(&mut self, update: &DefinitionUpdate<'_>) {
        let definition = update.definition;
        self.0.push((definition.security_id, definition.depth, definition.last_update_time));
    }
}

fn channel() -> Channel {
    Channel::new(Settings { max_instruments: 100, ..Settings::default() })
}

fn joined(channel: &mut Channel) -> Vec<Action> {
    std::iter::from_fn(|| channel.poll_action()).collect()
}

fn updated(seconds: u64) -> Utc {
    YEAR_2026 + Duration::from_secs(seconds)
}

#[test]
fn channel_joins_books_at_once_and_still_follows_the_loop() {
    let cache = cache(&[definition(7, 1, b'A', 5, CHANNEL), definition(8, 2, b'A', 3, CHANNEL)]);
    let (mut channel, mut events) = (channel(), RecordedEvents::default());
    assert_eq!(cache.load_into(&mut channel, now(), &mut events).unwrap(), 2);
    assert_eq!(events.0, [(7, 5, updated(1)), (8, 3, updated(2))]);
    assert_eq!(channel.state(), ChannelState::Recovering);
    let feeds = [Feed::Incremental, Feed::Instrument, Feed::Snapshot];
    assert_eq!(joined(&mut channel), feeds.map(Action::Join));
    // Both books synchronize before the instrument feed delivers a packet.
    let mut deliver = |feed, packet: &PacketBuilder| {
        let input = Input { feed, line: FeedLine::A, received: None };
        channel.handle_packet(now(), input, packet.bytes(), &mut events);
    };
    deliver(Feed::Incremental, &packet(10).heartbeat());
    deliver(Feed::Snapshot, &packet(1).snapshot(7, 10, 2, 0, &[]));
    deliver(Feed::Snapshot, &packet(2).snapshot(8, 10, 2, 0, &[]));
    // The loop contains a changed definition, which corrects the cached one.
    deliver(Feed::Instrument, &definition(7, 1, b'A', 5, CHANNEL));
    deliver(Feed::Instrument, &definition_in(packet(2), (8, 6, b'M', 4, CHANNEL)));
    assert!(channel.book_of(7).unwrap().is_in_sync() && channel.book_of(8).unwrap().is_in_sync());
    assert_eq!(channel.state(), ChannelState::InSync);
    assert_eq!(events.0[2..], [(8, 4, updated(6))]);
}

#[test]
fn latest_definition_wins_and_deleted_ones_are_dropped() {
    let mut cache = cache(&[
        definition(7, 5, b'A', 5, CHANNEL),
        definition(7, 4, b'M', 1, CHANNEL),
        definition(8, 1, b'A', 2, CHANNEL),
        definition(9, 1, b'A', 2, CHANNEL),
        definition(9, 2, b'D', 2, CHANNEL),
        definition(6, 1, b'A', 2, CHANNEL + 1),
    ]);
    assert_eq!(cache.count(), 2);
    assert!(cache.has_changed());
    // Repeated updates do not accumulate.
    for seconds in 10..2_000 {
        cache.record(definition(8, seconds, b'M', 2, CHANNEL).bytes());
    }
    let mut events = RecordedEvents::default();
    cache.load_into(&mut channel(), now(), &mut events).unwrap();
    assert_eq!(events.0, [(7, 5, updated(5)), (8, 2, updated(1_999))]);
    assert!(cache.to_bytes(now().utc).len() < 2_000);
}

#[test]
fn save_is_atomic_and_round_trips() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("310.definitions");
    // Enough instruments for several packets at loading.
    let packets: Vec<PacketBuilder> =
        (1..=500).map(|id| definition(id, 1, b'A', 10, CHANNEL)).collect();
    let mut saved = cache(&packets);
    saved.save(&path, now().utc).unwrap();
    assert!(!saved.has_changed());
    let mut read = DefinitionCache::read(&path, CHANNEL, now().utc).unwrap();
    assert_eq!((read.count(), read.saved()), (500, now().utc));
    assert_eq!(read.to_bytes(now().utc), saved.to_bytes(now().utc));
    let mut channel = Channel::new(Settings { max_instruments: 500, ..Settings::default() });
    let mut events = RecordedEvents::default();
    assert_eq!(read.load_into(&mut channel, now(), &mut events).unwrap(), 500);
    assert!(
        events.1.len() > 1 && events.1.iter().copied().eq(1..=events.1.len() as u32),
        "{:?}",
        events.1
    );
    assert_eq!(channel.counters().definitions, 500);
    assert_eq!(channel.state(), ChannelState::Recovering);
    // A new save replaces the file and leaves no temporary file.
    saved.record(definition(501, 1, b'A', 10, CHANNEL).bytes());
    saved.save(&path, now().utc).unwrap();
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(files.len(), 1);
    assert_eq!(DefinitionCache::read(&path, CHANNEL, now().utc).unwrap().count(), 501);
    let missing = folder.path().join("none").join("file");
    assert!(matches!(saved.save(&missing, now().utc), Err(CacheError::Io(_))));
}

#[test]
fn failed_save_leaves_no_temporary_file() {
    let folder = tempfile::tempdir().unwrap();
    // A folder has the name of the file.
    let path = folder.path().join("310.definitions");
    std::fs::create_dir(&path).unwrap();
    let mut unsaved = cache(&[definition(7, 1, b'A', 5, CHANNEL)]);
    assert!(matches!(unsaved.save(&path, now().utc), Err(CacheError::Io(_))));
    assert!(unsaved.has_changed());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn loop_completes_definitions_that_could_not_be_loaded() {
    let mut unreadable = definition(8, 1, b'A', 5, CHANNEL);
    // The block is complete, but the groups after it are not.
    let header = u16::from_le_bytes([unreadable.bytes()[12], unreadable.bytes()[13]]);
    let bytes = unreadable.bytes_mut();
    bytes.truncate(bytes.len() - 4);
    bytes[12..14].copy_from_slice(&(header - 4).to_le_bytes());
    let mut cache = cache(&[definition(7, 1, b'A', 5, CHANNEL), unreadable]);
    let _ = cache.to_bytes(YEAR_2026);
    let (mut channel, mut events) = (channel(), RecordedEvents::default());
    assert_eq!(cache.load_into(&mut channel, now(), &mut events).unwrap(), 2);
    assert_eq!(events.0, [(7, 5, updated(1))]);
    // Sent one millisecond after the save, and one hour before the load.
    let input = Input { feed: Feed::Instrument, line: FeedLine::A, received: None };
    let packet = definition(8, 1, b'A', 5, CHANNEL);
    channel.handle_packet(now(), input, packet.bytes(), &mut events);
    assert_eq!(events.0[1..], [(8, 5, updated(1))]);
}

#[test]
fn definition_with_a_short_block_is_ignored() {
    // The block length of the definition is too short for the fields.
    let mut short = definition(7, 1, b'A', 5, CHANNEL);
    short.bytes_mut()[14..16].copy_from_slice(&20_u16.to_le_bytes());
    assert_eq!(cache(&[short]).count(), 0);
}

/// Recomputes the FNV-1a checksum of a file.
fn seal(bytes: &mut [u8]) {
    let summed = bytes[..56].iter().chain(&bytes[64..]);
    let sum = summed.fold(0xCBF2_9CE4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    bytes[56..64].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn rejects_consistent_file_with_other_contents() {
    let at = now().utc;
    let altered = |at_byte: usize, value: u8| {
        move |bytes: &mut Vec<u8>| {
            bytes[at_byte] = value;
            seal(bytes);
        }
    };
    let format = "cannot use the definition cache: not a cache file of format 1";
    assert_eq!(refusal(altered(8, 2), CHANNEL, at), format);
    let other = |id, version| {
        format!(
            "cannot use the definition cache: schema {id} version {version}, expected 1 version 13"
        )
    };
    assert_eq!(refusal(altered(12, 2), CHANNEL, at), other(2, 13));
    assert_eq!(refusal(altered(14, 12), CHANNEL, at), other(1, 12));
    let damaged = "cannot use the definition cache: file damaged";
    assert_eq!(refusal(altered(40, 2), CHANNEL, at), damaged);
    // The definition is one second newer than the start of the year.
    let early = YEAR_2026 + Duration::from_millis(500);
    let mut ahead = cache(&[definition(7, 1, b'A', 5, CHANNEL)]);
    let refused = DefinitionCache::from_bytes(&ahead.to_bytes(early), CHANNEL, early);
    assert!(matches!(refused, Err(CacheError::OtherWeek { saved }) if saved == early));
}

/// Returns the error of an altered file.
fn refusal(alter: impl FnOnce(&mut Vec<u8>), channel: u16, at: Utc) -> String {
    let mut bytes = cache(&[definition(7, 1, b'A', 5, CHANNEL)]).to_bytes(now().utc);
    alter(&mut bytes);
    DefinitionCache::from_bytes(&bytes, channel, at).unwrap_err().to_string()
}

#[test]
fn rejects_foreign_stale_and_damaged_files() {
    let at = now().utc;
    let days = |days: u64| at + Duration::from_secs(days * 86_400);
    let valid = DefinitionCache::from_bytes(&cache(&[]).to_bytes(at), CHANNEL, at);
    assert!(valid.is_ok());
    let none = |_: &mut Vec<u8>| {};
    let other = "cannot use the definition cache: it is for channel 310, expected 311";
    assert_eq!(refusal(none, 311, at), other);
    // Saved on a Thursday: valid on Friday, but not on Saturday.
    let week = refusal(none, CHANNEL, days(2));
    let expected = "cannot use the definition cache: saved at 2026-01-01T01:00:00";
    assert!(week.starts_with(expected), "{week}");
    let early = refusal(none, CHANNEL, at - Duration::from_secs(1));
    assert!(early.ends_with("outside the current week"), "{early}");
    let format = "cannot use the definition cache: not a cache file of format 1";
    for length in [0, 7] {
        let refused = refusal(|bytes| bytes.truncate(length), CHANNEL, at);
        assert_eq!(refused, format);
    }
    assert_eq!(refusal(|bytes| bytes[8] = 2, CHANNEL, at), format);
    let damaged = "cannot use the definition cache: file damaged";
    for length in [8, 63, 64, 200] {
        assert_eq!(refusal(|bytes| bytes.truncate(length), CHANNEL, at), damaged);
    }
    for position in [12, 16, 24, 40, 56, 63, 64, 100] {
        assert_eq!(refusal(|bytes| bytes[position] ^= 1, CHANNEL, at), damaged, "{position}");
    }
}

#[test]
fn channel_that_collects_no_definitions_refuses_a_cache() {
    let cache = cache(&[definition(7, 1, b'A', 5, CHANNEL)]);
    for late_join in [LateJoin::Books, LateJoin::Nothing] {
        let settings = Settings { max_instruments: 8, late_join, ..Settings::default() };
        let outcome = cache.load_into(&mut Channel::new(settings), now(), &mut ());
        assert!(matches!(outcome, Err(CacheError::NotCollecting)));
    }
}

proptest! {
    #[test]
    fn never_panics_on_altered_bytes(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut: prop::sample::Index,
    ) {
        let mut cache = cache(&[7, 8].map(|id| definition(id, 1, b'A', 5, CHANNEL)));
        let valid = cache.to_bytes(now().utc);
        let mut bytes = valid.clone();
        for (place, value) in edits {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        if let Ok(mut read) = DefinitionCache::from_bytes(&bytes, CHANNEL, now().utc) {
            prop_assert_eq!(read.to_bytes(now().utc), valid);
        }
    }

    #[test]
    fn never_panics_on_altered_packets(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut: prop::sample::Index,
    ) {
        let mut bytes = definition(7, 1, b'A', 5, CHANNEL).bytes().to_vec();
        for (place, value) in edits {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        let mut recorded = DefinitionCache::new(CHANNEL);
        recorded.record(&bytes);
        recorded.record(&bytes);
        prop_assert!(recorded.count() <= 1);
        let _ = recorded.load_into(&mut channel(), now(), &mut ());
    }
}

#[test]
fn cached_definition_has_every_field() {
    let packet = packet(1).message(|buffer| {
        let (mut root, groups) = MDInstrumentDefinitionFuture54::encode(buffer).unwrap();
        root.set_security_id(7)
            .set_tot_num_reports(Some(1))
            .set_appl_id(CHANNEL as i16)
            .set_security_update_action(SecurityUpdateAction::ADD)
            .set_last_update_time(YEAR_2026.as_nanos())
            .set_unit_of_measure("BBL")
            .set_trading_reference_date(Some(20_454))
            .set_contract_multiplier(Some(1_000));
        groups.finish().unwrap()
    });
    let bytes = cache(&[packet]).to_bytes(now().utc);
    let cache = DefinitionCache::from_bytes(&bytes, CHANNEL, now().utc).unwrap();
    let mut channel = channel();
    cache.load_into(&mut channel, now(), &mut RecordedEvents::default()).unwrap();
    let definition = *channel.definition(channel.find(7).unwrap()).unwrap();
    assert_eq!((definition.appl_id, definition.unit_of_measure.as_str()), (310, "BBL"));
    assert_eq!(definition.trading_reference_date, Some(20_454));
    let hairpin_mdp3::Details::Future(future) = definition.details else { panic!("a future") };
    assert_eq!(future.contract_multiplier, Some(1_000));
}
