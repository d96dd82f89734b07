//! Words and phrases that no text of the project contains, and what to write instead.
//!
//! The rule covers comments, doc comments, string literals (and so errors, log lines and `--help`)
//! and Markdown; see `prose.rs`. Generated code and this file are exempt.

use super::Finding;
use super::prose::{is_word, prose};
use super::source::Source;

/// Each banned word or phrase with its replacement. A space stands for any white space, line breaks
/// included. Case does not matter.
#[rustfmt::skip]
const BANNED: &[(&str, &str)] = &[
    ("aloud", "with a log line, with a warning"),
    ("said", "reported, printed, logged"),
    ("told", "reports, prints, logs"),
    ("tells", "reports, prints, logs"),
    ("is told", "receives, is notified"),
    ("are told", "receive, are notified"),
    ("anew", "again"),
    ("afresh", "again"),
    ("nought", "zero"),
    ("amid", "in, during"),
    ("till", "until"),
    ("for ever", "forever, without limit"),
    ("whom", "the name of the subject"),
    ("whoever", "the name of the subject"),
    ("whichever", "the … that"),
    ("nobody", "no process, no caller"),
    ("somebody", "a process, a caller"),
    ("nevertheless", "still"),
    ("lest", "so that … not"),
    ("in vain", "without success"),
    ("to be had", "available"),
    ("be had", "available"),
    ("for want of", "without, because … is missing"),
    ("by way of", "over, through"),
    ("by the way of", "over, through"),
    ("is none", "there is no, `None`"),
    ("are none", "there are no, `None`"),
    ("gone", "closed, removed, lost"),
    ("goes on", "continues"),
    ("go on", "continue"),
    ("the house", "our, the exchange"),
    ("the house's", "our, the exchange's"),
    ("a look", "a check"),
    ("looked at", "checked"),
    ("under way", "in progress, in flight"),
    ("at leisure", "off the hot path, later"),
    ("surroundings", "environment"),
    ("of its own accord", "unsolicited"),
    ("past the kernel", "bypassing the kernel"),
    ("last words", "error message"),
    ("the words", "arguments"),
    ("wrong words", "arguments"),
    ("do without", "run without"),
    ("without a word", "without an error message"),
    ("comes to be", "becomes"),
    ("let in", "accept, log on"),
    ("let us in", "accept, log on"),
    ("mended", "fixed"),
    ("heeded", "handled"),
    ("troubles", "faults"),
    ("as of [", "same as ["),
];

/// Phrases that are the field's own although they contain a banned word.
const ALLOWED: &[&str] = &["good till"];

/// The file that contains the list.
const LIST: &str = "xtask/src/tidy/banned_words.rs";

/// The ends of the names of files that contain text for people.
const TEXT_FILES: [&str; 6] = [".rs", ".md", ".toml", ".html", ".js", ".css"];

/// Finds every banned word in the prose of a file.
pub(super) fn check(source: &Source) -> Vec<Finding> {
    let has_text = TEXT_FILES.iter().any(|end| source.path.ends_with(end));
    let exempt = source.is_generated() || source.path == LIST;
    if !has_text || exempt { Vec::new() } else { find(source) }
}

fn find(source: &Source) -> Vec<Finding> {
    let text = prose(source);
    let mut findings = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while at < text.len() {
        line += usize::from(text[at] == '\n');
        let is_start = is_word(text[at]) && (at == 0 || !is_word(text[at - 1]));
        let allowed = ALLOWED.iter().filter_map(|phrase| matching_length(&text[at..], phrase));
        if let Some(length) = allowed.filter(|_| is_start).max() {
            line += text[at + 1..at + length].iter().filter(|&&c| c == '\n').count();
            at += length;
            continue;
        }
        let Some((banned, replacement, length)) =
            is_start.then(|| banned_at(&text[at..])).flatten()
        else {
            at += 1;
            continue;
        };
        let what = format!("banned word `{banned}`: use {replacement}");
        findings.push(Finding::new(&source.path, line, what));
        line += text[at + 1..at + length].iter().filter(|&&c| c == '\n').count();
        at += length;
    }
    findings
}

/// Returns the longest banned phrase that the text begins with, its replacement and its length in
/// the text.
fn banned_at(text: &[char]) -> Option<(&'static str, &'static str, usize)> {
    let matches = BANNED.iter().filter_map(|&(banned, replacement)| {
        Some((banned, replacement, matching_length(text, banned)?))
    });
    matches.max_by_key(|&(.., length)| length)
}

/// Returns the length of `phrase` at the beginning of the text, if the text begins with the phrase
/// and the phrase ends with a word.
fn matching_length(text: &[char], phrase: &str) -> Option<usize> {
    let mut at = 0;
    for expected in phrase.chars() {
        if expected == ' ' {
            let spaces = text[at..].iter().take_while(|c| c.is_whitespace()).count();
            at += (spaces > 0).then_some(spaces)?;
        } else {
            text.get(at).filter(|c| c.eq_ignore_ascii_case(&expected))?;
            at += 1;
        }
    }
    let is_cut = text[at - 1..].iter().take(2).filter(|c| is_word(**c)).count() == 2;
    (!is_cut).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let source = Source { path: path.to_string(), text: text.to_string() };
        find(&source).into_iter().map(|finding| finding.to_string()).collect()
    }

    fn rust(text: &str) -> usize {
        findings("crates/a/src/b.rs", text).len()
    }

    #[test]
    fn accepts_terms_of_the_field() {
        assert_eq!(rust("/// Good Till Cancel\n/// and good\n/// till date orders.\n"), 0);
        assert_eq!(rust("/// Waits till the end.\n"), 1);
    }

    #[test]
    fn reports_path_line_word_and_replacement() {
        let text = "/// Sends\n/// packets till the end.\nfn send() {}\n";
        let expected = ["crates/a/src/b.rs:2: banned word `till`: use until"];
        assert_eq!(findings("crates/a/src/b.rs", text), expected);
    }

    #[test]
    fn finds_words_in_error_texts() {
        assert_eq!(rust("#[error(\"the session is gone\")]\nClosed,\n"), 1);
        assert_eq!(rust("bail!(\"{who}: nobody answers\")"), 1);
    }

    #[test]
    fn finds_words_in_help_texts() {
        assert_eq!(rust("#[arg(long, help = \"Print faults aloud\")]\nverbose: bool,\n"), 1);
        assert_eq!(rust("    /// Write the corpora anew\n    #[arg(long)]\n    seeds: bool,\n"), 1);
    }

    #[test]
    fn finds_words_in_comments_and_pages() {
        assert_eq!(rust("send(); // in vain"), 1);
        let expected = ["docs/a.md:3: banned word `to be had`: use available"];
        assert_eq!(findings("docs/a.md", "# A\n\nXDP is to be had.\n"), expected);
    }

    #[test]
    fn finds_phrases_across_line_breaks() {
        assert_eq!(rust("/// Packets are received by\n/// way of the kernel.\n"), 1);
        assert_eq!(rust("    // The loop goes\n    // on.\n"), 1);
        assert_eq!(rust("fail(\"frames go past \\\n      the kernel\")"), 1);
        let expected = ["docs/a.md:1: banned word `under way`: use in progress, in flight"];
        assert_eq!(findings("docs/a.md", "Frames under\nway.\n"), expected);
    }

    #[test]
    fn lines_are_counted_through_phrases() {
        let text = "Frames go\non.\nSaid.\n";
        let expected = [
            "docs/a.md:1: banned word `go on`: use continue",
            "docs/a.md:3: banned word `said`: use reported, printed, logged",
        ];
        assert_eq!(findings("docs/a.md", text), expected);
    }

    #[test]
    fn ignores_case_and_parts_of_words() {
        assert_eq!(rust("// TILL, Gone"), 2);
        assert_eq!(rust("// until, untold, telling, foregone, told_by"), 0);
    }

    #[test]
    fn prefers_the_longest_phrase() {
        let found = findings("a.md", "the caller is told; the house's own; by the way of");
        let words = found.iter().map(|finding| finding.split('`').nth(1).expect("a word"));
        assert_eq!(words.collect::<Vec<_>>(), ["is told", "the house's", "by the way of"]);
    }

    #[test]
    fn finds_links_that_follow_a_phrase() {
        assert_eq!(rust("/// As of [`send`].\n"), 1);
        assert_eq!(rust("/// As of version 13.\n"), 0);
    }

    #[test]
    fn allows_terms_of_the_protocols() {
        assert_eq!(rust("// Good\n// till canceled, till filled"), 1);
    }

    #[test]
    fn skips_code() {
        assert_eq!(rust("/// The field `told` of\n/// `till\n/// gone`.\nlet gone = told;\n"), 0);
        assert_eq!(rust("/// A.\n///\n/// ```\n/// told.till();\n/// ```\n"), 0);
        assert_eq!(findings("a.md", "`told`\n\n```sh\nkill nobody\n```\n"), [""; 0]);
    }

    #[test]
    fn skips_phrases_that_code_interrupts() {
        assert_eq!(rust("// goes\nfn on() {}\n// on\n"), 0);
        assert_eq!(rust("f(\"goes\", \"on\")"), 0);
    }

    #[test]
    fn exempts_generated_code_and_the_list() {
        let mark = "//! X. Generated from `schemas/x.xml` by `cargo xtask codegen`.\n";
        let text = format!("{mark}/// Gone.\n");
        for path in ["codecs/src/a.rs", LIST] {
            let source = Source { path: path.to_string(), text: text.clone() };
            assert_eq!(check(&source), []);
        }
        let source = Source { path: "a.rs".to_string(), text: "/// Gone.\n".to_string() };
        assert_eq!(check(&source).len(), 1);
    }
}
