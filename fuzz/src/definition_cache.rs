//! A feed handler's instrument definition cache: an arbitrary file, and a cache built from
//! arbitrary packets.
//!
//! Checks:
//!
//! - No bytes cause a panic.
//! - An accepted file is written again unchanged.
//! - The cache built from any packets is an accepted file with the same definitions, and a channel
//!   can load it.
//!
//! Input: a byte that selects a file or packets, each packet after its two-byte length.

use hairpin_cme_codecs::mdp3::MDInstrumentDefinitionFuture54;
use hairpin_feed_handler::{Channel, DefinitionCache, Settings};
use hairpin_mdp3::PacketHeader;
use hairpin_time::{Instant, Now, Utc};

use crate::Seed;
use crate::script::Script;

const CHANNEL: u16 = 310;
/// A time later than any time in a definition.
const NOW: Utc = Utc::from_nanos(u64::MAX);

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    if script.flag() {
        return check_file(script.0);
    }
    let mut cache = DefinitionCache::new(CHANNEL);
    while !script.0.is_empty() {
        let length = usize::from(script.word());
        cache.record(script.bytes(length));
    }
    let file = cache.to_bytes(NOW);
    let read = DefinitionCache::from_bytes(&file, CHANNEL, NOW).expect("the file was just written");
    assert_eq!(read.count(), cache.count());
    give(&read);
    check_file(&file);
}

fn check_file(bytes: &[u8]) {
    match DefinitionCache::from_bytes(bytes, CHANNEL, NOW) {
        Ok(mut cache) => {
            let again = cache.to_bytes(cache.saved());
            let read =
                DefinitionCache::from_bytes(&again, CHANNEL, NOW).expect("the file was accepted");
            assert_eq!(read.count(), cache.count());
            give(&cache);
        }
        Err(error) => assert!(!error.to_string().contains(['\n', '\r']), "{error}"),
    }
}

/// Loads the definitions into a channel with room for some of them.
fn give(cache: &DefinitionCache) {
    let settings = Settings { max_instruments: 8, max_related: 8, ..Settings::default() };
    let mut channel = Channel::new(settings);
    let now = Now { monotonic: Instant::ZERO, utc: NOW };
    let given =
        cache.load_into(&mut channel, now, &mut ()).expect("the channel collects definitions");
    assert_eq!(given, cache.count());
    assert!(channel.is_collecting_definitions());
}

/// Returns some definitions as packets, and their file.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let packets: Vec<u8> = (1..=3).flat_map(|id| behind_length(&definition(id))).collect();
    let mut cache = DefinitionCache::new(CHANNEL);
    (1..=3).for_each(|id| cache.record(&definition(id)));
    vec![
        ("packets".to_owned(), [&[0], &packets[..]].concat()),
        ("file".to_owned(), [&[1], &cache.to_bytes(NOW)[..]].concat()),
    ]
}

fn behind_length(packet: &[u8]) -> Vec<u8> {
    [&(packet.len() as u16).to_le_bytes()[..], packet].concat()
}

fn definition(id: i32) -> Vec<u8> {
    let mut message = [0; 512];
    let length = {
        let (mut root, groups) =
            MDInstrumentDefinitionFuture54::encode(&mut message).expect("the value fits");
        root.set_security_id(id).set_appl_id(CHANNEL as i16).set_last_update_time(7);
        groups.finish().expect("the value fits")
    };
    let header = PacketHeader { sequence: 1, sending_time: Utc::EPOCH }.encode();
    let size = (length as u16 + 2).to_le_bytes();
    [&header[..], &size, &message[..length]].concat()
}
