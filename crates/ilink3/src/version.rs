//! Schema versions, and conversion of messages to older versions.

use hairpin_cme_codecs::ilink3::{MESSAGES, SCHEMA_VERSION};
use hairpin_sbe::{BlockLayout, MessageHeader};

/// A version of schema 8 that a session can use: 5 to 9.
///
/// The session encodes its messages in this version: blocks and group entries omit later fields.
/// Received messages may have any version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(u16);

impl Version {
    /// The oldest supported version.
    pub const OLDEST: Self = Self(5);
    /// The newest version, and the default.
    pub const NEWEST: Self = Self(SCHEMA_VERSION);

    /// Creates a version. Returns `None` unless `number` is 5 to 9.
    #[must_use]
    pub const fn new(number: u16) -> Option<Self> {
        if number < Self::OLDEST.0 || number > Self::NEWEST.0 { None } else { Some(Self(number)) }
    }

    /// Returns the version number of the SBE header.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }

    /// Stores the version in the SBE header of a session message. The layout of session messages is
    /// the same in all versions.
    pub(crate) fn mark(self, message: &mut [u8]) {
        if let Some(version) = message.get_mut(6..8) {
            version.copy_from_slice(&self.0.to_le_bytes());
        }
    }

    /// Returns `true` if messages are sent as the encoders write them.
    pub(crate) const fn is_newest(self) -> bool {
        self.0 == Self::NEWEST.0
    }
}

impl Default for Version {
    fn default() -> Self {
        Self::NEWEST
    }
}

/// Converts `message`, which starts with its SBE header, to the layout of `version`. Returns the
/// new length, or `None` if the version does not contain the message or the message is malformed.
#[cold]
pub(crate) fn lower(message: &mut [u8], version: Version) -> Option<usize> {
    let (header, _) = MessageHeader::decode(message).ok()?;
    let layout = MESSAGES.iter().find(|layout| layout.template_id == header.template_id)?;
    if layout.block.since > version.0 {
        return None;
    }
    let block_length = length_in(&layout.block, version).min(header.block_length);
    let old = MessageHeader { block_length, version: version.0, ..header };
    message.get_mut(..MessageHeader::LENGTH)?.copy_from_slice(&old.to_bytes());
    let mut from = MessageHeader::LENGTH + usize::from(header.block_length);
    let mut to = MessageHeader::LENGTH + usize::from(block_length);
    for group in layout.groups {
        // Every group in a client message has a three-byte header: block length and a one-byte
        // count.
        let &[size_0, size_1, count] = message.get(from..)?.first_chunk()?;
        let length = u16::from_le_bytes([size_0, size_1]);
        let old_length = length_in(&group.block, version).min(length);
        from += 3;
        if group.block.since > version.0 {
            from += usize::from(length) * usize::from(count);
            continue;
        }
        let [size_0, size_1] = old_length.to_le_bytes();
        message.get_mut(to..to + 3)?.copy_from_slice(&[size_0, size_1, count]);
        to += 3;
        for _ in 0..count {
            if from + usize::from(length) > message.len() {
                return None;
            }
            message.copy_within(from..from + usize::from(old_length), to);
            (from, to) = (from + usize::from(length), to + usize::from(old_length));
        }
    }
    // Client business messages contain nothing after their groups.
    Some(to)
}

/// Returns the length of a block in `version`. Versions only append fields. A block with padding
/// today keeps its length.
fn length_in(block: &BlockLayout, version: Version) -> u16 {
    let end = |newest: u16| {
        let fields = block.fields.iter().filter(|field| field.since <= newest);
        fields.map(|field| field.offset + field.kind.size).max().unwrap_or(0)
    };
    let is_padded = end(Version::NEWEST.0) < block.length;
    if is_padded { block.length } else { end(version.0) }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use hairpin_cme_codecs::ilink3::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn order_length_depends_on_the_version() {
        for (version, block) in [(5, 116), (6, 124), (7, 124), (8, 132), (9, 132)] {
            let mut buffer = vec![0; NewOrderSingle514::ENCODED_LENGTH];
            NewOrderSingle514::encode(&mut buffer).unwrap().set_seq_num(7).set_order_qty(3);
            let length = lower(&mut buffer, Version::new(version).unwrap()).unwrap();
            assert_eq!(length, 8 + block, "version {version}");
            let (header, body) = MessageHeader::decode(&buffer[..length]).unwrap();
            assert_eq!((header.version, usize::from(header.block_length)), (version, block));
            let mut scratch = NewOrderSingle514::SCRATCH;
            let order = NewOrderSingle514::decode(&header, body, &mut scratch).unwrap();
            assert_eq!((order.seq_num(), order.order_qty()), (7, 3));
        }
    }

    #[test]
    fn group_entries_move_with_the_block() {
        let mut buffer = vec![0; 400];
        let (mut root, mut groups) = MassQuote517::encode(&mut buffer).unwrap();
        root.set_seq_num(7);
        let mut entries = groups.no_quote_entries().unwrap();
        entries.push().unwrap().set_security_id(4);
        entries.push().unwrap().set_security_id(5);
        let length = groups.finish().unwrap();
        let lowered = lower(&mut buffer[..length], Version::OLDEST).unwrap();
        assert!(lowered < length);
        let (header, body) = MessageHeader::decode(&buffer[..lowered]).unwrap();
        let mut scratch = MassQuote517::SCRATCH;
        let quote = MassQuote517::decode(&header, body, &mut scratch).unwrap();
        let (mut entries, mut scratch) = (quote.no_quote_entries(), [0; 38]);
        assert_eq!(entries.next(&mut scratch).unwrap().security_id(), 4);
        assert_eq!(entries.next(&mut scratch).unwrap().security_id(), 5);
        assert!(entries.next(&mut scratch).is_none() && quote.seq_num() == 7);
        assert_eq!(quote.encoded_length(), lowered);
    }

    #[test]
    fn rejects_messages_missing_in_the_version() {
        let mut buffer = vec![0; 300];
        let (_, groups) = RequestForCross566::encode(&mut buffer).unwrap();
        let length = groups.finish().unwrap();
        assert_eq!(lower(&mut buffer[..length], Version::new(8).unwrap()), None);
        assert_eq!(lower(&mut [0; 5], Version::OLDEST), None);
    }

    #[test]
    fn newest_version_is_unchanged() {
        let mut buffer = vec![7; NewOrderSingle514::ENCODED_LENGTH];
        NewOrderSingle514::encode(&mut buffer).unwrap().set_seq_num(7);
        let before = buffer.clone();
        assert_eq!(lower(&mut buffer, Version::NEWEST), Some(before.len()));
        assert_eq!(buffer, before);
    }

    #[test]
    fn versions_are_5_to_9() {
        let versions: Vec<_> = (0..20).filter_map(Version::new).map(Version::number).collect();
        assert_eq!(versions, [5, 6, 7, 8, 9]);
        assert_eq!(Version::default(), Version::NEWEST);
    }
}
