//! Template 53: all or part of one instrument's orders.

use hairpin_cme_codecs::mdp3::SnapshotFullRefreshOrderBook53;
use hairpin_sbe::EncodeError;
use hairpin_time::Utc;

use super::super::encode::{side_type, size};
use super::super::orders::PublishedOrder;
use super::super::packet::{MAX_PAYLOAD, PACKET_HEADER, Packet};
use super::super::settings::FullOrders;
use super::LoopHeader;

/// The length of MsgSize, SBE header, root block and the dimension of the group.
const FIXED: usize = 2 + 8 + 28 + 3;
/// The length of an entry.
const ORDER: usize = 29;

/// The longest chunk fits in a packet, and one more order does not.
const _: () = {
    let longest = PACKET_HEADER + FIXED + ORDER * FullOrders::CHUNK_MAX as usize;
    assert!(longest <= MAX_PAYLOAD && longest + ORDER > MAX_PAYLOAD);
};

/// The fields of a chunk without its orders.
pub(super) struct Chunk {
    pub(super) security_id: i32,
    pub(super) transact_time: Utc,
    /// NoChunks (tag 37709).
    pub(super) chunks: u32,
    /// CurrentChunk (tag 37710), starting at 1.
    pub(super) number: u32,
}

/// A function that calls its argument for each order.
type ForEachOrder<'a> = &'a dyn Fn(&mut dyn FnMut(&PublishedOrder));

/// Appends a chunk of `count` orders that `for_each_order` visits. Returns `false` if it does not
/// fit.
pub(super) fn append(
    packet: &mut Packet<'_>,
    header: &LoopHeader,
    chunk: &Chunk,
    (count, for_each_order): (usize, ForEachOrder<'_>),
) -> bool {
    if packet.room() < FIXED + ORDER * count {
        return false;
    }
    packet
        .append(|buffer| encode(buffer, header, chunk, for_each_order))
        .expect("the length was compared with the room");
    true
}

fn encode(
    buffer: &mut [u8],
    header: &LoopHeader,
    chunk: &Chunk,
    for_each_order: ForEachOrder<'_>,
) -> Result<usize, EncodeError> {
    let (mut root, mut groups) = SnapshotFullRefreshOrderBook53::encode(buffer)?;
    root.set_last_msg_seq_num_processed(header.last_processed)
        .set_tot_num_reports(header.total)
        .set_security_id(chunk.security_id)
        .set_no_chunks(chunk.chunks)
        .set_current_chunk(chunk.number)
        .set_transact_time(chunk.transact_time.as_nanos());
    let mut entries = groups.no_md_entries()?;
    let mut outcome = Ok(());
    for_each_order(&mut |order| match entries.push() {
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
