//! The language of `hairpin order`: one command a line.
//!
//! `docs/guide/order-command.md` describes it. An error names line and column, both from 1, what
//! was expected
//! there and what was found.

mod command;
mod grammar;
mod values;
mod words;

pub(super) use command::{Command, Enter, Happening, Target};
use words::Words;

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: expected {expected}, found {found}")]
pub(super) struct ScriptError {
    /// Counted from 1.
    pub(super) line: usize,
    /// Of the first character that is wrong, counted from 1 in characters.
    pub(super) column: usize,
    expected: &'static str,
    found: String,
}

/// Reads the line with this number; `None` if there is nothing on it. `instrument` knows symbols.
///
/// # Errors
/// The first word that is wrong.
pub(super) fn parse(
    text: &str,
    line: usize,
    instrument: &dyn Fn(&str) -> Option<i32>,
) -> Result<Option<Command>, ScriptError> {
    let mut words = Words::of(text, line, instrument);
    if words.rest.is_empty() {
        return Ok(None);
    }
    let command = words.command()?;
    match words.next() {
        None => Ok(Some(command)),
        Some(surplus) => Err(words.wrong(Some(surplus), "the end of the line")),
    }
}

#[cfg(test)]
mod tests;
