//! The language of `hairpin order`: one command per line.
//!
//! `docs/guide/order-command.md` describes it. An error has line and column, both from 1, what was
//! expected there and what was found.

mod command;
mod grammar;
mod tokens;
pub(crate) mod values;

pub(super) use command::{
    Command, Enter, ExpectedEvent, OrderNaming, PartyTerms, QuoteScope, QuoteTerms, Target, convert,
};
use tokens::Tokens;

/// An error in a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: expected {expected}, found {found}")]
pub(super) struct ScriptError {
    /// Counted from 1.
    pub(super) line: usize,
    /// The first wrong character, counted from 1 in characters.
    pub(super) column: usize,
    expected: &'static str,
    found: String,
}

/// Parses the line with this number; returns `None` if it is empty. `instrument` looks up symbols.
///
/// # Errors
/// The first wrong word.
pub(super) fn parse(
    text: &str,
    line: usize,
    instrument: &dyn Fn(&str) -> Option<i32>,
) -> Result<Option<Command>, ScriptError> {
    let mut tokens = Tokens::new(text, line, instrument)?;
    if tokens.rest.is_empty() {
        return Ok(None);
    }
    let command = tokens.command()?;
    match tokens.next() {
        None => Ok(Some(command)),
        Some(surplus) => Err(tokens.wrong(Some(surplus), "the end of the line")),
    }
}

#[cfg(test)]
mod tests;
