//! Random message bytes from a seed and CME's file.

use crate::cme_schema::Block;
use hairpin_sbe::MessageHeader;

/// SplitMix64: small and deterministic on all platforms.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// Returns random bytes with many values that occur in nulls and at the end of text.
    pub(crate) fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut byte = || match self.below(8) {
            0 => 0,
            1 => b'0',
            2 => 0xff,
            3 => b'A',
            _ => self.next() as u8,
        };
        (0..length).map(|_| byte()).collect()
    }

    /// Returns a block in which every fourth field is null.
    fn block(&mut self, block: &Block, length: usize) -> Vec<u8> {
        let mut bytes = self.bytes(length);
        for field in &block.fields {
            if let (Some(null), Some(offset), 0) = (field.null(), field.offset, self.below(4))
                && let Some(to) = bytes.get_mut(offset..offset + null.len())
            {
                to.copy_from_slice(&null);
            }
        }
        bytes
    }

    /// Returns the header and body of a message of `version` with up to three entries per group.
    /// Blocks are longer than in the file by `stretch` bytes, or shorter if negative, with a
    /// minimum of zero.
    pub(crate) fn message(
        &mut self,
        schema_id: u16,
        message: &Block,
        version: u16,
        stretch: isize,
    ) -> (MessageHeader, Vec<u8>) {
        let length = message.length.saturating_add_signed(stretch);
        let header = MessageHeader {
            block_length: length as u16,
            template_id: message.id,
            schema_id,
            version,
        };
        let mut body = self.block(message, length);
        for group in &message.groups {
            let since: u16 =
                group.node.attribute("sinceVersion").map_or(0, |text| text.parse().unwrap());
            if since > version {
                continue;
            }
            let (length, count) = (group.length.saturating_add_signed(stretch), self.below(4));
            body.extend_from_slice(&(length as u16).to_le_bytes());
            if group.node.attribute("dimensionType") == Some("groupSize8Byte") {
                let padding = self.bytes(5);
                body.extend_from_slice(&padding);
            }
            body.push(count as u8);
            for _ in 0..count {
                let entry = self.block(group, length);
                body.extend_from_slice(&entry);
            }
        }
        for _ in 0..message.data {
            let length = self.below(3);
            body.extend_from_slice(&(length as u16).to_le_bytes());
            let data = self.bytes(length);
            body.extend_from_slice(&data);
        }
        (header, body)
    }
}
