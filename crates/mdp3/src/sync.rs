//! What is known of a book.

/// Whether a book can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyncState {
    /// The instrument has no definition in force.
    Unknown,
    /// Entries are or may be missing; a snapshot will tell.
    OutOfSync,
    /// The book was empty when entries were lost, and has taken every entry since: the levels it
    /// has are right, and more may be missing. Only with `Settings::natural_refresh`.
    NaturallyRefreshed,
    /// The book is what the exchange published last.
    InSync,
}

/// The same in more detail, as line 0 of an instrument has it. Those in sync come last, so that one
/// comparison tells them.
///
/// ```text
///            definition              snapshot            queue replayed
/// Unknown ─────────────▶ Waiting ──────────────▶ Replaying ───────────▶ InSync ◀┐
///                          ▲ ▲                    (absent from a loop: Fresh)   │ first entry
///    another RptSeq        │ └──────────────────────────────────────────────── Fresh
///                          │           packets lost
///                       Suspect ◀──────────────────────────────────────────── InSync
///                          └───────────── the next RptSeq ──────────────────────▶
///
/// Waiting ──an entry, by natural refresh──▶ Refreshing ──snapshot──▶ Replaying
///    ▲                                        │  └──depth 1, both sides restated──▶ InSync
///    └─────────────packets lost───────────────┘
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    /// No definition in force.
    Unknown,
    /// No snapshot yet; entries are queued.
    Waiting,
    /// Packets were lost since the last entry. If the next entry carries the next RptSeq, and
    /// that is not so low that it may have come round again, none of them concerned this
    /// instrument.
    Suspect,
    /// As `Waiting`, while the book begins anew by natural refresh.
    Refreshing,
    /// A snapshot is loaded; queued entries are being applied.
    Replaying,
    /// Known to be empty; the first entry may carry any RptSeq.
    Fresh,
    /// Each entry carries the RptSeq after the last.
    InSync,
}

impl State {
    /// Whether a snapshot is what the instrument needs.
    pub(crate) const fn needs_snapshot(self) -> bool {
        matches!(self, Self::Waiting | Self::Suspect | Self::Refreshing)
    }

    /// Whether the book is right.
    pub(crate) const fn is_in_sync(self) -> bool {
        matches!(self, Self::Fresh | Self::InSync)
    }
}

impl From<State> for SyncState {
    fn from(state: State) -> Self {
        match state {
            State::Unknown => Self::Unknown,
            State::Waiting | State::Suspect | State::Replaying => Self::OutOfSync,
            State::Refreshing => Self::NaturallyRefreshed,
            State::Fresh | State::InSync => Self::InSync,
        }
    }
}
