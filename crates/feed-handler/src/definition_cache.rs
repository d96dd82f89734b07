//! A cache of instrument definitions that survives restarts.

mod file;
mod message;

use std::collections::HashMap;

use hairpin_mdp3::{Channel, Feed, FeedLine, Input, Listener, Messages, PacketHeader};
use hairpin_time::{Now, Utc};

pub use file::CacheError;
use message::DefinitionInfo;

/// The bytes of messages per packet when definitions are passed to a channel.
const PACKET_MAX: usize = 32 << 10;

/// The latest definition of each instrument of a channel, as received on the wire.
///
/// [`DefinitionCache::record`] reads the channel's packets, in addition to the channel itself.
/// [`DefinitionCache::save`] writes the cache to a file, and [`DefinitionCache::read`] reads it at
/// the next start. [`DefinitionCache::load_into`] then lets the channel join books before the
/// instrument feed has completed a loop. The channel still follows the loop, which corrects
/// outdated definitions.
///
/// The memory grows with new definitions, by 300 to 600 bytes each. Use on cold paths only. A
/// packet without definitions costs one template check per message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionCache {
    channel: u16,
    saved: Utc,
    /// Definitions by SecurityID, with their position in `bytes`.
    entries: HashMap<i32, Entry>,
    /// Concatenated messages, each with its MsgSize; some are outdated.
    bytes: Vec<u8>,
    /// The bytes of outdated messages.
    outdated: usize,
    changed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    start: usize,
    length: usize,
    updated: Utc,
    deleted: bool,
}

impl DefinitionCache {
    /// Creates an empty cache for a channel (ApplID 1180).
    #[must_use]
    pub fn new(channel: u16) -> Self {
        Self {
            channel,
            saved: Utc::EPOCH,
            entries: HashMap::new(),
            bytes: Vec::new(),
            outdated: 0,
            changed: false,
        }
    }

    /// Returns the channel (ApplID 1180).
    #[must_use]
    pub fn channel(&self) -> u16 {
        self.channel
    }

    /// Returns the number of instruments with a definition in force.
    #[must_use]
    pub fn count(&self) -> usize {
        self.entries.values().filter(|entry| !entry.deleted).count()
    }

    /// Returns the time of the last save, or the epoch if the cache was never saved.
    #[must_use]
    pub fn saved(&self) -> Utc {
        self.saved
    }

    /// Returns `true` if a definition has changed since the last save or read.
    #[must_use]
    pub fn has_changed(&self) -> bool {
        self.changed
    }

    /// Records the definitions in a packet of the channel, from any feed and side. Keeps the latest
    /// definition of each instrument by LastUpdateTime (779). Ignores definitions of other
    /// channels.
    #[inline]
    pub fn record(&mut self, packet: &[u8]) {
        let Ok((_, messages)) = PacketHeader::decode(packet) else { return };
        for message in Messages::new(messages).flatten() {
            if message::is_definition(message.header.template_id)
                && let Some(info) = DefinitionInfo::read(&message)
            {
                self.insert(info, message.bytes);
            }
        }
    }

    #[cold]
    fn insert(&mut self, info: DefinitionInfo, message: &[u8]) {
        if info.channel != self.channel {
            return;
        }
        if let Some(before) = self.entries.get(&info.security_id) {
            let is_same = before.updated == info.updated && before.deleted == info.deleted;
            if info.updated < before.updated || is_same {
                return;
            }
            self.outdated += before.length;
        }
        let (start, length) = (self.bytes.len(), message.len() + 2);
        self.bytes.extend_from_slice(&(length as u16).to_le_bytes());
        self.bytes.extend_from_slice(message);
        let DefinitionInfo { security_id, updated, deleted, .. } = info;
        self.entries.insert(security_id, Entry { start, length, updated, deleted });
        self.changed = true;
        if self.outdated > self.bytes.len() / 2 {
            self.compact();
        }
    }

    /// Drops outdated messages.
    fn compact(&mut self) {
        let mut bytes = Vec::with_capacity(self.bytes.len() - self.outdated);
        for entry in self.entries.values_mut() {
            let start = bytes.len();
            bytes.extend_from_slice(&self.bytes[entry.start..][..entry.length]);
            entry.start = start;
        }
        (self.bytes, self.outdated) = (bytes, 0);
    }

    /// Returns the messages in force, each with its MsgSize, in SecurityID order.
    fn messages(&self) -> impl Iterator<Item = &[u8]> {
        let mut entries: Vec<(&i32, &Entry)> =
            self.entries.iter().filter(|(_, entry)| !entry.deleted).collect();
        entries.sort_unstable_by_key(|(security_id, _)| **security_id);
        entries.into_iter().map(|(_, entry)| &self.bytes[entry.start..][..entry.length])
    }

    /// Passes all cached definitions to a channel that has not received a packet yet. Returns their
    /// number.
    ///
    /// The listener receives each definition. The channel then collects definitions from the next
    /// complete loop in addition, while it maintains books.
    ///
    /// # Errors
    /// [`CacheError::NotCollecting`] if the channel does not collect definitions: its late join
    /// differs, or it already has them.
    pub fn load_into(
        &self,
        channel: &mut Channel,
        now: Now,
        listener: &mut impl Listener,
    ) -> Result<usize, CacheError> {
        if !channel.is_collecting_definitions() {
            return Err(CacheError::NotCollecting);
        }
        let count = self.count();
        let mut packet = Vec::with_capacity(PACKET_MAX);
        let mut sequence = 1;
        let mut flush = |packet: &mut Vec<u8>| {
            if packet.len() > PacketHeader::LENGTH {
                // A cache that was never saved has no time; no loop starts at the epoch.
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
        flush(&mut packet);
        for message in self.messages() {
            if packet.len() + message.len() > PACKET_MAX {
                flush(&mut packet);
            }
            let start = packet.len();
            packet.extend_from_slice(message);
            // The cached definitions form a loop of their own, of this length.
            message::set_total(&mut packet[start..], count as u32);
        }
        flush(&mut packet);
        channel.collect_definitions();
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Inserts a definition of instrument 7 of channel 310, as a message without its MsgSize.
    fn insert(cache: &mut DefinitionCache, updated: u64) {
        let (updated, deleted) = (Utc::from_nanos(updated), false);
        let info = DefinitionInfo { security_id: 7, updated, deleted, channel: 310 };
        cache.insert(info, &[0; 98]);
    }

    #[test]
    fn outdated_messages_take_at_most_half_the_memory() {
        let mut cache = DefinitionCache::new(310);
        for updated in 1..=1_000 {
            insert(&mut cache, updated);
            assert!(cache.bytes.len() <= 200, "{}", cache.bytes.len());
        }
        assert_eq!(cache.count(), 1);
    }

    #[test]
    fn repeated_definition_is_not_a_change() {
        let mut cache = DefinitionCache::new(310);
        insert(&mut cache, 1);
        assert!(cache.has_changed());
        cache.changed = false;
        insert(&mut cache, 1);
        assert!(!cache.has_changed());
    }
}
