//! The segment roller: advances from one segment to the next, in journals in a directory.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;

use rtrb::{Consumer, Producer, RingBuffer};

use super::format::{Header, RECORD_HEADER, SEGMENT_HEADER};
use super::record::{Direction, Record};
use super::recovery::{self, RecoveredSegment, Recovery, SegmentScan};
use super::segment::Segment;
use super::segment_files::{self, Directory};
use super::sync_state::SyncState;
use super::sync_worker::SyncWorker;
use super::{Journal, JournalError, JournalSettings, SyncPolicy, limit_of};

/// The maximum number of retired segments that wait for removal.
const RETIRED: usize = 64;

/// The writer's end of the state shared with the sync worker.
#[derive(Debug)]
pub(super) struct SegmentRoller {
    ready: Consumer<Segment>,
    retired: Producer<Segment>,
    shared: Arc<SyncState>,
    thread: Option<JoinHandle<()>>,
    payload_max: usize,
    policy: SyncPolicy,
    recovery: Recovery,
    /// The locked directory, dropped after the worker has ended.
    _directory: Directory,
}

impl SegmentRoller {
    /// Creates a journal with one empty segment in an empty directory.
    pub(super) fn create(
        directory: Directory,
        settings: JournalSettings,
        bytes: u64,
    ) -> Result<Journal, JournalError> {
        let files = directory.files();
        let durable = settings.sync != SyncPolicy::None;
        // Another process may have been faster: its files are not overwritten.
        let first = segment_files::check_empty(&files)
            .and_then(|()| segment_files::remove_unfinished(&files))
            .and_then(|()| segment_files::create(&files, 1, bytes, durable));
        let mapped = first.inspect_err(|_| directory.remove_if_created())?;
        let recovered = vec![RecoveredSegment { mapped, scan: SegmentScan::new() }];
        Self::start(directory, (settings, bytes), recovered, Recovery::default())
    }

    /// Opens the journal in a directory.
    pub(super) fn open(
        directory: Directory,
        settings: JournalSettings,
        bytes: u64,
    ) -> Result<Journal, JournalError> {
        let files = directory.files();
        let recovered = Self::recover(&files, settings, bytes);
        let (recovered, mut recovery) = recovered.map_err(|error| directory.named_error(error))?;
        if let Some((path, _)) = &mut recovery.torn {
            *path = directory.named(path);
        }
        Self::start(directory, (settings, bytes), recovered, recovery)
    }

    /// Recovers the segments, and adds an empty one if the newest is closed.
    fn recover(
        files: &Path,
        settings: JournalSettings,
        bytes: u64,
    ) -> Result<(Vec<RecoveredSegment>, Recovery), JournalError> {
        let (mut recovered, recovery) = recovery::recover(files)?;
        if let Some(RecoveredSegment { mapped, scan }) =
            recovered.last().filter(|newest| newest.scan.closed)
        {
            let newest = Self::last_control(&mapped.segment, scan);
            check_room(newest, bytes)?;
            let number = mapped.segment.number() + 1;
            let durable = settings.sync != SyncPolicy::None;
            let mapped = segment_files::create(files, number, bytes, durable)?;
            recovered.push(RecoveredSegment { mapped, scan: SegmentScan::new() });
        } else if let Some(RecoveredSegment { mapped, scan }) = recovered.last() {
            check_room(Self::last_control(&mapped.segment, scan), bytes)?;
        }
        Ok((recovered, recovery))
    }

    /// Returns the payload length of the newest control record, which the next segment must copy.
    fn last_control(segment: &Segment, scan: &SegmentScan) -> usize {
        match scan.last[Direction::Control.index()] {
            0 => 0,
            offset => segment.header(offset as usize).word() as usize - RECORD_HEADER,
        }
    }

    fn start(
        directory: Directory,
        settings: (JournalSettings, u64),
        recovered: Vec<RecoveredSegment>,
        recovery: Recovery,
    ) -> Result<Journal, JournalError> {
        let files = directory.files();
        let (mut journal, worker) =
            Self::assemble(&files, settings, directory, recovered, recovery);
        if let Some(roller) = &mut journal.roller {
            roller.thread = Some(worker.spawn()?);
        }
        Ok(journal)
    }

    /// Continues after the recovered segments. There is at least one, and the last is not closed.
    pub(super) fn assemble(
        files: &Path,
        (settings, bytes): (JournalSettings, u64),
        directory: Directory,
        recovered: Vec<RecoveredSegment>,
        recovery: Recovery,
    ) -> (Journal, SyncWorker) {
        let (ready_producer, ready) = RingBuffer::new(settings.ahead.max(1));
        let (retired, retired_consumer) = RingBuffer::new(RETIRED);
        let shared = Arc::new(SyncState::default());
        let roller = Self {
            ready,
            retired,
            shared: Arc::clone(&shared),
            thread: None,
            payload_max: payload_max(bytes),
            policy: settings.sync,
            recovery,
            _directory: directory,
        };
        let scans: Vec<_> = recovered
            .iter()
            .map(|recovered| (recovered.mapped.segment.clone(), recovered.scan.clone()))
            .collect();
        let parts = (files.to_owned(), settings, bytes);
        let worker = SyncWorker::new(parts, shared, recovered, (ready_producer, retired_consumer));
        let mut journal = Journal::from_scans(scans, roller);
        journal.old.reserve(settings.retention.segments + RETIRED);
        (journal, worker)
    }

    pub(super) fn shared(&self) -> &SyncState {
        &self.shared
    }

    pub(super) fn sync_policy(&self) -> SyncPolicy {
        self.policy
    }

    /// Returns the maximum payload in bytes.
    pub(super) fn payload_max(&self) -> usize {
        self.payload_max
    }

    pub(super) fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    pub(super) fn is_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Returns the next segment. If the worker has not created it yet, the writer waits: a wait is
    /// better than a failed send, and a segment rarely fills up while the next is created.
    pub(super) fn next(&mut self) -> Result<Segment, JournalError> {
        if let Ok(segment) = self.ready.pop() {
            return Ok(segment);
        }
        // The worker retries by itself, so a full disk is retried at intervals.
        if let Some(error) = self.shared.prepare_error() {
            return Err(error.into());
        }
        self.shared.wait_for_segment()?;
        self.ready.pop().map_err(|_| {
            let error = self.shared.prepare_error();
            JournalError::Io(error.unwrap_or_else(|| io::ErrorKind::BrokenPipe.into()))
        })
    }

    /// Stops the worker and waits for its end.
    pub(super) fn finish(&mut self) -> Option<io::Error> {
        self.shared.stop();
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            return Some(io::ErrorKind::BrokenPipe.into());
        }
        self.shared.sync_error()
    }
}

impl Drop for SegmentRoller {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

/// Returns the maximum payload: it fits in an empty segment together with the copies.
fn payload_max(bytes: u64) -> usize {
    bytes as usize / 8
}

fn check_room(payload: usize, bytes: u64) -> Result<(), JournalError> {
    if payload > payload_max(bytes) { Err(JournalError::TooLarge) } else { Ok(()) }
}

impl Journal {
    /// Creates the journal that continues after these segments.
    fn from_scans(mut scans: Vec<(Segment, SegmentScan)>, roller: SegmentRoller) -> Self {
        let (segment, scan) = scans.pop().expect("there is at least one segment");
        let mut journal = Self::at_start(segment, Some(roller));
        journal.end = scan.end;
        journal.last = scan.last;
        if let Some((previous, before)) = scans.last() {
            // The process may have died before all copies were written.
            journal.copy_newest(previous, before.last);
        }
        journal.old.extend(scans.into_iter().map(|(segment, _)| segment));
        journal
    }

    /// Advances to the next segment for a payload of this length.
    #[cold]
    #[inline(never)]
    pub(super) fn roll(&mut self, payload: usize) -> Result<(), JournalError> {
        let Some(roller) = &mut self.roller else {
            let largest = (self.limit + 1).saturating_sub(SEGMENT_HEADER);
            let is_too_large = payload >= largest;
            return Err(if is_too_large { JournalError::TooLarge } else { JournalError::Full });
        };
        if payload > self.payload_max {
            return Err(JournalError::TooLarge);
        }
        let next = roller.next()?;
        self.segment.close(self.end);
        let last = std::mem::take(&mut self.last);
        self.limit = limit_of(&next);
        self.end = SEGMENT_HEADER;
        let previous = std::mem::replace(&mut self.segment, next);
        self.copy_newest(&previous, last);
        self.old.push_back(previous);
        self.retire();
        Ok(())
    }

    /// Copies the newest record of each direction that this segment does not have.
    pub(super) fn copy_newest(&mut self, previous: &Segment, last: [u32; 3]) {
        for direction in Direction::ALL {
            let origin = last[direction.index()];
            if origin == 0 || self.last[direction.index()] != 0 {
                continue;
            }
            let header = previous.header(origin as usize);
            let record = header
                .record(previous.id(), origin as usize, previous.bytes())
                .expect("the record was committed, or validated on open");
            let copied = if direction == Direction::Control { record.length() } else { 0 };
            let payload = &previous.payload(record, previous.bytes())[..copied];
            assert!(self.has_room(copied), "the copies fit in an empty segment");
            // SAFETY: there is room after the last record, and the journal is borrowed mutably.
            unsafe { self.segment.room(self.end + RECORD_HEADER, copied) }.copy_from_slice(payload);
            self.append(direction, header.copy(copied, origin));
        }
    }

    /// Commits a record whose payload is in place.
    fn append(&mut self, direction: Direction, header: Header) {
        let next = (self.end + header.word() as usize).next_multiple_of(8);
        // SAFETY: the caller has checked that the record fits after the last record.
        unsafe { self.segment.commit(self.end, next, header) };
        self.last[direction.index()] = self.end as u32;
        self.end = next;
    }

    /// Retires the oldest segments, as many as the worker permits.
    fn retire(&mut self) {
        let Some(roller) = &mut self.roller else { return };
        let disposable = roller.shared.disposable();
        while self.old.len() > 1
            && self.old.front().is_some_and(|oldest| oldest.number() < disposable)
            && !roller.retired.is_full()
        {
            if let Some(oldest) = self.old.pop_front() {
                let _ = roller.retired.push(oldest);
            }
        }
    }

    /// Returns the newest record of a direction. If the record was removed with its segment, its
    /// tag is still available, and for a control record its payload.
    #[must_use]
    pub fn last(&self, direction: Direction) -> Option<Record> {
        let offset = self.last[direction.index()] as usize;
        let found = (offset != 0).then(|| self.segment.header(offset))?;
        found.record(self.segment.id(), offset, self.segment.bytes())
    }
}
