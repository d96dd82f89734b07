//! A file, and what a crash leaves of it.

use crate::Random;

/// Bytes that are appended, synced, and after a crash only partly there.
///
/// What was synced survives. Of what was not, a prefix of any length does, none and all included:
/// the order of appending is kept, as of a file that is only appended to.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Storage {
    bytes: Vec<u8>,
    synced: usize,
}

impl Storage {
    /// An empty file.
    #[must_use]
    pub const fn new() -> Self {
        Self { bytes: Vec::new(), synced: 0 }
    }

    /// Writes at the end.
    pub fn append(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// What stands in the file now survives a crash.
    pub fn sync(&mut self) {
        self.synced = self.bytes.len();
    }

    /// What a reader sees: everything, synced or not.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many bytes survive any crash.
    #[must_use]
    pub const fn synced(&self) -> usize {
        self.synced
    }

    /// The machine stops and comes back; what is left then is synced. Returns how many bytes are
    /// lost.
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
    fn a_crash_keeps_what_was_synced_and_any_prefix_of_the_rest() {
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
            assert_eq!(storage.crash(&mut Random::new(seed)), 0, "a second crash has no more");
            lengths.insert(storage.bytes().len());
        }
        assert_eq!(lengths.into_iter().collect::<Vec<_>>(), [4, 5, 6, 7, 8]);
    }
}
