//! Reading of repeating groups.

use crate::{DecodeError, GroupLayout};
use core::marker::PhantomData;

/// The entries of a group in wire format, validated as complete.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'a> {
    bytes: &'a [u8],
    block_length: u16,
    remaining: u16,
    version: u16,
}

impl<'a> Entries<'a> {
    /// A group without entries.
    pub const EMPTY: Self = Self { bytes: &[], block_length: 0, remaining: 0, version: 0 };

    /// Splits a group from the start of `bytes`. A group newer than the wire's `version` is empty
    /// and uses no bytes.
    ///
    /// # Errors
    /// [`DecodeError::Group`] if its dimension header or its entries do not fit.
    #[inline(always)]
    pub fn decode(
        layout: &GroupLayout,
        version: u16,
        bytes: &'a [u8],
    ) -> Result<(Self, &'a [u8]), DecodeError> {
        if version < layout.since {
            return Ok((Self::EMPTY, bytes));
        }
        let cut = DecodeError::Group(layout.tag);
        let (block_length, remaining, rest) = layout.dimension.split(bytes).ok_or(cut)?;
        let length = usize::from(block_length) * usize::from(remaining);
        let (bytes, rest) = rest.split_at_checked(length).ok_or(cut)?;
        Ok((Self { bytes, block_length, remaining, version }, rest))
    }

    /// Returns the number of remaining entries.
    #[inline]
    pub const fn len(&self) -> usize {
        self.remaining as usize
    }

    /// Returns `true` if no entries remain.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.remaining == 0
    }

    /// Removes the next entry and returns its block.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<&'a [u8]> {
        self.remaining = self.remaining.checked_sub(1)?;
        let (entry, rest) = self.bytes.split_at_checked(usize::from(self.block_length))?;
        self.bytes = rest;
        Some(entry)
    }
}

/// The entry type of a group. Connects a generated view with its encoder and layout.
pub trait Entry {
    /// The view of one entry.
    type View<'a>: Copy;
    /// The encoder of one entry.
    type Encoder<'a>;
    /// A byte array of the compiled block's length.
    type Scratch;
    /// The group's layout.
    const GROUP: &'static GroupLayout;

    /// Creates a view of the block `wire`. If the block is older or shorter than compiled,
    /// completes it in `scratch`.
    fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut Self::Scratch) -> Self::View<'a>;

    /// Writes a null block to `bytes`, which must have the compiled block's length.
    fn encoder(bytes: &mut [u8]) -> Option<Self::Encoder<'_>>;
}

/// A cursor over the entries of a group. It cannot fail, because the message's decoder has
/// validated that every entry is complete.
///
/// A copy of the cursor continues at the same entry.
#[derive(Debug)]
pub struct Group<'a, E> {
    entries: Entries<'a>,
    entry: PhantomData<E>,
}

impl<E> Clone for Group<'_, E> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<E> Copy for Group<'_, E> {}

impl<'a, E: Entry> Group<'a, E> {
    /// Creates a cursor at the first entry.
    #[inline]
    pub const fn new(entries: Entries<'a>) -> Self {
        Self { entries, entry: PhantomData }
    }

    /// Returns the number of remaining entries; for a new cursor, all of them.
    #[inline]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns `true` if no entries remain.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the next entry. `scratch`, initially the entry's `SCRATCH`, is filled only if the
    /// entries are older or shorter than compiled.
    #[inline]
    pub fn next<'s>(&mut self, scratch: &'s mut E::Scratch) -> Option<E::View<'s>>
    where
        'a: 's,
    {
        let wire = self.entries.take()?;
        Some(E::view(wire, self.entries.version, scratch))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlockLayout, Dimension};

    const fn layout(dimension: Dimension, since: u16) -> GroupLayout {
        let block = BlockLayout::new(2, 0, &[]);
        GroupLayout { name: "NoThings", tag: 7, since, dimension, block }
    }

    const THREE: Dimension = Dimension {
        name: "groupSize",
        length: 3,
        block_length_offset: 0,
        count_offset: 2,
        count_size: 1,
    };
    const FOUR: Dimension = Dimension { length: 4, count_size: 2, ..THREE };
    const EIGHT: Dimension = Dimension { length: 8, count_offset: 7, ..THREE };

    #[test]
    fn decodes_every_dimension() {
        for (dimension, bytes) in [
            (THREE, &[2, 0, 2, 1, 2, 3, 4, 9][..]),
            (FOUR, &[2, 0, 2, 0, 1, 2, 3, 4, 9]),
            (EIGHT, &[2, 0, 0xee, 0xee, 0xee, 0xee, 0xee, 2, 1, 2, 3, 4, 9]),
        ] {
            let (mut entries, rest) = Entries::decode(&layout(dimension, 0), 0, bytes).unwrap();
            assert_eq!((entries.len(), rest), (2, &[9][..]));
            assert_eq!(entries.take(), Some(&[1, 2][..]));
            assert_eq!(entries.take(), Some(&[3, 4][..]));
            assert_eq!((entries.take(), entries.is_empty()), (None, true));
        }
    }

    #[test]
    fn truncated_groups_are_errors() {
        let bytes = [2, 0, 2, 1, 2, 3, 4];
        for length in 0..bytes.len() {
            let result = Entries::decode(&layout(THREE, 0), 0, &bytes[..length]);
            assert_eq!(result.unwrap_err(), DecodeError::Group(7));
        }
    }

    #[test]
    fn group_newer_than_the_message_has_no_bytes() {
        let (entries, rest) = Entries::decode(&layout(THREE, 8), 7, &[2, 0, 1]).unwrap();
        assert_eq!((entries.len(), rest), (0, &[2, 0, 1][..]));
    }

    #[test]
    fn entries_without_bytes_are_counted() {
        let (mut entries, _) = Entries::decode(&layout(THREE, 0), 0, &[0, 0, 255]).unwrap();
        assert_eq!(core::iter::from_fn(|| entries.take()).count(), 255);
    }
}
