//! An SBE schema as data, resolved: every field knows its type's bytes.
//!
//! [`Schema::parse`] takes SBE 1.0 XML whatever prefix its root has (`sbe:`, `ns2:` or none), CME's
//! files and Hairpin's own. Not supported, and refused with a clear error: big-endian schemas,
//! groups in groups, composites other than decimals, floats and month-years as field types,
//! presence declared on a field instead of its type.

mod composite;
pub(crate) mod element;
mod message;
mod types;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

pub use crate::layout::{Presence, Primitive};
use element::Element;

/// Why a schema file was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The file is not XML.
    #[error("not XML: {0}")]
    Xml(String),
    /// An element lacks an attribute or a value that it has to have.
    #[error("line {line}: {what} is missing")]
    Missing {
        /// Line of the file, from 1.
        line: u32,
        /// What is missing.
        what: String,
    },
    /// A number, a name or a value that cannot be understood.
    #[error("line {line}: {what} is not valid")]
    Invalid {
        /// Line of the file, from 1.
        line: u32,
        /// What is not valid.
        what: String,
    },
    /// Something that SBE allows and this crate does not.
    #[error("line {line}: {what} is not supported")]
    Unsupported {
        /// Line of the file, from 1.
        line: u32,
        /// What is not supported.
        what: String,
    },
}

impl SchemaError {
    /// The reader's words, on one line.
    pub(crate) fn xml(error: &roxmltree::Error) -> Self {
        Self::Xml(element::quotable(&alloc::format!("{error}")))
    }
}

/// A schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Package name.
    pub package: String,
    /// Schema id.
    pub id: u16,
    /// Schema version.
    pub version: u16,
    /// Types that fields can have, by name.
    pub types: BTreeMap<String, Type>,
    /// Messages, sorted by template id.
    pub messages: Vec<Message>,
}

/// A type, as [`crate::Type`] but owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// Name.
    pub name: String,
    /// What the bytes mean.
    pub encoding: Encoding,
    /// Whether it can be absent.
    pub presence: Presence,
    /// Bytes on the wire, 0 for a constant.
    pub size: u16,
    /// The null of an optional type or the value of a constant, as bytes of the wire; else empty.
    pub value: Vec<u8>,
    /// The version that brought it, 0 for the first.
    pub since: u16,
    /// FIX data type, empty if the schema names none.
    pub semantic_type: String,
}

/// What the bytes of a type mean, as [`crate::Encoding`] but owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// An integer, or one character.
    Scalar(Primitive),
    /// Characters, padded with NUL.
    Text,
    /// A mantissa, and a constant exponent.
    Decimal(Primitive, i8),
    /// A mantissa and an `i8` exponent.
    Float(Primitive),
    /// Year, month, day and week in five bytes.
    MonthYear,
    /// One of the named values, or another.
    Enumeration(Primitive, Vec<Named>),
    /// Bits, named and others.
    Set(Primitive, Vec<Named>),
}

/// A named value, or a named bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Name.
    pub name: String,
    /// The value; of a set's choice the number of its bit.
    pub value: u64,
    /// The version that brought it, 0 for the first.
    pub since: u16,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Name.
    pub name: String,
    /// Template id.
    pub template_id: u16,
    /// FIX message type.
    pub semantic_type: String,
    /// The version that brought it, 0 for the first.
    pub since: u16,
    /// The root block.
    pub block: Block,
    /// Groups behind it.
    pub groups: Vec<Group>,
    /// Data behind those.
    pub data: Vec<Data>,
}

/// A root block or the block of a group's entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Bytes, padding included.
    pub length: u16,
    /// Fields in the schema's order, constants included.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name.
    pub name: String,
    /// FIX tag.
    pub tag: u16,
    /// First byte in its block; 0 for a constant.
    pub offset: u16,
    /// The version that brought it, 0 for the first.
    pub since: u16,
    /// Name of its type.
    pub kind: String,
    /// FIX data type.
    pub semantic_type: String,
}

/// A repeating group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Name.
    pub name: String,
    /// FIX tag of its counter.
    pub tag: u16,
    /// The version that brought it, 0 for the first.
    pub since: u16,
    /// Its header.
    pub dimension: Dimension,
    /// Its entries.
    pub block: Block,
}

/// The header of a group, as [`crate::Dimension`] but owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// Name of the composite.
    pub name: String,
    /// Bytes of the header.
    pub length: u16,
    /// First byte of the `u16` block length.
    pub block_length_offset: u16,
    /// First byte of the counter.
    pub count_offset: u16,
    /// Bytes of the counter, 1 or 2.
    pub count_size: u16,
}

/// Variable-length data with a `u16` length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// Name.
    pub name: String,
    /// FIX tag.
    pub tag: u16,
    /// The version that brought it, 0 for the first.
    pub since: u16,
}

impl Schema {
    /// Reads a schema from the text of its file.
    ///
    /// # Errors
    /// [`SchemaError`] if it is not XML, not a schema, or uses what is not supported.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let options = roxmltree::ParsingOptions { allow_dtd: false, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(text, options)
            .map_err(|error| SchemaError::xml(&error))?;
        let root = Element(document.root_element());
        if root.name() != "messageSchema" {
            return Err(root.missing("messageSchema"));
        }
        if root.text("byteOrder").is_some_and(|order| order != "littleEndian") {
            return Err(root.unsupported("byte order"));
        }
        let types = types::parse(root)?;
        let mut messages = root
            .children("message")
            .map(|element| message::parse(element, &types))
            .collect::<Result<Vec<_>, _>>()?;
        messages.sort_by_key(|message| message.template_id);
        Ok(Self {
            package: root.required("package")?.into(),
            id: root.number("id")?,
            version: root.number("version")?,
            types: types.fields,
            messages,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    fn schema(types: &str, messages: &str) -> Result<Schema, SchemaError> {
        Schema::parse(&format!(
            "<ns2:messageSchema xmlns:ns2=\"x\" package=\"p\" id=\"8\" version=\"2\">\n\
             <types>{types}</types>\n{messages}</ns2:messageSchema>"
        ))
    }

    #[test]
    fn takes_any_prefix_and_reads_the_schemas_own_id() {
        let schema = schema("", "").unwrap();
        assert_eq!((schema.id, schema.version, schema.package.as_str()), (8, 2, "p"));
        let plain = "<messageSchema package=\"p\" id=\"1\" version=\"0\"/>";
        assert_eq!(Schema::parse(plain).unwrap().id, 1);
    }

    #[test]
    fn offsets_follow_each_other_where_none_is_given() {
        let types = "<type name=\"a\" primitiveType=\"uint16\"/>\
             <type name=\"k\" primitiveType=\"char\" presence=\"constant\">K</type>";
        let message = "<message id=\"1\" name=\"M\" blockLength=\"6\">\
             <field id=\"1\" name=\"A\" type=\"a\"/><field id=\"2\" name=\"K\" type=\"k\"/>\
             <field id=\"3\" name=\"B\" type=\"a\"/></message>";
        let schema = schema(types, message).unwrap();
        let offsets: Vec<_> =
            schema.messages[0].block.fields.iter().map(|field| field.offset).collect();
        assert_eq!(offsets, [0, 0, 2]);
        assert_eq!(schema.types["k"].value, b"K");
    }

    #[test]
    fn refuses_a_null_that_is_also_a_value() {
        let types = "<type name=\"charNULL\" primitiveType=\"char\" presence=\"optional\" \
             nullValue=\"0\"/>\n<enum name=\"E\" encodingType=\"charNULL\">\n\
             <validValue name=\"New\">0</validValue></enum>";
        let error = schema(types, "").unwrap_err();
        assert_eq!(format!("{error}"), "line 4: value of E that also means null is not supported");
    }

    #[test]
    fn refuses_fields_that_do_not_fit_or_overlap() {
        let types = "<type name=\"a\" primitiveType=\"uint16\"/>";
        let message = |offset, length| {
            format!(
                "<message id=\"1\" name=\"M\" blockLength=\"{length}\">\
                 <field id=\"1\" name=\"A\" type=\"a\" offset=\"0\"/>\
                 <field id=\"2\" name=\"B\" type=\"a\" offset=\"{offset}\"/></message>"
            )
        };
        assert!(schema(types, &message(2, 4)).is_ok());
        let errors = [message(1, 4), message(2, 3)]
            .map(|text| format!("{}", schema(types, &text).unwrap_err()));
        assert_eq!(
            errors,
            ["line 3: offset of B is not valid", "line 3: blockLength of M is not valid"]
        );
    }
}
