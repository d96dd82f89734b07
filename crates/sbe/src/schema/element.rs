//! An XML element whose errors contain its line.

use super::SchemaError;
use alloc::format;
use alloc::string::String;
use core::str::FromStr;
use roxmltree::{Node, StringStorage};

/// The maximum length of text quoted in an error, in characters.
const QUOTED: usize = 80;

/// An element of the schema file. `'a` is the lifetime of the document, `'x` that of the text.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a, 'x>(pub(crate) Node<'a, 'x>);

impl<'a, 'x> Element<'a, 'x> {
    /// Returns the name without prefix.
    pub(crate) fn name(self) -> &'a str {
        self.0.tag_name().name()
    }

    /// Returns all child elements.
    pub(crate) fn elements(self) -> impl Iterator<Item = Element<'a, 'x>> {
        self.0.children().filter(Node::is_element).map(Element)
    }

    /// Returns the child elements called `name`.
    pub(crate) fn children(self, name: &'static str) -> impl Iterator<Item = Element<'a, 'x>> {
        self.elements().filter(move |element| element.name() == name)
    }

    /// Returns an attribute's text, without blanks around it.
    pub(crate) fn text(self, attribute: &str) -> Option<&'a str> {
        self.0.attribute(attribute).map(str::trim)
    }

    /// Returns a required attribute's text.
    pub(crate) fn required(self, attribute: &str) -> Result<&'a str, SchemaError> {
        self.text(attribute).ok_or_else(|| self.missing(attribute))
    }

    /// Returns a required attribute as a number.
    pub(crate) fn number<T: FromStr>(self, attribute: &str) -> Result<T, SchemaError> {
        self.parse(self.required(attribute)?, attribute)
    }

    /// Returns an optional attribute as a number.
    pub(crate) fn number_or<T: FromStr>(self, attribute: &str, other: T) -> Result<T, SchemaError> {
        self.text(attribute).map_or(Ok(other), |text| self.parse(text, attribute))
    }

    /// Returns the trimmed text between the tags.
    pub(crate) fn content(self) -> Result<&'a str, SchemaError> {
        let text = self.0.text().unwrap_or_default().trim();
        if text.is_empty() { Err(self.missing("value")) } else { Ok(text) }
    }

    /// Parses a number in `text`. Errors call it `what`.
    pub(crate) fn parse<T: FromStr>(self, text: &str, what: &str) -> Result<T, SchemaError> {
        text.parse().map_err(|_| self.invalid(format!("{what} \"{text}\"")))
    }

    fn line(self) -> u32 {
        self.0.document().text_pos_at(self.0.range().start).row
    }

    pub(crate) fn missing(self, what: impl AsRef<str>) -> SchemaError {
        SchemaError::Missing { line: self.line(), what: quoted(what.as_ref()) }
    }

    pub(crate) fn invalid(self, what: impl AsRef<str>) -> SchemaError {
        SchemaError::Invalid { line: self.line(), what: quoted(what.as_ref()) }
    }

    pub(crate) fn unsupported(self, what: impl AsRef<str>) -> SchemaError {
        SchemaError::Unsupported { line: self.line(), what: quoted(what.as_ref()) }
    }

    /// Returns the required attribute `name`, which must be a valid [`symbol`](Self::symbol).
    pub(crate) fn named(self) -> Result<&'x str, SchemaError> {
        self.symbol("name")?.ok_or_else(|| self.missing("name"))
    }

    /// Returns an optional attribute as a name: printable ASCII without blanks and without the
    /// delimiters of printed names. Borrowed from the file's text, without blanks around it.
    pub(crate) fn symbol(self, attribute: &str) -> Result<Option<&'x str>, SchemaError> {
        let Some(attribute) = self.0.attribute_node(attribute) else { return Ok(None) };
        let stands_apart = |byte: &u8| byte.is_ascii_graphic() && !b"\"\\=|()[],{}".contains(byte);
        match attribute.value_storage() {
            StringStorage::Borrowed(text)
                if !text.trim().is_empty()
                    && text.trim().bytes().all(|byte| stands_apart(&byte)) =>
            {
                Ok(Some(text.trim()))
            }
            other => Err(self.invalid(format!("{} \"{}\"", attribute.name(), other.as_str()))),
        }
    }
}

/// Formats text from a file for an error message: shortened, and without line breaks or control
/// characters.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    text.chars().take(QUOTED).map(plain).collect()
}
