//! The prose of a source file: text that people read, separated from code.
//!
//! In Rust, prose is comments, doc comments and string literals. In other text files everything is
//! prose. Code spans (backticks) and fenced code blocks are code in both.

use super::source::Source;

/// The replacement for a character of code. No phrase continues across it.
const CODE: char = '\0';

/// Returns the prose of a file, one `char` for each `char` of the file, so that indexes and line
/// breaks match. Code is replaced by NUL characters.
pub(super) fn prose(source: &Source) -> Vec<char> {
    let mut text = if source.is_rust() {
        RustText::new(&source.text).separate()
    } else {
        source.text.chars().collect()
    };
    for segment in text.split_mut(|&c| c == CODE) {
        hide_code(segment);
    }
    text
}

/// Separates the comments and string literals of Rust source from its code.
struct RustText {
    source: Vec<char>,
    /// The next character to read. Everything before it is in `prose`.
    position: usize,
    prose: Vec<char>,
}

impl RustText {
    fn new(text: &str) -> Self {
        let source: Vec<char> = text.chars().collect();
        let prose = Vec::with_capacity(source.len());
        Self { source, position: 0, prose }
    }

    fn separate(mut self) -> Vec<char> {
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('/')) => self.line_comment(),
                ('/', Some('*')) => self.block_comment(),
                ('"', _) => self.string(),
                ('r', Some('"' | '#')) if !self.is_inside_word() => self.raw_string(),
                ('\'', _) => self.char_or_lifetime(),
                _ if c.is_whitespace() => self.push(c),
                _ => self.push(CODE),
            }
        }
        self.prose
    }

    fn peek(&self, ahead: usize) -> Option<char> {
        self.source.get(self.position + ahead).copied()
    }

    /// Writes `c` for the next character of the source.
    fn push(&mut self, c: char) {
        self.prose.push(c);
        self.position += 1;
    }

    fn push_times(&mut self, c: char, count: usize) {
        (0..count).for_each(|_| self.push(c));
    }

    /// Copies the next character.
    fn copy(&mut self) {
        self.push(self.source[self.position]);
    }

    /// Returns `true` if the next character continues an identifier other than the prefix of a
    /// byte or C string.
    fn is_inside_word(&self) -> bool {
        let before = |ahead: usize| {
            let index = self.position.checked_sub(ahead)?;
            self.source.get(index).copied()
        };
        match before(1) {
            Some('b' | 'c') => before(2).is_some_and(is_word),
            other => other.is_some_and(is_word),
        }
    }

    /// Comment markers become spaces, so consecutive comment lines are one text.
    fn line_comment(&mut self) {
        while let Some('/' | '!') = self.peek(0) {
            self.push(' ');
        }
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.copy();
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('/', Some('*')) => depth += 1,
                ('*', Some('/')) => depth -= 1,
                _ => {
                    self.copy();
                    continue;
                }
            }
            self.push_times(' ', 2);
            if depth == 0 {
                return;
            }
        }
    }

    fn string(&mut self) {
        self.push(CODE);
        while let Some(c) = self.peek(0) {
            match (c, self.peek(1)) {
                ('"', _) => return self.push(CODE),
                ('\\', Some('n' | 't' | 'r')) => self.push_times(' ', 2),
                // A line continuation.
                ('\\', Some('\n')) => {
                    self.push(' ');
                    self.copy();
                }
                ('\\', Some(_)) => self.push_times(CODE, 2),
                _ => self.copy(),
            }
        }
    }

    /// A raw string, or a raw identifier such as `r#type`.
    fn raw_string(&mut self) {
        self.push(CODE);
        let hashes = (0..).take_while(|&ahead| self.peek(ahead) == Some('#')).count();
        self.push_times(CODE, hashes);
        if self.peek(0) != Some('"') {
            return;
        }
        self.push(CODE);
        while let Some(c) = self.peek(0) {
            if c == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#')) {
                return self.push_times(CODE, hashes + 1);
            }
            self.copy();
        }
    }

    /// A quote begins a `char` literal if the literal ends as one; otherwise a lifetime.
    fn char_or_lifetime(&mut self) {
        let length = match (self.peek(1), self.peek(2)) {
            (Some('\\'), _) => {
                let end = (3..).take_while(|&ahead| self.peek(ahead).is_some_and(|c| c != '\''));
                4 + end.count()
            }
            (Some(_), Some('\'')) => 3,
            _ => 1,
        };
        self.push_times(CODE, length.min(self.source.len() - self.position));
    }
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Replaces fenced code blocks, then the code spans of each paragraph.
fn hide_code(text: &mut [char]) {
    let mut fenced = false;
    let mut paragraph = 0;
    let mut line = 0;
    while line < text.len() {
        let end = text[line..].iter().position(|&c| c == '\n').map_or(text.len(), |at| line + at);
        let content: String = text[line..end].iter().collect();
        let is_fence = content.trim_start().starts_with("```");
        if is_fence || content.trim().is_empty() {
            hide_spans(&mut text[paragraph..line]);
            paragraph = end;
        }
        if is_fence || fenced {
            text[line..end].fill(CODE);
            paragraph = end;
        }
        fenced ^= is_fence;
        line = end + 1;
    }
    hide_spans(&mut text[paragraph..]);
}

/// Replaces code spans: from a run of backticks to the next run of the same length.
fn hide_spans(paragraph: &mut [char]) {
    let mut at = 0;
    while at < paragraph.len() {
        let run = backticks(&paragraph[at..]);
        if run == 0 {
            at += 1;
            continue;
        }
        let begin = at;
        at += run;
        let mut end = at;
        while end < paragraph.len() {
            let closing = backticks(&paragraph[end..]);
            if closing == run {
                hide_all_but_line_breaks(&mut paragraph[begin..end + run]);
                at = end + run;
                break;
            }
            end += closing.max(1);
        }
    }
}

fn backticks(text: &[char]) -> usize {
    text.iter().take_while(|&&c| c == '`').count()
}

fn hide_all_but_line_breaks(text: &mut [char]) {
    text.iter_mut().filter(|c| **c != '\n').for_each(|c| *c = CODE);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the prose with single spaces, each run of code as `|`.
    fn words(path: &str, text: &str) -> String {
        let source = Source { path: path.to_string(), text: text.to_string() };
        let prose = prose(&source);
        assert_eq!(prose.len(), text.chars().count());
        let text: String = prose.into_iter().map(|c| if c == CODE { '|' } else { c }).collect();
        let mut words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        while words.contains("||") {
            words = words.replace("||", "|");
        }
        words
    }

    fn rust(text: &str) -> String {
        words("a.rs", text)
    }

    #[test]
    fn comments_and_strings_are_prose() {
        assert_eq!(rust("/// A b\n/// c.\nfn f() {} // d"), "A b c. | | | d");
        assert_eq!(rust("f(\"a \\\n   b\")"), "|a b|");
        assert_eq!(rust("f(r#\"a \" b\"#, br\"c\")"), "|a \" b| |c|");
        assert_eq!(rust("/* a /* b */ c */ d"), "a b c |");
    }

    #[test]
    fn quotes_in_code_begin_no_string() {
        assert_eq!(rust("f('\"', \"a\")"), "| |a|");
        assert_eq!(rust("f('\\'', \"a\")"), "| |a|");
        assert_eq!(rust("fn f<'a>(x: &'a str) { r#fn(\"b\") }"), "| | | | | |b| |");
        assert_eq!(rust("\"a \\\" b\" c"), "|a | b| |");
    }

    #[test]
    fn code_spans_and_blocks_are_code() {
        assert_eq!(rust("/// A `b` c `d\n/// e` f"), "A | c | | f");
        assert_eq!(rust("/// A\n/// ```\n/// b\n/// ```\n/// c"), "A | | | c");
        assert_eq!(words("a.md", "a ``b ` c`` d\n\n```sh\ne\n```\nf"), "a | d | | | f");
    }

    #[test]
    fn stray_backticks_end_with_their_paragraph() {
        assert_eq!(words("a.md", "a ` b\n\nc `d` e"), "a ` b c | e");
    }
}
