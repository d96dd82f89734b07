//! The language of `hairpin order`: a script of arbitrary text, line by line.
//!
//! Checks:
//!
//! - No line makes the parser panic.
//! - An error is one line, and names a column of its line or the one after it.
//! - A comment or blanks around a line change nothing.
//! - A symbol in quotes is the same symbol.
//!
//! Input: the text. Words in it are symbols if they contain an `S`.

use crate::Seed;
use crate::order::parse;

/// Returns the SecurityID of a word, which differs for most words.
fn instrument(word: &str) -> Option<i32> {
    let sum = word.bytes().fold(1_i32, |sum, byte| sum.wrapping_mul(31) ^ i32::from(byte));
    word.contains('S').then_some(sum & 0xFFFF)
}

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    for line in text.lines() {
        let outcome = parse(line, &instrument);
        match &outcome {
            Ok(command) => {
                let around = parse(&format!(" \t{line}\t # \" @ rest"), &instrument);
                assert_eq!(around.as_ref(), Ok(command), "{line}");
                check_quoted(line, command.as_ref());
            }
            Err((column, error)) => {
                assert!((1..=line.chars().count() + 1).contains(column), "{line}: {error}");
                assert!(!error.contains(['\n', '\r']), "{error}");
            }
        }
    }
}

/// Puts the symbols of a valid line without quotes and comments in quotes.
fn check_quoted(line: &str, command: Option<&String>) {
    if line.contains(['"', '#', '@']) {
        return;
    }
    let quote = |word: &str| match instrument(word) {
        Some(_) => format!("\"{word}\""),
        None => word.to_owned(),
    };
    let quoted: Vec<String> = line.split_whitespace().map(quote).collect();
    // An `S` also makes a name, which may be in quotes too.
    assert_eq!(parse(&quoted.join(" "), &instrument), Ok(command.cloned()), "{line}");
}

/// Returns scripts with every command, quotes, and wrong lines.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let orders = "buy 10 @ 4500.25 ESZ6 day min 2 show 3 id mine # why\nsell 1 market 1001\n\
                  buy 1 stop 4500 @ 4501 ESZ6 gtd 2026-12-31\n\
                  replace last qty 5 @ 2 gtc show 4 ifm\n\
                  replace mine fak no-order-id\ncancel mine\ncancel all ESZ6\nstatus last\n";
    let others = "party 7 account A1 smp 99 newest\nquote set 7 ESZ6 5 @ 99 6 @ 101\nrfq ESZ6 20\n\
                  cancel quotes set 7\ncross 4 @ 100 ESZ6\nstatus all ESZ6\nsleep 100ms\n\
                  expect quote-cancel within 2s\nquit\n";
    let quoted = "buy 1 market \"ESZ6 C6000\" day\ncancel all \"ESZ6 C6000\"# x\n\
                  buy 1 market \"ESZ6\nbuy 1 market \"ESZ6\"x\n\"quit\"\n";
    let wrong = "buy\nbuy 0 @ 1 ESZ6\nsleep 99999999999s\nexpect profit\n\
                 hold\u{7}\n\u{e9} \u{d6}S\n";
    let seed = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    vec![
        seed("orders", orders),
        seed("others", others),
        seed("quoted", quoted),
        seed("wrong", wrong),
    ]
}
