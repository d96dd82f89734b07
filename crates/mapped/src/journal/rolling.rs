//! From one segment to the next: what only a journal in a folder does.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use rtrb::{Consumer, Producer, RingBuffer};

use super::attendant::Attendant;
use super::folder;
use super::format::{Header, RECORD_HEADER, SEGMENT_HEADER};
use super::record::{Direction, Record};
use super::recovery::{self, Kept, Recovery, Walk};
use super::segment::Segment;
use super::shared::Shared;
use super::{Journal, JournalError, JournalSettings, SyncPolicy, limit_of};

/// Segments given up that wait for the thread to remove them.
const RETIRED: usize = 64;

/// The writer's end of what it shares with the sync thread.
#[derive(Debug)]
pub(super) struct Rolling {
    ready: Consumer<Segment>,
    retired: Producer<Segment>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
    payload_max: usize,
    policy: SyncPolicy,
    recovery: Recovery,
    /// Keeps the lock; dropped last.
    _lock: File,
}

impl Rolling {
    /// A journal with one empty segment in an empty folder, which nobody else is making one in.
    pub(super) fn create(
        folder: &Path,
        settings: JournalSettings,
        bytes: u64,
    ) -> Result<Journal, JournalError> {
        let lock = folder::lock(folder)?;
        // Somebody may have been faster: nothing of theirs is written over.
        folder::check_empty(folder)?;
        folder::remove_unfinished(folder)?;
        let durable = settings.sync != SyncPolicy::None;
        let mapped = folder::create(folder, 1, bytes, durable)?;
        let kept = vec![Kept { mapped, walk: Walk::new() }];
        Self::start(folder, (settings, bytes), lock, kept, Recovery::default())
    }

    /// The journal that is in a folder.
    pub(super) fn open(
        folder: &Path,
        settings: JournalSettings,
        bytes: u64,
    ) -> Result<Journal, JournalError> {
        if folder::segments(folder)?.is_empty() {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        }
        let lock = folder::lock(folder)?;
        let (mut kept, recovery) = recovery::recover(folder)?;
        if let Some(Kept { mapped, walk }) = kept.last().filter(|newest| newest.walk.closed) {
            let newest = Self::last_control(&mapped.segment, walk);
            check_room(newest, bytes)?;
            let number = mapped.segment.number() + 1;
            let durable = settings.sync != SyncPolicy::None;
            let mapped = folder::create(folder, number, bytes, durable)?;
            kept.push(Kept { mapped, walk: Walk::new() });
        } else if let Some(Kept { mapped, walk }) = kept.last() {
            check_room(Self::last_control(&mapped.segment, walk), bytes)?;
        }
        Self::start(folder, (settings, bytes), lock, kept, recovery)
    }

    /// Bytes of payload of the newest control record, which the next segment has to repeat.
    fn last_control(segment: &Segment, walk: &Walk) -> usize {
        match walk.last[Direction::Control.index()] {
            0 => 0,
            offset => segment.header(offset as usize).word() as usize - RECORD_HEADER,
        }
    }

    fn start(
        folder: &Path,
        settings: (JournalSettings, u64),
        lock: File,
        kept: Vec<Kept>,
        recovery: Recovery,
    ) -> Result<Journal, JournalError> {
        let (mut journal, attendant) = Self::assemble(folder, settings, lock, kept, recovery);
        if let Some(rolling) = &mut journal.rolling {
            rolling.thread = Some(attendant.spawn()?);
        }
        Ok(journal)
    }

    /// Goes on behind what is kept, which is at least one segment and the last of them not closed.
    pub(super) fn assemble(
        folder: &Path,
        (settings, bytes): (JournalSettings, u64),
        lock: File,
        kept: Vec<Kept>,
        recovery: Recovery,
    ) -> (Journal, Attendant) {
        let (made, ready) = RingBuffer::new(settings.ahead.max(1));
        let (retired, gone) = RingBuffer::new(RETIRED);
        let shared = Arc::new(Shared::default());
        let rolling = Self {
            ready,
            retired,
            shared: Arc::clone(&shared),
            thread: None,
            payload_max: payload_max(bytes),
            policy: settings.sync,
            recovery,
            _lock: lock,
        };
        let walks: Vec<_> =
            kept.iter().map(|kept| (kept.mapped.segment.clone(), kept.walk.clone())).collect();
        let parts = (folder.to_owned(), settings, bytes);
        let attendant = Attendant::new(parts, shared, kept, (made, gone));
        let mut journal = Journal::behind(walks, rolling);
        journal.old.reserve(settings.retention.segments + RETIRED);
        (journal, attendant)
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(super) fn sync_policy(&self) -> SyncPolicy {
        self.policy
    }

    /// The longest payload.
    pub(super) fn payload_max(&self) -> usize {
        self.payload_max
    }

    pub(super) fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    pub(super) fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// The next segment. If the thread has not made it yet the writer waits for it: that a whole
    /// segment is used up while one is made is rarer than that a send fails for nothing.
    pub(super) fn next(&mut self) -> Result<Segment, JournalError> {
        if let Ok(segment) = self.ready.pop() {
            return Ok(segment);
        }
        // The thread tries again by itself: a disk that is full is asked once in a while.
        if let Some(error) = self.shared.prepare_error() {
            return Err(error.into());
        }
        self.shared.wait_for_segment()?;
        self.ready.pop().map_err(|_| {
            let error = self.shared.prepare_error();
            JournalError::Io(error.unwrap_or_else(|| io::ErrorKind::BrokenPipe.into()))
        })
    }

    /// Stops the thread and waits for its end.
    pub(super) fn finish(&mut self) -> Option<io::Error> {
        self.shared.stop();
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            return Some(io::ErrorKind::BrokenPipe.into());
        }
        self.shared.sync_error()
    }
}

impl Drop for Rolling {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// The longest payload: with it and what is repeated there is room in an empty segment.
fn payload_max(bytes: u64) -> usize {
    bytes as usize / 8
}

fn check_room(payload: usize, bytes: u64) -> Result<(), JournalError> {
    if payload > payload_max(bytes) { Err(JournalError::TooLarge) } else { Ok(()) }
}

impl Journal {
    /// The journal that goes on behind these segments.
    fn behind(mut walks: Vec<(Segment, Walk)>, rolling: Rolling) -> Self {
        let (segment, walk) = walks.pop().expect("there is at least one");
        let mut journal = Self::at_start(segment, Some(rolling));
        journal.end = walk.end;
        journal.last = walk.last;
        if let Some((previous, before)) = walks.last() {
            // The process may have died before all was repeated.
            journal.carry(previous, before.last);
        }
        journal.old.extend(walks.into_iter().map(|(segment, _)| segment));
        journal
    }

    /// Goes on to the next segment for a payload of so many bytes.
    #[cold]
    #[inline(never)]
    pub(super) fn roll(&mut self, payload: usize) -> Result<(), JournalError> {
        let Some(rolling) = &mut self.rolling else {
            let largest = (self.limit + 1).saturating_sub(SEGMENT_HEADER);
            let is_too_large = payload >= largest;
            return Err(if is_too_large { JournalError::TooLarge } else { JournalError::Full });
        };
        if payload > self.payload_max {
            return Err(JournalError::TooLarge);
        }
        let next = rolling.next()?;
        self.segment.close(self.end);
        let last = std::mem::take(&mut self.last);
        self.limit = limit_of(&next);
        self.end = SEGMENT_HEADER;
        let previous = std::mem::replace(&mut self.segment, next);
        self.carry(&previous, last);
        self.old.push_back(previous);
        self.retire();
        Ok(())
    }

    /// Repeats the newest record of each direction that this segment has none of.
    pub(super) fn carry(&mut self, previous: &Segment, last: [u32; 3]) {
        for direction in Direction::ALL {
            let origin = last[direction.index()];
            if origin == 0 || self.last[direction.index()] != 0 {
                continue;
            }
            let header = previous.header(origin as usize);
            let record = header
                .record(previous.number(), origin as usize, previous.bytes())
                .expect("it was committed, or checked when it was opened");
            let kept = if direction == Direction::Control { record.length() } else { 0 };
            let payload = &previous.payload(record, previous.bytes())[..kept];
            assert!(self.has_room(kept), "what is repeated fits into an empty segment");
            // SAFETY: there is room; it lies behind the last record, and the journal is borrowed
            // mutably.
            unsafe { self.segment.room(self.end + RECORD_HEADER, kept) }.copy_from_slice(payload);
            self.append(direction, header.carried(kept, origin));
        }
    }

    /// Commits a record whose payload stands.
    fn append(&mut self, direction: Direction, header: Header) {
        let next = (self.end + header.word() as usize).next_multiple_of(8);
        // SAFETY: the caller has found room for it behind the last record.
        unsafe { self.segment.commit(self.end, next, header) };
        self.last[direction.index()] = self.end as u32;
        self.end = next;
    }

    /// Gives up the oldest segments, as many as the thread allows.
    fn retire(&mut self) {
        let Some(rolling) = &mut self.rolling else { return };
        let disposable = rolling.shared.disposable();
        while self.old.len() > 1
            && self.old.front().is_some_and(|oldest| oldest.number() < disposable)
            && !rolling.retired.is_full()
        {
            if let Some(oldest) = self.old.pop_front() {
                let _ = rolling.retired.push(oldest);
            }
        }
    }

    /// The newest record of a direction, though it may have been dropped with its segment: then
    /// what is left of it is its tag, and of a control record its payload.
    #[must_use]
    pub fn last(&self, direction: Direction) -> Option<Record> {
        let offset = self.last[direction.index()] as usize;
        let found = (offset != 0).then(|| self.segment.header(offset))?;
        found.record(self.segment.number(), offset, self.segment.bytes())
    }
}
