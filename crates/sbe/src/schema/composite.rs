//! Composites of fields, and the headers of messages, groups and data.

use super::element::Element;
use super::types::{Types, finish, simple};
use super::{Dimension, Encoding, Presence, Primitive, SchemaError, Type};
use crate::{MessageHeader, MonthYear};
use alloc::vec::Vec;

/// A member of a composite and its offset.
struct Member {
    kind: Type,
    offset: u16,
}

/// Parses a composite and adds it to the field types or dimensions. A composite that fits neither
/// is ignored; a field or group that refers to it is rejected.
pub(super) fn parse(element: Element<'_, '_>, types: &mut Types) -> Result<(), SchemaError> {
    let members = members(element)?;
    let kinds: Vec<_> = members
        .iter()
        .map(|member| (member.kind.name.as_str(), &member.kind.encoding, member.kind.presence))
        .collect();
    let size = members.last().map_or(0, |last| last.offset + last.kind.size);
    let nulls: Vec<u8> =
        members.iter().flat_map(|member| member.kind.value.iter().copied()).collect();
    use Encoding::Scalar;
    use Presence::{Constant, Optional, Required};
    use Primitive::{Int8, Int32, Int64, Uint8, Uint16};
    let kind = match kinds[..] {
        [
            ("mantissa", Scalar(mantissa @ (Int32 | Int64)), presence),
            ("exponent", Scalar(Int8), Constant),
        ] => {
            let exponent = Int8.read(&members[1].kind.value) as i8;
            let null = members[0].kind.value.clone();
            finish(element, Encoding::Decimal(*mantissa, exponent), presence, size, null)?
        }
        [
            ("mantissa", Scalar(mantissa @ (Int32 | Int64)), Optional),
            ("exponent", Scalar(Int8), Optional),
        ] => finish(element, Encoding::Float(*mantissa), Optional, size, nulls)?,
        [
            ("year", Scalar(Uint16), Optional),
            ("month", Scalar(Uint8), Optional),
            ("day", Scalar(Uint8), Optional),
            ("week", Scalar(Uint8), Optional),
        ] if nulls == [u8::MAX; MonthYear::SIZE] => {
            finish(element, Encoding::MonthYear, Optional, size, nulls)?
        }
        [
            ("blockLength", Scalar(Uint16), Required),
            ("numInGroup", Scalar(counter @ (Uint8 | Uint16)), Required),
        ] => {
            let dimension = Dimension {
                name: element.required("name")?.into(),
                length: size,
                block_length_offset: members[0].offset,
                count_offset: members[1].offset,
                count_size: counter.size(),
            };
            types.dimensions.insert(dimension.name.clone(), dimension);
            return Ok(());
        }
        [("blockLength", ..), ..] if usize::from(size) != MessageHeader::LENGTH => {
            return Err(element.unsupported("message header of other than 8 bytes"));
        }
        _ => return Ok(()),
    };
    types.insert(kind);
    Ok(())
}

fn members(element: Element<'_, '_>) -> Result<Vec<Member>, SchemaError> {
    let mut members = Vec::<Member>::new();
    for child in element.children("type") {
        let kind = simple(child)?;
        let end = members.last().map_or(0, |last| last.offset + last.kind.size);
        let offset = child.number_or("offset", end)?;
        if offset < end {
            return Err(child.invalid("offset"));
        }
        members.push(Member { kind, offset });
    }
    Ok(members)
}
