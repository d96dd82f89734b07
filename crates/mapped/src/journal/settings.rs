//! Settings of a journal: segment size, retention and durability.

use hairpin_time::Duration;

/// The policy for syncing committed records to disk. Under every policy a journal survives process
/// death, and its thread writes checksums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Never. Only the kernel's own writeback protects the records from power loss.
    #[default]
    None,
    /// The interval of syncs. Power loss loses younger records.
    Interval(Duration),
    /// On request: the writer calls [`wait_durable`](crate::Journal::wait_durable) after each
    /// commit.
    Each,
}

/// The retention of old segments. Segments with needed records stay longer: unmarked inbound
/// records, and outbound records from the message set by
/// [`needed_from`](crate::Journal::needed_from). Whole segments are removed, when the next one
/// starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The number of segments kept, including the current one; at least 2.
    pub segments: usize,
    /// The maximum age. A segment is removed earlier if its newest record is older than this,
    /// compared with the newest record of the journal, by UTC time.
    pub age: Option<Duration>,
}

impl Default for Retention {
    /// Keeps 16 segments of any age.
    fn default() -> Self {
        Self { segments: 16, age: None }
    }
}

/// The settings of a journal in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalSettings {
    /// The size of each new segment in bytes, rounded up to a multiple of 4096: 4 KiB to 2 GiB. A
    /// payload is at most an eighth of it.
    pub segment_bytes: u64,
    /// The number of segments created ahead of need; at least 1.
    pub ahead: usize,
    /// The sync policy.
    pub sync: SyncPolicy,
    /// The retention of old segments.
    pub retention: Retention,
}

impl JournalSettings {
    /// The default segment size in bytes: about three hundred thousand orders.
    pub const SEGMENT_BYTES: u64 = 64 << 20;

    /// Creates settings with room for this many bytes of records per segment.
    #[must_use]
    pub fn with_room(bytes: usize) -> Self {
        let overhead = super::format::SEGMENT_HEADER + super::format::TAIL;
        Self { segment_bytes: bytes.saturating_add(overhead) as u64, ..Self::default() }
    }

    /// Returns the rounded segment size, or `None` if it is out of range.
    pub(super) fn rounded(&self) -> Option<u64> {
        let bytes = self.segment_bytes.max(1).checked_next_multiple_of(4096)?;
        (bytes <= super::format::SEGMENT_MAX).then_some(bytes)
    }
}

impl Default for JournalSettings {
    /// Segments of 64 MiB, one ahead, never synced, 16 kept.
    fn default() -> Self {
        Self {
            segment_bytes: Self::SEGMENT_BYTES,
            ahead: 1,
            sync: SyncPolicy::None,
            retention: Retention::default(),
        }
    }
}
