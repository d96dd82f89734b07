//! A decoded message: root block, groups and data.

use crate::{BlockLayout, DecodeError, Entries, Message, MessageHeader};

/// The content of every generated message view: a validated root block of `N` bytes and `G` groups.
#[derive(Clone, Copy, Debug)]
pub struct Root<'a, const N: usize, const G: usize> {
    /// The root block, on the wire or in the caller's scratch buffer.
    pub block: &'a [u8; N],
    groups: [Entries<'a>; G],
    data: &'a [u8],
    length: u32,
}

impl<'a, const N: usize, const G: usize> Root<'a, N, G> {
    /// Validates the structure of the whole message once: template, schema, root block, every group
    /// and every data length. Ignores bytes after the message.
    ///
    /// # Errors
    /// Any [`DecodeError`] except `Header`.
    // Always inlined, with its callees. Each message's decoder has a constant layout, so loops over
    // groups and data reduce to loads and comparisons.
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

    /// Decodes a message with exactly the compiled layout, without a scratch buffer to clear.
    /// `bytes` must start with the SBE header, contain a root block of the compiled length and at
    /// least the compiled version, and end with the message. Returns `None` otherwise, and always
    /// for a message with groups or data; [`decode`](Self::decode) handles all other messages.
    #[inline(always)]
    pub fn decode_exact(message: &Message, bytes: &'a [u8]) -> Option<Self> {
        let &Message { template_id, schema_id, block: BlockLayout { length, newest, .. }, .. } =
            message;
        let expected =
            MessageHeader { block_length: length, template_id, schema_id, version: newest };
        let (&header, body) = bytes.split_first_chunk()?;
        let block = body.try_into().ok()?;
        // One comparison of the header as a number, with the version in the most significant bits.
        // The version may be greater; all else must be equal.
        let number = |header| u64::from_le_bytes(header).rotate_left(16);
        let beyond = number(header).wrapping_sub(number(expected.to_bytes()));
        let matches = beyond <= u64::from(u16::MAX - newest);
        let is_block_alone = message.groups.is_empty() && message.data.is_empty();
        let length = (MessageHeader::LENGTH + N) as u32;
        let root = Self { block, groups: [Entries::EMPTY; G], data: &[], length };
        (matches && is_block_alone).then_some(root)
    }

    /// Returns the message's length on the wire in bytes, SBE header included.
    #[inline]
    pub const fn encoded_length(&self) -> usize {
        self.length as usize
    }

    /// Returns the entries of the group at `index` of the schema.
    #[inline]
    pub const fn group(&self, index: usize) -> Entries<'a> {
        self.groups[index]
    }

    /// Returns the data field at `index` of the schema.
    pub fn data(&self, index: usize) -> &'a [u8] {
        let mut rest = self.data;
        let mut data: &[u8] = &[];
        for _ in 0..=index {
            (data, rest) = split_data(rest).unwrap_or_default();
        }
        data
    }
}

/// Splits a `u16` length and that number of bytes from `bytes`.
pub(crate) fn split_data(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))
}
