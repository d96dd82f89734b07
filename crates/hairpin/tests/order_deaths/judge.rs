//! Checks that the journal, the gateway's accepted messages and the trader's callbacks agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hairpin_mapped::{Checksum, Direction, Reader};
use hairpin_order_entry::{MESSAGE_RECORD, Order, Orders};

use crate::house::House;

/// The capacity of the order tracker.
pub(crate) const CAPACITY: usize = 2_000;

/// Returns the ClOrdID of the message with this number. A reused number would reuse its ClOrdID.
pub(crate) fn id_of(uuid: u64, number: u32) -> String {
    format!("{:010}{number:010}", uuid % 10_000_000_000)
}

/// Returns OrderID, traded quantity and open quantity of the working orders.
pub(crate) fn rows(orders: &Orders) -> Vec<(u64, u32, u32)> {
    let row = |it: &Order| (it.order_id.unwrap(), it.filled, it.leaves);
    let mut rows: Vec<_> = orders.working().map(row).collect();
    rows.sort_unstable();
    rows
}

/// The counts of a test run.
#[derive(Debug, Default)]
pub(crate) struct Sum {
    /// The number of kills with requests that have no response in the journal.
    pub(crate) unacknowledged: u64,
    pub(crate) settled: u64,
    pub(crate) journaled: u64,
    pub(crate) applied: u64,
    pub(crate) not_applied: u64,
    /// Messages that were not applied, whose NotApplied was lost with a process killed during its
    /// logon.
    pub(crate) unheard: u64,
    pub(crate) compared: u64,
}

impl Sum {
    pub(crate) fn add(&mut self, of: &Self) {
        self.unacknowledged += of.unacknowledged;
        self.settled += of.settled;
        self.journaled += of.journaled;
        self.applied += of.applied;
        self.not_applied += of.not_applied;
        self.unheard += of.unheard;
        self.compared += of.compared;
    }
}

/// A message of the trader in the journal.
#[derive(Default)]
struct Written {
    is_applied: bool,
    /// The processes that received a NotApplied for the message.
    told: Vec<u64>,
}

pub(crate) struct Judge {
    folder: PathBuf,
    reader: Option<Reader>,
    /// The orders, rebuilt from the journal as it grows.
    orders: Orders,
    written: BTreeMap<(u64, u32), Written>,
    by_id: BTreeMap<String, (u64, u32)>,
    /// The number of accepted messages that were checked.
    judged: usize,
    last_applied: (u64, u32),
    /// The last number at the last settled state.
    settled: (u64, u32),
    /// The last process that has settled.
    life: u64,
    pub(crate) sum: Sum,
}

impl Judge {
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            reader: None,
            orders: Orders::new(CAPACITY),
            written: BTreeMap::new(),
            by_id: BTreeMap::new(),
            judged: 0,
            last_applied: (0, 0),
            settled: (0, 0),
            life: 0,
            sum: Sum::default(),
        }
    }

    /// Reads the new journal records and checks that the trader's numbers are contiguous.
    fn read(&mut self) {
        if self.reader.is_none() {
            self.reader = Reader::open(&self.folder).ok();
        }
        let Some(reader) = &mut self.reader else { return };
        for entry in reader {
            let entry = entry.unwrap();
            assert_ne!(entry.checksum, Checksum::Mismatch);
            self.orders.handle_record(&entry.tag, &entry.payload);
            let (uuid, number) = (entry.tag.uuid, entry.tag.seq_num);
            if (entry.tag.direction, entry.tag.kind) != (Direction::Outbound, MESSAGE_RECORD) {
                continue;
            }
            let id = id_of(uuid, number);
            let has_id = entry.payload.windows(20).any(|it| it == id.as_bytes());
            assert!(has_id, "the ClOrdID of message {number} is not in the message");
            let is_next = number == 1 || self.written.contains_key(&(uuid, number - 1));
            assert!(is_next, "{uuid}: {number} is in the journal without its predecessor");
            let before = self.written.insert((uuid, number), Written::default());
            assert!(before.is_none(), "{uuid}: {number} is in the journal twice");
            self.by_id.insert(id, (uuid, number));
            self.sum.journaled += 1;
        }
    }

    /// Checks that each accepted message is in the journal and that numbers are accepted in order.
    fn judge_taken(&mut self, house: &House) {
        for id in &house.taken.ids[self.judged..] {
            let Some(&place) = self.by_id.get(id) else { panic!("{id} is not in the journal") };
            assert!(
                place > self.last_applied,
                "{place:?} was accepted after {:?}",
                self.last_applied
            );
            self.last_applied = place;
            let written = self.written.get_mut(&place).unwrap();
            assert!(written.told.is_empty(), "{place:?} was reported as not applied and accepted");
            written.is_applied = true;
            self.sum.applied += 1;
        }
        self.judged = house.taken.ids.len();
    }

    /// Handles a line of a process's report. Returns `true` if the process has settled and waits.
    pub(crate) fn hear(&mut self, life: u64, line: &str, house: &House) -> bool {
        let mut words = line.split(' ');
        let kind = words.next().unwrap();
        let numbers: Vec<u64> = words.map(|word| word.parse().unwrap()).collect();
        self.read();
        self.judge_taken(house);
        match (kind, &numbers[..]) {
            ("not-applied", &[uuid, from, last]) => {
                for number in from..=last {
                    self.tell(life, (uuid, u32::try_from(number).unwrap()));
                }
                false
            }
            ("settled", [uuid, last, rows @ ..]) => {
                self.settle(life, (*uuid, u32::try_from(*last).unwrap()), rows, house);
                true
            }
            _ => panic!("unknown report line: {line}"),
        }
    }

    fn tell(&mut self, life: u64, place: (u64, u32)) {
        let written = self.written.get_mut(&place).unwrap();
        assert!(!written.is_applied, "{place:?} was applied and reported as not applied");
        assert!(!written.told.contains(&life), "{place:?} was reported twice");
        self.sum.not_applied += u64::from(written.told.is_empty());
        written.told.push(life);
    }

    /// Checks that each sent message is applied or reported once as not applied. The trader and the
    /// exchange must have the same working orders.
    fn settle(&mut self, life: u64, last: (u64, u32), told: &[u64], house: &House) {
        // The NotApplied arrived, and its process was killed before the callback.
        let may_be_unheard = life > self.life + 1;
        let first = (self.settled.0, self.settled.1 + 1);
        for (place, written) in self.written.range(first..=last) {
            let count = written.told.len();
            let is_unheard = count == 0 && !written.is_applied;
            assert!(!is_unheard || may_be_unheard, "{place:?} was not applied and not reported");
            assert!(count < 2 || may_be_unheard, "{place:?} was reported {count} times");
            self.sum.unheard += u64::from(is_unheard);
        }
        (self.settled, self.life) = (last, life);
        let held = house.held();
        let flat: Vec<u64> =
            held.iter().flat_map(|&(id, traded, open)| [id, traded.into(), open.into()]).collect();
        assert_eq!(told, flat, "working orders according to the trader");
        assert_eq!(rows(&self.orders), held, "working orders according to the journal");
        assert_eq!(
            self.orders.in_flight().next(),
            None,
            "the journal contains a request without a response"
        );
        self.sum.settled += 1;
        self.sum.compared += held.len() as u64;
    }

    /// Handles the end of a killed process whose last bytes the gateway has received.
    pub(crate) fn bury(&mut self, house: &House) {
        self.read();
        self.judge_taken(house);
        self.sum.unacknowledged += u64::from(self.orders.in_flight().next().is_some());
    }
}
