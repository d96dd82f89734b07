//! The orders of one side, best first: a treap whose links are slot numbers.
//!
//! Bids are sorted by price from high to low, asks from low to high. At one price the lower
//! MDOrderPriority is first, then the lower OrderID. The heap priority of a slot is its scrambled
//! number. The tree is therefore as shallow as a random one for any order of insertion, and the
//! same input gives the same tree. No function recurses, so depth cannot exhaust the stack.

use super::order_slab::{NONE, Node};
use crate::BookSide;

/// Returns the sort key.
fn key(node: &Node) -> (i64, u64, u64) {
    let price = match node.side {
        BookSide::Bid => !node.price,
        BookSide::Ask => node.price,
    };
    (price, node.priority, node.id)
}

/// Returns the heap priority of a slot: a one-to-one mix of its bits.
const fn rank(slot: u32) -> u32 {
    let mixed = (slot ^ slot >> 16).wrapping_mul(0x85EB_CA6B);
    let mixed = (mixed ^ mixed >> 13).wrapping_mul(0xC2B2_AE35);
    mixed ^ mixed >> 16
}

/// Adds a slot that is in no tree.
pub(super) fn insert(nodes: &mut [Node], root: &mut u32, slot: u32) {
    let new = key(&nodes[slot as usize]);
    let (mut parent, mut below, mut goes_left) = (NONE, *root, false);
    while below != NONE {
        let node = &nodes[below as usize];
        goes_left = new < key(node);
        parent = below;
        below = if goes_left { node.left } else { node.right };
    }
    let node = &mut nodes[slot as usize];
    (node.left, node.right, node.parent) = (NONE, NONE, parent);
    match nodes.get_mut(parent as usize) {
        None => *root = slot,
        Some(node) if goes_left => node.left = slot,
        Some(node) => node.right = slot,
    }
    loop {
        let parent = nodes[slot as usize].parent;
        if parent == NONE || rank(parent) >= rank(slot) {
            return;
        }
        rotate_up(nodes, root, slot);
    }
}

/// Removes a slot from its tree.
pub(super) fn remove(nodes: &mut [Node], root: &mut u32, slot: u32) {
    loop {
        let Node { left, right, .. } = nodes[slot as usize];
        match (left, right) {
            (NONE, NONE) => break,
            (child, NONE) | (NONE, child) => rotate_up(nodes, root, child),
            (left, right) if rank(left) > rank(right) => rotate_up(nodes, root, left),
            (_, right) => rotate_up(nodes, root, right),
        }
    }
    if nodes[slot as usize].parent == NONE {
        *root = NONE;
    }
    detach(nodes, slot);
}

/// Unlinks a leaf from its parent.
pub(super) fn detach(nodes: &mut [Node], leaf: u32) {
    let parent = nodes[leaf as usize].parent;
    if let Some(parent) = nodes.get_mut(parent as usize) {
        if parent.left == leaf {
            parent.left = NONE;
        } else {
            parent.right = NONE;
        }
    }
}

/// Rotates a slot above its parent.
fn rotate_up(nodes: &mut [Node], root: &mut u32, slot: u32) {
    let Node { left, right, parent, .. } = nodes[slot as usize];
    let grandparent = nodes[parent as usize].parent;
    let is_left = nodes[parent as usize].left == slot;
    let moved = if is_left { right } else { left };
    if is_left {
        nodes[parent as usize].left = moved;
        nodes[slot as usize].right = parent;
    } else {
        nodes[parent as usize].right = moved;
        nodes[slot as usize].left = parent;
    }
    if let Some(moved) = nodes.get_mut(moved as usize) {
        moved.parent = parent;
    }
    nodes[parent as usize].parent = slot;
    nodes[slot as usize].parent = grandparent;
    match nodes.get_mut(grandparent as usize) {
        None => *root = slot,
        Some(node) if node.left == parent => node.left = slot,
        Some(node) => node.right = slot,
    }
}

/// Returns the best order in the subtree of `slot`.
pub(super) fn first(nodes: &[Node], mut slot: u32) -> u32 {
    while let Some(node) = nodes.get(slot as usize).filter(|node| node.left != NONE) {
        slot = node.left;
    }
    slot
}

/// Returns the worst order in the subtree of `slot`.
pub(super) fn last(nodes: &[Node], mut slot: u32) -> u32 {
    while let Some(node) = nodes.get(slot as usize).filter(|node| node.right != NONE) {
        slot = node.right;
    }
    slot
}

/// Returns the order after `slot`.
pub(super) fn next(nodes: &[Node], slot: u32) -> u32 {
    let node = &nodes[slot as usize];
    if node.right != NONE {
        return first(nodes, node.right);
    }
    ancestor(nodes, slot, |parent, child| parent.left == child)
}

/// Returns the order before `slot`.
pub(super) fn previous(nodes: &[Node], slot: u32) -> u32 {
    let node = &nodes[slot as usize];
    if node.left != NONE {
        return last(nodes, node.left);
    }
    ancestor(nodes, slot, |parent, child| parent.right == child)
}

/// Returns the nearest ancestor for which `is_on_side` holds.
fn ancestor(nodes: &[Node], mut slot: u32, is_on_side: fn(&Node, u32) -> bool) -> u32 {
    loop {
        let parent = nodes[slot as usize].parent;
        match nodes.get(parent as usize) {
            Some(node) if !is_on_side(node, slot) => slot = parent,
            _ => return parent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;
    use proptest::prelude::*;

    fn node(side: BookSide, price: i64, priority: u64, id: u64) -> Node {
        Node {
            id,
            priority,
            price,
            quantity: 0,
            instrument: 0,
            left: NONE,
            right: NONE,
            parent: NONE,
            side,
        }
    }

    fn walk(nodes: &[Node], root: u32) -> Vec<u32> {
        let mut slots = Vec::new();
        let mut slot = first(nodes, root);
        while slot != NONE {
            slots.push(slot);
            slot = next(nodes, slot);
        }
        slots
    }

    fn walk_back(nodes: &[Node], root: u32) -> Vec<u32> {
        let mut slots = Vec::new();
        let mut slot = last(nodes, root);
        while slot != NONE {
            slots.push(slot);
            slot = previous(nodes, slot);
        }
        slots
    }

    fn depth(nodes: &[Node], slot: u32) -> usize {
        let mut steps = 0;
        let mut slot = slot;
        while slot != NONE {
            steps += 1;
            slot = nodes[slot as usize].parent;
        }
        steps
    }

    #[test]
    fn sorts_bids_down_and_asks_up() {
        for (side, expected) in [(BookSide::Bid, [1, 3, 0, 2]), (BookSide::Ask, [2, 0, 1, 3])] {
            let mut nodes: Vec<_> = [(10, 1), (12, 1), (i64::MIN, 7), (12, 2)]
                .into_iter()
                .zip(0..)
                .map(|((price, priority), id)| node(side, price, priority, id))
                .collect();
            let mut root = NONE;
            (0..4).for_each(|slot| insert(&mut nodes, &mut root, slot));
            assert_eq!(walk(&nodes, root), expected, "{side:?}");
        }
    }

    #[test]
    fn sorted_insertions_keep_tree_shallow() {
        const COUNT: u32 = 100_000;
        let mut nodes: Vec<_> =
            (0..COUNT).map(|n| node(BookSide::Ask, i64::from(n), 0, u64::from(n))).collect();
        let mut root = NONE;
        (0..COUNT).for_each(|slot| insert(&mut nodes, &mut root, slot));
        let deepest = (0..COUNT).map(|slot| depth(&nodes, slot)).max().unwrap();
        assert!(deepest < 60, "{deepest} for a logarithm of 17");
        assert!(walk(&nodes, root).is_sorted());
    }

    proptest! {
        /// Insertions and removals keep the tree sorted in both directions.
        #[test]
        fn stays_sorted(
            keys in prop::collection::vec((-3i64..3, 0u64..3), 24),
            steps in prop::collection::vec(0u32..24, 0..200),
            is_bid in any::<bool>(),
        ) {
            let side = if is_bid { BookSide::Bid } else { BookSide::Ask };
            let mut nodes: Vec<_> = keys
                .into_iter()
                .zip(0..)
                .map(|((price, priority), id)| node(side, price, priority, id))
                .collect();
            let (mut root, mut present) = (NONE, Vec::new());
            for slot in steps {
                if let Some(at) = present.iter().position(|other| *other == slot) {
                    present.remove(at);
                    remove(&mut nodes, &mut root, slot);
                } else {
                    present.push(slot);
                    insert(&mut nodes, &mut root, slot);
                }
                present.sort_by_key(|slot| key(&nodes[*slot as usize]));
                prop_assert_eq!(&walk(&nodes, root), &present);
                let mut backwards = walk_back(&nodes, root);
                backwards.reverse();
                prop_assert_eq!(&backwards, &present);
            }
        }
    }
}
