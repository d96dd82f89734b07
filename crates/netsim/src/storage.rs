//! An append-only file that loses unsynced bytes in a crash.

use crate::Random;

/// The bytes of an append-only file. Synced bytes survive a crash. Of the unsynced bytes, a prefix
/// of random length survives, from none to all.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Storage {
    bytes: Vec<u8>,
    synced: usize,
}

impl Storage {
    /// Returns an empty file.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), synced: 0 }
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Syncs the file: all bytes so far survive a crash.
    pub fn sync(&mut self) {
        self.synced = self.bytes.len();
    }

    /// Returns all bytes, synced or not.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the number of bytes that survive any crash.
    #[must_use]
    pub const fn synced(&self) -> usize {
        self.synced
    }

    /// Simulates a crash and a restart. Returns the number of lost bytes. The remaining bytes are
    /// synced.
    pub fn crash(&mut self, random: &mut Random) -> usize {
        let unsynced = self.bytes.len() - self.synced;
        let kept = random.below(unsynced as u64 + 1) as usize;
        self.bytes.truncate(self.synced + kept);
        self.sync();
        unsynced - kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crash_keeps_synced_bytes_and_a_prefix_of_the_rest() {
        let mut lengths = std::collections::BTreeSet::new();
        for seed in 0..100 {
            let mut storage = Storage::new();
            storage.append(b"kept");
            storage.sync();
            storage.append(b"lost");
            assert_eq!((storage.bytes(), storage.synced()), (&b"keptlost"[..], 4));
            let lost = storage.crash(&mut Random::new(seed));
            assert!(b"keptlost".starts_with(storage.bytes()) && storage.bytes().len() + lost == 8);
            assert_eq!(storage.synced(), storage.bytes().len());
            assert_eq!(storage.crash(&mut Random::new(seed)), 0, "a second crash loses no bytes");
            lengths.insert(storage.bytes().len());
        }
        assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [4, 5, 6, 7, 8]);
    }
}
