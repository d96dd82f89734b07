//! Generates enumerations and sets as newtypes, and every type as data.

use super::{Context, byte_string, constant_case};
use crate::schema::{Encoding, Named, Primitive, Type};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Generates `types.rs`: the types of getters and setters.
pub(super) fn types(context: &Context<'_>) -> String {
    let mut text = context.banner("Enumerations, sets and decimals");
    text += "\nuse hairpin_sbe::{Decimal, Named};\n";
    for (exponent, alias) in &context.decimals {
        text += &format!(
            "\n/// Decimal in units of 10^{exponent}.\npub type {alias} = Decimal<{exponent}>;\n\
             /// The decimal with this mantissa.\n#[allow(non_snake_case)]\n\
             #[inline] pub const fn {alias}(mantissa: i64) -> {alias} {{ Decimal(mantissa) }}\n"
        );
    }
    for kind in context.schema.types.values() {
        match &kind.encoding {
            Encoding::Enumeration(primitive, names) => {
                text += &enumeration(kind, *primitive, names)
            }
            Encoding::Set(primitive, choices) => text += &set(kind, *primitive, choices),
            _ => {}
        }
    }
    text
}

/// Generates `kind.rs`: the type constants that the layout tables refer to.
pub(super) fn kinds(context: &Context<'_>) -> String {
    let mut text = context.banner("Types as data");
    text += "\nuse super::types::*;\n\
        use hairpin_sbe::{Dimension, Encoding, Presence, Primitive, Type};\n\n";
    for kind in context.schema.types.values().filter(|kind| is_used(context, &kind.name)) {
        let Type { name, presence, size, value, .. } = kind;
        let encoding = match &kind.encoding {
            Encoding::Scalar(primitive) => format!("Scalar(Primitive::{primitive:?})"),
            Encoding::Text => "Text".into(),
            Encoding::Decimal(primitive, exponent) => {
                format!("Decimal(Primitive::{primitive:?}, {exponent})")
            }
            Encoding::Float(primitive) => format!("Float(Primitive::{primitive:?})"),
            Encoding::MonthYear => "MonthYear".into(),
            Encoding::Enumeration(primitive, _) => {
                format!("Enumeration(Primitive::{primitive:?}, {name}::NAMES)")
            }
            Encoding::Set(primitive, _) => format!("Set(Primitive::{primitive:?}, {name}::NAMES)"),
        };
        text += &format!(
            "pub(super) const {}: Type = Type {{ name: \"{name}\", encoding: Encoding::{encoding}, \
             presence: Presence::{presence:?}, size: {size}, value: {} }};\n",
            constant_case(name),
            byte_string(value)
        );
    }
    let groups = context.schema.messages.iter().flat_map(|message| &message.groups);
    let dimensions: BTreeMap<_, _> =
        groups.map(|group| (&group.dimension.name, &group.dimension)).collect();
    for (name, dimension) in dimensions {
        text += &format!(
            "pub(super) const {}: Dimension = Dimension {{ name: \"{name}\", length: {}, \
             block_length_offset: {}, count_offset: {}, count_size: {} }};\n",
            constant_case(name),
            dimension.length,
            dimension.block_length_offset,
            dimension.count_offset,
            dimension.count_size
        );
    }
    text
}

/// Returns `true` if any field has the type.
fn is_used(context: &Context<'_>, name: &str) -> bool {
    let blocks = context.schema.messages.iter().flat_map(|message| {
        message.groups.iter().map(|group| &group.block).chain([&message.block])
    });
    blocks.flat_map(|block| &block.fields).any(|field| field.kind == name)
}

/// Returns the start of a newtype: the struct, its constants and its names.
fn newtype(kind: &Type, primitive: Primitive, what: &str, names: &[Named]) -> String {
    let (name, integer) = (&kind.name, integer(primitive));
    let is_set = matches!(kind.encoding, Encoding::Set(..));
    let mut text = format!(
        "\n/// {name}, {what} in a `{integer}`{}.\n\
         #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash{})]\n\
         pub struct {name}(pub {integer});\n\nimpl {name} {{\n",
        super::since(kind.since),
        if is_set { ", Default" } else { "" }
    );
    for named in names {
        let value = match primitive {
            _ if is_set => format!("1 << {}", named.value),
            Primitive::Char => format!("b'{}'", (named.value as u8).escape_ascii()),
            _ => format!("{}", named.value),
        };
        let constant = constant_case(&named.name);
        text += &format!(
            "    /// {}{}.\n    pub const {constant}: Self = Self({value});\n",
            named.name,
            super::since(named.since)
        );
    }
    let rows: Vec<_> = names
        .iter()
        .map(|Named { name, value, since }| format!("Named::new(\"{name}\", {value}, {since})"))
        .collect();
    let rows = rows.join(", ");
    text + &format!(
        "    /// The schema's names.\n    pub const NAMES: &'static [Named<'static>] = &[{rows}];\n"
    )
}

fn enumeration(kind: &Type, primitive: Primitive, names: &[Named]) -> String {
    newtype(kind, primitive, "a named or unnamed value", names)
        + "    /// Returns the schema's name of the value, or `None` for an unnamed value.\n    \
           pub fn name(self) -> Option<&'static str> \
           { Named::find(Self::NAMES, self.0.into()) }\n}\n"
}

fn set(kind: &Type, primitive: Primitive, choices: &[Named]) -> String {
    let name = &kind.name;
    newtype(kind, primitive, "a set of bits", choices)
        + "    /// Returns `true` if all bits of `other` are set.\n    \
           #[inline] pub const fn contains(self, other: Self) -> bool \
           { self.0 & other.0 == other.0 }\n}\n"
        + &format!(
            "\nimpl core::ops::BitOr for {name} {{\n    type Output = Self;\n    \
             #[inline] fn bitor(self, other: Self) -> Self {{ Self(self.0 | other.0) }}\n}}\n"
        )
}

/// Returns the Rust integer of a primitive.
pub(super) fn integer(primitive: Primitive) -> &'static str {
    match primitive {
        Primitive::Char | Primitive::Uint8 => "u8",
        Primitive::Int8 => "i8",
        Primitive::Int16 => "i16",
        Primitive::Uint16 => "u16",
        Primitive::Int32 => "i32",
        Primitive::Uint32 => "u32",
        Primitive::Int64 => "i64",
        Primitive::Uint64 => "u64",
    }
}
