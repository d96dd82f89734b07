//! Recovery of a journal: separates committed records from what a dead process was writing.

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::JournalError;
use super::format::{Header, SEGMENT_HEADER, SEGMENT_MAX, SegmentHeader, Slot};
use super::record::Record;
use super::segment::{SMALLEST, Segment};
use super::segment_files::{self, MappedSegment};

/// The result of [`Journal::open`](super::Journal::open).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// The number of records recovered.
    pub records: u64,
    /// The file and offset at which the journal was torn by a machine crash (not a process crash).
    /// Everything after it was discarded, and nothing before it is missing.
    pub torn: Option<(PathBuf, u64)>,
}

/// The result of scanning a segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SegmentScan {
    /// The end of the last record.
    pub(super) end: usize,
    /// The offset of the newest record of each direction, or 0.
    pub(super) last: [u32; 3],
    /// `true` if the segment ends with an end-of-segment word.
    pub(super) closed: bool,
    /// The end of the last record up to which all checksums are known to match.
    pub(super) checked: usize,
    /// The highest UUID and sequence number of an outbound record.
    pub(super) outbound: (u64, u32),
    /// The UTC time of the newest record.
    pub(super) utc: u64,
    /// The number of records, without the copies from the previous segment.
    pub(super) records: u64,
}

impl SegmentScan {
    pub(super) const fn new() -> Self {
        let (end, checked) = (SEGMENT_HEADER, SEGMENT_HEADER);
        Self { end, last: [0; 3], closed: false, checked, outbound: (0, 0), utc: 0, records: 0 }
    }

    /// Advances over a record.
    pub(super) fn advance(&mut self, record: Record, header: Header) {
        self.end = record.next();
        self.last[record.direction.index()] = record.offset;
        self.utc = self.utc.max(header.utc());
        if header.is_copy() {
            return;
        }
        self.records += 1;
        if record.direction == super::Direction::Outbound {
            self.outbound = self.outbound.max((header.uuid(), header.seq_num()));
        }
    }
}

/// A recovered segment.
#[derive(Debug)]
pub(super) struct RecoveredSegment {
    pub(super) mapped: MappedSegment,
    pub(super) scan: SegmentScan,
}

/// Reads every segment of a directory, and only then removes and clears uncommitted data.
///
/// # Errors
/// [`JournalError::Corrupt`], and then nothing is changed; [`JournalError::Io`], `NotFound` if
/// there is no segment.
pub(super) fn recover(directory: &Path) -> Result<(Vec<RecoveredSegment>, Recovery), JournalError> {
    let boot = segment_files::boot_id()?;
    let numbers = segment_files::segments(directory)?;
    let Some(&first) = numbers.first() else {
        return Err(std::io::Error::from(std::io::ErrorKind::NotFound).into());
    };
    let mut recovered: Vec<RecoveredSegment> = Vec::with_capacity(numbers.len());
    let mut recovery = Recovery::default();
    let mut unused = Vec::new();
    let mut is_over = false;
    for (expected, &number) in (first..).zip(&numbers) {
        let path = segment_files::path_of(directory, number);
        if number != expected {
            return Err(corrupt(segment_files::path_of(directory, expected), 0));
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
        let previous = recovered.last().map(|segment| segment.scan.last);
        let (scan, torn) = scan(&mapped, is_same_boot, previous)?;
        recovery.records += scan.records;
        is_over = !scan.closed;
        recovery.torn = torn.then(|| (mapped.path.clone(), scan.end as u64));
        recovered.push(RecoveredSegment { mapped, scan });
    }
    clean(&unused, &mut recovered, boot)?;
    segment_files::remove_unfinished(directory)?;
    Ok((recovered, recovery))
}

/// Makes the necessary changes, after everything was validated.
fn clean(
    unused: &[PathBuf],
    recovered: &mut [RecoveredSegment],
    boot: [u8; 16],
) -> Result<(), JournalError> {
    for path in unused {
        fs::remove_file(path)?;
    }
    let Some(RecoveredSegment { mapped, scan }) =
        recovered.last_mut().filter(|recovered| !recovered.scan.closed)
    else {
        return Ok(());
    };
    let mut header = read_header(mapped)?;
    // Within one boot the word after the last record is zero: a commit stores that zero first.
    if header.boot != boot {
        // A lost page may precede one that was not lost: no record in it may reappear.
        mapped.segment.clear(scan.end);
        mapped.file.sync_all()?;
        // All records here have their checksums, or will be written in this boot.
        header.boot = boot;
        mapped.file.write_all_at(&header.encode(), 0)?;
    }
    mapped.segment.fault_in(0, usize::MAX);
    Ok(())
}

fn read_header(mapped: &MappedSegment) -> Result<SegmentHeader, JournalError> {
    SegmentHeader::decode(&Segment::fixed(&mapped.file)?)
        .map_err(|offset| corrupt(mapped.path.clone(), offset))
}

/// Returns `true` if a machine crash has kept the name of a file but none of its content.
fn was_never_written(path: &Path) -> Result<bool, JournalError> {
    let file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    Ok(length < SMALLEST as u64 && length == 0
        || length >= SMALLEST as u64 && Segment::fixed(&file)?.iter().all(|&byte| byte == 0))
}

fn map(path: PathBuf, number: u32) -> Result<(MappedSegment, SegmentHeader), JournalError> {
    let file = segment_files::open(&path)?;
    let length = file.metadata()?.len();
    if length < SMALLEST as u64 {
        return Err(corrupt(path, length));
    }
    let header = match SegmentHeader::decode(&Segment::fixed(&file)?) {
        Ok(header) if header.number != number => return Err(corrupt(path, 12)),
        Ok(header) => header,
        Err(offset) => return Err(corrupt(path, offset)),
    };
    // The file was truncated, or exceeds the maximum.
    if header.bytes != length || length > SEGMENT_MAX || !length.is_multiple_of(8) {
        return Err(corrupt(path, length));
    }
    // A copy of the file may be sparse where it was zero.
    crate::mapping::allocate(&file, length)?;
    let segment = Segment::map_lazily(&file, number)?.guarded();
    Ok((MappedSegment { file, path, segment }, header))
}

/// Checks that a segment after the end of the journal contains no data that was ever known to be
/// durable.
fn check_unused(mapped: &MappedSegment, is_same_boot: bool) -> Result<(), JournalError> {
    let is_empty = mapped.segment.slot(SEGMENT_HEADER) == Some(Slot::Empty);
    let was_durable = mapped.segment.durable() > SEGMENT_HEADER as u64;
    if !is_empty && (is_same_boot || was_durable) {
        return Err(corrupt(mapped.path.clone(), SEGMENT_HEADER as u64));
    }
    Ok(())
}

/// Scans a segment to its last record or its end-of-segment word. The second result is `true` if
/// the segment is torn.
///
/// After a process crash everything is in place. After a machine crash any pages may be missing:
/// after the durable mark, the first record without a matching checksum ends the journal.
///
/// `previous` are the offsets of the newest records in the previous segment, if that is present.
fn scan(
    mapped: &MappedSegment,
    is_same_boot: bool,
    previous: Option<[u32; 3]>,
) -> Result<(SegmentScan, bool), JournalError> {
    let durable = mapped.segment.durable();
    let mut scan = SegmentScan::new();
    loop {
        let offset = scan.end;
        let is_known = is_same_boot || (offset as u64) < durable;
        let corrupt_here = || corrupt(mapped.path.clone(), offset as u64);
        match mapped.segment.slot(offset) {
            Some(Slot::End) => {
                scan.closed = true;
                return Ok((scan, false));
            }
            Some(Slot::Empty) if (offset as u64) < durable => return Err(corrupt_here()),
            Some(Slot::Empty) => return Ok((scan, false)),
            Some(Slot::Record(record, header)) => {
                match check_record(&mapped.segment, (record, header), &scan, previous) {
                    ChecksumState::Match if scan.checked == offset => {
                        scan.advance(record, header);
                        scan.checked = scan.end;
                    }
                    ChecksumState::Match => scan.advance(record, header),
                    ChecksumState::None if is_same_boot && offset as u64 >= durable => {
                        scan.advance(record, header);
                    }
                    ChecksumState::None | ChecksumState::Mismatch if is_known => {
                        return Err(corrupt_here());
                    }
                    ChecksumState::None | ChecksumState::Mismatch => return Ok((scan, true)),
                }
            }
            None if is_known => return Err(corrupt_here()),
            None => return Ok((scan, true)),
        }
    }
}

enum ChecksumState {
    Match,
    None,
    Mismatch,
}

fn check_record(
    segment: &Segment,
    (record, header): (Record, Header),
    scan: &SegmentScan,
    previous: Option<[u32; 3]>,
) -> ChecksumState {
    let index = record.direction.index();
    let before = scan.last[index];
    let is_linked = if header.is_copy() {
        // A copy is always of the newest record, so its origin is where a record begins.
        before == 0 && previous.is_none_or(|last| header.back() == last[index])
    } else {
        header.back() == before
    };
    if !is_linked {
        return ChecksumState::Mismatch;
    }
    match header.checksum() {
        0 => ChecksumState::None,
        sum if sum == header.sum(segment.payload(record, record.next())) => ChecksumState::Match,
        _ => ChecksumState::Mismatch,
    }
}

pub(super) fn corrupt(path: PathBuf, offset: u64) -> JournalError {
    JournalError::Corrupt { path, offset }
}
