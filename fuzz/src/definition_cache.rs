//! The definitions that a feed handler keeps on disk, as a file of any bytes, and made of packets
//! of any bytes.
//!
//! Proves that no bytes make it panic; that a file which is taken is written again as it was; and
//! that what was learnt of packets, whatever they were, is a file that is taken, with the same
//! definitions in it, and can be given to a channel.
//!
//! An input is a byte that says what follows: a file, or packets, each behind its length in two
//! bytes.

use hairpin_cme_codecs::mdp3::MDInstrumentDefinitionFuture54;
use hairpin_feed_handler::{Channel, DefinitionCache, Settings};
use hairpin_mdp3::PacketHeader;
use hairpin_time::{Instant, Now, Utc};

use crate::Seed;
use crate::script::Script;

const CHANNEL: u16 = 310;
/// Later than whatever a definition says of itself.
const NOW: Utc = Utc::from_nanos(u64::MAX);

/// One input.
pub fn run(bytes: &[u8]) {
    let mut script = Script(bytes);
    if script.flag() {
        return check_file(script.0);
    }
    let mut cache = DefinitionCache::new(CHANNEL);
    while !script.0.is_empty() {
        let length = usize::from(script.word());
        cache.note(script.bytes(length));
    }
    let file = cache.to_bytes(NOW);
    let read = DefinitionCache::from_bytes(&file, CHANNEL, NOW).expect("it was just written");
    assert_eq!(read.count(), cache.count());
    give(&read);
    check_file(&file);
}

fn check_file(bytes: &[u8]) {
    match DefinitionCache::from_bytes(bytes, CHANNEL, NOW) {
        Ok(mut cache) => {
            let again = cache.to_bytes(cache.saved());
            let read = DefinitionCache::from_bytes(&again, CHANNEL, NOW).expect("it was taken");
            assert_eq!(read.count(), cache.count());
            give(&cache);
        }
        Err(error) => assert!(!error.to_string().contains(['\n', '\r']), "{error}"),
    }
}

/// Gives the definitions to a channel that has room for some of them.
fn give(cache: &DefinitionCache) {
    let settings = Settings { max_instruments: 8, max_related: 8, ..Settings::default() };
    let mut channel = Channel::new(settings);
    let now = Now { monotonic: Instant::ZERO, utc: NOW };
    let given = cache.load_into(&mut channel, now, &mut ()).expect("it collects definitions");
    assert_eq!(given, cache.count());
    assert!(channel.is_collecting_definitions());
}

/// Some definitions as packets, and the file that they make.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let packets: Vec<u8> = (1..=3).flat_map(|id| behind_length(&definition(id))).collect();
    let mut cache = DefinitionCache::new(CHANNEL);
    (1..=3).for_each(|id| cache.note(&definition(id)));
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
            MDInstrumentDefinitionFuture54::encode(&mut message).expect("it fits");
        root.set_security_id(id).set_appl_id(CHANNEL as i16).set_last_update_time(7);
        groups.finish().expect("it fits")
    };
    let header = PacketHeader { sequence: 1, sending_time: Utc::EPOCH }.encode();
    let size = (length as u16 + 2).to_le_bytes();
    [&header[..], &size, &message[..length]].concat()
}
