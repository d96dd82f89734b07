//! The on-the-fly decoder: reads messages of any SBE schema from the schema file alone.
//!
//! [`Plan::parse`] compiles a schema's XML (SBE 1.0, any element prefix) into a plan.
//! [`Plan::visit`] passes a message to a [`Visitor`] as generated codecs do. The plan shares only
//! the XML reader with the generator's model in [`schema`](crate::schema), so that each can be
//! tested against the other.
//!
//! Beyond the generator, a plan supports: either byte order; nested groups and data in group
//! entries; any composites, visited value by value, with references to other types; arrays of
//! numbers; floating point; headers of groups, data and messages with any unsigned members at any
//! offset; presence and constants declared on fields. A composite of `mantissa` and `exponent` is
//! one number. A composite of nullable year, month, day and week is one month-year.
//!
//! Where SBE leaves a choice, or CME's senders have settled it, plans follow the generated codecs:
//!
//! - A value newer than the wire's version, or not completely in the block, is null.
//! - An optional number without `nullValue` has SBE's null.
//! - A required integer newer than its message may be absent; its maximum value (0x00 for a
//!   character) is null.
//! - For a character, `nullValue="0"` means 0x00 and, unless it is a named value, also `'0'`.
//!
//! Not supported, with an error that names them: signed enumerations, sets with a null. Expand
//! `xi:include` before, by [`schema::include`](crate::schema::include()).
//!
//! ```
//! use hairpin_sbe::plan::Plan;
//! use hairpin_sbe::{Value, Visitor};
//!
//! let schema = r#"<messageSchema package="p" id="9" version="1" byteOrder="bigEndian">
//!     <message name="Ping" id="1"><field name="Number" id="2" type="uint16"/></message>
//! </messageSchema>"#;
//! let plan = Plan::parse(schema)?;
//!
//! #[derive(Default)]
//! struct Text(String);
//! impl Visitor for Text {
//!     fn field(&mut self, name: &str, value: Value<'_>) {
//!         self.0 += &format!("{name}={value}");
//!     }
//! }
//! let mut text = Text::default();
//! let (header, body) = plan.header(&[0, 2, 0, 1, 0, 9, 0, 1, 0x12, 0x34])?;
//! assert_eq!(plan.visit(&header, body, &mut text)?, 10);
//! assert_eq!(text.0, "Number=4660");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod composite;
mod dimension;
mod field;
mod literal;
mod message;
#[cfg(test)]
mod tests;
mod types;
mod walk;

use crate::schema::element::Element;
use crate::schema::{SchemaError, include};
use crate::{DecodeError, MessageHeader, Named, Visitor};
use alloc::string::String;
use alloc::vec::Vec;
use dimension::Header;
use message::Message;
use types::Types;
use walk::Walk;

/// A schema compiled for reading messages. Borrows its names from the schema text.
#[derive(Clone, Debug)]
pub struct Plan<'x> {
    package: String,
    id: u16,
    version: u16,
    is_big_endian: bool,
    header: Header,
    /// The messages, sorted by template id.
    messages: Vec<Message<'x>>,
    /// The name tables of enumerations and sets.
    names: Vec<Vec<Named<'x>>>,
}

impl<'x> Plan<'x> {
    /// Compiles a schema from the text of its file.
    ///
    /// # Errors
    /// [`SchemaError`] if the text is not XML, is not a schema, is contradictory or uses an
    /// unsupported feature. Types that no message uses are not checked.
    pub fn parse(text: &'x str) -> Result<Self, SchemaError> {
        let options = roxmltree::ParsingOptions { allow_dtd: false, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(text, options)
            .map_err(|error| SchemaError::xml(&error))?;
        let root = Element(document.root_element());
        if root.name() != "messageSchema" {
            return Err(root.missing("messageSchema"));
        }
        include::check_expanded(root)?;
        let is_big_endian = match root.text("byteOrder") {
            None | Some("littleEndian") => false,
            Some("bigEndian") => true,
            Some(_) => return Err(root.invalid("byteOrder")),
        };
        let mut types = Types::new(root)?;
        let header = Header::parse(root, &mut types)?;
        let mut messages = root
            .children("message")
            .map(|element| Message::parse(element, &mut types))
            .collect::<Result<Vec<_>, _>>()?;
        messages.sort_by_key(|message| message.template_id);
        if let Some([same, _]) =
            messages.array_windows().find(|[one, next]| one.template_id == next.template_id)
        {
            let what = alloc::format!("second message with id {}", same.template_id);
            return Err(root.invalid(what));
        }
        Ok(Self {
            package: root.text("package").unwrap_or_default().into(),
            id: root.number("id")?,
            version: root.number("version")?,
            is_big_endian,
            header,
            messages,
            names: types.names,
        })
    }

    /// Returns the package name; empty if the schema has none.
    #[must_use]
    pub fn package(&self) -> &str {
        &self.package
    }

    /// Returns the schema id.
    #[must_use]
    pub fn id(&self) -> u16 {
        self.id
    }

    /// Returns the schema version.
    #[must_use]
    pub fn version(&self) -> u16 {
        self.version
    }

    /// Returns the template id and name of every message, in order of template id.
    pub fn messages(&self) -> impl Iterator<Item = (u16, &'x str)> {
        self.messages.iter().map(|message| (message.template_id, message.name))
    }

    /// Splits `bytes` into the schema's message header and the body after it. The header may belong
    /// to another schema.
    ///
    /// # Errors
    /// [`DecodeError::Header`] if the header is incomplete.
    pub fn header<'a>(&self, bytes: &'a [u8]) -> Result<(MessageHeader, &'a [u8]), DecodeError> {
        self.header.decode(bytes, self.is_big_endian).ok_or(DecodeError::Header)
    }

    /// Visits every field of the message in `body` and returns its length on the wire in bytes,
    /// message header included. Visits nothing if the message is incomplete.
    ///
    /// # Errors
    /// Any [`DecodeError`] except `Header`.
    pub fn visit(
        &self,
        header: &MessageHeader,
        body: &[u8],
        visitor: &mut dyn Visitor,
    ) -> Result<usize, DecodeError> {
        if header.schema_id != self.id {
            return Err(DecodeError::Schema(header.schema_id));
        }
        let message = self
            .messages
            .binary_search_by_key(&header.template_id, |message| message.template_id)
            .map(|index| &self.messages[index])
            .map_err(|_| DecodeError::Template(header.template_id))?;
        let rest = Walk::new(self, header.version, None).message(message, header, body)?;
        let length = self.header.length() + body.len() - rest.len();
        visitor.message(message.name, header);
        Walk::new(self, header.version, Some(visitor)).message(message, header, body)?;
        Ok(length)
    }
}
