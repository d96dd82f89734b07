//! Encoding in place: header, null block, groups in order.

use crate::{EncodeError, Entry, GroupLayout, Message, MessageHeader};
use core::marker::PhantomData;

/// Writes the header and a null root block at the start of `buffer`. Returns the block and an
/// encoder for the groups after it.
///
/// # Errors
/// [`EncodeError::Buffer`] if `buffer` is too short.
#[inline]
pub fn begin<'a, const N: usize>(
    message: &'static Message,
    null: &[u8; N],
    buffer: &'a mut [u8],
) -> Result<(&'a mut [u8; N], GroupsEncoder<'a>), EncodeError> {
    let (head, rest) =
        buffer.split_first_chunk_mut::<{ MessageHeader::LENGTH }>().ok_or(EncodeError::Buffer)?;
    let (block, tail) = rest.split_first_chunk_mut::<N>().ok_or(EncodeError::Buffer)?;
    *head = MessageHeader {
        block_length: message.block.length,
        template_id: message.template_id,
        schema_id: message.schema_id,
        version: message.version,
    }
    .to_bytes();
    write_null(block, null);
    Ok((block, GroupsEncoder { message, tail, position: 0, opened: 0 }))
}

/// Copies a null block in two parts. The compiler copies short parts with plain moves, but a long
/// block with a call.
#[inline]
fn write_null<const N: usize>(block: &mut [u8; N], null: &[u8; N]) {
    const PART: usize = 128;
    let (head, tail) = block.split_at_mut(N.min(PART));
    head.copy_from_slice(&null[..head.len()]);
    tail.copy_from_slice(&null[head.len()..]);
}

/// Like [`begin`], for a message without groups. Also writes `DATA` zero bytes at the end: the
/// lengths of empty data fields.
///
/// # Errors
/// [`EncodeError::Buffer`] if `buffer` is too short.
#[inline]
pub fn begin_fixed<'a, const N: usize, const DATA: usize>(
    message: &'static Message,
    null: &[u8; N],
    buffer: &'a mut [u8],
) -> Result<&'a mut [u8; N], EncodeError> {
    let (block, groups) = begin(message, null, buffer)?;
    *groups.tail.first_chunk_mut().ok_or(EncodeError::Buffer)? = [0; DATA];
    Ok(block)
}

/// An encoder for a message's groups, in the schema's order. Groups left out are written empty.
#[derive(Debug)]
#[must_use = "the message is complete only after finish"]
pub struct GroupsEncoder<'a> {
    message: &'static Message,
    tail: &'a mut [u8],
    position: usize,
    opened: usize,
}

impl GroupsEncoder<'_> {
    /// Starts the group of `E`, at `index` of the schema, without entries.
    ///
    /// # Errors
    /// [`EncodeError::GroupOrder`] if this group or a later one was started before,
    /// [`EncodeError::Buffer`] if the buffer is too short.
    #[inline]
    pub fn open<E: Entry>(&mut self, index: usize) -> Result<GroupEncoder<'_, E>, EncodeError> {
        if index < self.opened {
            return Err(EncodeError::GroupOrder(E::GROUP.tag));
        }
        self.skip_to(index)?;
        let dimension = self.position;
        self.empty(E::GROUP)?;
        Ok(GroupEncoder {
            tail: self.tail,
            position: &mut self.position,
            dimension,
            count: 0,
            entry: PhantomData,
        })
    }

    /// Writes the remaining groups empty. Returns the message's length in bytes, SBE header
    /// included.
    ///
    /// # Errors
    /// [`EncodeError::Buffer`] if the buffer is too short.
    #[inline]
    pub fn finish(mut self) -> Result<usize, EncodeError> {
        self.skip_to(self.message.groups.len())?;
        let end = self.position + 2 * self.message.data.len();
        self.tail.get_mut(self.position..end).ok_or(EncodeError::Buffer)?.fill(0);
        Ok(MessageHeader::LENGTH + usize::from(self.message.block.length) + end)
    }

    /// Writes the groups before `index` that were left out.
    #[inline]
    fn skip_to(&mut self, index: usize) -> Result<(), EncodeError> {
        let message = self.message;
        let skipped = message.groups.get(self.opened..index).unwrap_or_default();
        skipped.iter().try_for_each(|group| self.empty(group))
    }

    /// Writes the dimension header of an empty group.
    #[inline]
    fn empty(&mut self, group: &GroupLayout) -> Result<(), EncodeError> {
        let end = self.position + usize::from(group.dimension.length);
        let head = self.tail.get_mut(self.position..end).ok_or(EncodeError::Buffer)?;
        group.dimension.write(head, group.block.length);
        self.position = end;
        self.opened += 1;
        Ok(())
    }
}

/// An encoder for the entries of one group.
#[derive(Debug)]
pub struct GroupEncoder<'a, E> {
    tail: &'a mut [u8],
    position: &'a mut usize,
    dimension: usize,
    count: u16,
    entry: PhantomData<E>,
}

impl<E: Entry> GroupEncoder<'_, E> {
    /// Appends an entry with every field null and increments the count.
    ///
    /// # Errors
    /// [`EncodeError::GroupFull`] if the counter is at its maximum, [`EncodeError::Buffer`] if the
    /// buffer is too short. The group is unchanged.
    #[inline]
    pub fn push(&mut self) -> Result<E::Encoder<'_>, EncodeError> {
        let GroupLayout { dimension, block, tag, .. } = E::GROUP;
        if self.count == dimension.limit() {
            return Err(EncodeError::GroupFull(*tag));
        }
        let (before, free) =
            self.tail.split_at_mut_checked(*self.position).ok_or(EncodeError::Buffer)?;
        let entry = free
            .get_mut(..usize::from(block.length))
            .and_then(E::encoder)
            .ok_or(EncodeError::Buffer)?;
        self.count += 1;
        *self.position += usize::from(block.length);
        if let Some(head) = before.get_mut(self.dimension..) {
            dimension.write_count(head, self.count);
        }
        Ok(entry)
    }

    /// Returns the number of entries.
    #[inline]
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Returns `true` if the group has no entries.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
}
