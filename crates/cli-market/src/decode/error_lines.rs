//! Errors in the packets of a capture: one line for each kind, with a count.

use hairpin_measure::counted;
use std::collections::HashMap;
use std::io::{self, Write};

/// The most kinds with a line of their own.
const MOST_KINDS: usize = 100;

/// The errors of a capture. Two errors are of one kind if their texts differ in numbers only.
#[derive(Debug, Default)]
pub(crate) struct ErrorLines {
    kinds: Vec<ErrorKind>,
    by_text: HashMap<String, usize>,
    /// Errors of further kinds.
    others: u64,
}

#[derive(Debug)]
struct ErrorKind {
    /// The first error.
    text: String,
    /// The first and the last packet with such an error.
    first: u64,
    last: u64,
    count: u64,
}

impl ErrorLines {
    /// Records an error in a packet, counted from 1. Returns `true` if it is the first of its kind.
    pub(crate) fn record(&mut self, packet: u64, text: &str) -> bool {
        let key = without_numbers(text);
        if let Some(place) = self.by_text.get(&key) {
            let kind = &mut self.kinds[*place];
            (kind.last, kind.count) = (packet, kind.count + 1);
        } else if self.kinds.len() < MOST_KINDS {
            self.by_text.insert(key, self.kinds.len());
            self.kinds.push(ErrorKind { text: text.into(), first: packet, last: packet, count: 1 });
            return true;
        } else {
            self.others += 1;
        }
        false
    }

    /// Adds the errors of others, and returns their number.
    pub(crate) fn append(&mut self, others: Self) -> u64 {
        let mut total = others.others;
        self.others += others.others;
        for ErrorKind { text, first, last, count } in others.kinds {
            total += count;
            self.record(first, &text);
            if let Some(place) = self.by_text.get(&without_numbers(&text)) {
                let kind = &mut self.kinds[*place];
                (kind.first, kind.last) = (kind.first.min(first), kind.last.max(last));
                kind.count += count - 1;
            } else {
                self.others += count - 1;
            }
        }
        total
    }

    /// Writes a line for each kind with several errors, of which the first was reported before.
    ///
    /// # Errors
    /// Those of the output.
    pub(crate) fn write_repeated(&mut self, err: &mut impl Write) -> io::Result<()> {
        self.by_text.clear();
        for ErrorKind { text, count, .. } in self.kinds.drain(..).filter(|kind| kind.count > 1) {
            writeln!(err, "hairpin: {text} ({count} of this kind)")?;
        }
        match std::mem::take(&mut self.others) {
            0 => Ok(()),
            others => writeln!(err, "hairpin: {} of further kinds", counted(others, "error")),
        }
    }

    /// Writes the lines in the order of their first packets, and forgets their errors. `kind`
    /// precedes each text.
    ///
    /// # Errors
    /// Those of the output.
    pub(crate) fn write(&mut self, kind: &str, err: &mut impl Write) -> io::Result<()> {
        self.by_text.clear();
        self.kinds.sort_by_key(|kind| kind.first);
        for ErrorKind { text, first, last, count } in self.kinds.drain(..) {
            match count {
                1 => writeln!(err, "hairpin: {kind}packet {first}: {text}")?,
                _ => writeln!(
                    err,
                    "hairpin: {kind}packet {first}: {text} ({count} of this kind, the last in \
                     packet {last})"
                )?,
            }
        }
        match std::mem::take(&mut self.others) {
            0 => Ok(()),
            others => writeln!(err, "hairpin: {kind}{others} of further kinds"),
        }
    }
}

/// Returns the text with `#` for each number, and `byte` for `bytes`: the plural is no other kind.
fn without_numbers(text: &str) -> String {
    let mut key = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '0'..='9' if key.ends_with('#') => {}
            '0'..='9' => key.push('#'),
            _ => key.push(character),
        }
    }
    key.replace(" bytes", " byte")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(errors: &mut ErrorLines) -> String {
        let mut text = Vec::new();
        errors.write("", &mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn repeated_errors_are_one_line_with_a_count() {
        let mut errors = ErrorLines::default();
        errors.record(3, "message size 0");
        errors.record(5, "IP fragment");
        errors.record(7, "message size 9");
        errors.record(70, "message size 19");
        let expected = "hairpin: packet 3: message size 0 (3 of this kind, the last in packet \
                        70)\n\
                        hairpin: packet 5: IP fragment\n";
        assert_eq!(written(&mut errors), expected);
        assert_eq!(written(&mut errors), "");
    }

    #[test]
    fn appended_errors_are_counted_with_those_of_their_kind() {
        let (mut errors, mut others) = (ErrorLines::default(), ErrorLines::default());
        errors.record(5, "message size 0");
        for (packet, text) in [(2, "message size 3"), (9, "message size 4"), (3, "IP fragment")] {
            others.record(packet, text);
        }
        assert_eq!(errors.append(others), 3);
        let expected = "hairpin: packet 2: message size 0 (3 of this kind, the last in packet 9)\n\
                        hairpin: packet 3: IP fragment\n";
        assert_eq!(written(&mut errors), expected);
    }

    #[test]
    fn number_of_lines_is_limited() {
        let mut errors = ErrorLines::default();
        for kind in 0..MOST_KINDS + 5 {
            errors.record(1, &"x".repeat(kind));
        }
        let text = written(&mut errors);
        assert_eq!(text.lines().count(), MOST_KINDS + 1);
        assert!(text.ends_with("hairpin: 5 of further kinds\n"), "{text}");
    }
}
