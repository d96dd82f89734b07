//! Open-addressing hash tables over slots of `u32`: a hash leads to the index of an element in
//! another slice.
//!
//! The number of slots is a power of two, and at most half are used, so searches are short and end
//! at an unused slot.

/// The marker for "no element".
pub(crate) const NONE: u32 = u32::MAX;

/// Returns the element, unless it is the marker.
#[inline]
pub(crate) fn some(element: u32) -> Option<u32> {
    (element != NONE).then_some(element)
}

/// Returns the slot and the element for which `is` returns `true`.
#[inline]
pub(crate) fn find(
    slots: &[u32],
    hash: u32,
    matches: impl Fn(u32) -> bool,
) -> Option<(usize, u32)> {
    let mask = slots.len() - 1;
    let mut at = hash as usize & mask;
    loop {
        let element = some(slots[at])?;
        if matches(element) {
            return Some((at, element));
        }
        at = (at + 1) & mask;
    }
}

/// Inserts an element that is not present.
pub(crate) fn insert(slots: &mut [u32], hash: u32, element: u32) {
    let mask = slots.len() - 1;
    let mut at = hash as usize & mask;
    while slots[at] != NONE {
        at = (at + 1) & mask;
    }
    slots[at] = element;
}

/// Empties a slot and moves later elements up that would become unreachable.
pub(crate) fn remove(slots: &mut [u32], slot: usize, hash_of: impl Fn(u32) -> u32) {
    let mask = slots.len() - 1;
    let (mut gap, mut at) = (slot, (slot + 1) & mask);
    while slots[at] != NONE {
        // An element may move if the gap is between its preferred slot and its current one.
        let own = hash_of(slots[at]) as usize & mask;
        if at.wrapping_sub(own) & mask >= at.wrapping_sub(gap) & mask {
            slots[gap] = slots[at];
            gap = at;
        }
        at = (at + 1) & mask;
    }
    slots[gap] = NONE;
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
                (0..8).for_each(|element| insert(&mut slots, hash_of(element), element));
                for removed in [first, second] {
                    if let Some((slot, _)) = find(&slots, hash_of(removed), |e| e == removed) {
                        remove(&mut slots, slot, hash_of);
                    }
                }
                for element in 0..8 {
                    let found = find(&slots, hash_of(element), |e| e == element).is_some();
                    assert_eq!(found, ![first, second].contains(&element), "{first} {second}");
                }
            }
        }
    }
}
