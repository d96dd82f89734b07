//! Template 53: orders of one instrument, or a part of them.

use hairpin_cme_codecs::mdp3::SnapshotFullRefreshOrderBook53;
use hairpin_sbe::EncodeError;
use hairpin_time::Utc;

use super::super::encode::{side_type, size};
use super::super::orders::PublishedOrder;
use super::super::packet::{MAX_PAYLOAD, PACKET_HEADER, Packet};
use super::super::settings::FullOrders;
use super::Heading;

/// MsgSize, SBE header, root block, the dimension of the group.
const FIXED: usize = 2 + 8 + 28 + 3;
/// An entry.
const ORDER: usize = 29;

/// The longest chunk fits in a packet, and one order more would not.
const _: () = {
    let longest = PACKET_HEADER + FIXED + ORDER * FullOrders::CHUNK_MAX as usize;
    assert!(longest <= MAX_PAYLOAD && longest + ORDER > MAX_PAYLOAD);
};

/// What a chunk says beside its orders.
pub(super) struct Chunk {
    pub(super) security_id: i32,
    pub(super) transact_time: Utc,
    /// Tag 37709.
    pub(super) chunks: u32,
    /// Tag 37710, from 1.
    pub(super) number: u32,
}

/// Whatever can tell orders one by one.
type Each<'a> = &'a dyn Fn(&mut dyn FnMut(&PublishedOrder));

/// Appends a chunk of `count` orders, which `each` tells; whether there was room.
pub(super) fn append(
    packet: &mut Packet<'_>,
    heading: &Heading,
    chunk: &Chunk,
    (count, each): (usize, Each<'_>),
) -> bool {
    if packet.room() < FIXED + ORDER * count {
        return false;
    }
    packet
        .append(|buffer| encode(buffer, heading, chunk, each))
        .expect("the room for it was compared before");
    true
}

fn encode(
    buffer: &mut [u8],
    heading: &Heading,
    chunk: &Chunk,
    each: Each<'_>,
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = SnapshotFullRefreshOrderBook53::encode(buffer)?;
    root.set_last_msg_seq_num_processed(heading.last_processed)
        .set_tot_num_reports(heading.total)
        .set_security_id(chunk.security_id)
        .set_no_chunks(chunk.chunks)
        .set_current_chunk(chunk.number)
        .set_transact_time(chunk.transact_time.as_nanos());
    let mut entries = groups.no_md_entries()?;
    let mut outcome = Ok(());
    each(&mut |order| match entries.push() {
        Ok(mut entry) => {
            entry
                .set_order_id(order.id.0)
                .set_md_order_priority(order.priority)
                .set_md_entry_px(order.price)
                .set_md_display_qty(size(order.quantity))
                .set_md_entry_type(side_type(order.side));
        }
        Err(error) => outcome = Err(error),
    });
    outcome?;
    groups.finish()
}
