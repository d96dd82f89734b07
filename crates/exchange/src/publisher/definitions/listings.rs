//! Which instruments have a definition, and what it says has become of them (tag 980).

use hairpin_cme_codecs::mdp3::SecurityUpdateAction;
use hairpin_time::Utc;

/// What becomes of a definition in the course of the day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefinitionChange {
    /// The instrument is listed, or listed again.
    Add,
    /// Its definition says something else than before.
    Modify,
    /// It is not traded any more. The loop goes on to state that it is deleted.
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

/// By instrument: the last change and its time (tag 779), or that it has no definition.
#[derive(Debug)]
pub(in super::super) struct Listings {
    last: Box<[Option<(DefinitionChange, Utc)>]>,
    count: u32,
}

impl Listings {
    /// All but the last `unlisted` of them were added when the exchange started.
    pub(in super::super) fn new(instruments: usize, unlisted: usize, started: Utc) -> Self {
        let listed = instruments.saturating_sub(unlisted);
        let last =
            (0..instruments).map(|n| (n < listed).then_some((DefinitionChange::Add, started)));
        // As many as settings asked for in a `u32`.
        Self { last: last.collect(), count: listed as u32 }
    }

    /// How many definitions there are, those of deleted instruments included.
    pub(in super::super) fn count(&self) -> u32 {
        self.count
    }

    /// What a definition says in tags 980 and 779; `None` if there is none.
    pub(super) fn at(&self, instrument: u32) -> Option<(SecurityUpdateAction, Utc)> {
        self.last[instrument as usize].map(|(change, at)| (change.code(), at))
    }

    /// Whether an instrument has a definition that was not deleted.
    pub(in super::super) fn is_listed(&self, instrument: u32) -> bool {
        let last = &self.last[instrument as usize];
        last.is_some_and(|(change, _)| change != DefinitionChange::Delete)
    }

    /// Whether an instrument may change so: what has no definition can only be added.
    pub(in super::super) fn allows(&self, instrument: u32, change: DefinitionChange) -> bool {
        use DefinitionChange::{Add, Delete};
        match self.last[instrument as usize] {
            None | Some((Delete, _)) => change == Add,
            Some(_) => change != Add,
        }
    }

    pub(in super::super) fn note(&mut self, instrument: u32, change: DefinitionChange, at: Utc) {
        let last = self.last[instrument as usize].replace((change, at));
        self.count += u32::from(last.is_none());
    }
}
