//! Where an order is, by a key: a hash table that never grows.

/// No slot.
const NONE: u32 = u32::MAX;

/// Places of a table, open addressing with linear probing; at most half are taken, so that a
/// search ends soon. It knows hashes and slots, the caller the keys.
#[derive(Debug, Clone)]
pub(super) struct Index {
    places: Box<[Place]>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    hash: u32,
    slot: u32,
}

const EMPTY: Place = Place { hash: 0, slot: NONE };

impl Index {
    /// An index of up to `capacity` slots.
    pub(super) fn new(capacity: usize) -> Self {
        let places = (capacity.max(1) * 2).next_power_of_two();
        Self { places: vec![EMPTY; places].into() }
    }

    /// The slot under `hash` that `is_meant`.
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
            at = self.behind(at);
        }
    }

    /// Adds a slot; the caller sees to it that there are no more than were asked for.
    #[inline]
    pub(super) fn insert(&mut self, hash: u32, slot: u32) {
        let mut at = self.home(hash);
        while self.places[at].slot != NONE {
            at = self.behind(at);
        }
        self.places[at] = Place { hash, slot };
    }

    /// Takes a slot out, and moves those that were pushed away by it closer to their home.
    pub(super) fn remove(&mut self, hash: u32, slot: u32) {
        let mut hole = self.home(hash);
        while self.places[hole].slot != slot {
            if self.places[hole].slot == NONE {
                return;
            }
            hole = self.behind(hole);
        }
        let mut at = hole;
        loop {
            at = self.behind(at);
            let place = self.places[at];
            if place.slot == NONE {
                break;
            }
            let mask = self.places.len() - 1;
            let pushed = at.wrapping_sub(self.home(place.hash)) & mask;
            if pushed >= at.wrapping_sub(hole) & mask {
                self.places[hole] = place;
                hole = at;
            }
        }
        self.places[hole] = EMPTY;
    }

    fn home(&self, hash: u32) -> usize {
        hash as usize & (self.places.len() - 1)
    }

    fn behind(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }
}

/// Spreads a number over 32 bits.
#[inline]
pub(super) fn hash(number: u64) -> u32 {
    // 2^64 divided by the golden ratio: what Knuth recommends for multiplicative hashing.
    (number.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

/// Spreads twenty bytes over 32 bits.
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
    fn finds_what_a_map_finds_whatever_came_and_went() {
        let (capacity, mut index, mut map) = (16, Index::new(16), BTreeMap::new());
        let mut random = 1_u64;
        for _ in 0..20_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Few hashes, so that they collide and wrap around the end.
            let (slot, hash) = ((random >> 40) as u32 % capacity, 28 + (random >> 50) as u32 % 6);
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
    fn taking_out_what_is_not_there_changes_nothing() {
        let mut index = Index::new(2);
        index.insert(1, 0);
        index.remove(2, 0);
        index.remove(1, 1);
        assert_eq!(index.find(1, |slot| slot == 0), Some(0));
    }

    #[test]
    fn texts_that_differ_in_their_last_byte_are_told_apart() {
        let (mut one, mut other) = ([b'1'; 20], [b'1'; 20]);
        (one[19], other[19]) = (b'2', b'3');
        assert_ne!(hash_text(&one), hash_text(&other));
    }
}
