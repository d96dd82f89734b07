//! A decoded message: its root block, its groups, its data.

use crate::{DecodeError, Entries, Message, MessageHeader};

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
        let (wire, rest) =
            body.split_at_checked(usize::from(header.block_length)).ok_or(DecodeError::Block)?;
        let block = message.block.view(wire, header.version, scratch);
        Self::behind(message, header, body, (block, rest))
    }

    /// Like [`decode`](Self::decode), for a message whose root block can be read where it lies:
    /// `None` if the block is older or shorter, and if the message is not sound, of which `decode`
    /// knows more. Who has no scratch need not clear one.
    #[inline(always)]
    pub fn decode_in_place(
        message: &Message,
        header: &MessageHeader,
        body: &'a [u8],
    ) -> Option<Self> {
        let is_it = header.template_id == message.template_id
            && header.schema_id == message.schema_id
            && header.version >= message.block.newest;
        let (wire, rest) = body.split_at_checked(usize::from(header.block_length))?;
        let block = wire.first_chunk().filter(|_| is_it)?;
        Self::behind(message, header, body, (block, rest)).ok()
    }

    /// The message whose root block is `block`: checks what is behind it, `rest`.
    #[inline(always)]
    fn behind(
        message: &Message,
        header: &MessageHeader,
        body: &'a [u8],
        (block, mut rest): (&'a [u8; N], &'a [u8]),
    ) -> Result<Self, DecodeError> {
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
