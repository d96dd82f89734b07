//! One side of a price book and what an entry does to it.
//!
//! The rules are CME's for multiple-depth books (Client Systems Wiki, "MDP 3.0 - Market By Price
//! Multiple Depth Book"), with FIX's reading of DeleteThru and DeleteFrom, which CME's text does
//! not spell out: *thru* n removes everything from the best through n, *from* n removes n and
//! everything worse. Sources disagree: EPAM's handler has Thru empty the side and From remove the
//! levels 1 to n. No public capture has either action.
//!
//! A Delete in a full book leaves the last level empty; if the exchange has one for it, that comes
//! as an entry of its own. A New in a full book drops the last level, which no entry says.

use crate::Price9;

/// The most levels a direct book holds on each side: CME's deepest price book.
pub const MAX_DEPTH: usize = 10;

/// The most levels an implied book holds on each side. CME's are 2 deep, those of FX Spot+ 3;
/// with a fourth a book fills four cache lines.
pub const MAX_IMPLIED_DEPTH: usize = 4;

/// One price level of a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Level {
    /// MDEntryPx, as on the wire: multiply by the definition's display factor to show it.
    pub price: Price9,
    /// MDEntrySize: the quantity of all orders at the price.
    pub quantity: u64,
    /// NumberOfOrders, 0 where the exchange does not tell it.
    pub orders: u32,
}

impl Level {
    /// What unused memory holds.
    pub(crate) const NONE: Self = Self { price: Price9(0), quantity: 0, orders: 0 };
}

/// The memory of one side; how many of its levels are in use stands in the instrument's line 0.
pub(crate) type Levels<const N: usize> = [Level; N];

/// MDUpdateAction (tag 279) of a book entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    New,
    Change,
    Delete,
    DeleteThru,
    DeleteFrom,
    Overlay,
}

impl Action {
    /// The action of a wire value, `None` for one that schema version 13 does not have.
    pub(crate) const fn from_wire(value: u8) -> Option<Self> {
        Some(match value {
            0 => Self::New,
            1 => Self::Change,
            2 => Self::Delete,
            3 => Self::DeleteThru,
            4 => Self::DeleteFrom,
            5 => Self::Overlay,
            _ => return None,
        })
    }
}

/// The book does not have the level that the entry needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inapplicable;

/// Replaces one of the `count` levels in use; returns what it was.
#[inline]
pub(crate) fn replace<const N: usize>(
    levels: &mut Levels<N>,
    count: usize,
    level: usize,
    stated: Level,
) -> Result<Level, Inapplicable> {
    match levels.get_mut(level) {
        Some(before) if level < count => Ok(core::mem::replace(before, stated)),
        _ => Err(Inapplicable),
    }
}

/// Applies one entry to a side that uses `count` of at most `depth` levels; returns how many it
/// uses afterwards.
///
/// `level` counts from 0 and is below `depth` for all actions that state a level; `stated` is
/// what they state. `depth` is at most `N`.
// Always inlined: where it is called the action is known, but for two.
#[inline(always)]
pub(crate) fn apply<const N: usize>(
    levels: &mut Levels<N>,
    (count, depth): (usize, usize),
    (action, level): (Action, usize),
    stated: Level,
) -> Result<usize, Inapplicable> {
    debug_assert!(count <= depth && depth <= N);
    match action {
        Action::New | Action::Delete => {
            shift(levels, (count, depth), (action == Action::New, level), stated)
        }
        Action::Change | Action::Overlay => {
            replace(levels, count, level, stated)?;
            Ok(count)
        }
        Action::DeleteThru => {
            let removed = (level + 1).min(count);
            levels.copy_within(removed..count, 0);
            Ok(count - removed)
        }
        Action::DeleteFrom => Ok(count.min(level)),
    }
}

/// Makes room for a new level, or closes up where one is deleted; returns how many there are then.
///
/// Both are one move without a branch between them: which of them comes next cannot be foreseen,
/// and to guess wrong takes longer than to do either.
#[inline(always)]
pub(crate) fn shift<const N: usize>(
    levels: &mut Levels<N>,
    (count, depth): (usize, usize),
    (is_new, level): (bool, usize),
    stated: Level,
) -> Result<usize, Inapplicable> {
    let (opened, closed) = (usize::from(is_new), usize::from(!is_new));
    if level >= count + opened || level >= depth {
        return Err(Inapplicable);
    }
    let last = (count + opened).min(depth) - 1;
    levels.copy_within(level + closed..last + closed, level + opened);
    // What a Delete states goes where the last level was, which is not in use from here on.
    levels[if is_new { level } else { last }] = stated;
    Ok(last + opened)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    fn at(price: i64) -> Level {
        Level { price: Price9(price), quantity: 1, orders: 1 }
    }

    /// A side of `depth` with the given prices, and the prices after one entry.
    fn after(
        prices: &[i64],
        depth: usize,
        action: Action,
        level: usize,
        price: i64,
    ) -> Result<Vec<i64>, Inapplicable> {
        let mut levels = [Level::NONE; MAX_DEPTH];
        for (slot, price) in levels.iter_mut().zip(prices) {
            *slot = at(*price);
        }
        let count = apply(&mut levels, (prices.len(), depth), (action, level - 1), at(price))?;
        Ok(levels[..count].iter().map(|level| level.price.0).collect())
    }

    #[test]
    fn new_shifts_down() {
        assert_eq!(after(&[9, 7], 10, Action::New, 2, 8), Ok([9, 8, 7].to_vec()));
        assert_eq!(after(&[], 10, Action::New, 1, 8), Ok([8].to_vec()));
        assert_eq!(after(&[9, 7], 10, Action::New, 3, 5), Ok([9, 7, 5].to_vec()));
    }

    #[test]
    fn new_in_a_full_book_drops_the_last_level() {
        assert_eq!(after(&[9, 7, 5], 3, Action::New, 1, 10), Ok([10, 9, 7].to_vec()));
        assert_eq!(after(&[9, 7, 5], 3, Action::New, 3, 6), Ok([9, 7, 6].to_vec()));
        let full = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1];
        assert_eq!(
            after(&full, 10, Action::New, 1, 11),
            Ok([11, 10, 9, 8, 7, 6, 5, 4, 3, 2].to_vec())
        );
    }

    #[test]
    fn new_beyond_the_next_level_is_inapplicable() {
        assert_eq!(after(&[9, 7], 10, Action::New, 4, 5), Err(Inapplicable));
    }

    #[test]
    fn change_and_overlay_replace_a_level_that_exists() {
        for action in [Action::Change, Action::Overlay] {
            assert_eq!(after(&[9, 7], 10, action, 2, 6), Ok([9, 6].to_vec()));
            assert_eq!(after(&[9, 7], 10, action, 3, 6), Err(Inapplicable));
        }
    }

    #[test]
    fn delete_shifts_up() {
        assert_eq!(after(&[9, 7, 5], 10, Action::Delete, 1, 0), Ok([7, 5].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, Action::Delete, 3, 0), Ok([9, 7].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, Action::Delete, 4, 0), Err(Inapplicable));
    }

    #[test]
    fn delete_thru_removes_from_the_top_through_the_level() {
        assert_eq!(after(&[9, 7, 5], 10, Action::DeleteThru, 1, 0), Ok([7, 5].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, Action::DeleteThru, 2, 0), Ok([5].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, Action::DeleteThru, 7, 0), Ok([].to_vec()));
    }

    #[test]
    fn delete_from_removes_the_level_and_all_below_it() {
        assert_eq!(after(&[9, 7, 5], 10, Action::DeleteFrom, 1, 0), Ok([].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, Action::DeleteFrom, 2, 0), Ok([9].to_vec()));
        assert_eq!(after(&[9, 7, 5], 10, Action::DeleteFrom, 4, 0), Ok([9, 7, 5].to_vec()));
    }
}
