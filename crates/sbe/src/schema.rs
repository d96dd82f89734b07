//! An SBE schema as data, with all types resolved.
//!
//! [`Schema::parse`] reads SBE 1.0 XML with any element prefix (`sbe:`, `ns2:` or none): CME's
//! files and Hairpin's own. Not supported, with an error that names them: big-endian schemas,
//! nested groups, field composites other than decimals, floats and month-years, and presence
//! declared on a field instead of its type.

mod composite;
pub(crate) mod element;
pub(crate) mod include;
mod message;
mod types;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

pub use crate::layout::{Presence, Primitive};
use element::Element;
pub use include::include;

/// The reason a schema file was rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaError {
    /// The file is not XML.
    #[error("not XML: {0}")]
    Xml(String),
    /// A file named by XInclude cannot be read.
    #[error("cannot include {file}: {cause}")]
    Unreadable {
        /// The name of the file.
        file: String,
        /// The cause.
        cause: String,
    },
    /// An error in a file named by XInclude.
    #[error("{file}: {error}")]
    Included {
        /// The name of the file.
        file: String,
        /// The error.
        error: Box<SchemaError>,
    },
    /// An element lacks a required attribute or value.
    #[error("line {line}: {what} is missing")]
    Missing {
        /// The line in the file, from 1.
        line: u32,
        /// The missing item.
        what: String,
    },
    /// An invalid number, name or value.
    #[error("line {line}: {what} is not valid")]
    Invalid {
        /// The line in the file, from 1.
        line: u32,
        /// The invalid item.
        what: String,
    },
    /// An SBE feature that this crate does not support.
    #[error("line {line}: {what} is not supported")]
    Unsupported {
        /// The line in the file, from 1.
        line: u32,
        /// The unsupported feature.
        what: String,
    },
}

impl SchemaError {
    /// Converts the XML reader's error to one line.
    pub(crate) fn xml(error: &roxmltree::Error) -> Self {
        Self::Xml(element::quoted(&alloc::format!("{error}")))
    }
}

/// A schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The package name.
    pub package: String,
    /// The schema id.
    pub id: u16,
    /// The schema version.
    pub version: u16,
    /// The types that fields can have, by name.
    pub types: BTreeMap<String, Type>,
    /// The messages, sorted by template id.
    pub messages: Vec<Message>,
}

/// A type: the owned form of [`crate::Type`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Type {
    /// The type's name.
    pub name: String,
    /// The encoding of the type's bytes.
    pub encoding: Encoding,
    /// The presence of fields of this type.
    pub presence: Presence,
    /// The size on the wire in bytes; 0 for a constant.
    pub size: u16,
    /// The null of an optional type or the value of a constant, in wire format; otherwise empty.
    pub value: Vec<u8>,
    /// The version that introduced the type, 0 for the first.
    pub since: u16,
    /// The FIX data type; empty if not declared.
    pub semantic_type: String,
}

/// The encoding of a type's bytes: the owned form of [`crate::Encoding`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// An integer, or one character.
    Scalar(Primitive),
    /// Characters, padded with NULs.
    Text,
    /// A mantissa, with a constant exponent.
    Decimal(Primitive, i8),
    /// A mantissa followed by an `i8` exponent.
    Float(Primitive),
    /// A year, month, day and week in five bytes.
    MonthYear,
    /// A value of an enumeration, named or unnamed.
    Enumeration(Primitive, Vec<Named>),
    /// Bits of a set, named or unnamed.
    Set(Primitive, Vec<Named>),
}

/// A named value of an enumeration, or a named bit of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The value; for a set, the bit number.
    pub value: u64,
    /// The version that introduced the value, 0 for the first.
    pub since: u16,
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The message's name.
    pub name: String,
    /// The template id.
    pub template_id: u16,
    /// The FIX message type.
    pub semantic_type: String,
    /// The version that introduced the message, 0 for the first.
    pub since: u16,
    /// The root block.
    pub block: Block,
    /// The groups after the root block.
    pub groups: Vec<Group>,
    /// The data fields after the groups.
    pub data: Vec<Data>,
}

/// A root block or the block of a group entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The length in bytes, padding included.
    pub length: u16,
    /// The fields in the schema's order, constants included.
    pub fields: Vec<Field>,
}

/// A field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's name.
    pub name: String,
    /// The FIX tag.
    pub tag: u16,
    /// The offset in the block; 0 for a constant.
    pub offset: u16,
    /// The version that introduced the field, 0 for the first.
    pub since: u16,
    /// The name of the field's type.
    pub kind: String,
    /// The FIX data type.
    pub semantic_type: String,
}

/// A repeating group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The group's name.
    pub name: String,
    /// The FIX tag of the group's counter.
    pub tag: u16,
    /// The version that introduced the group, 0 for the first.
    pub since: u16,
    /// The group's header.
    pub dimension: Dimension,
    /// The block of its entries.
    pub block: Block,
}

/// The header of a group: the owned form of [`crate::Dimension`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dimension {
    /// The composite's name.
    pub name: String,
    /// The header's length in bytes.
    pub length: u16,
    /// The offset of the `u16` block length.
    pub block_length_offset: u16,
    /// The offset of the counter.
    pub count_offset: u16,
    /// The size of the counter in bytes, 1 or 2.
    pub count_size: u16,
}

/// A variable-length data field with a `u16` length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Data {
    /// The field's name.
    pub name: String,
    /// The FIX tag.
    pub tag: u16,
    /// The version that introduced the field, 0 for the first.
    pub since: u16,
}

impl Schema {
    /// Parses a schema from the text of its file.
    ///
    /// # Errors
    /// [`SchemaError`] if the text is not XML, is not a schema, or uses an unsupported feature.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let options = roxmltree::ParsingOptions { allow_dtd: false, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(text, options)
            .map_err(|error| SchemaError::xml(&error))?;
        let root = Element(document.root_element());
        if root.name() != "messageSchema" {
            return Err(root.missing("messageSchema"));
        }
        include::check_expanded(root)?;
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
    fn accepts_any_prefix_and_reads_the_schema_id() {
        let schema = schema("", "").unwrap();
        assert_eq!((schema.id, schema.version, schema.package.as_str()), (8, 2, "p"));
        let plain = "<messageSchema package=\"p\" id=\"1\" version=\"0\"/>";
        assert_eq!(Schema::parse(plain).unwrap().id, 1);
    }

    #[test]
    fn missing_offsets_are_consecutive() {
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
    fn rejects_a_null_that_is_also_a_value() {
        let types = "<type name=\"charNULL\" primitiveType=\"char\" presence=\"optional\" \
             nullValue=\"0\"/>\n<enum name=\"E\" encodingType=\"charNULL\">\n\
             <validValue name=\"New\">0</validValue></enum>";
        let error = schema(types, "").unwrap_err();
        assert_eq!(format!("{error}"), "line 4: value of E that also means null is not supported");
    }

    #[test]
    fn rejects_fields_that_do_not_fit_or_overlap() {
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
