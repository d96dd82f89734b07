//! What is done for a journal away from the writer: checksums, syncs, segments made ahead, and
//! segments dropped.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rtrb::{Consumer, Producer};

use super::folder::{self, Mapped};
use super::format::{SEGMENT_HEADER, Slot};
use super::record::{Direction, position};
use super::recovery::{Kept, Walk};
use super::segment::Segment;
use super::settings::{JournalSettings, SyncPolicy};
use super::shared::Shared;

/// The name of the thread, as long as the kernel keeps.
const NAME: &str = "hairpin-journal";
/// How long the thread sleeps when nobody calls it. In that time a segment is not used up.
const TICK: Duration = Duration::from_millis(10);
/// Bytes behind the last record that are made writable again after a sync.
const FAULTED: usize = 1 << 20;

/// A segment and how far it was attended to.
#[derive(Debug)]
struct Watched {
    mapped: Mapped,
    walk: Walk,
    /// Behind the last record that is on the disk.
    synced: usize,
    /// Whether the word that ends the segment is on the disk too.
    synced_close: bool,
    /// In front of it every inbound record is marked.
    marked: usize,
}

impl Watched {
    fn new(Kept { mapped, walk }: Kept) -> Self {
        let synced = (mapped.segment.durable() as usize).max(SEGMENT_HEADER).min(walk.end);
        // Behind the first record without a checksum everything is walked again.
        let walk = if walk.checked == walk.end { walk } else { Walk::new() };
        Self { mapped, walk, synced, synced_close: false, marked: SEGMENT_HEADER }
    }

    /// Gives every new record its checksum.
    fn check(&mut self) {
        let segment = &self.mapped.segment;
        loop {
            match segment.slot(self.walk.end) {
                Some(Slot::Record(record, header)) => {
                    let offset = self.walk.end;
                    self.walk.pass(record, header);
                    if header.checksum() == 0 {
                        let sum = header.sum(segment.payload(record, record.next()));
                        segment.set_checksum(offset, header, sum);
                    }
                }
                Some(Slot::End) => {
                    self.walk.closed = true;
                    return;
                }
                // What cannot be true was written by somebody else; the next open says so.
                Some(Slot::Empty) | None => return,
            }
        }
    }

    fn is_synced(&self) -> bool {
        self.synced == self.walk.end && self.synced_close == self.walk.closed
    }

    fn sync(&mut self) -> io::Result<()> {
        self.mapped.file.sync_data()?;
        self.synced = self.walk.end;
        self.synced_close = self.walk.closed;
        self.mapped.segment.set_durable(self.synced);
        if !self.walk.closed {
            self.mapped.segment.fault_in(self.walk.end, FAULTED);
        }
        Ok(())
    }

    /// Whether every inbound record of a segment that is closed is marked.
    fn is_marked(&mut self) -> bool {
        while let Some(Slot::Record(record, header)) = self.mapped.segment.slot(self.marked) {
            let counts = record.direction == Direction::Inbound && !header.is_carried();
            if counts && !header.is_marked() {
                return false;
            }
            self.marked = record.next();
        }
        true
    }
}

/// The work of the thread, a turn at a time.
#[derive(Debug)]
pub(super) struct Attendant {
    folder: PathBuf,
    settings: JournalSettings,
    bytes: u64,
    shared: Arc<Shared>,
    /// Every segment that exists, but for those given up; the newest may be empty.
    watched: VecDeque<Watched>,
    /// Which of them is being written.
    current: usize,
    ready: Producer<Segment>,
    retired: Consumer<Segment>,
    synced: Instant,
}

impl Attendant {
    pub(super) fn new(
        (folder, settings, bytes): (PathBuf, JournalSettings, u64),
        shared: Arc<Shared>,
        kept: Vec<Kept>,
        (ready, retired): (Producer<Segment>, Consumer<Segment>),
    ) -> Self {
        let watched: VecDeque<_> = kept.into_iter().map(Watched::new).collect();
        let synced = Instant::now();
        Self { folder, settings, bytes, shared, watched, current: 0, ready, retired, synced }
    }

    /// Runs on a thread of its own until it is asked to stop.
    pub(super) fn spawn(self) -> io::Result<JoinHandle<()>> {
        thread::Builder::new().name(NAME.to_owned()).spawn(move || {
            let _ended = Ended(Arc::clone(&self.shared));
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
            let asked = self.shared.wait_for_call(tick);
            let is_due = interval.is_some_and(|interval| self.synced.elapsed() >= interval);
            let is_last = asked.stop && self.settings.sync != SyncPolicy::None;
            let is_wanted = asked.wanted > self.shared.durable();
            self.turn(is_due || is_last || is_wanted);
            self.shared.answer(asked);
            if asked.stop {
                return self.remove_unused();
            }
        }
    }

    /// Makes segments, writes checksums, syncs if asked to, and drops what is no more needed.
    pub(super) fn turn(&mut self, sync: bool) {
        self.prepare();
        self.check();
        if sync {
            self.sync();
        }
        self.dispose();
        self.drop_retired();
    }

    /// Makes segments until there are enough ahead.
    fn prepare(&mut self) {
        while !self.ready.is_full() {
            let number = self.watched.back().map_or(1, |newest| newest.mapped.segment.number() + 1);
            let durable = self.settings.sync != SyncPolicy::None;
            match folder::create(&self.folder, number, self.bytes, durable) {
                Ok(mapped) => {
                    let segment = mapped.segment.clone();
                    self.watched.push_back(Watched::new(Kept { mapped, walk: Walk::new() }));
                    // There is room for it, and it is gone only with the writer.
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

    fn check(&mut self) {
        loop {
            let current = &mut self.watched[self.current];
            current.check();
            if !current.walk.closed || self.current + 1 == self.watched.len() {
                return;
            }
            self.current += 1;
        }
    }

    /// Brings to the disk what has a checksum, in the order of the journal.
    fn sync(&mut self) {
        self.synced = Instant::now();
        if self.shared.has_failed() {
            return;
        }
        for watched in self.watched.range_mut(..=self.current) {
            if watched.is_synced() {
                continue;
            }
            if let Err(error) = watched.sync() {
                let errno = error.raw_os_error().unwrap_or(libc::EIO);
                return self.shared.set_sync_error(errno);
            }
        }
        let current = &self.watched[self.current];
        self.shared.set_durable(position(current.mapped.segment.number(), current.synced));
    }

    /// Says which of the oldest segments may go, as soon as the writer begins another.
    fn dispose(&mut self) {
        let needed = self.shared.needed();
        let newest = self.watched[self.current].walk.utc;
        let age = self.settings.retention.age.map(|age| age.as_nanos());
        let most = self.settings.retention.segments.max(2);
        let mut number = self.watched[0].mapped.segment.number();
        for index in 0..self.current {
            let watched = &mut self.watched[index];
            let is_old = age.is_some_and(|age| newest.saturating_sub(watched.walk.utc) > age);
            let is_excess = self.current - index >= most;
            let is_needed = watched.walk.outbound >= needed && watched.walk.outbound != (0, 0);
            if !(is_old || is_excess) || is_needed || !watched.is_marked() {
                break;
            }
            number = watched.mapped.segment.number() + 1;
        }
        self.shared.set_disposable(number);
    }

    /// Removes the segments that the writer has given up.
    fn drop_retired(&mut self) {
        while let Ok(segment) = self.retired.pop() {
            let oldest = &self.watched[0].mapped;
            let is_oldest = oldest.segment.number() == segment.number();
            // What cannot be removed stays, and with it all behind it: there must be no gap.
            if self.current > 0 && is_oldest && fs::remove_file(&oldest.path).is_ok() {
                self.watched.pop_front();
                self.current -= 1;
            }
        }
    }

    /// Removes the segments that were made ahead and not needed.
    fn remove_unused(mut self) {
        let unused = self.watched.split_off(self.current + 1);
        for watched in unused {
            if watched.mapped.segment.slot(SEGMENT_HEADER) == Some(Slot::Empty) {
                let _ = fs::remove_file(&watched.mapped.path);
            }
        }
    }
}

/// Says that the thread has ended, however it does.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.end();
    }
}
