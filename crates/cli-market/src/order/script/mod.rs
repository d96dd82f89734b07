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

impl ScriptError {
    /// Returns the error without its place, for a person who has just typed the line.
    pub(super) fn without_place(&self) -> String {
        format!("expected {}, found {}; `help` prints the commands", self.expected, self.found)
    }
}

/// The commands, as `help` prints them.
pub(super) const HELP: &str = "\
buy N @ PRICE INSTRUMENT   enter an order; also sell N …
  instead of @ PRICE       market, market-limit, stop PRICE
  at the end               day, gtc, fak, fok, gtd DATE,
                           min N, show N
replace ORDER [qty N] [@ PRICE]
                           change an order
cancel ORDER               cancel an order
cancel all [INSTRUMENT]    cancel all orders
orders                     print the working orders
positions                  print the net fills
status                     print the session and its orders
status ORDER               ask the exchange for an order
expect WHAT [within TIME]  wait for new, fill, cancel, …
sleep TIME                 wait: 100ms, 2s
quote, rfq, cross, party   see docs/guide/order-command.md
help, ?                    print this
quit                       log off; orders stay unless
                           --cancel-on-quit
ORDER is the id of an order, or last.";

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
