//! The store of one FIX session: which message had which sequence number.
//!
//! Reports themselves are in the journal; a slot has the position. The file consists of slots of 32
//! bytes, each with a CRC-32 of its first 28 bytes in its last four. All integers are
//! little-endian.
//!
//! ```text
//! slot 0     magic "HPFIXDC1" | place before the first message: segment u32, offset u32 |
//!            zeros [8] | sum u32
//! slot 1, 2  count of writes u64 | next incoming MsgSeqNum u32 | zeros; the higher count is valid
//! slot 3     zeros, without a CRC
//! slot 3+n   MsgSeqNum n u32 | kind u32: 1 session message, 2 report | SendingTime u64, ns |
//!            place of a report: segment u32, offset u32 | sum u32
//! ```
//!
//! The sum is the CRC-32 of the report's payload and journal time, so that a number is never sent
//! again with a report of another journal.
//!
//! Slots are appended and synced before their messages are sent. So after a kill the store has
//! every number that was sent, and perhaps some that were not: the client requests these again. A
//! file with an incomplete last part is truncated when it is opened.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hairpin_time::Utc;

const MAGIC: [u8; 8] = *b"HPFIXDC1";
const SLOT: usize = 32;
/// Slots before the first message, less one.
const FIRST: u64 = 3;
const ADMIN: u32 = 1;
const REPORT: u32 = 2;

/// A place in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Position {
    pub(super) segment: u32,
    pub(super) offset: u32,
    /// The CRC-32 of the record's payload and time.
    pub(super) sum: u32,
}

impl Position {
    fn place(self) -> u64 {
        u64::from(self.segment) | u64::from(self.offset) << 32
    }
}

/// A message that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sent {
    pub(super) sending_time: Utc,
    /// The report's place in the journal. `None` for a session message.
    pub(super) report: Option<Position>,
}

/// The store, locked while it is open.
#[derive(Debug)]
pub(super) struct SessionStore {
    file: File,
    path: PathBuf,
    /// Slots that are not yet in the file.
    pending: Vec<u8>,
    /// The number of the next message, pending ones included.
    next_outgoing: u32,
    next_incoming: u32,
    /// The number of writes of the next incoming number.
    incoming_writes: u64,
    /// The position of the last report that was sent.
    last_report: Option<Position>,
}

impl SessionStore {
    /// Opens the store of a client in a folder, or creates both.
    ///
    /// # Errors
    /// A store that is open in another process, or that was changed; errors of the file system.
    pub(super) fn open(folder: &Path, client: &str) -> Result<Self> {
        fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let path = folder.join(format!("{client}.fixstore"));
        let named = || format!("cannot open the store {}", path.display());
        match open_locked(&path).with_context(named)? {
            Some(file) => Self::recover(file, &path).with_context(named),
            None => Self::create(&path, None).with_context(named),
        }
    }

    /// Creates an empty store and moves it into place.
    fn create(path: &Path, start: Option<Position>) -> Result<Self> {
        let new = path.with_extension("fixstore.new");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        let mut file = options.open(&new)?;
        file.try_lock().map_err(busy)?;
        let mut image = Vec::new();
        let start = start.unwrap_or_default();
        image.extend(slot([u64::from_le_bytes(MAGIC), start.place(), 0], start.sum));
        image.extend(incoming_slot(1, 1));
        image.extend(incoming_slot(0, 1));
        image.extend([0; SLOT]);
        file.write_all(&image)?;
        file.sync_all()?;
        fs::rename(&new, path)?;
        File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()?;
        Self::recover(file, path)
    }

    /// Reads the store, and truncates it after the last complete slot.
    fn recover(file: File, path: &Path) -> Result<Self> {
        let mut input = BufReader::with_capacity(1 << 20, &file);
        input.rewind()?;
        let mut head = [[0; SLOT]; 4];
        for slot in &mut head {
            input.read_exact(slot).context("it is too short")?;
        }
        let ([magic, start, _], sum) = words(&head[0]).context("its first slot is not valid")?;
        if magic != u64::from_le_bytes(MAGIC) {
            bail!("its first slot is not valid");
        }
        let incoming = head[1..3].iter().filter_map(words).max();
        let ([incoming_writes, next_incoming, _], _) =
            incoming.context("it has no incoming number")?;
        let mut last_report = (start > 0).then(|| position(start, sum));
        let (mut count, mut slots, mut wrong) = (0_u32, 0_u32, None);
        let mut slot = [0; SLOT];
        let mut filled = 0;
        loop {
            let read = input.read(&mut slot[filled..])?;
            filled += read;
            if read > 0 && filled < SLOT {
                continue;
            }
            if filled < SLOT {
                break;
            }
            filled = 0;
            slots += 1;
            match words(&slot).filter(|([number, ..], _)| *number as u32 == slots) {
                Some(_) if wrong.is_some() => bail!("message {} is damaged", wrong.unwrap_or(0)),
                Some(words) => {
                    count = slots;
                    last_report = sent(words).report.or(last_report);
                }
                None => wrong = wrong.or(Some(slots)),
            }
        }
        file.set_len((u64::from(count) + 1 + FIRST) * SLOT as u64)?;
        Ok(Self {
            path: path.to_owned(),
            pending: Vec::new(),
            next_outgoing: count + 1,
            next_incoming: next_incoming as u32,
            incoming_writes,
            last_report,
            file,
        })
    }

    /// Restarts both numbers at 1. Reports continue after the last one that was sent.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn reset(&mut self) -> Result<()> {
        let named = || format!("cannot reset the store {}", self.path.display());
        *self = Self::create(&self.path, self.last_report).with_context(named)?;
        Ok(())
    }

    /// Returns the number of the next message to the client.
    pub(super) fn next_outgoing(&self) -> u32 {
        self.next_outgoing
    }

    /// Returns the expected number of the client's next message.
    pub(super) fn next_incoming(&self) -> u32 {
        self.next_incoming
    }

    /// Returns the position of the last report that was sent.
    pub(super) fn last_report(&self) -> Option<Position> {
        self.last_report
    }

    /// Adds a message and returns its number. [`sync`](Self::sync) must precede its sending.
    pub(super) fn append(&mut self, message: Sent) -> u32 {
        let number = self.next_outgoing;
        let kind = if message.report.is_some() { REPORT } else { ADMIN };
        let report = message.report.unwrap_or_default();
        let first = u64::from(number) | u64::from(kind) << 32;
        let words = [first, message.sending_time.as_nanos(), report.place()];
        self.pending.extend(slot(words, report.sum));
        self.next_outgoing += 1;
        self.last_report = message.report.or(self.last_report);
        number
    }

    /// Writes and syncs the messages that were added.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn sync(&mut self) -> Result<()> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let count = (self.pending.len() / SLOT) as u32;
        let at = place_of(self.next_outgoing - count);
        let written = self.file.write_all_at(&self.pending, at);
        let synced = written.and_then(|()| self.file.sync_data());
        synced.with_context(|| format!("cannot write the store {}", self.path.display()))?;
        self.pending.clear();
        Ok(())
    }

    /// Sets the expected number of the client's next message.
    ///
    /// The file is not synced: after a power failure an earlier number is expected, and the client
    /// is asked to send the rest again.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn set_next_incoming(&mut self, number: u32) -> Result<()> {
        self.incoming_writes += 1;
        self.next_incoming = number;
        let at = if self.incoming_writes.is_multiple_of(2) { 2 } else { 1 } * SLOT as u64;
        let slot = incoming_slot(self.incoming_writes, number);
        let written = self.file.write_all_at(&slot, at);
        written.with_context(|| format!("cannot write the store {}", self.path.display()))
    }

    /// Returns a message that was sent.
    ///
    /// # Errors
    /// Those of the file system, or a slot that was changed.
    pub(super) fn sent(&mut self, number: u32) -> Result<Sent> {
        self.sync()?;
        let named = || format!("cannot read message {number} of {}", self.path.display());
        let mut slot = [0; SLOT];
        self.file.read_exact_at(&mut slot, place_of(number)).with_context(named)?;
        let words = words(&slot).filter(|([first, ..], _)| *first as u32 == number);
        Ok(sent(words.context("it is damaged").with_context(named)?))
    }
}

/// Returns the offset of a message's slot.
fn place_of(number: u32) -> u64 {
    (u64::from(number) + FIRST) * SLOT as u64
}

fn open_locked(path: &Path) -> Result<Option<File>> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => {
            file.try_lock().map_err(busy)?;
            Ok(Some(file))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn busy(error: TryLockError) -> anyhow::Error {
    match error {
        TryLockError::WouldBlock => anyhow::anyhow!("already open, by another drop copy"),
        TryLockError::Error(error) => error.into(),
    }
}

/// Returns a slot with its checksum.
fn slot(words: [u64; 3], sum: u32) -> [u8; SLOT] {
    let mut slot = [0; SLOT];
    for (to, word) in slot.chunks_exact_mut(8).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
    slot[SLOT - 8..SLOT - 4].copy_from_slice(&sum.to_le_bytes());
    let crc = crc32fast::hash(&slot[..SLOT - 4]);
    slot[SLOT - 4..].copy_from_slice(&crc.to_le_bytes());
    slot
}

fn incoming_slot(writes: u64, number: u32) -> [u8; SLOT] {
    slot([writes, u64::from(number), 0], 0)
}

/// Returns three words of 64 bits and the sum of a slot with a valid checksum.
fn words(slot: &[u8; SLOT]) -> Option<([u64; 3], u32)> {
    let (rest, crc) = slot.split_last_chunk::<4>()?;
    let is_valid = crc32fast::hash(rest).to_le_bytes() == *crc;
    let (words, sum) = rest.as_chunks::<8>();
    let sum = u32::from_le_bytes(*sum.first_chunk()?);
    is_valid.then(|| (std::array::from_fn(|at| u64::from_le_bytes(words[at])), sum))
}

fn position(place: u64, sum: u32) -> Position {
    Position { segment: place as u32, offset: (place >> 32) as u32, sum }
}

fn sent(([first, sending_time, place], sum): ([u64; 3], u32)) -> Sent {
    let is_report = (first >> 32) as u32 == REPORT;
    Sent {
        sending_time: Utc::from_nanos(sending_time),
        report: is_report.then(|| position(place, sum)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(segment: u32, offset: u32) -> Sent {
        let sending_time = Utc::from_nanos(u64::from(offset) + 7);
        Sent { sending_time, report: Some(Position { segment, offset, sum: 3 }) }
    }

    const ADMIN: Sent = Sent { sending_time: Utc::from_nanos(5), report: None };

    fn filled(folder: &Path) -> SessionStore {
        let mut store = SessionStore::open(folder, "A").unwrap();
        assert_eq!((store.next_outgoing(), store.next_incoming()), (1, 1));
        assert_eq!([ADMIN, report(1, 128), report(2, 256)].map(|it| store.append(it)), [1, 2, 3]);
        store.sync().unwrap();
        store
    }

    #[test]
    fn reopened_store_has_what_was_synced() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = filled(folder.path());
        store.set_next_incoming(9).unwrap();
        store.set_next_incoming(10).unwrap();
        store.append(ADMIN);
        drop(store);
        let mut store = SessionStore::open(folder.path(), "A").unwrap();
        assert_eq!((store.next_outgoing(), store.next_incoming()), (4, 10));
        assert_eq!(store.last_report(), Some(Position { segment: 2, offset: 256, sum: 3 }));
        assert_eq!(store.sent(1).unwrap(), ADMIN);
        assert_eq!(store.sent(2).unwrap(), report(1, 128));
        assert!(store.sent(4).is_err());
        assert_eq!(store.append(report(2, 512)), 4);
        assert_eq!(store.sent(4).unwrap(), report(2, 512));
    }

    #[test]
    fn store_cut_at_any_byte_keeps_whole_messages() {
        let folder = tempfile::tempdir().unwrap();
        drop(filled(folder.path()));
        let path = folder.path().join("A.fixstore");
        let image = fs::read(&path).unwrap();
        for length in 4 * SLOT..=image.len() {
            fs::write(&path, &image[..length]).unwrap();
            let mut store = SessionStore::open(folder.path(), "A").unwrap();
            let count = (length / SLOT - 4) as u32;
            assert_eq!(store.next_outgoing(), count + 1, "{length}");
            assert_eq!(store.append(report(9, 64)), count + 1);
            store.sync().unwrap();
            drop(store);
            let mut store = SessionStore::open(folder.path(), "A").unwrap();
            assert_eq!(store.sent(count + 1).unwrap(), report(9, 64));
        }
        for length in 0..4 * SLOT {
            fs::write(&path, &image[..length]).unwrap();
            let error = SessionStore::open(folder.path(), "A").unwrap_err();
            assert!(format!("{error:#}").contains("A.fixstore: it is too short"), "{error:#}");
        }
    }

    #[test]
    fn torn_end_is_truncated_and_damage_before_it_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        drop(filled(folder.path()));
        let path = folder.path().join("A.fixstore");
        let mut image = fs::read(&path).unwrap();
        let length = image.len();
        image[length - 9] ^= 1;
        fs::write(&path, &image).unwrap();
        assert_eq!(SessionStore::open(folder.path(), "A").unwrap().next_outgoing(), 3);
        image[length - 9] ^= 1;
        image[5 * SLOT + 3] ^= 1;
        fs::write(&path, &image).unwrap();
        let error = format!("{:#}", SessionStore::open(folder.path(), "A").unwrap_err());
        assert!(error.ends_with("A.fixstore: message 2 is damaged"), "{error}");
    }

    #[test]
    fn torn_incoming_number_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = filled(folder.path());
        (2..8).for_each(|number| store.set_next_incoming(number).unwrap());
        drop(store);
        let path = folder.path().join("A.fixstore");
        let image = fs::read(&path).unwrap();
        let found: Vec<u32> = [1, 2]
            .into_iter()
            .map(|torn| {
                let mut image = image.clone();
                image[torn * SLOT] ^= 0xFF;
                fs::write(&path, &image).unwrap();
                SessionStore::open(folder.path(), "A").unwrap().next_incoming()
            })
            .collect();
        assert_eq!(found, [6, 7]);
    }

    #[test]
    fn reset_restarts_numbers_after_the_last_report() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = filled(folder.path());
        store.set_next_incoming(9).unwrap();
        store.reset().unwrap();
        assert_eq!((store.next_outgoing(), store.next_incoming()), (1, 1));
        drop(store);
        let store = SessionStore::open(folder.path(), "A").unwrap();
        assert_eq!((store.next_outgoing(), store.next_incoming()), (1, 1));
        assert_eq!(store.last_report(), Some(Position { segment: 2, offset: 256, sum: 3 }));
    }

    #[test]
    fn store_is_open_once() {
        let folder = tempfile::tempdir().unwrap();
        let _store = filled(folder.path());
        let error = format!("{:#}", SessionStore::open(folder.path(), "A").unwrap_err());
        assert!(error.ends_with("A.fixstore: already open, by another drop copy"), "{error}");
    }
}
