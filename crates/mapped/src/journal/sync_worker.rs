//! The sync worker: checksums, syncs, creation and removal of segments, off the writer's thread.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rtrb::{Consumer, Producer};

use super::format::{FIXED, SEGMENT_HEADER, Slot};
use super::record::{Direction, position};
use super::recovery::{RecoveredSegment, SegmentScan};
use super::segment::Segment;
use super::segment_files::{self, MappedSegment};
use super::settings::{JournalSettings, SyncPolicy};
use super::sync_state::SyncState;
use crate::mapping;

/// The thread's name, of the kernel's maximum length.
const NAME: &str = "hairpin-journal";
/// The thread's sleep without requests. A segment does not fill up in this time.
const TICK: Duration = Duration::from_millis(10);
/// The interval of checks of the files.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The offset of a byte in the segment header that is always zero.
const UNUSED: u64 = FIXED as u64 - 1;
/// The bytes after the last record that are made writable again after a sync.
const FAULTED: usize = 1 << 20;

/// A segment and the worker's progress in it.
#[derive(Debug)]
struct SegmentProgress {
    mapped: MappedSegment,
    scan: SegmentScan,
    /// The end of the last record on disk.
    synced: usize,
    /// `true` if the end-of-segment word is on disk too.
    synced_close: bool,
    /// The offset before which every inbound record is marked.
    marked: usize,
}

impl SegmentProgress {
    fn new(RecoveredSegment { mapped, scan }: RecoveredSegment) -> Self {
        let synced = (mapped.segment.durable() as usize).max(SEGMENT_HEADER).min(scan.end);
        // Scan again if a record has no checksum.
        let scan = if scan.checked == scan.end { scan } else { SegmentScan::new() };
        Self { mapped, scan, synced, synced_close: false, marked: SEGMENT_HEADER }
    }

    /// Writes the checksum of every new record.
    fn write_checksums(&mut self) {
        let segment = &self.mapped.segment;
        loop {
            match segment.slot(self.scan.end) {
                Some(Slot::Record(record, header)) => {
                    let offset = self.scan.end;
                    self.scan.advance(record, header);
                    if header.checksum() == 0 {
                        let sum = header.sum(segment.payload(record, record.next()));
                        segment.set_checksum(offset, header, sum);
                    }
                }
                Some(Slot::End) => {
                    self.scan.closed = true;
                    return;
                }
                // An impossible record was written by another program; the next open reports it.
                Some(Slot::Empty) | None => return,
            }
        }
    }

    fn is_synced(&self) -> bool {
        self.synced == self.scan.end && self.synced_close == self.scan.closed
    }

    fn sync(&mut self) -> io::Result<()> {
        self.mapped.file.sync_data()?;
        self.synced = self.scan.end;
        self.synced_close = self.scan.closed;
        self.mapped.segment.set_durable(self.synced);
        if !self.scan.closed {
            self.mapped.segment.fault_in(self.scan.end, FAULTED);
        }
        Ok(())
    }

    /// Checks that the segment still exists with its whole size and is written to the disk, without
    /// a sync.
    ///
    /// # Errors
    /// `ENOENT` if the file was removed, `EIO` if it was truncated or has lost a page; otherwise
    /// the file system's error.
    fn check(&self) -> io::Result<()> {
        let MappedSegment { file, segment, .. } = &self.mapped;
        let metadata = file.metadata()?;
        if metadata.nlink() == 0 {
            return Err(io::Error::from_raw_os_error(libc::ENOENT));
        }
        if metadata.len() < segment.bytes() as u64 || segment.has_lost_pages() {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        mapping::check_writeback(file)
    }

    /// Returns `true` if every inbound record of a closed segment is marked.
    fn is_marked(&mut self) -> bool {
        while let Some(Slot::Record(record, header)) = self.mapped.segment.slot(self.marked) {
            let counts = record.direction == Direction::Inbound && !header.is_copy();
            if counts && !header.is_marked() {
                return false;
            }
            self.marked = record.next();
        }
        true
    }
}

/// The state of the sync thread.
#[derive(Debug)]
pub(super) struct SyncWorker {
    directory: PathBuf,
    settings: JournalSettings,
    bytes: u64,
    shared: Arc<SyncState>,
    /// All existing segments except the retired ones. The newest may be empty.
    segments: VecDeque<SegmentProgress>,
    /// The index of the segment being written.
    current: usize,
    ready: Producer<Segment>,
    retired: Consumer<Segment>,
    synced: Instant,
    checked: Instant,
}

impl SyncWorker {
    pub(super) fn new(
        (directory, settings, bytes): (PathBuf, JournalSettings, u64),
        shared: Arc<SyncState>,
        recovered: Vec<RecoveredSegment>,
        (ready, retired): (Producer<Segment>, Consumer<Segment>),
    ) -> Self {
        let segments: VecDeque<_> = recovered.into_iter().map(SegmentProgress::new).collect();
        let now = Instant::now();
        let (synced, checked, current) = (now, now, 0);
        Self {
            directory,
            settings,
            bytes,
            shared,
            segments,
            current,
            ready,
            retired,
            synced,
            checked,
        }
    }

    /// Starts the thread, which runs until a stop request.
    pub(super) fn spawn(self) -> io::Result<JoinHandle<()>> {
        thread::Builder::new().name(NAME.to_owned()).spawn(move || {
            let _guard = EndGuard(Arc::clone(&self.shared));
            self.run();
        })
    }

    fn run(mut self) {
        let interval = match self.settings.sync {
            SyncPolicy::Interval(interval) => Some(Duration::from_nanos(interval.as_nanos())),
            SyncPolicy::None | SyncPolicy::Each => None,
        };
        let tick = interval.map_or(TICK, |interval| interval.min(TICK));
        loop {
            let requests = self.shared.wait_for_request(tick);
            let is_due = interval.is_some_and(|interval| self.synced.elapsed() >= interval);
            let is_last = requests.stop && self.settings.sync != SyncPolicy::None;
            let is_requested = requests.sync_position > self.shared.durable();
            self.run_once(is_due || is_last || is_requested);
            if requests.stop || self.checked.elapsed() >= CHECK_INTERVAL {
                self.check();
            }
            self.shared.complete(requests);
            if requests.stop {
                return self.remove_unused();
            }
        }
    }

    /// Creates segments, writes checksums, syncs if requested, and removes unneeded segments.
    pub(super) fn run_once(&mut self, sync: bool) {
        self.prepare();
        self.write_checksums();
        if sync {
            self.sync();
        }
        if self.segments.iter().any(|segment| segment.mapped.segment.has_lost_pages()) {
            self.shared.set_sync_error(libc::EIO);
        }
        self.publish_disposable();
        self.remove_retired();
    }

    /// Creates segments until enough are ready.
    fn prepare(&mut self) {
        while !self.ready.is_full() {
            let number =
                self.segments.back().map_or(1, |newest| newest.mapped.segment.number() + 1);
            let durable = self.settings.sync != SyncPolicy::None;
            match segment_files::create(&self.directory, number, self.bytes, durable) {
                Ok(mapped) => {
                    let segment = mapped.segment.clone();
                    self.segments.push_back(SegmentProgress::new(RecoveredSegment {
                        mapped,
                        scan: SegmentScan::new(),
                    }));
                    // The queue has room. A failed push means that the writer has ended.
                    let _ = self.ready.push(segment);
                    self.shared.set_prepare_error(0);
                }
                Err(error) => {
                    let errno = error.raw_os_error().unwrap_or(libc::EIO);
                    return self.shared.set_prepare_error(errno);
                }
            }
        }
    }

    fn write_checksums(&mut self) {
        loop {
            let current = &mut self.segments[self.current];
            current.write_checksums();
            if !current.scan.closed || self.current + 1 == self.segments.len() {
                return;
            }
            self.current += 1;
        }
    }

    /// Syncs everything with a checksum to disk, in journal order.
    fn sync(&mut self) {
        self.synced = Instant::now();
        if self.shared.has_failed() {
            return;
        }
        for segment in self.segments.range_mut(..=self.current) {
            if segment.is_synced() {
                continue;
            }
            if let Err(error) = segment.sync() {
                let errno = error.raw_os_error().unwrap_or(libc::EIO);
                return self.shared.set_sync_error(errno);
            }
        }
        let current = &self.segments[self.current];
        self.shared.set_durable(position(current.mapped.segment.number(), current.synced));
    }

    /// Checks all segments, and that the file system still accepts writes.
    pub(super) fn check(&mut self) {
        self.checked = Instant::now();
        let file = &self.segments[self.current].mapped.file;
        let checked = self.segments.iter().try_for_each(SegmentProgress::check);
        if let Err(error) = checked.and_then(|()| file.write_all_at(&[0], UNUSED)) {
            self.shared.set_sync_error(error.raw_os_error().unwrap_or(libc::EIO));
        }
    }

    /// Publishes which of the oldest segments the writer may retire when it starts another segment.
    fn publish_disposable(&mut self) {
        let needed = self.shared.needed();
        let newest = self.segments[self.current].scan.utc;
        let age = self.settings.retention.age.map(|age| age.as_nanos());
        let max_segments = self.settings.retention.segments.max(2);
        let mut number = self.segments[0].mapped.segment.number();
        for index in 0..self.current {
            let segment = &mut self.segments[index];
            let is_old = age.is_some_and(|age| newest.saturating_sub(segment.scan.utc) > age);
            let is_excess = self.current - index >= max_segments;
            let is_needed = segment.scan.outbound >= needed && segment.scan.outbound != (0, 0);
            if !(is_old || is_excess) || is_needed || !segment.is_marked() {
                break;
            }
            number = segment.mapped.segment.number() + 1;
        }
        self.shared.set_disposable(number);
    }

    /// Removes the segments that the writer has retired.
    fn remove_retired(&mut self) {
        while let Ok(segment) = self.retired.pop() {
            let oldest = &self.segments[0].mapped;
            let is_oldest = oldest.segment.number() == segment.number();
            // A segment that cannot be removed stays, with all later ones: there must be no gap.
            if self.current > 0 && is_oldest && fs::remove_file(&oldest.path).is_ok() {
                self.segments.pop_front();
                self.current -= 1;
            }
        }
    }

    /// Removes the unused segments that were created ahead.
    fn remove_unused(mut self) {
        let unused = self.segments.split_off(self.current + 1);
        for segment in unused {
            if segment.mapped.segment.slot(SEGMENT_HEADER) == Some(Slot::Empty) {
                let _ = fs::remove_file(&segment.mapped.path);
            }
        }
    }
}

/// A guard that reports the end of the thread, for any reason.
struct EndGuard(Arc<SyncState>);

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.set_ended();
    }
}
