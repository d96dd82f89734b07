//! What a journal has to be in itself, whatever is in it.

use std::collections::BTreeMap;

use hairpin_mapped::{Direction, MemoryStorage, Record, Storage};
use hairpin_order_entry::{MESSAGE_RECORD, snapshot_from_record};

/// All records, the oldest first.
pub(crate) fn all(journal: &MemoryStorage) -> impl Iterator<Item = Record> + '_ {
    std::iter::successors(journal.next(None), |&record| journal.next(Some(record)))
}

/// Numbers of ours are contiguous under each UUID, and none stands there twice but that of a
/// refused message, which another has then; RequestTimestamps rise; no message of the exchange
/// stands there twice.
pub(crate) fn check(journal: &MemoryStorage) {
    let mut ours: BTreeMap<u64, (u32, &[u8])> = BTreeMap::new();
    let mut theirs: BTreeMap<u64, (u32, &[u8])> = BTreeMap::new();
    let mut request_timestamp = 0;
    for record in all(journal) {
        let (tag, bytes) = (journal.tag(record), journal.bytes(record));
        let (uuid, number) = (tag.uuid, tag.seq_num);
        match tag.direction {
            Direction::Outbound if tag.kind == MESSAGE_RECORD => {
                let (last, known) = ours.insert(uuid, (number, bytes)).unwrap_or((0, &[]));
                let is_next = number == last + 1 || (number == last && bytes != known);
                assert!(is_next, "{uuid}: {number} stands behind {last} in the journal");
            }
            Direction::Outbound => {}
            Direction::Inbound => {
                let (last, known) = theirs.insert(uuid, (number, bytes)).unwrap_or((0, &[]));
                // Numbers under UUID 0 begin again each week.
                let is_next = number > last || (uuid == 0 && bytes != known);
                assert!(is_next, "{uuid}: the exchange's {number} stands behind {last}");
            }
            Direction::Control => {
                let standing =
                    snapshot_from_record(bytes).expect("a request says where its session stood");
                let rises = standing.request_timestamp > request_timestamp;
                assert!(rises, "a RequestTimestamp behind {request_timestamp}: {standing:?}");
                request_timestamp = standing.request_timestamp;
            }
        }
    }
}
