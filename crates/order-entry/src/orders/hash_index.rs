//! A hash table of fixed size that maps keys to slots.

/// The slot value of an empty entry.
const NONE: u32 = u32::MAX;

/// A hash table with open addressing and linear probing. At most half of the entries are used, so
/// searches are short. It stores hashes and slots; the caller has the keys.
#[derive(Debug, Clone)]
pub(super) struct HashIndex {
    places: Box<[Place]>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    hash: u32,
    slot: u32,
}

const EMPTY: Place = Place { hash: 0, slot: NONE };

impl HashIndex {
    /// Creates an index for up to `capacity` slots.
    pub(super) fn new(capacity: usize) -> Self {
        let places = (capacity.max(1) * 2).next_power_of_two();
        Self { places: vec![EMPTY; places].into() }
    }

    /// Returns the slot with this hash for which `is_meant` returns `true`.
    #[inline]
    pub(super) fn find(&self, hash: u32, is_meant: impl Fn(u32) -> bool) -> Option<u32> {
        let mut at = self.home(hash);
        loop {
            let place = self.places[at];
            if place.slot == NONE {
                return None;
            }
            if place.hash == hash && is_meant(place.slot) {
                return Some(place.slot);
            }
            at = self.next_position(at);
        }
    }

    /// Adds a slot. The caller must not exceed the capacity.
    #[inline]
    pub(super) fn insert(&mut self, hash: u32, slot: u32) {
        let mut at = self.home(hash);
        while self.places[at].slot != NONE {
            at = self.next_position(at);
        }
        self.places[at] = Place { hash, slot };
    }

    /// Removes a slot, and moves displaced entries closer to their home position.
    pub(super) fn remove(&mut self, hash: u32, slot: u32) {
        let mut gap = self.home(hash);
        while self.places[gap].slot != slot {
            if self.places[gap].slot == NONE {
                return;
            }
            gap = self.next_position(gap);
        }
        let mut at = gap;
        loop {
            at = self.next_position(at);
            let place = self.places[at];
            if place.slot == NONE {
                break;
            }
            let mask = self.places.len() - 1;
            let displacement = at.wrapping_sub(self.home(place.hash)) & mask;
            if displacement >= at.wrapping_sub(gap) & mask {
                self.places[gap] = place;
                gap = at;
            }
        }
        self.places[gap] = EMPTY;
    }

    fn home(&self, hash: u32) -> usize {
        hash as usize & (self.places.len() - 1)
    }

    fn next_position(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }
}

/// Hashes a number to 32 bits.
#[inline]
pub(super) fn hash(number: u64) -> u32 {
    // 2^64 divided by the golden ratio: Knuth's constant for multiplicative hashing.
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

/// Hashes 20 bytes to 32 bits.
#[inline]
pub(super) fn hash_text(text: &[u8; 20]) -> u32 {
    let (words, rest) = text.as_chunks::<8>();
    let last = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    words.iter().fold(hash(last), |sum, word| hash(u64::from_le_bytes(*word) ^ u64::from(sum)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn finds_what_a_map_finds_after_inserts_and_removals() {
        let (capacity, mut index, mut map) = (16, HashIndex::new(16), BTreeMap::new());
        let mut random = hairpin_testkit::Random::new(1);
        for _ in 0..20_000 {
            // Few hashes, so that entries collide and wrap around the end.
            let slot = random.below(capacity.into()) as u32;
            let hash = 28 + random.below(6) as u32;
            match map.remove(&slot) {
                Some(hash) => index.remove(hash, slot),
                None => {
                    map.insert(slot, hash);
                    index.insert(hash, slot);
                }
            }
            for slot in 0..capacity {
                let hash = map.get(&slot).copied();
                let found = (28..34).find(|&hash| index.find(hash, |it| it == slot).is_some());
                assert_eq!(found, hash);
            }
        }
    }

    #[test]
    fn removing_a_missing_entry_changes_nothing() {
        let mut index = HashIndex::new(2);
        index.insert(1, 0);
        index.remove(2, 0);
        index.remove(1, 1);
        assert_eq!(index.find(1, |slot| slot == 0), Some(0));
    }

    #[test]
    fn texts_that_differ_in_their_last_byte_hash_differently() {
        let (mut one, mut other) = ([b'1'; 20], [b'1'; 20]);
        (one[19], other[19]) = (b'2', b'3');
        assert_ne!(hash_text(&one), hash_text(&other));
    }
}
