//! How large a journal's segments are, how many are kept, and how durable they are.

use hairpin_time::Duration;

/// When what was committed is forced to the disk. Whichever it is, a journal survives the death of
/// its process, and its thread writes checksums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Never: only the kernel's own writing back stands between a loss of power and the records.
    #[default]
    None,
    /// So often. A loss of power loses what is younger.
    Interval(Duration),
    /// As soon as somebody waits for it: whoever commits calls
    /// [`wait_durable`](crate::Journal::wait_durable) before it goes on.
    Each,
}

/// How much of the past a journal keeps. Whatever is still needed stays beyond it: inbound
/// records that are not marked, and outbound ones from the number on that was named by
/// [`needed_from`](crate::Journal::needed_from). Whole segments are dropped, when the next begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// Segments that are kept, the one being written included; at least 2.
    pub segments: usize,
    /// A segment is dropped sooner when the newest record in it is so much older than the newest
    /// of the journal, by their UTC.
    pub age: Option<Duration>,
}

impl Default for Retention {
    /// 16 segments of whatever age.
    fn default() -> Self {
        Self { segments: 16, age: None }
    }
}

/// How a journal in a folder is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JournalSettings {
    /// Bytes of each new segment, rounded up to a multiple of 4096; 4 KiB to 2 GiB. A payload is
    /// at most an eighth of it.
    pub segment_bytes: u64,
    /// Segments that are made ahead of need; at least 1.
    pub ahead: usize,
    /// When records are forced to the disk.
    pub sync: SyncPolicy,
    /// What of the past is kept.
    pub retention: Retention,
}

impl JournalSettings {
    /// Bytes of a segment unless set: some three hundred thousand orders.
    pub const SEGMENT_BYTES: u64 = 64 << 20;

    /// Settings with segments that have room for so many bytes of records.
    #[must_use]
    pub fn with_room(bytes: usize) -> Self {
        let overhead = super::format::SEGMENT_HEADER + super::format::TAIL;
        Self { segment_bytes: bytes.saturating_add(overhead) as u64, ..Self::default() }
    }

    /// Bytes of a segment that the filesystem is asked for; `None` if there is no such segment.
    pub(super) fn rounded(&self) -> Option<u64> {
        let bytes = self.segment_bytes.max(1).checked_next_multiple_of(4096)?;
        (bytes <= super::format::SEGMENT_MAX).then_some(bytes)
    }
}

impl Default for JournalSettings {
    /// Segments of 64 MiB, one ahead, never forced to the disk, 16 kept.
    fn default() -> Self {
        Self {
            segment_bytes: Self::SEGMENT_BYTES,
            ahead: 1,
            sync: SyncPolicy::None,
            retention: Retention::default(),
        }
    }
}
