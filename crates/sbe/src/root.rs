//! A decoded message: its root block, its groups, its data.

use crate::{BlockLayout, DecodeError, Entries, Message, MessageHeader};

/// What every generated message view holds: a root block of `N` bytes and `G` groups, checked.
#[derive(Clone, Copy, Debug)]
pub struct Root<'a, const N: usize, const G: usize> {
    /// The root block, on the wire or in the caller's scratch.
    pub block: &'a [u8; N],
    groups: [Entries<'a>; G],
    data: &'a [u8],
    length: u32,
}

impl<'a, const N: usize, const G: usize> Root<'a, N, G> {
    /// Checks the whole structure of the message once: template, schema, root block, every group,
    /// every length of data. What follows the message in `body` is left alone.
    ///
    /// # Errors
    /// Any [`DecodeError`] but `Header`.
    // Always inlined, and what it calls: each message's own decoder knows its layout, and with it
    // the loops over groups and data, offsets and sizes are no more than loads and comparisons.
    #[inline(always)]
    pub fn decode(
        message: &Message,
        header: &MessageHeader,
        body: &'a [u8],
        scratch: &'a mut [u8; N],
    ) -> Result<Self, DecodeError> {
        if header.template_id != message.template_id {
            return Err(DecodeError::Template(header.template_id));
        }
        if header.schema_id != message.schema_id {
            return Err(DecodeError::Schema(header.schema_id));
        }
        let (wire, mut rest) =
            body.split_at_checked(usize::from(header.block_length)).ok_or(DecodeError::Block)?;
        let block = message.block.view(wire, header.version, scratch);
        let mut groups = [Entries::EMPTY; G];
        for (entries, layout) in groups.iter_mut().zip(message.groups) {
            (*entries, rest) = Entries::decode(layout, header.version, rest)?;
        }
        let data = rest;
        for layout in message.data {
            if layout.since <= header.version {
                (_, rest) = split_data(rest).ok_or(DecodeError::Data(layout.tag))?;
            }
        }
        let length = (MessageHeader::LENGTH + body.len() - rest.len()) as u32;
        Ok(Self { block, groups, data, length })
    }

    /// The message that `bytes`, from the SBE header on, plainly are: its root block as it is
    /// compiled, at least as new, and nothing behind it. `None` of any other, and always of a
    /// message with groups or data: [`decode`](Self::decode) knows more. Who has no scratch need
    /// not clear one.
    #[inline(always)]
    pub fn decode_plain(message: &Message, bytes: &'a [u8]) -> Option<Self> {
        let &Message { template_id, schema_id, block: BlockLayout { length, newest, .. }, .. } =
            message;
        let expected =
            MessageHeader { block_length: length, template_id, schema_id, version: newest };
        let (&header, body) = bytes.split_first_chunk()?;
        let block = body.try_into().ok()?;
        // As one number with the version at its end: equal but for that, which may be greater.
        let number = |header| u64::from_le_bytes(header).rotate_left(16);
        let beyond = number(header).wrapping_sub(number(expected.to_bytes()));
        let is_it = beyond <= u64::from(u16::MAX - newest);
        let is_block_alone = message.groups.is_empty() && message.data.is_empty();
        let length = (MessageHeader::LENGTH + N) as u32;
        let root = Self { block, groups: [Entries::EMPTY; G], data: &[], length };
        (is_it && is_block_alone).then_some(root)
    }

    /// Bytes of the message on the wire, counted from the SBE header.
    #[inline]
    pub const fn encoded_length(&self) -> usize {
        self.length as usize
    }

    /// The entries of the group at `index` of the schema.
    #[inline]
    pub const fn group(&self, index: usize) -> Entries<'a> {
        self.groups[index]
    }

    /// The data at `index` of the schema.
    pub fn data(&self, index: usize) -> &'a [u8] {
        let mut rest = self.data;
        let mut data: &[u8] = &[];
        for _ in 0..=index {
            (data, rest) = split_data(rest).unwrap_or_default();
        }
        data
    }
}

/// Splits off a `u16` length and as many bytes.
pub(crate) fn split_data(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))
}
