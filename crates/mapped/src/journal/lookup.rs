//! Iteration over records and lookup by sequence number.

use std::ops::RangeInclusive;

use super::format::{SEGMENT_HEADER, Slot, TAIL};
use super::segment::Segment;
use super::{Direction, Journal, Record};

/// An iterator over the committed records of a [`Journal`]; see [`Journal::records`].
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

/// An iterator over the messages of a range of sequence numbers; see [`Journal::replay`].
#[derive(Debug, Clone)]
pub struct Replay<'a> {
    journal: &'a Journal,
    direction: Direction,
    kind: u16,
    uuid: u64,
    last: u32,
    /// The next message, unless a later one has the same sequence number.
    candidate: Option<Record>,
}

impl Replay<'_> {
    /// Returns the next message of this stream at or after a record.
    fn at_or_after(&self, mut from: Option<Record>) -> Option<Record> {
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
        let mut after = self.at_or_after(self.journal.next(Some(found)));
        while let Some(record) = after.filter(|&record| number(record) <= number(found)) {
            found = record;
            after = self.at_or_after(self.journal.next(after));
        }
        self.candidate = after.filter(|&record| number(record) <= self.last);
        Some((found, self.journal.bytes(found)))
    }
}

impl Journal {
    /// Iterates over the committed records with their payloads, oldest first.
    #[must_use]
    pub fn records(&self) -> Records<'_> {
        Records { journal: self, last: None }
    }

    /// Returns the record after another, or the first. `None` at the end.
    #[must_use]
    pub fn next(&self, after: Option<Record>) -> Option<Record> {
        let (mut index, mut offset) = match after {
            None => (0, SEGMENT_HEADER),
            Some(record) => (self.segment_index(record)?, record.next()),
        };
        loop {
            if index == self.old.len() && offset >= self.end {
                return None;
            }
            // Everything before the end was committed, or validated on open.
            match self.segment_at(index)?.slot(offset)? {
                Slot::Record(record, header) if header.is_copy() => offset = record.next(),
                Slot::Record(record, _) => return Some(record),
                Slot::End => (index, offset) = (index + 1, SEGMENT_HEADER),
                Slot::Empty => return None,
            }
        }
    }

    /// Iterates over the inbound records whose callback has not returned, oldest first. After a
    /// process crash they must be delivered again. Scans all segments.
    pub fn unmarked(&self) -> impl Iterator<Item = (Record, &[u8])> {
        self.records().filter(|&(record, _)| {
            record.direction == Direction::Inbound && !self.is_marked(record)
        })
    }

    /// Returns the newest message with this sequence number, searching backwards.
    #[must_use]
    pub fn find(&self, direction: Direction, kind: u16, uuid: u64, seq_num: u32) -> Option<Record> {
        self.backwards(direction).find(|&record| {
            let header = self.header(record);
            (record.kind, header.uuid(), header.seq_num()) == (kind, uuid, seq_num)
        })
    }

    /// Returns the messages of a range of sequence numbers of a session in order, as requested by a
    /// NotApplied message. If a number was used twice because the exchange ignored the first
    /// message, the later one counts. Missing numbers are omitted.
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

    /// Iterates over the records of a direction, newest first.
    fn backwards(&self, direction: Direction) -> impl Iterator<Item = Record> {
        let mut next = self.last(direction);
        std::iter::from_fn(move || {
            let record = self.origin(next?)?;
            let back = self.header(record).back();
            let index = self.segment_index(record).filter(|_| back != 0);
            next = index.and_then(|index| self.record_at(index, back));
            Some(record)
        })
    }

    /// Returns the original of a copied record. `None` if it was removed.
    fn origin(&self, mut record: Record) -> Option<Record> {
        loop {
            let header = self.header(record);
            if !header.is_copy() {
                return Some(record);
            }
            let previous = self.segment_index(record)?.checked_sub(1)?;
            record = self.record_at(previous, header.back())?;
        }
    }

    /// Returns the index of a record's segment, for [`segment_at`](Self::segment_at).
    fn segment_index(&self, record: Record) -> Option<usize> {
        if record.segment_id == self.segment.id() {
            return Some(self.old.len());
        }
        self.old.binary_search_by_key(&record.segment_id, Segment::id).ok()
    }

    /// Returns a segment by index: 0 for the oldest, the number of old segments for the current.
    fn segment_at(&self, index: usize) -> Option<&Segment> {
        if index == self.old.len() { Some(&self.segment) } else { self.old.get(index) }
    }

    fn record_at(&self, index: usize, offset: u32) -> Option<Record> {
        let segment = self.segment_at(index)?;
        let offset = offset as usize;
        // The origin offset of a copy is validated before use.
        if !offset.is_multiple_of(8) || offset + TAIL > segment.bytes() {
            return None;
        }
        match segment.slot(offset)? {
            Slot::Record(record, _) => Some(record),
            Slot::Empty | Slot::End => None,
        }
    }
}
