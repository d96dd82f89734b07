//! Checks that the journal, the gateway's accepted messages and the trader's callbacks agree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hairpin_mapped::{Checksum, Direction, Reader};
use hairpin_order_entry::{MESSAGE_RECORD, Order, Orders};

use crate::loopback_exchange::LoopbackExchange;

/// The capacity of the order tracker.
pub(crate) const CAPACITY: usize = 2_000;

/// Returns the ClOrdID of the message with this number. A reused number would reuse its ClOrdID.
pub(crate) fn id_of(uuid: u64, number: u32) -> String {
    format!("{:010}{number:010}", uuid % 10_000_000_000)
}

/// Returns OrderID, traded quantity and open quantity of the working orders.
pub(crate) fn rows(orders: &Orders) -> Vec<(u64, u32, u32)> {
    let row = |it: &Order| (it.order_id.unwrap().0, it.filled, it.leaves);
    let mut rows: Vec<_> = orders.working().map(row).collect();
    rows.sort_unstable();
    rows
}

/// The counts of a test run.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// The number of kills with requests that have no response in the journal.
    pub(crate) unacknowledged: u64,
    pub(crate) settled: u64,
    pub(crate) journaled: u64,
    pub(crate) applied: u64,
    pub(crate) not_applied: u64,
    /// Messages that were not applied, whose NotApplied was lost with a process killed during its
    /// logon.
    pub(crate) undelivered: u64,
    pub(crate) compared: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, of: &Self) {
        self.unacknowledged += of.unacknowledged;
        self.settled += of.settled;
        self.journaled += of.journaled;
        self.applied += of.applied;
        self.not_applied += of.not_applied;
        self.undelivered += of.undelivered;
        self.compared += of.compared;
    }
}

/// A message of the trader in the journal.
#[derive(Default)]
struct Written {
    is_applied: bool,
    /// The processes that received a NotApplied for the message.
    reported: Vec<u64>,
}

pub(crate) struct Checker {
    folder: PathBuf,
    reader: Option<Reader>,
    /// The orders, rebuilt from the journal as it grows.
    orders: Orders,
    written: BTreeMap<(u64, u32), Written>,
    by_id: BTreeMap<String, (u64, u32)>,
    /// The number of accepted messages that were checked.
    checked: usize,
    last_applied: (u64, u32),
    /// The last number at the last settled state.
    settled: (u64, u32),
    /// The last process that has settled.
    process: u64,
    pub(crate) counts: Counts,
}

impl Checker {
    pub(crate) fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            reader: None,
            orders: Orders::new(CAPACITY),
            written: BTreeMap::new(),
            by_id: BTreeMap::new(),
            checked: 0,
            last_applied: (0, 0),
            settled: (0, 0),
            process: 0,
            counts: Counts::default(),
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
            self.counts.journaled += 1;
        }
    }

    /// Checks that each accepted message is in the journal and that numbers are accepted in order.
    fn check_accepted(&mut self, exchange: &LoopbackExchange) {
        for id in &exchange.accepted.ids[self.checked..] {
            let Some(&message_id) = self.by_id.get(id) else {
                panic!("{id} is not in the journal")
            };
            assert!(
                message_id > self.last_applied,
                "{message_id:?} was accepted after {:?}",
                self.last_applied
            );
            self.last_applied = message_id;
            let written = self.written.get_mut(&message_id).unwrap();
            assert!(
                written.reported.is_empty(),
                "{message_id:?} was reported as not applied and accepted"
            );
            written.is_applied = true;
            self.counts.applied += 1;
        }
        self.checked = exchange.accepted.ids.len();
    }

    /// Handles a line of a process's report. Returns `true` if the process has settled and waits.
    pub(crate) fn handle_report_line(
        &mut self,
        process: u64,
        line: &str,
        exchange: &LoopbackExchange,
    ) -> bool {
        let mut words = line.split(' ');
        let kind = words.next().unwrap();
        let numbers: Vec<u64> = words.map(|word| word.parse().unwrap()).collect();
        self.read();
        self.check_accepted(exchange);
        match (kind, &numbers[..]) {
            ("not-applied", &[uuid, from, last]) => {
                for number in from..=last {
                    self.record_not_applied(process, (uuid, u32::try_from(number).unwrap()));
                }
                false
            }
            ("settled", [uuid, last, rows @ ..]) => {
                self.check_settled(process, (*uuid, u32::try_from(*last).unwrap()), rows, exchange);
                true
            }
            _ => panic!("unknown report line: {line}"),
        }
    }

    fn record_not_applied(&mut self, process: u64, message_id: (u64, u32)) {
        let written = self.written.get_mut(&message_id).unwrap();
        assert!(!written.is_applied, "{message_id:?} was applied and reported as not applied");
        assert!(!written.reported.contains(&process), "{message_id:?} was reported twice");
        self.counts.not_applied += u64::from(written.reported.is_empty());
        written.reported.push(process);
    }

    /// Checks that each sent message is applied or reported once as not applied. The trader and the
    /// exchange must have the same working orders.
    fn check_settled(
        &mut self,
        process: u64,
        last: (u64, u32),
        reported: &[u64],
        exchange: &LoopbackExchange,
    ) {
        // The NotApplied arrived, and its process was killed before the callback.
        let may_be_undelivered = process > self.process + 1;
        let first = (self.settled.0, self.settled.1 + 1);
        for (message_id, written) in self.written.range(first..=last) {
            let count = written.reported.len();
            let is_undelivered = count == 0 && !written.is_applied;
            assert!(
                !is_undelivered || may_be_undelivered,
                "{message_id:?} was not applied and not reported"
            );
            assert!(count < 2 || may_be_undelivered, "{message_id:?} was reported {count} times");
            self.counts.undelivered += u64::from(is_undelivered);
        }
        (self.settled, self.process) = (last, process);
        let working_rows = exchange.working_rows();
        let flat: Vec<u64> = working_rows
            .iter()
            .flat_map(|&(id, traded, open)| [id, traded.into(), open.into()])
            .collect();
        assert_eq!(reported, flat, "working orders according to the trader");
        assert_eq!(rows(&self.orders), working_rows, "working orders according to the journal");
        assert_eq!(
            self.orders.in_flight().next(),
            None,
            "the journal contains a request without a response"
        );
        self.counts.settled += 1;
        self.counts.compared += working_rows.len() as u64;
    }

    /// Handles the end of a killed process whose last bytes the gateway has received.
    pub(crate) fn handle_killed(&mut self, exchange: &LoopbackExchange) {
        self.read();
        self.check_accepted(exchange);
        self.counts.unacknowledged += u64::from(self.orders.in_flight().next().is_some());
    }
}
