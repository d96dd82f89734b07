//! Definitions of a channel, kept from one start to the next.

mod file;
mod message;

use std::collections::HashMap;

use hairpin_mdp3::{Channel, Feed, FeedLine, Input, Listener, Messages, PacketHeader};
use hairpin_time::{Now, Utc};

pub use file::CacheError;
use message::Known;

/// Bytes of messages in one packet, when they are handed to a channel.
const PACKET_MAX: usize = 32 << 10;

/// The definitions of a channel as they came on the wire, the newest of each instrument.
///
/// It takes the packets of the channel beside the channel itself ([`DefinitionCache::note`]), is
/// saved to a file now and then ([`DefinitionCache::save`]) and read at the next start
/// ([`DefinitionCache::read`]): then books can be joined before the loop of definitions has gone
/// round ([`DefinitionCache::load_into`]). The loop is followed nevertheless, and corrects what has
/// changed since.
///
/// The memory is that of the messages: it grows while definitions are new, 300 to 600 bytes each.
/// Cold paths only; a packet without definitions costs a look at the template of each message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionCache {
    channel: u16,
    saved: Utc,
    /// By SecurityID: where the message is in `bytes`, and what it says of itself.
    known: HashMap<i32, Entry>,
    /// Messages, each with its MsgSize, one behind the other; some of them outdated.
    bytes: Vec<u8>,
    /// Bytes of those that are outdated.
    outdated: usize,
    has_changed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    start: usize,
    length: usize,
    updated: Utc,
    is_deleted: bool,
}

impl DefinitionCache {
    /// A cache of a channel (ApplID 1180) that knows nothing.
    #[must_use]
    pub fn new(channel: u16) -> Self {
        Self {
            channel,
            saved: Utc::EPOCH,
            known: HashMap::new(),
            bytes: Vec::new(),
            outdated: 0,
            has_changed: false,
        }
    }

    /// The channel.
    #[must_use]
    pub fn channel(&self) -> u16 {
        self.channel
    }

    /// Instruments whose definition is known and in force.
    #[must_use]
    pub fn count(&self) -> usize {
        self.known.values().filter(|entry| !entry.is_deleted).count()
    }

    /// When it was saved last; the epoch if it never was.
    #[must_use]
    pub fn saved(&self) -> Utc {
        self.saved
    }

    /// Whether anything has been learnt since it was saved or read.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.has_changed
    }

    /// Takes the definitions of a packet of the channel, of whatever feed and side: the newest of
    /// each instrument by LastUpdateTime (779) stays. Those of another channel are passed over.
    #[inline]
    pub fn note(&mut self, packet: &[u8]) {
        let Ok((_, messages)) = PacketHeader::decode(packet) else { return };
        for message in Messages::new(messages).flatten() {
            if message::is_definition(message.header.template_id)
                && let Some(known) = Known::read(&message)
            {
                self.learn(known, message.bytes);
            }
        }
    }

    #[cold]
    fn learn(&mut self, known: Known, message: &[u8]) {
        if known.channel != self.channel {
            return;
        }
        if let Some(before) = self.known.get(&known.security_id) {
            let is_same = before.updated == known.updated && before.is_deleted == known.is_deleted;
            if known.updated < before.updated || is_same {
                return;
            }
            self.outdated += before.length;
        }
        let (start, length) = (self.bytes.len(), message.len() + 2);
        self.bytes.extend_from_slice(&(length as u16).to_le_bytes());
        self.bytes.extend_from_slice(message);
        let Known { security_id, updated, is_deleted, .. } = known;
        self.known.insert(security_id, Entry { start, length, updated, is_deleted });
        self.has_changed = true;
        if self.outdated > self.bytes.len() / 2 {
            self.compact();
        }
    }

    /// Lets outdated messages go.
    fn compact(&mut self) {
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.outdated);
        for entry in self.known.values_mut() {
            let start = bytes.len();
            bytes.extend_from_slice(&self.bytes[entry.start..][..entry.length]);
            entry.start = start;
        }
        (self.bytes, self.outdated) = (bytes, 0);
    }

    /// The messages in force, each with its MsgSize, by SecurityID.
    fn messages(&self) -> impl Iterator<Item = &[u8]> {
        let mut known: Vec<(&i32, &Entry)> =
            self.known.iter().filter(|(_, entry)| !entry.is_deleted).collect();
        known.sort_unstable_by_key(|(security_id, _)| **security_id);
        known.into_iter().map(|(_, entry)| &self.bytes[entry.start..][..entry.length])
    }

    /// Defines all that is known to a channel that has seen no packet yet, and has it collect
    /// definitions from the loop once more while books go on; returns how many. The listener is
    /// told of each.
    ///
    /// # Errors
    /// [`CacheError::NotWanted`] if the channel does not collect definitions: its late join is
    /// another, or it has them already.
    pub fn load_into(
        &self,
        channel: &mut Channel,
        now: Now,
        listener: &mut impl Listener,
    ) -> Result<usize, CacheError> {
        if !channel.is_collecting_definitions() {
            return Err(CacheError::NotWanted);
        }
        let count = self.count();
        let mut packet = Vec::with_capacity(PACKET_MAX);
        let mut sequence = 1;
        let mut hand_over = |packet: &mut Vec<u8>| {
            if packet.len() > PacketHeader::LENGTH {
                // One that was never saved is of no time, which no loop begins at.
                let sending_time = self.saved.min(now.utc).max(Utc::from_nanos(1));
                let header = PacketHeader { sequence, sending_time }.encode();
                packet[..PacketHeader::LENGTH].copy_from_slice(&header);
                sequence += 1;
                let input = Input { feed: Feed::Instrument, line: FeedLine::A, received: None };
                channel.handle_packet(now, input, packet, listener);
            }
            packet.clear();
            packet.resize(PacketHeader::LENGTH, 0);
        };
        hand_over(&mut packet);
        for message in self.messages() {
            if packet.len() + message.len() > PACKET_MAX {
                hand_over(&mut packet);
            }
            let start = packet.len();
            packet.extend_from_slice(message);
            // What is handed over is a loop of its own, and as long as this.
            message::set_total(&mut packet[start..], count as u32);
        }
        hand_over(&mut packet);
        channel.collect_definitions();
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A definition of instrument 7 of channel 310, as a message without its MsgSize.
    fn learn(cache: &mut DefinitionCache, updated: u64) {
        let (updated, is_deleted) = (Utc::from_nanos(updated), false);
        let known = Known { security_id: 7, updated, is_deleted, channel: 310 };
        cache.learn(known, &[0; 98]);
    }

    #[test]
    fn outdated_messages_take_no_more_room_than_those_in_force() {
        let mut cache = DefinitionCache::new(310);
        for updated in 1..=1_000 {
            learn(&mut cache, updated);
            assert!(cache.bytes.len() <= 200, "{}", cache.bytes.len());
        }
        assert_eq!(cache.count(), 1);
    }

    #[test]
    fn the_same_definition_again_is_nothing_new() {
        let mut cache = DefinitionCache::new(310);
        learn(&mut cache, 1);
        assert!(cache.has_changed());
        cache.has_changed = false;
        learn(&mut cache, 1);
        assert!(!cache.has_changed());
    }
}
