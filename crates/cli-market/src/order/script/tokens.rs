//! The tokens of a line, and their columns.

use super::ScriptError;

/// A word and the column at which it begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    column: usize,
    pub(super) text: &'a str,
    /// The word is in quotes: it may have blanks, and is never a word of the language.
    quoted: bool,
}

/// An error in the quotes of a line: the column, what was expected there, and what was found.
type QuoteError<'a> = (usize, &'static str, Option<Token<'a>>);

/// Returns the tokens of a line, the last first. `@` is its own token, `#` begins a comment, and
/// quotes make one token of everything between them.
fn split(text: &str) -> Result<Vec<Token<'_>>, QuoteError<'_>> {
    const BLANK: &str = "a blank after the closing quote";
    let mut tokens = Vec::new();
    let mut characters = (1..).zip(text.char_indices()).peekable();
    while let Some((column, (at, character))) = characters.next() {
        match character {
            '#' => break,
            '@' => tokens.push(Token { column, text: &text[at..=at], quoted: false }),
            '"' => {
                let closing = characters.by_ref().find(|&(_, (_, character))| character == '"');
                let Some((_, (end, _))) = closing else {
                    return Err((column, "a closing quote", None));
                };
                tokens.push(Token { column, text: &text[at + 1..end], quoted: true });
                if let Some(&(column, (at, next))) = characters.peek()
                    && !ends_word(next)
                {
                    let text = &text[at..at + next.len_utf8()];
                    return Err((column, BLANK, Some(Token { column, text, quoted: false })));
                }
            }
            character if character.is_whitespace() => {}
            _ => {
                let mut end = at + character.len_utf8();
                while let Some((_, (at, next))) = characters.next_if(|&(_, (_, it))| !ends_word(it))
                {
                    end = at + next.len_utf8();
                }
                tokens.push(Token { column, text: &text[at..end], quoted: false });
            }
        }
    }
    tokens.reverse();
    Ok(tokens)
}

fn ends_word(character: char) -> bool {
    character.is_whitespace() || matches!(character, '@' | '#')
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
    ///
    /// # Errors
    /// A quote that is not closed, or not followed by a blank.
    pub(super) fn new(
        text: &'a str,
        line: usize,
        instrument: &'a dyn Fn(&str) -> Option<i32>,
    ) -> Result<Self, ScriptError> {
        let end = text.chars().count() + 1;
        let tokens = Self { rest: Vec::new(), line, end, instrument };
        match split(text) {
            Ok(rest) => Ok(Self { rest, ..tokens }),
            Err((column, expected, found)) => {
                Err(ScriptError { column, ..tokens.wrong(found, expected) })
            }
        }
    }

    pub(super) fn next(&mut self) -> Option<Token<'a>> {
        self.rest.pop()
    }

    /// Returns the next word of the language without consuming it, empty at the end.
    pub(super) fn word(&self) -> &'a str {
        self.rest.last().filter(|next| !next.quoted).map_or("", |next| next.text)
    }

    /// Consumes the next word if it is `word`.
    pub(super) fn take(&mut self, word: &str) -> bool {
        let is_this = self.word() == word;
        if is_this {
            self.rest.pop();
        }
        is_this
    }

    pub(super) fn wrong(&self, word: Option<Token<'_>>, expected: &'static str) -> ScriptError {
        let (column, found) = match word {
            Some(Token { column, text, quoted: false }) => {
                (column, format!("`{}`", text.escape_debug()))
            }
            Some(Token { column, text, .. }) => (column, format!("\"{}\"", text.escape_debug())),
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
        word.and_then(|word| read(word.text)).ok_or_else(|| self.wrong(word, expected))
    }
}
