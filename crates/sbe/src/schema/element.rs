//! An XML element, with the errors that know its line.

use super::SchemaError;
use alloc::format;
use core::str::FromStr;
use roxmltree::Node;

/// An element of the schema file.
#[derive(Clone, Copy)]
pub(super) struct Element<'a>(pub(super) Node<'a, 'a>);

impl<'a> Element<'a> {
    /// Name without prefix.
    pub(super) fn name(self) -> &'a str {
        self.0.tag_name().name()
    }

    /// All child elements.
    pub(super) fn elements(self) -> impl Iterator<Item = Element<'a>> {
        self.0.children().filter(Node::is_element).map(Element)
    }

    /// Child elements of this name.
    pub(super) fn children(self, name: &'static str) -> impl Iterator<Item = Element<'a>> {
        self.elements().filter(move |element| element.name() == name)
    }

    /// An attribute's text.
    pub(super) fn text(self, attribute: &str) -> Option<&'a str> {
        self.0.attribute(attribute)
    }

    /// An attribute that has to be there.
    pub(super) fn required(self, attribute: &str) -> Result<&'a str, SchemaError> {
        self.text(attribute).ok_or_else(|| self.missing(attribute))
    }

    /// An attribute that has to be there and be a number.
    pub(super) fn number<T: FromStr>(self, attribute: &str) -> Result<T, SchemaError> {
        self.parse(self.required(attribute)?, attribute)
    }

    /// An attribute that is a number if it is there.
    pub(super) fn number_or<T: FromStr>(self, attribute: &str, other: T) -> Result<T, SchemaError> {
        self.text(attribute).map_or(Ok(other), |text| self.parse(text, attribute))
    }

    /// What stands between the tags, trimmed.
    pub(super) fn content(self) -> Result<&'a str, SchemaError> {
        let text = self.0.text().unwrap_or_default().trim();
        if text.is_empty() { Err(self.missing("value")) } else { Ok(text) }
    }

    /// A number in `text`; `what` names it in the error.
    pub(super) fn parse<T: FromStr>(self, text: &str, what: &str) -> Result<T, SchemaError> {
        text.parse().map_err(|_| self.invalid(format!("{what} \"{text}\"")))
    }

    fn line(self) -> u32 {
        self.0.document().text_pos_at(self.0.range().start).row
    }

    pub(super) fn missing(self, what: impl AsRef<str>) -> SchemaError {
        SchemaError::Missing { line: self.line(), what: what.as_ref().into() }
    }

    pub(super) fn invalid(self, what: impl AsRef<str>) -> SchemaError {
        SchemaError::Invalid { line: self.line(), what: what.as_ref().into() }
    }

    pub(super) fn unsupported(self, what: impl AsRef<str>) -> SchemaError {
        SchemaError::Unsupported { line: self.line(), what: what.as_ref().into() }
    }
}
