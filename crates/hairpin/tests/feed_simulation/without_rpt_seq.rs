//! A feed without RptSeq (tag 83): the field is 0 in every entry, like in CME's Conflated TCP feed.

use hairpin_cme_codecs::mdp3::MESSAGES;
use hairpin_mdp3::PacketHeader;

const RPT_SEQ: u16 = 83;

/// Sets every RptSeq of a packet to 0.
pub(crate) fn erase_rpt_seq(packet: &mut [u8]) {
    let mut messages = &mut packet[PacketHeader::LENGTH..];
    while !messages.is_empty() {
        let length = usize::from(u16_at(messages, 0));
        let (message, rest) = messages.split_at_mut(length);
        erase_in_message(&mut message[2..]);
        messages = rest;
    }
}

/// Sets every RptSeq of a message to 0. The slice begins with the SBE header.
fn erase_in_message(message: &mut [u8]) {
    let template = u16_at(message, 2);
    let Some(layout) = MESSAGES.iter().find(|layout| layout.template_id == template) else {
        return;
    };
    let (block, mut rest) = message[8..].split_at_mut(usize::from(layout.block.length));
    erase(block, layout.block.fields);
    for group in layout.groups {
        let dimension = &group.dimension;
        let (head, entries) = rest.split_at_mut(usize::from(dimension.length));
        let length = usize::from(u16_at(head, usize::from(dimension.block_length_offset)));
        let count = usize::from(head[usize::from(dimension.count_offset)]);
        let (entries, behind) = entries.split_at_mut(length * count);
        entries.chunks_mut(length.max(1)).for_each(|entry| erase(entry, group.block.fields));
        rest = behind;
    }
}

fn erase(block: &mut [u8], fields: &[hairpin_sbe::Field]) {
    for field in fields.iter().filter(|field| field.tag == RPT_SEQ) {
        block[usize::from(field.offset)..][..4].fill(0);
    }
}

fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}
