//! Simple types, enumerations and sets; `composite` handles composites.

use super::element::Element;
use super::{Dimension, Encoding, Named, Presence, Primitive, SchemaError, Type, composite};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// The types under `<types>`.
pub(super) struct Types {
    /// The types of fields.
    pub(super) fields: BTreeMap<String, Type>,
    /// The headers of groups.
    pub(super) dimensions: BTreeMap<String, Dimension>,
}

/// Parses all types. Simple types come first, because enumerations and sets refer to them.
pub(super) fn parse(root: Element<'_, '_>) -> Result<Types, SchemaError> {
    let elements = || root.children("types").flat_map(Element::elements);
    let mut types = Types { fields: BTreeMap::new(), dimensions: BTreeMap::new() };
    for element in elements().filter(|element| element.name() == "type") {
        types.insert(simple(element)?);
    }
    for element in elements() {
        match element.name() {
            "type" => {}
            "composite" => composite::parse(element, &mut types)?,
            "enum" => {
                let kind = enumeration(element, &types)?;
                types.insert(kind);
            }
            "set" => {
                let kind = set(element, &types)?;
                types.insert(kind);
            }
            other => return Err(element.unsupported(format!("type element {other}"))),
        }
    }
    Ok(types)
}

impl Types {
    pub(super) fn insert(&mut self, kind: Type) {
        self.fields.insert(kind.name.clone(), kind);
    }
}

/// Parses a `<type>`, either standalone or in a composite.
pub(super) fn simple(element: Element<'_, '_>) -> Result<Type, SchemaError> {
    let primitive = primitive(element, element.required("primitiveType")?)?;
    let length = element.number_or("length", 1_u16)?;
    let presence = match element.text("presence") {
        None | Some("required") => Presence::Required,
        Some("optional") => Presence::Optional,
        Some("constant") => Presence::Constant,
        Some(other) => return Err(element.invalid(format!("presence \"{other}\""))),
    };
    let is_text = primitive == Primitive::Char && length != 1;
    if length != 1 && !is_text {
        return Err(element.unsupported("array of numbers"));
    }
    let value = match presence {
        Presence::Required => Vec::new(),
        Presence::Constant if is_text => element.content()?.into(),
        Presence::Constant => literal(element, primitive, element.content()?)?,
        Presence::Optional if is_text => Vec::new(),
        Presence::Optional => null(element, primitive)?,
    };
    Ok(Type {
        name: element.required("name")?.into(),
        encoding: if is_text { Encoding::Text } else { Encoding::Scalar(primitive) },
        presence,
        size: if presence == Presence::Constant { 0 } else { primitive.size() * length },
        value,
        since: element.number_or("sinceVersion", 0)?,
        semantic_type: element.text("semanticType").unwrap_or_default().into(),
    })
}

/// Returns the null of an optional number or character. CME's `nullValue="0"` for a character is
/// the byte 0x00; readers also accept the character `'0'` as null.
fn null(element: Element<'_, '_>, primitive: Primitive) -> Result<Vec<u8>, SchemaError> {
    let text = element.required("nullValue")?;
    match (primitive, text) {
        (Primitive::Char, "0") => Ok([0].into()),
        (Primitive::Char, _) => Err(element.unsupported("character null other than 0")),
        _ => literal(element, primitive, text),
    }
}

/// Returns a value in wire format.
fn literal(
    element: Element<'_, '_>,
    primitive: Primitive,
    text: &str,
) -> Result<Vec<u8>, SchemaError> {
    macro_rules! bytes {
        ($type:ty) => {
            element.parse::<$type>(text, "value")?.to_le_bytes().into()
        };
    }
    Ok(match primitive {
        Primitive::Char if text.len() == 1 => text.into(),
        Primitive::Char => return Err(element.invalid(format!("character \"{text}\""))),
        Primitive::Int8 => bytes!(i8),
        Primitive::Uint8 => bytes!(u8),
        Primitive::Int16 => bytes!(i16),
        Primitive::Uint16 => bytes!(u16),
        Primitive::Int32 => bytes!(i32),
        Primitive::Uint32 => bytes!(u32),
        Primitive::Int64 => bytes!(i64),
        Primitive::Uint64 => bytes!(u64),
    })
}

/// Returns the primitive type with this SBE name.
fn primitive(element: Element<'_, '_>, name: &str) -> Result<Primitive, SchemaError> {
    Ok(match name {
        "char" => Primitive::Char,
        "int8" => Primitive::Int8,
        "uint8" => Primitive::Uint8,
        "int16" => Primitive::Int16,
        "uint16" => Primitive::Uint16,
        "int32" => Primitive::Int32,
        "uint32" => Primitive::Uint32,
        "int64" => Primitive::Int64,
        "uint64" => Primitive::Uint64,
        _ => return Err(element.unsupported(format!("primitive type {name}"))),
    })
}

/// Returns the encoding of an enumeration or set: a named simple type, or a primitive.
fn encoding(element: Element<'_, '_>, types: &Types) -> Result<(Primitive, Vec<u8>), SchemaError> {
    let name = element.required("encodingType")?;
    match types.fields.get(name) {
        Some(Type { encoding: Encoding::Scalar(primitive), value, .. }) => {
            Ok((*primitive, value.clone()))
        }
        Some(_) => Err(element.unsupported(format!("encoding type {name}"))),
        None => Ok((primitive(element, name)?, Vec::new())),
    }
}

fn enumeration(element: Element<'_, '_>, types: &Types) -> Result<Type, SchemaError> {
    let name = element.required("name")?;
    let (primitive, null) = encoding(element, types)?;
    if !matches!(primitive, Primitive::Char | Primitive::Uint8 | Primitive::Uint16) {
        return Err(element.unsupported(format!("encoding of {name}")));
    }
    let mut values = Vec::new();
    for choice in element.children("validValue") {
        let value = literal(choice, primitive, choice.content()?)?;
        let is_null = value == null || (null == [0] && value == [b'0']);
        if !null.is_empty() && is_null {
            return Err(choice.unsupported(format!("value of {name} that also means null")));
        }
        values.push(named(choice, primitive.read(&value) as u64)?);
    }
    let presence = if null.is_empty() { Presence::Required } else { Presence::Optional };
    finish(element, Encoding::Enumeration(primitive, values), presence, primitive.size(), null)
}

fn set(element: Element<'_, '_>, types: &Types) -> Result<Type, SchemaError> {
    let name = element.required("name")?;
    let (primitive, null) = encoding(element, types)?;
    if !null.is_empty() {
        return Err(element.unsupported(format!("null of set {name}")));
    }
    let mut choices = Vec::new();
    for choice in element.children("choice") {
        let bit: u64 = choice.parse(choice.content()?, "bit")?;
        if bit >= u64::from(primitive.size()) * 8 {
            return Err(choice.invalid(format!("bit {bit}")));
        }
        choices.push(named(choice, bit)?);
    }
    let size = primitive.size();
    finish(element, Encoding::Set(primitive, choices), Presence::Required, size, Vec::new())
}

fn named(element: Element<'_, '_>, value: u64) -> Result<Named, SchemaError> {
    let since = element.number_or("sinceVersion", 0)?;
    Ok(Named { name: element.required("name")?.into(), value, since })
}

/// Creates a type with the attributes common to all kinds.
pub(super) fn finish(
    element: Element<'_, '_>,
    encoding: Encoding,
    presence: Presence,
    size: u16,
    value: Vec<u8>,
) -> Result<Type, SchemaError> {
    Ok(Type {
        name: element.required("name")?.into(),
        encoding,
        presence,
        size,
        value,
        since: element.number_or("sinceVersion", 0)?,
        semantic_type: element.text("semanticType").unwrap_or_default().into(),
    })
}
