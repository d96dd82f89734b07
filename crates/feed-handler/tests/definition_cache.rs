//! Definitions kept from one start to the next.
#![allow(clippy::unwrap_used, reason = "a file that cannot be had fails the test")]

#[allow(dead_code, unreachable_pub, reason = "the packets of another crate's tests")]
#[path = "../../mdp3/tests/support/packets.rs"]
mod packets;

use hairpin_cme_codecs::mdp3::{MDInstrumentDefinitionFuture54, SecurityUpdateAction};
use hairpin_feed_handler::{
    CacheError, Channel, ChannelState, DefinitionCache, DefinitionUpdate, Feed, FeedLine, Input,
    LateJoin, Listener, Packet, Settings,
};
use hairpin_mdp3::Action;
use hairpin_time::{Duration, Instant, Now, Utc};
use packets::{PacketBuilder, YEAR_2026, packet};
use proptest::prelude::*;

const CHANNEL: u16 = 310;

/// A time in the week of the packets: 2026 begins on a Thursday.
fn now() -> Now {
    Now { monotonic: Instant::ZERO, utc: YEAR_2026 + Duration::from_secs(3_600) }
}

/// A future's definition; `updated` in seconds after the start of the year.
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
    packets.iter().for_each(|packet| cache.note(packet.bytes()));
    cache
}

/// What of each instrument a listener was told: its number, depth and time of update; and the
/// numbers of packets.
#[derive(Default)]
struct Told(Vec<(i32, u8, Utc)>, Vec<u32>);

impl Listener for Told {
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
fn a_channel_joins_books_at_once_and_follows_the_loop_nevertheless() {
    let cache = cache(&[definition(7, 1, b'A', 5, CHANNEL), definition(8, 2, b'A', 3, CHANNEL)]);
    let (mut channel, mut told) = (channel(), Told::default());
    assert_eq!(cache.load_into(&mut channel, now(), &mut told).unwrap(), 2);
    assert_eq!(told.0, [(7, 5, updated(1)), (8, 3, updated(2))]);
    assert_eq!(channel.state(), ChannelState::Recovering);
    let feeds = [Feed::Incremental, Feed::Instrument, Feed::Snapshot];
    assert_eq!(joined(&mut channel), feeds.map(Action::Join));
    // Both books can come in sync before the loop of definitions has brought a packet.
    let mut give = |feed, packet: &PacketBuilder| {
        let input = Input { feed, line: FeedLine::A, received: None };
        channel.handle_packet(now(), input, packet.bytes(), &mut told);
    };
    give(Feed::Incremental, &packet(10).heartbeat());
    give(Feed::Snapshot, &packet(1).snapshot(7, 10, 2, 0, &[]));
    give(Feed::Snapshot, &packet(2).snapshot(8, 10, 2, 0, &[]));
    // The loop says that one of them has changed, and corrects it.
    give(Feed::Instrument, &definition(7, 1, b'A', 5, CHANNEL));
    give(Feed::Instrument, &definition_in(packet(2), (8, 6, b'M', 4, CHANNEL)));
    assert!(channel.book_of(7).unwrap().is_in_sync() && channel.book_of(8).unwrap().is_in_sync());
    assert_eq!(channel.state(), ChannelState::InSync);
    assert_eq!(told.0[2..], [(8, 4, updated(6))]);
}

#[test]
fn the_newest_definition_of_an_instrument_stays_and_a_deleted_one_does_not() {
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
    // Again and again: what is outdated goes.
    for seconds in 10..2_000 {
        cache.note(definition(8, seconds, b'M', 2, CHANNEL).bytes());
    }
    let mut told = Told::default();
    cache.load_into(&mut channel(), now(), &mut told).unwrap();
    assert_eq!(told.0, [(7, 5, updated(5)), (8, 2, updated(1_999))]);
    assert!(cache.to_bytes(now().utc).len() < 2_000);
}

#[test]
fn a_cache_is_saved_as_a_whole_and_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("310.definitions");
    // Of many instruments, so that it takes several packets to load them.
    let packets: Vec<PacketBuilder> =
        (1..=500).map(|id| definition(id, 1, b'A', 10, CHANNEL)).collect();
    let mut saved = cache(&packets);
    saved.save(&path, now().utc).unwrap();
    assert!(!saved.has_changed());
    let mut read = DefinitionCache::read(&path, CHANNEL, now().utc).unwrap();
    assert_eq!((read.count(), read.saved()), (500, now().utc));
    assert_eq!(read.to_bytes(now().utc), saved.to_bytes(now().utc));
    let mut channel = Channel::new(Settings { max_instruments: 500, ..Settings::default() });
    let mut told = Told::default();
    assert_eq!(read.load_into(&mut channel, now(), &mut told).unwrap(), 500);
    assert!(told.1.len() > 1 && told.1.iter().copied().eq(1..=told.1.len() as u32), "{:?}", told.1);
    assert_eq!(channel.counters().definitions, 500);
    assert_eq!(channel.state(), ChannelState::Recovering);
    // It takes the place of the old one, and leaves nothing beside it.
    saved.note(definition(501, 1, b'A', 10, CHANNEL).bytes());
    saved.save(&path, now().utc).unwrap();
    let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(files.len(), 1);
    assert_eq!(DefinitionCache::read(&path, CHANNEL, now().utc).unwrap().count(), 501);
    let nowhere = folder.path().join("none").join("file");
    assert!(matches!(saved.save(&nowhere, now().utc), Err(CacheError::Io(_))));
}

#[test]
fn what_cannot_take_its_place_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    // A folder is where the file should be.
    let path = folder.path().join("310.definitions");
    std::fs::create_dir(&path).unwrap();
    let mut unsaved = cache(&[definition(7, 1, b'A', 5, CHANNEL)]);
    assert!(matches!(unsaved.save(&path, now().utc), Err(CacheError::Io(_))));
    assert!(unsaved.has_changed());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_loop_that_began_after_the_cache_was_saved_completes_what_could_not_be_loaded() {
    let mut unreadable = definition(8, 1, b'A', 5, CHANNEL);
    // The block is whole, and the groups behind it are not.
    let header = u16::from_le_bytes([unreadable.bytes()[12], unreadable.bytes()[13]]);
    let bytes = unreadable.bytes_mut();
    bytes.truncate(bytes.len() - 4);
    bytes[12..14].copy_from_slice(&(header - 4).to_le_bytes());
    let mut cache = cache(&[definition(7, 1, b'A', 5, CHANNEL), unreadable]);
    let _ = cache.to_bytes(YEAR_2026);
    let (mut channel, mut told) = (channel(), Told::default());
    assert_eq!(cache.load_into(&mut channel, now(), &mut told).unwrap(), 2);
    assert_eq!(told.0, [(7, 5, updated(1))]);
    // Sent a millisecond after the cache was saved, an hour before it was loaded.
    let input = Input { feed: Feed::Instrument, line: FeedLine::A, received: None };
    let packet = definition(8, 1, b'A', 5, CHANNEL);
    channel.handle_packet(now(), input, packet.bytes(), &mut told);
    assert_eq!(told.0[1..], [(8, 5, updated(1))]);
}

#[test]
fn fields_behind_a_shorter_block_are_none() {
    // The block of the first definition is said to end before its fields.
    let mut short = definition(7, 1, b'A', 5, CHANNEL);
    short.bytes_mut()[14..16].copy_from_slice(&20_u16.to_le_bytes());
    assert_eq!(cache(&[short]).count(), 0);
}

/// FNV-1a of a file but for the sum itself, put in its place.
fn seal(bytes: &mut [u8]) {
    let summed = bytes[..56].iter().chain(&bytes[64..]);
    let sum = summed.fold(0xCBF2_9CE4_8422_2325_u64, |sum, &byte| {
        (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    bytes[56..64].copy_from_slice(&sum.to_le_bytes());
}

#[test]
fn a_whole_file_that_says_something_else_is_refused() {
    let at = now().utc;
    let altered = |at_byte: usize, value: u8| {
        move |bytes: &mut Vec<u8>| {
            bytes[at_byte] = value;
            seal(bytes);
        }
    };
    assert_eq!(refusal(altered(8, 2), CHANNEL, at), "no definition cache of form 1");
    let other = |id, version| {
        format!("the definition cache is of schema {id} version {version}, not 1 version 13")
    };
    assert_eq!(refusal(altered(12, 2), CHANNEL, at), other(2, 13));
    assert_eq!(refusal(altered(14, 12), CHANNEL, at), other(1, 12));
    assert_eq!(refusal(altered(40, 2), CHANNEL, at), "the definition cache is damaged");
    // The definition is of a second after the year began.
    let early = YEAR_2026 + Duration::from_millis(500);
    let mut ahead = cache(&[definition(7, 1, b'A', 5, CHANNEL)]);
    let refused = DefinitionCache::from_bytes(&ahead.to_bytes(early), CHANNEL, early);
    assert!(matches!(refused, Err(CacheError::OtherWeek { saved }) if saved == early));
}

/// What is said of an altered file.
fn refusal(alter: impl FnOnce(&mut Vec<u8>), channel: u16, at: Utc) -> String {
    let mut bytes = cache(&[definition(7, 1, b'A', 5, CHANNEL)]).to_bytes(now().utc);
    alter(&mut bytes);
    DefinitionCache::from_bytes(&bytes, channel, at).unwrap_err().to_string()
}

#[test]
fn a_cache_that_is_foreign_stale_or_damaged_is_refused_with_its_reason() {
    let at = now().utc;
    let days = |days: u64| at + Duration::from_secs(days * 86_400);
    let sound = DefinitionCache::from_bytes(&cache(&[]).to_bytes(at), CHANNEL, at);
    assert!(sound.is_ok());
    let none = |_: &mut Vec<u8>| {};
    let other = "the definition cache is of channel 310, not 311";
    assert_eq!(refusal(none, 311, at), other);
    // Saved on a Thursday: good on Friday, and no more on Saturday.
    let week = refusal(none, CHANNEL, days(2));
    assert!(week.starts_with("the definition cache was saved at 2026-01-01T01:00:00"), "{week}");
    assert!(refusal(none, CHANNEL, at - Duration::from_secs(1)).ends_with("not in this week"));
    for length in [0, 7] {
        let refused = refusal(|bytes| bytes.truncate(length), CHANNEL, at);
        assert_eq!(refused, "no definition cache of form 1");
    }
    assert_eq!(refusal(|bytes| bytes[8] = 2, CHANNEL, at), "no definition cache of form 1");
    let damaged = "the definition cache is damaged";
    for length in [8, 63, 64, 200] {
        assert_eq!(refusal(|bytes| bytes.truncate(length), CHANNEL, at), damaged);
    }
    for position in [12, 16, 24, 40, 56, 63, 64, 100] {
        assert_eq!(refusal(|bytes| bytes[position] ^= 1, CHANNEL, at), damaged, "{position}");
    }
}

#[test]
fn a_channel_that_collects_no_definitions_takes_none() {
    let cache = cache(&[definition(7, 1, b'A', 5, CHANNEL)]);
    for late_join in [LateJoin::Books, LateJoin::Nothing] {
        let settings = Settings { max_instruments: 8, late_join, ..Settings::default() };
        let outcome = cache.load_into(&mut Channel::new(settings), now(), &mut ());
        assert!(matches!(outcome, Err(CacheError::NotWanted)));
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut: prop::sample::Index,
    ) {
        let mut cache = cache(&[7, 8].map(|id| definition(id, 1, b'A', 5, CHANNEL)));
        let sound = cache.to_bytes(now().utc);
        let mut bytes = sound.clone();
        for (place, value) in edits {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        if let Ok(mut read) = DefinitionCache::from_bytes(&bytes, CHANNEL, now().utc) {
            prop_assert_eq!(read.to_bytes(now().utc), sound);
        }
    }

    #[test]
    fn no_packet_makes_it_panic(
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut: prop::sample::Index,
    ) {
        let mut bytes = definition(7, 1, b'A', 5, CHANNEL).bytes().to_vec();
        for (place, value) in edits {
            let place = place.index(bytes.len());
            bytes[place] = value;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        let mut noted = DefinitionCache::new(CHANNEL);
        noted.note(&bytes);
        noted.note(&bytes);
        prop_assert!(noted.count() <= 1);
        let _ = noted.load_into(&mut channel(), now(), &mut ());
    }
}
