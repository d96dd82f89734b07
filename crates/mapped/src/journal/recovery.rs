//! What an earlier process has left, told apart from what it was doing when it died.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::JournalError;
use super::folder::{self, Mapped};
use super::format::{Header, SEGMENT_HEADER, SEGMENT_MAX, SegmentHeader, Slot};
use super::record::Record;
use super::segment::{SMALLEST, Segment};

/// What [`Journal::open`](super::Journal::open) found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Records that are there.
    pub records: u64,
    /// Where the journal was torn by the loss of the machine, not of the process: the file, and the
    /// byte from which on it was given up. Nothing in front of it is missing.
    pub torn: Option<(PathBuf, u64)>,
}

/// What was found in a segment, as far as it was walked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Walk {
    /// Behind the last record.
    pub(super) end: usize,
    /// The offset of the newest record of each direction; 0 if there is none.
    pub(super) last: [u32; 3],
    /// Whether the next record is in the next segment.
    pub(super) closed: bool,
    /// Behind the last record that is known to have its checksum, like all before it.
    pub(super) checked: usize,
    /// The highest UUID and number of an outbound record.
    pub(super) outbound: (u64, u32),
    /// The UTC of the newest record.
    pub(super) utc: u64,
    /// Records, those repeated from the segment before not counted.
    pub(super) records: u64,
}

impl Walk {
    pub(super) const fn new() -> Self {
        let (end, checked) = (SEGMENT_HEADER, SEGMENT_HEADER);
        Self { end, last: [0; 3], closed: false, checked, outbound: (0, 0), utc: 0, records: 0 }
    }

    /// Goes past a record.
    pub(super) fn pass(&mut self, record: Record, header: Header) {
        self.end = record.next();
        self.last[record.direction.index()] = record.offset;
        self.utc = self.utc.max(header.utc());
        if header.is_carried() {
            return;
        }
        self.records += 1;
        if record.direction == super::Direction::Outbound {
            self.outbound = self.outbound.max((header.uuid(), header.seq_num()));
        }
    }
}

/// A segment that is kept.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) mapped: Mapped,
    pub(super) walk: Walk,
}

/// Reads every segment of a folder, and only then removes and clears what was never committed.
///
/// # Errors
/// [`JournalError::Corrupt`], and nothing is changed then; [`JournalError::Io`], `NotFound` if
/// there is no segment.
pub(super) fn recover(folder: &Path) -> Result<(Vec<Kept>, Recovery), JournalError> {
    let boot = folder::boot()?;
    let numbers = folder::segments(folder)?;
    let Some(&first) = numbers.first() else {
        return Err(std::io::Error::from(std::io::ErrorKind::NotFound).into());
    };
    let mut kept: Vec<Kept> = Vec::with_capacity(numbers.len());
    let mut recovery = Recovery::default();
    let mut unused = Vec::new();
    let mut is_over = false;
    for (expected, &number) in (first..).zip(&numbers) {
        let path = folder::path_of(folder, number);
        if number != expected {
            return Err(corrupt(folder::path_of(folder, expected), 0));
        }
        if number > first && number == numbers[numbers.len() - 1] && was_never_written(&path)? {
            unused.push(path);
            break;
        }
        let (mapped, header) = map(path, number)?;
        let is_same_boot = header.boot == boot;
        if is_over {
            check_unused(&mapped, is_same_boot)?;
            unused.push(mapped.path);
            continue;
        }
        let (walk, torn) = walk(&mapped, is_same_boot)?;
        recovery.records += walk.records;
        is_over = !walk.closed;
        recovery.torn = torn.then(|| (mapped.path.clone(), walk.end as u64));
        kept.push(Kept { mapped, walk });
    }
    clean(&unused, &mut kept, boot)?;
    folder::remove_unfinished(folder)?;
    Ok((kept, recovery))
}

/// Changes what has to be changed, now that everything is known to be sound.
fn clean(unused: &[PathBuf], kept: &mut [Kept], boot: [u8; 16]) -> Result<(), JournalError> {
    for path in unused {
        fs::remove_file(path)?;
    }
    let Some(Kept { mapped, walk }) = kept.last_mut().filter(|kept| !kept.walk.closed) else {
        return Ok(());
    };
    let mut header = read_header(mapped)?;
    // In one run of the machine the word behind the last record is zero: a commit stores that
    // zero first.
    if header.boot != boot {
        // A page that was lost may lie before one that was not: no record in it may come back.
        mapped.segment.clear(walk.end);
        mapped.file.sync_all()?;
        // All that is here now has its checksum, or is written in this run.
        header.boot = boot;
        mapped.file.write_all_at(&header.encode(), 0)?;
    }
    mapped.segment.fault_in(0, usize::MAX);
    Ok(())
}

fn read_header(mapped: &Mapped) -> Result<SegmentHeader, JournalError> {
    SegmentHeader::decode(&Segment::fixed(&mapped.file)?)
        .map_err(|offset| corrupt(mapped.path.clone(), offset))
}

/// Whether a machine that stopped has kept the name of a file and nothing of what was in it.
fn was_never_written(path: &Path) -> Result<bool, JournalError> {
    let file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    Ok(length < SMALLEST as u64 && length == 0
        || length >= SMALLEST as u64 && Segment::fixed(&file)?.iter().all(|&byte| byte == 0))
}

fn map(path: PathBuf, number: u32) -> Result<(Mapped, SegmentHeader), JournalError> {
    let file = OpenOptions::new().read(true).write(true).open(&path)?;
    let length = file.metadata()?.len();
    if length < SMALLEST as u64 {
        return Err(corrupt(path, length));
    }
    let header = match SegmentHeader::decode(&Segment::fixed(&file)?) {
        Ok(header) if header.number != number => return Err(corrupt(path, 12)),
        Ok(header) => header,
        Err(offset) => return Err(corrupt(path, offset)),
    };
    // It was cut, or is longer than any.
    if header.bytes != length || length > SEGMENT_MAX || !length.is_multiple_of(8) {
        return Err(corrupt(path, length));
    }
    // A copy may have left holes where the zeros were.
    crate::memory::allocate(&file, length)?;
    let segment = Segment::map_lazily(&file, number)?;
    Ok((Mapped { file, path, segment }, header))
}

/// A segment behind the end of the journal may hold nothing that was ever known to be there.
fn check_unused(mapped: &Mapped, is_same_boot: bool) -> Result<(), JournalError> {
    let is_empty = mapped.segment.slot(SEGMENT_HEADER) == Some(Slot::Empty);
    let was_durable = mapped.segment.durable() > SEGMENT_HEADER as u64;
    if !is_empty && (is_same_boot || was_durable) {
        return Err(corrupt(mapped.path.clone(), SEGMENT_HEADER as u64));
    }
    Ok(())
}

/// Walks a segment to its end: the last record, where it goes on in the next segment, or, with
/// `true`, where it is torn.
///
/// After the death of a process everything is where it was committed. After that of the machine
/// pages may be missing, in any order: behind the durable mark the first record without a right
/// checksum is where the journal ends.
fn walk(mapped: &Mapped, is_same_boot: bool) -> Result<(Walk, bool), JournalError> {
    let durable = mapped.segment.durable();
    let mut walk = Walk::new();
    loop {
        let offset = walk.end;
        let is_known = is_same_boot || (offset as u64) < durable;
        let wrong = || corrupt(mapped.path.clone(), offset as u64);
        match mapped.segment.slot(offset) {
            Some(Slot::End) => {
                walk.closed = true;
                return Ok((walk, false));
            }
            Some(Slot::Empty) if (offset as u64) < durable => return Err(wrong()),
            Some(Slot::Empty) => return Ok((walk, false)),
            Some(Slot::Record(record, header)) => {
                match sum_of(&mapped.segment, record, header, &walk) {
                    Sum::Right if walk.checked == offset => {
                        walk.pass(record, header);
                        walk.checked = walk.end;
                    }
                    Sum::Right => walk.pass(record, header),
                    Sum::None if is_same_boot && offset as u64 >= durable => {
                        walk.pass(record, header);
                    }
                    Sum::None | Sum::Wrong if is_known => return Err(wrong()),
                    Sum::None | Sum::Wrong => return Ok((walk, true)),
                }
            }
            None if is_known => return Err(wrong()),
            None => return Ok((walk, true)),
        }
    }
}

enum Sum {
    Right,
    None,
    Wrong,
}

fn sum_of(segment: &Segment, record: Record, header: Header, walk: &Walk) -> Sum {
    let before = walk.last[record.direction.index()];
    let is_linked = if header.is_carried() { before == 0 } else { header.back() == before };
    if !is_linked {
        return Sum::Wrong;
    }
    match header.checksum() {
        0 => Sum::None,
        sum if sum == header.sum(segment.payload(record, record.next())) => Sum::Right,
        _ => Sum::Wrong,
    }
}

pub(super) fn corrupt(path: PathBuf, offset: u64) -> JournalError {
    JournalError::Corrupt { path, offset }
}
