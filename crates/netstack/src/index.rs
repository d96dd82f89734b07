//! Open-addressing hash tables over slots of `u32`: a hash leads to the index of an element in
//! another slice.
//!
//! The number of slots is a power of two, and at most half are used, so searches are short. Callers
//! check each index against its slice, because the arena may contain anything.

/// The marker for "no element".
pub(crate) const NONE: u32 = u32::MAX;

/// Returns the slot and the element for which `is` returns `true`.
#[inline]
pub(crate) fn find(
    slots: &[u32],
    hash: u32,
    matches: impl Fn(u32) -> bool,
) -> Option<(usize, u32)> {
    let mask = slots.len().wrapping_sub(1);
    let mut at = hash as usize & mask;
    for _ in 0..slots.len() {
        let element = *slots.get(at)?;
        if element == NONE {
            return None;
        }
        if matches(element) {
            return Some((at, element));
        }
        at = (at + 1) & mask;
    }
    None
}

/// Inserts an element that is not present; `None` if every slot is used.
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

/// Empties a slot and moves later elements up that would become unreachable; `None` if one of them
/// has no hash.
pub(crate) fn remove(
    slots: &mut [u32],
    slot: usize,
    hash_of: impl Fn(u32) -> Option<u32>,
) -> Option<()> {
    let mask = slots.len() - 1;
    let (mut gap, mut at) = (slot, slot);
    for _ in 0..slots.len() {
        at = (at + 1) & mask;
        if slots[at] == NONE {
            break;
        }
        // An element may move if the gap is between its preferred slot and its current one.
        let own = hash_of(slots[at])? as usize & mask;
        if at.wrapping_sub(own) & mask >= at.wrapping_sub(gap) & mask {
            slots[gap] = slots[at];
            gap = at;
        }
    }
    slots[gap] = NONE;
    Some(())
}

/// Mixes two words: the high and low half of their product, combined.
#[inline]
pub(crate) const fn mix(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Elements hash to few slots, including the last ones, and are removed in every order.
    #[test]
    fn elements_are_found_until_they_are_removed() {
        let hash_of = |element: u32| [14, 14, 15, 15, 0, 14, 1, 15][element as usize];
        for first in 0..8 {
            for second in 0..8 {
                let mut slots = [NONE; 16];
                (0..8).for_each(|element| insert(&mut slots, hash_of(element), element).unwrap());
                for removed in [first, second] {
                    if let Some((slot, _)) = find(&slots, hash_of(removed), |e| e == removed) {
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
    fn searches_of_full_slots_end() {
        assert_eq!(find(&[1; 8], 3, |_| false), None);
        assert_eq!(find(&[], 3, |_| true), None);
        assert_eq!(insert(&mut [1; 8], 3, 2), None);
        assert_eq!(remove(&mut [1; 8], 3, |_| None), None);
        assert_eq!(remove(&mut [1; 8], 3, Some), Some(()));
    }
}
