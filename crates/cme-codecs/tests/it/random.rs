//! Random message bytes from a seed and CME's file.

use crate::cme_schema::Block;
use hairpin_sbe::MessageHeader;
use hairpin_testkit::Random;

/// Returns random bytes with many values that occur in nulls and at the end of text.
fn bytes(random: &mut Random, length: usize) -> Vec<u8> {
    let mut byte = || match random.index(8) {
        0 => 0,
        1 => b'0',
        2 => 0xff,
        3 => b'A',
        _ => random.any() as u8,
    };
    (0..length).map(|_| byte()).collect()
}

/// Returns a block in which every fourth field is null.
fn block(random: &mut Random, block: &Block, length: usize) -> Vec<u8> {
    let mut bytes = bytes(random, length);
    for field in &block.fields {
        if let (Some(null), Some(offset), 0) = (field.null(), field.offset, random.index(4))
            && let Some(to) = bytes.get_mut(offset..offset + null.len())
        {
            to.copy_from_slice(&null);
        }
    }
    bytes
}

/// Returns the header and body of a message of `version` with up to three entries per group.
/// Blocks are longer than in the file by `stretch` bytes, or shorter if negative, with a minimum
/// of zero.
pub(crate) fn random_message(
    seed: u64,
    schema_id: u16,
    message: &Block,
    version: u16,
    stretch: isize,
) -> (MessageHeader, Vec<u8>) {
    let random = &mut Random::new(seed);
    let length = message.length.saturating_add_signed(stretch);
    let header =
        MessageHeader { block_length: length as u16, template_id: message.id, schema_id, version };
    let mut body = block(random, message, length);
    for group in &message.groups {
        let since: u16 =
            group.node.attribute("sinceVersion").map_or(0, |text| text.parse().unwrap());
        if since > version {
            continue;
        }
        let (length, count) = (group.length.saturating_add_signed(stretch), random.index(4));
        body.extend_from_slice(&(length as u16).to_le_bytes());
        if group.node.attribute("dimensionType") == Some("groupSize8Byte") {
            let padding = bytes(random, 5);
            body.extend_from_slice(&padding);
        }
        body.push(count as u8);
        for _ in 0..count {
            let entry = block(random, group, length);
            body.extend_from_slice(&entry);
        }
    }
    for _ in 0..message.data {
        let length = random.index(3);
        body.extend_from_slice(&(length as u16).to_le_bytes());
        let data = bytes(random, length);
        body.extend_from_slice(&data);
    }
    (header, body)
}
