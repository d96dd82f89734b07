//! Reading repeating groups.

use crate::{DecodeError, GroupLayout};
use core::marker::PhantomData;

/// The entries of a group as they lie on the wire, already known to be whole.
#[derive(Clone, Copy, Debug)]
pub struct Entries<'a> {
    bytes: &'a [u8],
    block_length: u16,
    remaining: u16,
    version: u16,
}

impl<'a> Entries<'a> {
    /// No entries.
    pub const EMPTY: Self = Self { bytes: &[], block_length: 0, remaining: 0, version: 0 };

    /// Splits a group off the start of `bytes`. A group newer than the wire's `version` takes no
    /// bytes and is empty.
    ///
    /// # Errors
    /// [`DecodeError::Group`] if its dimension or its entries do not fit.
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

    /// Entries not yet taken.
    #[inline]
    pub const fn len(&self) -> usize {
        self.remaining as usize
    }

    /// Whether all are taken.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.remaining == 0
    }

    /// The wire's block of the next entry.
    #[inline]
    pub(crate) fn take(&mut self) -> Option<&'a [u8]> {
        self.remaining = self.remaining.checked_sub(1)?;
        let (entry, rest) = self.bytes.split_at_checked(usize::from(self.block_length))?;
        self.bytes = rest;
        Some(entry)
    }
}

/// The entry of a group: what ties a generated view to its encoder and its layout.
pub trait Entry {
    /// The view of one entry.
    type View<'a>: Copy;
    /// The encoder of one entry.
    type Encoder<'a>;
    /// A byte array as long as the compiled block.
    type Scratch;
    /// The group.
    const GROUP: &'static GroupLayout;

    /// A view of the wire's block, through `scratch` if it is older or shorter than compiled.
    fn view<'a>(wire: &'a [u8], version: u16, scratch: &'a mut Self::Scratch) -> Self::View<'a>;

    /// Writes a null block over `bytes`, which has to be as long as the compiled block.
    fn encoder(bytes: &mut [u8]) -> Option<Self::Encoder<'_>>;
}

/// A cursor over the entries of a group. It cannot fail: the message's decoder has checked that
/// every entry is there.
///
/// `Copy`: a copy starts where this one stands.
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
    /// A cursor at the first of `entries`.
    #[inline]
    pub const fn new(entries: Entries<'a>) -> Self {
        Self { entries, entry: PhantomData }
    }

    /// Entries not yet taken; all of them for a new cursor.
    #[inline]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether all entries are taken.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The next entry. `scratch` is written only if the wire's entries are older or shorter than
    /// the compiled ones; it starts as the entry's `SCRATCH`.
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
    fn reads_every_kind_of_dimension() {
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
    fn every_cut_of_a_group_is_an_error() {
        let bytes = [2, 0, 2, 1, 2, 3, 4];
        for length in 0..bytes.len() {
            let result = Entries::decode(&layout(THREE, 0), 0, &bytes[..length]);
            assert_eq!(result.unwrap_err(), DecodeError::Group(7));
        }
    }

    #[test]
    fn a_group_newer_than_the_wire_takes_no_bytes() {
        let (entries, rest) = Entries::decode(&layout(THREE, 8), 7, &[2, 0, 1]).unwrap();
        assert_eq!((entries.len(), rest), (0, &[2, 0, 1][..]));
    }

    #[test]
    fn entries_without_bytes_are_counted() {
        let (mut entries, _) = Entries::decode(&layout(THREE, 0), 0, &[0, 0, 255]).unwrap();
        assert_eq!(core::iter::from_fn(|| entries.take()).count(), 255);
    }
}
