//! Checks of a journal that do not depend on its contents.

use std::collections::BTreeMap;

use hairpin_mapped::{Direction, MemoryStorage, Record, Storage};
use hairpin_order_entry::{MESSAGE_RECORD, snapshot_from_record};

/// Returns all records, oldest first.
pub(crate) fn all(journal: &MemoryStorage) -> impl Iterator<Item = Record> + '_ {
    std::iter::successors(journal.next(None), |&record| journal.next(Some(record)))
}

/// Checks the order of a journal's records.
///
/// Our numbers are contiguous under each UUID. A number repeats only if its message was refused and
/// another message reused the number. RequestTimestamps increase. No message of the exchange
/// repeats.
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
                assert!(is_next, "{uuid}: {number} follows {last} in the journal");
            }
            Direction::Outbound => {}
            Direction::Inbound => {
                let (last, known) = theirs.insert(uuid, (number, bytes)).unwrap_or((0, &[]));
                // Numbering under UUID 0 restarts each week.
                let is_next = number > last || (uuid == 0 && bytes != known);
                assert!(is_next, "{uuid}: the exchange's {number} follows {last}");
            }
            Direction::Control => {
                let snapshot = snapshot_from_record(bytes)
                    .expect("a request record contains a session snapshot");
                let rises = snapshot.request_timestamp > request_timestamp;
                assert!(
                    rises,
                    "RequestTimestamp does not exceed {request_timestamp}: {snapshot:?}"
                );
                request_timestamp = snapshot.request_timestamp;
            }
        }
    }
}
