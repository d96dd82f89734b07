//! Ways through the records.

use std::ops::RangeInclusive;

use super::format::{SEGMENT_HEADER, Slot, TAIL};
use super::{Direction, Journal, Record};

/// Iterates over the committed records of a [`Journal`]; see [`Journal::records`].
#[derive(Debug, Clone)]
pub struct Records<'a> {
    journal: &'a Journal,
    last: Option<Record>,
}

impl<'a> Iterator for Records<'a> {
    type Item = (Record, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let record = self.journal.next(self.last)?;
        self.last = Some(record);
        Some((record, self.journal.bytes(record)))
    }
}

/// Iterates over the messages of a range of numbers; see [`Journal::replay`].
#[derive(Debug, Clone)]
pub struct Replay<'a> {
    journal: &'a Journal,
    direction: Direction,
    kind: u16,
    uuid: u64,
    last: u32,
    /// The next one, unless a later one has its number.
    candidate: Option<Record>,
}

impl Replay<'_> {
    /// The next message of this stream from a record on, that record included.
    fn at_or_behind(&self, mut from: Option<Record>) -> Option<Record> {
        while let Some(record) = from {
            if record.direction == self.direction
                && record.kind == self.kind
                && self.journal.header(record).uuid() == self.uuid
            {
                break;
            }
            from = self.journal.next(from);
        }
        from
    }
}

impl<'a> Iterator for Replay<'a> {
    type Item = (Record, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let number = |record| self.journal.header(record).seq_num();
        let mut found = self.candidate?;
        let mut behind = self.at_or_behind(self.journal.next(Some(found)));
        while let Some(record) = behind.filter(|&record| number(record) <= number(found)) {
            found = record;
            behind = self.at_or_behind(self.journal.next(behind));
        }
        self.candidate = behind.filter(|&record| number(record) <= self.last);
        Some((found, self.journal.bytes(found)))
    }
}

impl Journal {
    /// Every committed record with its payload, oldest first.
    #[must_use]
    pub fn records(&self) -> Records<'_> {
        Records { journal: self, last: None }
    }

    /// The record behind another, or the first: `None` at the end.
    #[must_use]
    pub fn next(&self, behind: Option<Record>) -> Option<Record> {
        let first = self.old.front().unwrap_or(&self.segment).number();
        let (mut number, mut offset) =
            behind.map_or((first, SEGMENT_HEADER), |record| (record.segment, record.next()));
        loop {
            let is_current = number == self.segment.number();
            if is_current && offset >= self.end {
                return None;
            }
            let segment = if is_current { &self.segment } else { self.old_segment(number)? };
            // In front of the end everything was committed, or checked when it was opened.
            match segment.slot(offset)? {
                Slot::Record(record, header) if header.is_carried() => offset = record.next(),
                Slot::Record(record, _) => return Some(record),
                Slot::End => (number, offset) = (number + 1, SEGMENT_HEADER),
                Slot::Empty => return None,
            }
        }
    }

    /// Inbound records that were committed and whose callback has not returned, oldest first:
    /// after the death of a process those that are to be delivered again. Walks all that is kept.
    pub fn unmarked(&self) -> impl Iterator<Item = (Record, &[u8])> {
        self.records().filter(|&(record, _)| {
            record.direction == Direction::Inbound && !self.is_marked(record)
        })
    }

    /// The newest message of this number, from the newest record back.
    #[must_use]
    pub fn find(&self, direction: Direction, kind: u16, uuid: u64, seq_num: u32) -> Option<Record> {
        self.backwards(direction).find(|&record| {
            let header = self.header(record);
            (record.kind, header.uuid(), header.seq_num()) == (kind, uuid, seq_num)
        })
    }

    /// The messages of a range of numbers of a session, in order: what NotApplied asks for again.
    /// Where a number was used twice, because the exchange took the first for nothing, the later
    /// one counts. Numbers that are not there are left out.
    #[must_use]
    pub fn replay(
        &self,
        direction: Direction,
        kind: u16,
        uuid: u64,
        numbers: RangeInclusive<u32>,
    ) -> Replay<'_> {
        let (first, last) = numbers.into_inner();
        let mut candidate = None;
        for record in self.backwards(direction) {
            let header = self.header(record);
            if header.uuid() != uuid {
                if direction == Direction::Outbound && header.uuid() < uuid {
                    break;
                }
                continue;
            }
            if record.kind != kind {
                continue;
            }
            if header.seq_num() < first {
                break;
            }
            if header.seq_num() <= last {
                candidate = Some(record);
            }
        }
        Replay { journal: self, direction, kind, uuid, last, candidate }
    }

    /// The records of a direction, newest first.
    fn backwards(&self, direction: Direction) -> impl Iterator<Item = Record> {
        let mut next = self.last(direction);
        std::iter::from_fn(move || {
            let record = self.origin(next?)?;
            let back = self.header(record).back();
            next = (back != 0).then(|| self.record_at(record.segment, back)).flatten();
            Some(record)
        })
    }

    /// The record itself, where it stands repeated; `None` if it was dropped.
    fn origin(&self, mut record: Record) -> Option<Record> {
        loop {
            let header = self.header(record);
            if !header.is_carried() {
                return Some(record);
            }
            record = self.record_at(record.segment.checked_sub(1)?, header.back())?;
        }
    }

    fn record_at(&self, number: u32, offset: u32) -> Option<Record> {
        let is_current = number == self.segment.number();
        let segment = if is_current { &self.segment } else { self.old_segment(number)? };
        let offset = offset as usize;
        // Where a repeated record says that it was is believed no further than that.
        if !offset.is_multiple_of(8) || offset + TAIL > segment.bytes() {
            return None;
        }
        match segment.slot(offset)? {
            Slot::Record(record, _) => Some(record),
            Slot::Empty | Slot::End => None,
        }
    }
}
