//! What the exchange says of its own accord: statuses, resets, implied levels.

use hairpin_time::Utc;

use super::queue::{BookEntry, BookKind, Change, Content, Ending};
use super::{IMPLIED_DEPTH, Ladder, Publication, Publisher, TradingStatus};
use crate::matching::{Matching, PriceLevel, Side};

/// The implied levels that were set, and those of them that are not published yet.
#[derive(Debug)]
pub(super) struct Implied {
    targets: Box<[[Ladder<IMPLIED_DEPTH>; 2]]>,
    changed: Vec<u32>,
}

impl Implied {
    pub(super) fn new(instruments: usize) -> Self {
        Self {
            targets: vec![Default::default(); instruments].into(),
            changed: Vec::with_capacity(instruments),
        }
    }

    /// Instruments with levels that are not published yet, each once.
    pub(super) fn changed(&self) -> &[u32] {
        &self.changed
    }
}

impl Publisher {
    /// Sets the implied levels of a side, best first; those beyond [`IMPLIED_DEPTH`] are ignored,
    /// and so are their numbers of orders: none stand behind them. The next
    /// [`Publisher::publish`] sends how they differ from what was published, at the end of its
    /// event.
    ///
    /// # Panics
    /// If there is no such instrument or it has no implied book.
    pub fn set_implied(&mut self, instrument: u32, side: Side, levels: &[PriceLevel]) {
        assert!(self.instruments[instrument as usize].has_implied, "no implied book");
        let target = &mut self.implied.targets[instrument as usize][side.index()];
        let levels = levels.iter().map(|&level| PriceLevel { orders: 0, ..level });
        target.become_equal(side, levels, |_, _, _| {});
        if !self.implied.changed.contains(&instrument) {
            self.implied.changed.push(instrument);
        }
    }

    /// Whether implied levels were set that are not published yet.
    #[must_use]
    pub fn has_unpublished(&self) -> bool {
        !self.implied.changed.is_empty()
    }

    /// Queues that an instrument, or with `None` every one, has this status now. Template 30 is an
    /// event of its own.
    ///
    /// # Panics
    /// If there is no such instrument.
    pub fn set_status(
        &mut self,
        transact_time: Utc,
        instrument: Option<u32>,
        status: TradingStatus,
    ) -> Publication {
        if !self.queue.has_room_for(1, 0, 0) {
            return Publication::Deferred;
        }
        match instrument {
            Some(instrument) => self.changing(instrument).status = status,
            None => self.all().for_each(|index| self.changing(index).status = status),
        }
        let security_id = instrument.map(|instrument| self.security_id(instrument));
        self.queue_alone(transact_time, Content::Status { security_id, status })
    }

    /// Queues that a book is empty (entry type J), real and implied levels alike, and in the same
    /// event what the book is now. RptSeq goes on.
    ///
    /// # Panics
    /// If there is no such instrument.
    pub fn reset_book(
        &mut self,
        transact_time: Utc,
        instrument: u32,
        matching: &Matching,
    ) -> Publication {
        if !self.queue.has_room_for(1, 1, 1) {
            return Publication::Deferred;
        }
        let security_id = self.security_id(instrument);
        let published = self.changing(instrument);
        published.rpt_seq = published.rpt_seq.wrapping_add(1);
        published.transact_time = transact_time;
        published.sides = Default::default();
        published.implied = Default::default();
        let rpt_seq = published.rpt_seq;
        let entries = &mut self.queue.books[BookKind::Real as usize];
        entries.push(BookEntry { security_id, change: Change::Reset, rpt_seq });
        self.queue_book(instrument, matching);
        self.queue_implied(instrument);
        let end = self.queue.ends();
        Publication::Event(self.queue_market(transact_time, end, false))
    }

    /// Queues a ChannelReset: all books, volumes and last trades are void, RptSeq begins again at
    /// 1, the loop of snapshots begins anew. Then, in an event of its own and marked as resent
    /// (0x20), the volumes and books as they are now. With `restarts`, the packets behind the reset
    /// are numbered from 1 again. The publication is that of the reset.
    ///
    /// Deferred when more than a burst of small events is waiting: send, then try again.
    pub fn reset_channel(
        &mut self,
        transact_time: Utc,
        matching: &Matching,
        restarts: bool,
    ) -> Publication {
        let count = self.instruments.len();
        if !self.queue.has_room_for(2, count, count) {
            return Publication::Deferred;
        }
        let reset = self.queue_alone(transact_time, Content::Reset { restarts });
        self.books.forget();
        self.snapshots.restart();
        let before = self.queue.ends();
        self.all()
            .for_each(|instrument| self.queue_volume(instrument, matching.volume(instrument)));
        self.all().for_each(|instrument| self.queue_book(instrument, matching));
        self.all().for_each(|instrument| self.queue_implied(instrument));
        self.implied.changed.clear();
        let after = self.queue.ends();
        if after != before {
            self.all().for_each(|instrument| {
                self.changing(instrument).transact_time = transact_time;
            });
            self.queue_market(transact_time, after, true);
        }
        reset
    }

    /// Queues the implied levels that were set since the last publication.
    pub(super) fn queue_changed_implied(&mut self, transact_time: Utc) {
        let changed = core::mem::take(&mut self.implied.changed);
        for &instrument in &changed {
            let before = self.queue.ends();
            self.queue_implied(instrument);
            if self.queue.ends() != before {
                self.changing(instrument).transact_time = transact_time;
            }
        }
        self.implied.changed = changed;
        self.implied.changed.clear();
    }

    fn queue_implied(&mut self, instrument: u32) {
        let security_id = self.security_id(instrument);
        let is_ahead = self.is_ahead(instrument);
        let published = self.books.change(instrument, self.snapshots.number(), is_ahead);
        let targets = &self.implied.targets[instrument as usize];
        for side in Side::BOTH {
            let target = targets[side.index()].levels().iter().copied();
            let rpt_seq = &mut published.rpt_seq;
            let entries = &mut self.queue.books[BookKind::Implied as usize];
            published.implied[side.index()].become_equal(side, target, |action, number, level| {
                *rpt_seq = rpt_seq.wrapping_add(1);
                let change = Change::Level { side, action, number, level };
                entries.push(BookEntry { security_id, change, rpt_seq: *rpt_seq });
            });
        }
    }

    /// Queues an event of one message without entries.
    fn queue_alone(&mut self, transact_time: Utc, content: Content) -> Publication {
        let end = self.queue.ends();
        let number = self.queue_event(transact_time, content, Ending::LastMessage, end);
        Publication::Event(number)
    }

    fn all(&self) -> core::ops::Range<u32> {
        // As many as settings asked for in a `u32`.
        0..self.instruments.len() as u32
    }
}
