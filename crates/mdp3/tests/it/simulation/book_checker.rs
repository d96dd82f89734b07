//! A checker that compares every book in sync with what was published.

use std::collections::BTreeMap;

use hairpin_mdp3::{
    BookUpdate, ChannelReset, EndOfEvent, InstrumentIndex, InstrumentStateChange, Instruments,
    Level, Levels, Listener, SecurityStatus, SyncState, UpdateSource,
};
use hairpin_time::Utc;

use super::exchange::{EMPTY, Published, show_books};

#[derive(Default)]
pub(crate) struct BookChecker {
    pub(crate) seed: u64,
    /// Entries have no RptSeq, so only the final books can be compared.
    pub(crate) unnumbered: bool,
    /// The published books at each epoch, instrument and RptSeq so far.
    pub(crate) published: Published,
    /// The epoch by the channel's callbacks, and the exchange's, which the channel may not have
    /// received yet.
    pub(crate) epoch: u32,
    pub(crate) exchange_epoch: u32,
    /// The epochs by the TransactTime of their first resets.
    pub(crate) epochs: BTreeMap<Utc, u32>,
    pub(crate) checked: u64,
    pub(crate) checked_implied: u64,
    pub(crate) lost_sync: u64,
    pub(crate) restored_statuses: u64,
    pub(crate) checked_refreshed: u64,
}

/// Formats both books of an instrument.
pub(crate) fn show(instruments: &Instruments, instrument: InstrumentIndex) -> String {
    let side = |levels: Levels<'_>| -> Vec<_> {
        let whole = |level: &Level| (level.price.0 / 1_000_000_000, level.quantity as i32);
        levels.iter().map(whole).collect()
    };
    let (direct, implied) = (instruments.book(instrument), instruments.implied_book(instrument));
    let sides = [direct.bids(), direct.asks(), implied.bids(), implied.asks()].map(side);
    show_books(sides.each_ref().map(Vec::as_slice))
}

impl BookChecker {
    pub(crate) fn check_book(&mut self, instruments: &Instruments, instrument: InstrumentIndex) {
        if self.unnumbered {
            return;
        }
        let book = instruments.book(instrument);
        let shown = show(instruments, instrument);
        let Some(rpt_seq) = book.rpt_seq() else {
            return assert_eq!(shown, EMPTY, "without an RptSeq a book is empty");
        };
        self.checked += 1;
        self.checked_implied += u64::from(!shown.ends_with("~|"));
        let id = book.security_id();
        let (reported, actual) = (self.epoch, self.exchange_epoch);
        let published: Vec<_> = (reported..=actual)
            .filter_map(|epoch| self.published.get(&(epoch, id, rpt_seq)))
            .collect();
        assert!(
            published.iter().any(|published| **published == shown)
                || (published.is_empty() && shown == EMPTY),
            "seed {}: instrument {id} at {rpt_seq} is {shown}, was {published:?} in epochs \
             {reported} to {actual}",
            self.seed
        );
    }
}

impl BookChecker {
    /// Checks that a naturally refreshed book equals the best levels of the published one.
    fn check_refreshed_book(&mut self, instruments: &Instruments, instrument: InstrumentIndex) {
        let book = instruments.book(instrument);
        let (id, shown) = (book.security_id(), show(instruments, instrument));
        let rpt_seq = book.rpt_seq().expect("an entry was applied");
        self.checked_refreshed += u64::from(!shown.starts_with('|'));
        let mut epochs = self.epoch..=self.exchange_epoch;
        let begins = epochs.any(|epoch| {
            let published = self.published.get(&(epoch, id, rpt_seq));
            published.is_some_and(|published| begins_as(published, &shown))
        });
        assert!(begins, "seed {}: {id} at {rpt_seq} does not begin as {shown}", self.seed);
    }
}

/// Returns `true` if both direct sides of a book begin with those of another.
fn begins_as(whole: &str, known: &str) -> bool {
    let sides = |books: &str| {
        let (direct, _) = books.split_once('~').expect("both books are shown");
        let (bids, asks) = direct.split_once('|').expect("both sides are shown");
        [bids, asks].map(|side| side.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    sides(whole).iter().zip(sides(known)).all(|(whole, known)| whole.starts_with(&known))
}

impl Listener for BookChecker {
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        if update.source == UpdateSource::NaturalRefresh && !self.unnumbered {
            self.check_refreshed_book(update.instruments, update.instrument);
        }
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        for (instrument, ..) in event.changed() {
            self.check_book(event.instruments, instrument);
        }
    }
    fn on_channel_reset(&mut self, reset: &ChannelReset<'_>) {
        self.epoch = self.epochs[&reset.transact_time];
    }
    fn on_security_status(&mut self, status: &SecurityStatus<'_>) {
        self.restored_statuses += u64::from(status.source == UpdateSource::Snapshot);
    }
    fn on_instrument_state(&mut self, change: &InstrumentStateChange<'_>) {
        if change.state == SyncState::OutOfSync {
            self.lost_sync += 1;
        }
    }
}
