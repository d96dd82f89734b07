//! Open addressing over slots of `u32`: a hash leads to an element of another slice.
//!
//! The slots are as many as a power of two, and at most half of them are taken, so that a search
//! ends. What an index leads to is held against its slice by whoever asks, for the arena may hold
//! anything.

/// No element.
pub(crate) const NONE: u32 = u32::MAX;

/// The slot and the element for which `is` holds.
#[inline]
pub(crate) fn find(slots: &[u32], hash: u32, is: impl Fn(u32) -> bool) -> Option<(usize, u32)> {
    let mask = slots.len().wrapping_sub(1);
    let mut at = hash as usize & mask;
    for _ in 0..slots.len() {
        let element = *slots.get(at)?;
        if element == NONE {
            return None;
        }
        if is(element) {
            return Some((at, element));
        }
        at = (at + 1) & mask;
    }
    None
}

/// Enters an element that is not there yet; `None` if every slot is taken.
pub(crate) fn insert(slots: &mut [u32], hash: u32, element: u32) -> Option<()> {
    let mask = slots.len() - 1;
    let mut at = hash as usize & mask;
    for _ in 0..slots.len() {
        if slots[at] == NONE {
            slots[at] = element;
            return Some(());
        }
        at = (at + 1) & mask;
    }
    None
}

/// Empties a slot and moves up those behind it that would not be found any more; `None` if one of
/// them has no hash.
pub(crate) fn remove(
    slots: &mut [u32],
    slot: usize,
    hash_of: impl Fn(u32) -> Option<u32>,
) -> Option<()> {
    let mask = slots.len() - 1;
    let (mut hole, mut at) = (slot, slot);
    for _ in 0..slots.len() {
        at = (at + 1) & mask;
        if slots[at] == NONE {
            break;
        }
        // It may move if the hole lies between its own place and where it is.
        let own = hash_of(slots[at])? as usize & mask;
        if at.wrapping_sub(own) & mask >= at.wrapping_sub(hole) & mask {
            slots[hole] = slots[at];
            hole = at;
        }
    }
    slots[hole] = NONE;
    Some(())
}

/// Mixes two words under a key (the high and low half of their product).
#[inline]
pub(crate) const fn mix(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements hash to a few places, at the end of the slots too, and go in any order.
    #[test]
    fn what_was_entered_is_found_until_it_is_removed() {
        let hash_of = |element: u32| [14, 14, 15, 15, 0, 14, 1, 15][element as usize];
        for first in 0..8 {
            for second in 0..8 {
                let mut slots = [NONE; 16];
                (0..8).for_each(|element| insert(&mut slots, hash_of(element), element).unwrap());
                for gone in [first, second] {
                    if let Some((slot, _)) = find(&slots, hash_of(gone), |e| e == gone) {
                        remove(&mut slots, slot, |element| Some(hash_of(element))).unwrap();
                    }
                }
                for element in 0..8 {
                    let found = find(&slots, hash_of(element), |e| e == element).is_some();
                    assert_eq!(found, ![first, second].contains(&element), "{first} {second}");
                }
            }
        }
    }

    #[test]
    fn a_search_of_full_slots_ends() {
        assert_eq!(find(&[1; 8], 3, |_| false), None);
        assert_eq!(find(&[], 3, |_| true), None);
        assert_eq!(insert(&mut [1; 8], 3, 2), None);
        assert_eq!(remove(&mut [1; 8], 3, |_| None), None);
        assert_eq!(remove(&mut [1; 8], 3, Some), Some(()));
    }
}
