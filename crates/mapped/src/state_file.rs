//! A memory file of slots that one process writes and another reads, also after the writer's death.

use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};

use memmap2::{Advice, MmapRaw};

use crate::mapping;

const FILE_NAME: &std::ffi::CStr = c"hairpin-state";
/// The number of words of a slot: one cache line.
const WORDS: usize = 16;
/// The length of a slot before its ring. A ring begins at a page, so that it can be populated.
const HEAD: usize = 4_096;

/// The reader of a state file, which creates it.
///
/// The file's size is sealed. The reader copies with read(2) and has no mapping, so nothing that
/// the writer does can make it fail: it reads any bytes at most.
#[derive(Debug)]
pub struct StateReader {
    file: File,
    slots: u32,
    ring: usize,
}

impl StateReader {
    /// Creates a file of `slots` slots with `ring` bytes each, a multiple of the page size. Memory
    /// is allocated when a slot is taken.
    ///
    /// # Errors
    /// The kernel's, if memory or descriptors are exhausted.
    pub fn create(slots: u32, ring: usize) -> io::Result<Self> {
        let file = mapping::create(FILE_NAME)?;
        file.set_len(u64::from(slots) * (HEAD + ring) as u64)?;
        mapping::seal_size(&file)?;
        Ok(Self { file, slots, ring })
    }

    /// Returns the file, to be passed to the writer.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the length of a ring.
    #[must_use]
    pub fn ring_length(&self) -> usize {
        self.ring
    }

    /// Returns all words of a slot, each as it was last stored.
    ///
    /// # Errors
    /// `InvalidInput` for a slot that does not exist.
    pub fn words(&self, slot: u32) -> io::Result<[u32; WORDS]> {
        let mut bytes = [0; 4 * WORDS];
        self.file.read_exact_at(&mut bytes, self.offset(slot)?)?;
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_ne_bytes(bytes.try_into().expect("four bytes"));
        }
        Ok(words)
    }

    /// Copies `length` bytes of a slot's ring from `at` on, modulo its length.
    ///
    /// # Errors
    /// `InvalidInput` for a slot that does not exist, and for more bytes than a ring has.
    pub fn bytes(&self, slot: u32, at: u32, length: usize) -> io::Result<Vec<u8>> {
        let start = at as usize % self.ring;
        let offset = self.offset(slot)? + HEAD as u64;
        if length > self.ring {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut bytes = vec![0; length];
        let (first, second) = bytes.split_at_mut(length.min(self.ring - start));
        self.file.read_exact_at(first, offset + start as u64)?;
        self.file.read_exact_at(second, offset)?;
        Ok(bytes)
    }

    fn offset(&self, slot: u32) -> io::Result<u64> {
        if slot >= self.slots {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(u64::from(slot) * (HEAD + self.ring) as u64)
    }
}

/// The writer of a state file. A forked child does not inherit the mapping.
///
/// A file has one writer in its lifetime: the kernel refuses further writable mappings, and
/// write(2).
pub struct StateFile {
    memory: MmapRaw,
    ring: usize,
    free: Mutex<Vec<u32>>,
}

impl StateFile {
    /// Maps a file of [`StateReader::create`] with the same arguments.
    ///
    /// # Errors
    /// `InvalidData` for another file, `PermissionDenied` if the file has or had a writer already;
    /// otherwise the kernel's. `Unsupported` before kernel 5.1, which cannot refuse other writers.
    pub fn open(file: &File, slots: u32, ring: usize) -> io::Result<Arc<Self>> {
        let length = u64::from(slots) * (HEAD + ring) as u64;
        if !mapping::is_size_sealed(file) || file.metadata()?.len() != length {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let memory = MmapRaw::map_raw(file)?;
        // Of two writers that have mapped the file, one can add the seals.
        mapping::seal_writer(file)?;
        memory.advise(Advice::DontFork)?;
        Ok(Arc::new(Self { memory, ring, free: Mutex::new((0..slots).rev().collect()) }))
    }

    /// Takes a slot, with all words zero and its memory present; `None` if all are taken.
    ///
    /// # Errors
    /// The kernel's, if memory is exhausted.
    pub fn take(self: &Arc<Self>) -> io::Result<Option<StateSlot>> {
        let Some(index) = self.free().pop() else { return Ok(None) };
        let slot = StateSlot { file: Arc::clone(self), index };
        let (start, length) = (slot.offset(), HEAD + self.ring);
        match self.memory.advise_range(Advice::PopulateWrite, start, length) {
            // Kernels before 5.14 do not support the advice, and populate later.
            Err(error) if error.raw_os_error() != Some(libc::EINVAL) => return Err(error),
            _ => {}
        }
        slot.words().iter().for_each(|word| word.store(0, std::sync::atomic::Ordering::Release));
        Ok(Some(slot))
    }

    fn free(&self) -> std::sync::MutexGuard<'_, Vec<u32>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for StateFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateFile").field("ring", &self.ring).finish_non_exhaustive()
    }
}

/// A slot of a state file: [`words`](Self::words), and a ring of bytes to which this value
/// dereferences. Dropping the value frees the slot.
#[derive(Debug)]
pub struct StateSlot {
    file: Arc<StateFile>,
    index: u32,
}

impl StateSlot {
    /// Returns the slot's number.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Returns the slot's words.
    #[must_use]
    #[inline]
    pub fn words(&self) -> &[AtomicU32; WORDS] {
        // SAFETY: `index` is below the number of slots, so its words are inside the mapping, which
        // lives as long as `file`. The offset is a multiple of the page size. The seals forbid any
        // other mapping that can write, and this one accesses them only as atomics.
        unsafe { &*self.file.memory.as_mut_ptr().add(self.offset()).cast() }
    }

    #[inline]
    fn offset(&self) -> usize {
        self.index as usize * (HEAD + self.file.ring)
    }
}

impl Deref for StateSlot {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the ring of this slot is inside the mapping, which lives as long as `file`. The
        // seals forbid any other mapping that can write, and write(2). A slot has one owner.
        unsafe {
            let start = self.file.memory.as_ptr().add(self.offset() + HEAD);
            std::slice::from_raw_parts(start, self.file.ring)
        }
    }
}

impl DerefMut for StateSlot {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as for `deref`; the owner is borrowed exclusively.
        unsafe {
            let start = self.file.memory.as_mut_ptr().add(self.offset() + HEAD);
            std::slice::from_raw_parts_mut(start, self.file.ring)
        }
    }
}

impl Drop for StateSlot {
    fn drop(&mut self) {
        self.file.free().push(self.index);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    fn pair(slots: u32, ring: usize) -> (StateReader, Arc<StateFile>) {
        let reader = StateReader::create(slots, ring).unwrap();
        let writer = StateFile::open(reader.file(), slots, ring).unwrap();
        (reader, writer)
    }

    #[test]
    fn reader_copies_words_and_wrapped_bytes() {
        let (reader, writer) = pair(3, 8_192);
        let _first = writer.take().unwrap().unwrap();
        let mut slot = writer.take().unwrap().unwrap();
        slot.words()[15].store(7, Ordering::Release);
        slot[8_190..].copy_from_slice(b"ab");
        slot[..3].copy_from_slice(b"cde");
        let index = slot.index();
        assert_eq!(reader.words(index).unwrap()[15], 7);
        assert_eq!(reader.words(index - 1).unwrap(), [0; WORDS]);
        assert_eq!(reader.bytes(index, u32::MAX - 1, 5).unwrap(), b"abcde");
        assert_eq!(reader.bytes(index, 0, 8_192).unwrap().len(), 8_192);
    }

    #[test]
    fn reader_rejects_what_does_not_exist() {
        let (reader, _) = pair(2, 4_096);
        assert!(reader.words(2).is_err() && reader.words(u32::MAX).is_err());
        assert!(reader.bytes(0, 1, 4_097).is_err() && reader.bytes(2, 0, 1).is_err());
    }

    #[test]
    fn slots_are_reused_and_cleared() {
        let (_, writer) = pair(1, 4_096);
        let slot = writer.take().unwrap().unwrap();
        slot.words()[0].store(1, Ordering::Release);
        assert!(writer.take().unwrap().is_none());
        drop(slot);
        let slot = writer.take().unwrap().unwrap();
        assert_eq!(slot.words()[0].load(Ordering::Relaxed), 0);
    }

    #[test]
    fn file_has_one_writer_in_its_lifetime() {
        let (reader, writer) = pair(2, 4_096);
        let mut slot = writer.take().unwrap().unwrap();
        slot[0] = 1;
        let second = || StateFile::open(reader.file(), 2, 4_096).map(drop);
        assert_eq!(second().unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        let copy = reader.file().try_clone().unwrap();
        let path = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&copy));
        let reopened = File::options().read(true).write(true).open(path).unwrap();
        assert!(StateFile::open(&reopened, 2, 4_096).is_err());
        assert!(copy.write_all_at(&[2], HEAD as u64).is_err());
        assert_eq!(slot[0], 1);
        drop((slot, writer));
        assert!(second().is_err(), "the reader may still read the state of a dead writer");
    }

    #[test]
    fn one_of_two_writers_at_once_opens_the_file() {
        for _ in 0..100 {
            let reader = StateReader::create(1, 4_096).unwrap();
            let barrier = std::sync::Barrier::new(2);
            let open = || {
                barrier.wait();
                StateFile::open(reader.file(), 1, 4_096).is_ok()
            };
            let (first, second) = std::thread::scope(|scope| {
                let second = scope.spawn(open);
                (open(), second.join().unwrap())
            });
            assert!(first != second);
        }
    }

    #[test]
    fn writer_rejects_another_file() {
        let reader = StateReader::create(1, 4_096).unwrap();
        assert!(StateFile::open(reader.file(), 2, 4_096).is_err());
        assert!(StateFile::open(&tempfile::tempfile().unwrap(), 1, 4_096).is_err());
        assert!(reader.file().set_len(0).is_err());
    }
}
