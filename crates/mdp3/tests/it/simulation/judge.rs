//! Compares every book that is in sync with what was published.

use std::collections::BTreeMap;

use hairpin_mdp3::{
    BookUpdate, ChannelReset, EndOfEvent, InstrumentIndex, InstrumentStateChange, Instruments,
    Level, Levels, Listener, SecurityStatus, SyncState, UpdateSource,
};
use hairpin_time::Utc;

use super::exchange::{EMPTY, Published, show_books};

#[derive(Default)]
pub(crate) struct Judge {
    pub(crate) seed: u64,
    /// Books bear no number: only what they are in the end can be judged.
    pub(crate) is_unnumbered: bool,
    /// What the exchange had published at each epoch, instrument and RptSeq, up to now.
    pub(crate) published: Published,
    /// The epoch by what the channel has told, and the exchange's, of which the channel need not
    /// have heard yet, or at all.
    pub(crate) epoch: u32,
    pub(crate) exchange_epoch: u32,
    /// The epochs by the TransactTime of the resets they began with.
    pub(crate) epochs: BTreeMap<Utc, u32>,
    pub(crate) judged: u64,
    pub(crate) judged_implied: u64,
    pub(crate) fell_out: u64,
    pub(crate) restored_statuses: u64,
    pub(crate) judged_refreshed: u64,
}

/// Both books of an instrument.
pub(crate) fn show(instruments: &Instruments, instrument: InstrumentIndex) -> String {
    let side = |levels: Levels<'_>| -> Vec<_> {
        let whole = |level: &Level| (level.price.0 / 1_000_000_000, level.quantity as i32);
        levels.iter().map(whole).collect()
    };
    let (direct, implied) = (instruments.book(instrument), instruments.implied_book(instrument));
    let sides = [direct.bids(), direct.asks(), implied.bids(), implied.asks()].map(side);
    show_books(sides.each_ref().map(Vec::as_slice))
}

impl Judge {
    pub(crate) fn judge(&mut self, instruments: &Instruments, instrument: InstrumentIndex) {
        if self.is_unnumbered {
            return;
        }
        let book = instruments.book(instrument);
        let shown = show(instruments, instrument);
        let Some(rpt_seq) = book.rpt_seq() else {
            return assert_eq!(shown, EMPTY, "without an RptSeq a book is empty");
        };
        self.judged += 1;
        self.judged_implied += u64::from(!shown.ends_with("~|"));
        let id = book.security_id();
        let (told, actual) = (self.epoch, self.exchange_epoch);
        let published: Vec<_> =
            (told..=actual).filter_map(|epoch| self.published.get(&(epoch, id, rpt_seq))).collect();
        assert!(
            published.iter().any(|published| **published == shown)
                || (published.is_empty() && shown == EMPTY),
            "seed {}: instrument {id} at {rpt_seq} is {shown}, was {published:?} in epochs {told} \
             to {actual}",
            self.seed
        );
    }
}

impl Judge {
    /// What natural refresh shows of a book are its best levels, as many as are known.
    fn judge_refreshed(&mut self, instruments: &Instruments, instrument: InstrumentIndex) {
        let book = instruments.book(instrument);
        let (id, shown) = (book.security_id(), show(instruments, instrument));
        let rpt_seq = book.rpt_seq().expect("an entry has been taken");
        self.judged_refreshed += u64::from(!shown.starts_with('|'));
        let mut epochs = self.epoch..=self.exchange_epoch;
        let begins = epochs.any(|epoch| {
            let published = self.published.get(&(epoch, id, rpt_seq));
            published.is_some_and(|published| begins_as(published, &shown))
        });
        assert!(begins, "seed {}: {id} at {rpt_seq} does not begin as {shown}", self.seed);
    }
}

/// Whether both direct sides of a book begin with those of another.
fn begins_as(whole: &str, known: &str) -> bool {
    let sides = |books: &str| {
        let (direct, _) = books.split_once('~').expect("both books are shown");
        let (bids, asks) = direct.split_once('|').expect("both sides are shown");
        [bids, asks].map(|side| side.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    };
    sides(whole).iter().zip(sides(known)).all(|(whole, known)| whole.starts_with(&known))
}

impl Listener for Judge {
    fn on_book_update(&mut self, update: &BookUpdate<'_>) {
        if update.source == UpdateSource::NaturalRefresh && !self.is_unnumbered {
            self.judge_refreshed(update.instruments, update.instrument);
        }
    }
    fn on_end_of_event(&mut self, event: &EndOfEvent<'_>) {
        for (instrument, ..) in event.changed() {
            self.judge(event.instruments, instrument);
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
            self.fell_out += 1;
        }
    }
}
