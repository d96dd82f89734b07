//! The composites that are not fields: what stands before messages, groups and data.

use super::composite::Composite;
use super::field::Meaning;
use super::types::{Kind, Types};
use crate::MessageHeader;
use crate::number::{Number, NumberKind};
use crate::schema::SchemaError;
use crate::schema::element::Element;
use alloc::format;

/// An unsigned number in a header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slot {
    offset: u16,
    kind: NumberKind,
}

impl Slot {
    /// The member `name` of a composite that `user` names.
    fn find(
        user: Element<'_, '_>,
        composite: &Composite<'_>,
        name: &str,
    ) -> Result<Self, SchemaError> {
        match composite.member(name) {
            Some(member) => match member.kind.meaning {
                Meaning::Number(kind) if kind.is_unsigned() => {
                    Ok(Self { offset: member.offset, kind })
                }
                _ => Err(user.unsupported(format!("type of {name}"))),
            },
            None => Err(user.missing(name)),
        }
    }

    /// Its value in a header, which is as long as its composite.
    fn read(self, head: &[u8], is_big_endian: bool) -> u64 {
        let bytes = head.get(usize::from(self.offset)..).unwrap_or_default();
        Number { kind: self.kind, is_big_endian }.bits(bytes)
    }
}

/// The composite that `user` names in an attribute.
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

/// What stands before a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    length: u16,
    block_length: Slot,
    template_id: Slot,
    schema_id: Slot,
    version: Slot,
}

impl Header {
    /// SBE's own, of four `u16`, for schemas that define none.
    const STANDARD: Self = {
        const fn slot(offset: u16) -> Slot {
            Slot { offset, kind: NumberKind::Unsigned(2) }
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
            let slot = Slot::find(root, &composite, name)?;
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

    /// Bytes on the wire.
    pub(super) fn length(&self) -> usize {
        self.length.into()
    }

    /// Splits off the header.
    pub(super) fn decode<'a>(
        &self,
        bytes: &'a [u8],
        is_big_endian: bool,
    ) -> Option<(MessageHeader, &'a [u8])> {
        let (head, body) = bytes.split_at_checked(self.length())?;
        // Each of at most 16 bits.
        let read = |slot: Slot| slot.read(head, is_big_endian) as u16;
        let header = MessageHeader {
            block_length: read(self.block_length),
            template_id: read(self.template_id),
            schema_id: read(self.schema_id),
            version: read(self.version),
        };
        Some((header, body))
    }
}

/// What stands before the entries of a group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dimension {
    length: u16,
    block_length: Slot,
    count: Slot,
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
            block_length: Slot::find(group, &composite, "blockLength")?,
            count: Slot::find(group, &composite, "numInGroup")?,
        })
    }

    /// Splits off the dimension: block length, count, what follows.
    pub(super) fn split<'a>(
        &self,
        bytes: &'a [u8],
        is_big_endian: bool,
    ) -> Option<(usize, usize, &'a [u8])> {
        let (head, rest) = bytes.split_at_checked(self.length.into())?;
        let read = |slot: Slot| slot.read(head, is_big_endian).try_into().ok();
        Some((read(self.block_length)?, read(self.count)?, rest))
    }
}

/// What stands before data.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataLength {
    /// Where the data begins.
    start: u16,
    length: Slot,
}

impl DataLength {
    pub(super) fn parse<'a, 'x>(
        data: Element<'a, 'x>,
        types: &mut Types<'a, 'x>,
    ) -> Result<Self, SchemaError> {
        let composite = composite(data, data.required("type")?, types)?;
        let start = composite.member("varData").ok_or_else(|| data.missing("varData"))?.offset;
        Ok(Self { start, length: Slot::find(data, &composite, "length")? })
    }

    /// Splits off the length and the data.
    pub(super) fn split<'a>(
        &self,
        bytes: &'a [u8],
        is_big_endian: bool,
    ) -> Option<(&'a [u8], &'a [u8])> {
        let (head, rest) = bytes.split_at_checked(self.start.into())?;
        rest.split_at_checked(self.length.read(head, is_big_endian).try_into().ok()?)
    }
}
