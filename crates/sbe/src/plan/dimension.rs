//! Headers: the composites before messages, groups and data.

use super::composite::Composite;
use super::field::ValueKind;
use super::types::{Kind, Types};
use crate::MessageHeader;
use crate::number::{Number, NumberKind};
use crate::schema::SchemaError;
use crate::schema::element::Element;
use alloc::format;

/// An unsigned number in a header.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeaderField {
    offset: u16,
    kind: NumberKind,
}

impl HeaderField {
    /// Returns the member `name` of the composite that `user` refers to.
    fn find(
        user: Element<'_, '_>,
        composite: &Composite<'_>,
        name: &str,
    ) -> Result<Self, SchemaError> {
        match composite.member(name) {
            Some(member) => match member.kind.meaning {
                ValueKind::Number(kind) if kind.is_unsigned() => {
                    Ok(Self { offset: member.offset, kind })
                }
                _ => Err(user.unsupported(format!("type of {name}"))),
            },
            None => Err(user.missing(name)),
        }
    }

    /// Reads the number from a header of the composite's length.
    fn read(self, head: &[u8], is_big_endian: bool) -> u64 {
        let bytes = head.get(usize::from(self.offset)..).unwrap_or_default();
        Number { kind: self.kind, is_big_endian }.bits(bytes)
    }
}

/// Returns the composite that an attribute of `user` refers to.
fn composite<'a, 'x>(
    user: Element<'a, 'x>,
    name: &'a str,
    types: &mut Types<'a, 'x>,
) -> Result<alloc::rc::Rc<Composite<'x>>, SchemaError> {
    match types.find(user, name, 0)? {
        Kind::Composite(composite) => Ok(composite),
        Kind::Simple(_) => Err(user.invalid(format!("composite {name}"))),
    }
}

/// The message header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    length: u16,
    block_length: HeaderField,
    template_id: HeaderField,
    schema_id: HeaderField,
    version: HeaderField,
}

impl Header {
    /// SBE's standard header of four `u16`, for schemas that define none.
    const STANDARD: Self = {
        const fn slot(offset: u16) -> HeaderField {
            HeaderField { offset, kind: NumberKind::Unsigned(2) }
        }
        Self {
            length: MessageHeader::LENGTH as u16,
            block_length: slot(0),
            template_id: slot(2),
            schema_id: slot(4),
            version: slot(6),
        }
    };

    pub(super) fn parse<'a, 'x>(
        root: Element<'a, 'x>,
        types: &mut Types<'a, 'x>,
    ) -> Result<Self, SchemaError> {
        let name = root.text("headerType");
        let name = match name {
            None if types.element("messageHeader").is_none() => return Ok(Self::STANDARD),
            None => "messageHeader",
            Some(name) => name,
        };
        let composite = composite(root, name, types)?;
        let slot = |name| {
            let slot = HeaderField::find(root, &composite, name)?;
            match slot.kind.size() {
                1 | 2 => Ok(slot),
                _ => Err(root.unsupported(format!("{name} of more than 16 bits"))),
            }
        };
        Ok(Self {
            length: composite.size,
            block_length: slot("blockLength")?,
            template_id: slot("templateId")?,
            schema_id: slot("schemaId")?,
            version: slot("version")?,
        })
    }

    /// Returns the length in bytes.
    pub(super) fn length(&self) -> usize {
        self.length.into()
    }

    /// Splits the header from `bytes`.
    pub(super) fn decode<'a>(
        &self,
        bytes: &'a [u8],
        is_big_endian: bool,
    ) -> Option<(MessageHeader, &'a [u8])> {
        let (head, body) = bytes.split_at_checked(self.length())?;
        // Each number has at most 16 bits.
        let read = |slot: HeaderField| slot.read(head, is_big_endian) as u16;
        let header = MessageHeader {
            block_length: read(self.block_length),
            template_id: read(self.template_id),
            schema_id: read(self.schema_id),
            version: read(self.version),
        };
        Some((header, body))
    }
}

/// The dimension header of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dimension {
    length: u16,
    block_length: HeaderField,
    count: HeaderField,
}

impl Dimension {
    pub(super) fn parse<'a, 'x>(
        group: Element<'a, 'x>,
        types: &mut Types<'a, 'x>,
    ) -> Result<Self, SchemaError> {
        let name = group.text("dimensionType").unwrap_or("groupSizeEncoding");
        let composite = composite(group, name, types)?;
        Ok(Self {
            length: composite.size,
            block_length: HeaderField::find(group, &composite, "blockLength")?,
            count: HeaderField::find(group, &composite, "numInGroup")?,
        })
    }

    /// Splits the header from `bytes`. Returns the block length, the count and the rest.
    pub(super) fn split<'a>(
        &self,
        bytes: &'a [u8],
        is_big_endian: bool,
    ) -> Option<(usize, usize, &'a [u8])> {
        let (head, rest) = bytes.split_at_checked(self.length.into())?;
        let read = |slot: HeaderField| slot.read(head, is_big_endian).try_into().ok();
        Some((read(self.block_length)?, read(self.count)?, rest))
    }
}

/// The length header of a data field.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataLength {
    /// The offset of the data.
    start: u16,
    length: HeaderField,
}

impl DataLength {
    pub(super) fn parse<'a, 'x>(
        data: Element<'a, 'x>,
        types: &mut Types<'a, 'x>,
    ) -> Result<Self, SchemaError> {
        let composite = composite(data, data.required("type")?, types)?;
        let start = composite.member("varData").ok_or_else(|| data.missing("varData"))?.offset;
        Ok(Self { start, length: HeaderField::find(data, &composite, "length")? })
    }

    /// Splits the length and the data from `bytes`.
    pub(super) fn split<'a>(
        &self,
        bytes: &'a [u8],
        is_big_endian: bool,
    ) -> Option<(&'a [u8], &'a [u8])> {
        let (head, rest) = bytes.split_at_checked(self.start.into())?;
        rest.split_at_checked(self.length.read(head, is_big_endian).try_into().ok()?)
    }
}
