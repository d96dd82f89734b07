//! The tokens of a line, and their columns.

use super::ScriptError;

/// A word and the column at which it begins.
pub(super) type Token<'a> = (usize, &'a str);

/// Returns the tokens of a line, the last first; `@` is its own token, and `#` begins a comment.
fn split(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut begun: Option<(usize, usize)> = None;
    for (column, (at, character)) in (1..).zip(text.char_indices()) {
        let ends = character.is_whitespace() || character == '@' || character == '#';
        if ends && let Some((column, from)) = begun.take() {
            tokens.push((column, &text[from..at]));
        }
        match character {
            '#' => {
                tokens.reverse();
                return tokens;
            }
            '@' => tokens.push((column, &text[at..=at])),
            _ if !ends && begun.is_none() => begun = Some((column, at)),
            _ => {}
        }
    }
    if let Some((column, from)) = begun {
        tokens.push((column, &text[from..]));
    }
    tokens.reverse();
    tokens
}

/// The tokens not yet read.
pub(super) struct Tokens<'a> {
    pub(super) rest: Vec<Token<'a>>,
    line: usize,
    /// The column after the last character.
    end: usize,
    pub(super) instrument: &'a dyn Fn(&str) -> Option<i32>,
}

impl<'a> Tokens<'a> {
    /// Splits the line with this number. `instrument` looks up symbols.
    pub(super) fn new(
        text: &'a str,
        line: usize,
        instrument: &'a dyn Fn(&str) -> Option<i32>,
    ) -> Self {
        Self { rest: split(text), line, end: text.chars().count() + 1, instrument }
    }

    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        self.rest.pop()
    }

    /// Consumes the next word if it is `word`.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let is_this = self.rest.last().is_some_and(|(_, next)| *next == word);
        if is_this {
            self.rest.pop();
        }
        is_this
    }

    pub(super) fn wrong(&self, word: Option<Token<'_>>, expected: &'static str) -> ScriptError {
        let (column, found) = match word {
            Some((column, word)) => (column, format!("`{}`", word.escape_debug())),
            None => (self.end, "the end of the line".to_owned()),
        };
        ScriptError { line: self.line, column, expected, found }
    }

    /// Parses the next word with `read`.
    pub(super) fn read<T>(
        &mut self,
        expected: &'static str,
        read: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ScriptError> {
        let word = self.next();
        word.and_then(|(_, word)| read(word)).ok_or_else(|| self.wrong(word, expected))
    }
}
