//! `cargo xtask tidy`: the rules of ARCHITECTURE.md and STYLE.md that a machine can check.
//!
//! | module | rules |
//! |---|---|
//! | `lock_file` | the core's lock file has nothing of the formats of `data/` |
//! | `layers`, `manifests` | the layer table, lints, `no_std` and unsafe code |
//! | `purity` | no I/O in L0 and L1; the crates that the trader may name |
//! | `banned_words`, `prose` | plain words in comments, strings and docs |
//! | `text`, `functions` | lines, file names, function lengths |
//! | `counters` | every error counter has a description and a test |
//! | `links` | links between Markdown pages; every page of `docs/` is reachable from the index |
//! | `rule_tests` | the tests that the page of CME's rules names exist |
//! | `generated` | the size of generated code |

mod banned_words;
mod counters;
mod functions;
mod generated;
mod layers;
mod links;
mod lock_file;
mod manifests;
mod prose;
mod purity;
mod rule_tests;
mod source;
mod text;

use std::fmt;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::workspace::Workspace;
use source::Source;

/// A broken rule.
#[derive(Debug, PartialEq, Eq)]
struct Finding {
    /// The file, relative to the workspace root.
    path: String,
    /// The line, counted from one; zero for the file as a whole.
    line: usize,
    what: String,
}

impl Finding {
    fn new(path: &str, line: usize, what: impl Into<String>) -> Self {
        Self { path: path.to_string(), line, what: what.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// Prints every broken rule and fails if there is one. Long files are only noted.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let sources = source::read_all(&workspace.root)?;
    let mut findings = layers::check(workspace);
    findings.extend(manifests::check(workspace)?);
    findings.extend(lock_file::check(&workspace.root)?);
    findings.extend(sources.iter().flat_map(check));
    findings.extend(generated::check(&sources));
    findings.extend(counters::check(&sources));
    findings.extend(counters::check_page(&sources));
    findings.extend(links::check(&workspace.root, &sources));
    findings.extend(rule_tests::check(&sources));
    let mut report = notes(&sources);
    report.extend(findings.iter().map(|finding| format!("{finding}\n")));
    report.push(format!("tidy: {} files, {} findings\n", sources.len(), findings.len()));
    // `print!` panics when the reader closes the pipe early, as `head` does.
    std::io::stdout().write_all(report.concat().as_bytes()).context("cannot print the report")?;
    ensure!(findings.is_empty(), "tidy: {} findings", findings.len());
    Ok(())
}

/// Returns the reference page of all counters, as Markdown.
pub(crate) fn counters_page(root: &Path) -> Result<String> {
    Ok(counters::page(&source::read_all(root)?))
}

fn notes(sources: &[Source]) -> Vec<String> {
    let written = sources.iter().filter(|source| source.is_rust() && !source.is_generated());
    let lengths = written.map(|source| (&source.path, source.text.lines().count()));
    lengths
        .filter(|(_, lines)| *lines > LONG_FILE_LINES)
        .map(|(path, lines)| format!("tidy: note: {path}: {lines} lines; is it still one noun?\n"))
        .collect()
}

/// A longer file is seldom about one thing.
const LONG_FILE_LINES: usize = 900;

fn check(source: &Source) -> Vec<Finding> {
    let mut findings = text::check_any(source);
    findings.extend(banned_words::check(source));
    if source.is_rust() {
        findings.extend(text::check_rust(source));
        findings.extend(purity::check(source));
        findings.extend(functions::check(source));
    }
    findings
}
