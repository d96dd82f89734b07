//! The instruments that have a definition, with SecurityUpdateAction (tag 980).

use hairpin_cme_codecs::mdp3::SecurityUpdateAction;
use hairpin_time::Utc;

/// An intraday change of a definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefinitionChange {
    /// The instrument is listed, or listed again.
    Add,
    /// The definition has changed.
    Modify,
    /// The instrument does not trade any more. The definition loop continues to send it as deleted.
    Delete,
}

impl DefinitionChange {
    const fn code(self) -> SecurityUpdateAction {
        match self {
            Self::Add => SecurityUpdateAction::ADD,
            Self::Modify => SecurityUpdateAction::MODIFY,
            Self::Delete => SecurityUpdateAction::DELETE,
        }
    }
}

/// The last change of each instrument's definition and its time (tag 779), or `None` without one.
#[derive(Debug)]
pub(in super::super) struct Listings {
    last: Box<[Option<(DefinitionChange, Utc)>]>,
    count: u32,
}

impl Listings {
    /// Creates the listings. All but the last `unlisted` instruments were added at the start.
    pub(in super::super) fn new(instruments: usize, unlisted: usize, started: Utc) -> Self {
        let listed = instruments.saturating_sub(unlisted);
        let last =
            (0..instruments).map(|n| (n < listed).then_some((DefinitionChange::Add, started)));
        // The number was given as a `u32`.
        Self { last: last.collect(), count: listed as u32 }
    }

    /// Returns the number of definitions, including those of deleted instruments.
    pub(in super::super) fn count(&self) -> u32 {
        self.count
    }

    /// Returns tags 980 and 779 of a definition, or `None` without one.
    pub(super) fn at(&self, instrument: u32) -> Option<(SecurityUpdateAction, Utc)> {
        self.last[instrument as usize].map(|(change, at)| (change.code(), at))
    }

    /// Returns `true` if an instrument has a definition that was not deleted.
    pub(in super::super) fn is_listed(&self, instrument: u32) -> bool {
        let last = &self.last[instrument as usize];
        last.is_some_and(|(change, _)| change != DefinitionChange::Delete)
    }

    /// Returns `true` if the change is allowed. Without a definition only `Add` is.
    pub(in super::super) fn allows(&self, instrument: u32, change: DefinitionChange) -> bool {
        use DefinitionChange::{Add, Delete};
        match self.last[instrument as usize] {
            None | Some((Delete, _)) => change == Add,
            Some(_) => change != Add,
        }
    }

    pub(in super::super) fn record(&mut self, instrument: u32, change: DefinitionChange, at: Utc) {
        let last = self.last[instrument as usize].replace((change, at));
        self.count += u32::from(last.is_none());
    }
}
