//! An XML element, with the errors that know its line.

use super::SchemaError;
use alloc::format;
use alloc::string::String;
use core::str::FromStr;
use roxmltree::{Node, StringStorage};

/// What is quoted of a file in an error is cut behind so many characters.
const QUOTED: usize = 80;

/// An element of the schema file, whose document lives for `'a` and text for `'x`.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a, 'x>(pub(crate) Node<'a, 'x>);

impl<'a, 'x> Element<'a, 'x> {
    /// Name without prefix.
    pub(crate) fn name(self) -> &'a str {
        self.0.tag_name().name()
    }

    /// All child elements.
    pub(crate) fn elements(self) -> impl Iterator<Item = Element<'a, 'x>> {
        self.0.children().filter(Node::is_element).map(Element)
    }

    /// Child elements of this name.
    pub(crate) fn children(self, name: &'static str) -> impl Iterator<Item = Element<'a, 'x>> {
        self.elements().filter(move |element| element.name() == name)
    }

    /// An attribute's text.
    pub(crate) fn text(self, attribute: &str) -> Option<&'a str> {
        self.0.attribute(attribute)
    }

    /// An attribute that has to be there.
    pub(crate) fn required(self, attribute: &str) -> Result<&'a str, SchemaError> {
        self.text(attribute).ok_or_else(|| self.missing(attribute))
    }

    /// An attribute that has to be there and be a number.
    pub(crate) fn number<T: FromStr>(self, attribute: &str) -> Result<T, SchemaError> {
        self.parse(self.required(attribute)?, attribute)
    }

    /// An attribute that is a number if it is there.
    pub(crate) fn number_or<T: FromStr>(self, attribute: &str, other: T) -> Result<T, SchemaError> {
        self.text(attribute).map_or(Ok(other), |text| self.parse(text, attribute))
    }

    /// What stands between the tags, trimmed.
    pub(crate) fn content(self) -> Result<&'a str, SchemaError> {
        let text = self.0.text().unwrap_or_default().trim();
        if text.is_empty() { Err(self.missing("value")) } else { Ok(text) }
    }

    /// A number in `text`; `what` names it in the error.
    pub(crate) fn parse<T: FromStr>(self, text: &str, what: &str) -> Result<T, SchemaError> {
        text.parse().map_err(|_| self.invalid(format!("{what} \"{text}\"")))
    }

    fn line(self) -> u32 {
        self.0.document().text_pos_at(self.0.range().start).row
    }

    pub(crate) fn missing(self, what: impl AsRef<str>) -> SchemaError {
        SchemaError::Missing { line: self.line(), what: quotable(what.as_ref()) }
    }

    pub(crate) fn invalid(self, what: impl AsRef<str>) -> SchemaError {
        SchemaError::Invalid { line: self.line(), what: quotable(what.as_ref()) }
    }

    pub(crate) fn unsupported(self, what: impl AsRef<str>) -> SchemaError {
        SchemaError::Unsupported { line: self.line(), what: quotable(what.as_ref()) }
    }

    /// The attribute `name`, which has to be there and be a name as [`symbol`](Self::symbol) says.
    pub(crate) fn named(self) -> Result<&'x str, SchemaError> {
        self.symbol("name")?.ok_or_else(|| self.missing("name"))
    }

    /// An attribute that is a name if it is there: printable ASCII without blanks and without what
    /// stands around names when they are printed. Borrowed from the file's text.
    pub(crate) fn symbol(self, attribute: &str) -> Result<Option<&'x str>, SchemaError> {
        let Some(attribute) = self.0.attribute_node(attribute) else { return Ok(None) };
        let stands_apart = |byte: &u8| byte.is_ascii_graphic() && !b"\"\\=|()[],{}".contains(byte);
        match attribute.value_storage() {
            StringStorage::Borrowed(text)
                if !text.is_empty() && text.as_bytes().iter().all(stands_apart) =>
            {
                Ok(Some(text))
            }
            other => Err(self.invalid(format!("{} \"{}\"", attribute.name(), other.as_str()))),
        }
    }
}

/// Text from a file as part of an error's line: short, and without anything that would break it.
pub(crate) fn quotable(text: &str) -> String {
    let plain = |letter: char| if letter.is_control() { '\u{fffd}' } else { letter };
    text.chars().take(QUOTED).map(plain).collect()
}
