//! Invalid entries of a channel in config.xml.

use std::fmt;

use super::read::truncate;

/// An entry of a channel that cannot be used. The other channels of the file are not affected;
/// [`ChannelConfig::addresses`](super::ChannelConfig::addresses) returns the first one as an error.
///
/// Entries at different lines are equal if everything else is.
#[derive(Debug, Clone)]
pub struct InvalidEntry {
    /// The line in the file, counted from 1.
    pub line: u32,
    /// The id of the connection; `None` if the entry is not a connection.
    pub connection: Option<String>,
    /// What is wrong with it.
    pub fault: EntryFault,
}

/// What is wrong with an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryFault {
    /// A required element or attribute is missing.
    Missing {
        /// The element.
        element: &'static str,
        /// The missing element or attribute.
        missing: &'static str,
    },
    /// An element has an invalid value.
    Invalid {
        /// The element.
        element: &'static str,
        /// A description of valid values.
        expected: &'static str,
        /// The value, truncated to 40 characters.
        text: String,
    },
    /// Two channels, or two connections of a channel, have the same id.
    DuplicateId {
        /// The element.
        element: &'static str,
        /// The id, truncated to 40 characters.
        id: String,
    },
}

impl PartialEq for InvalidEntry {
    fn eq(&self, other: &Self) -> bool {
        (&self.connection, &self.fault) == (&other.connection, &other.fault)
    }
}

impl Eq for InvalidEntry {}

impl fmt::Display for InvalidEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(id) = &self.connection {
            write!(f, "connection {}: ", truncate(id))?;
        }
        write!(f, "line {}: ", self.line)?;
        match &self.fault {
            EntryFault::Missing { element, missing } => write!(f, "<{element}> has no {missing}"),
            EntryFault::Invalid { element, expected, text } => {
                write!(f, "<{element}>: '{text}' is not a valid {expected}")
            }
            EntryFault::DuplicateId { element, id } => write!(f, "duplicate <{element}> id {id}"),
        }
    }
}
