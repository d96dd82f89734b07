//! `hairpin bench-compare A B`: compares two results files row by row, with ratio, interval and
//! verdict.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use hairpin_cli_harness::output;
use hairpin_measure::{
    Compared, Reason, Results, Style, Verdict, between_runs, compare_allowing, counted,
    differences, write_text,
};
use serde::Serialize;

/// Compare two results files row by row: ratio, interval, and whether the difference is noise
///
/// Rows are paired by setting. Two values represent a row: the median over its rounds, and the
/// quiet one, the lower decile over its rounds, which other load on the machine hardly affects. A
/// ratio is B's divided by A's. The 95 % interval of the quiet ratio comes from the rounds of both
/// files (bootstrap), widened by the difference between two equal runs; rows need 6 rounds with a
/// median in either file. A verdict is slower or faster if the whole interval is above or below 1,
/// the same if it contains 1 and lies within 0.95 to 1.05, otherwise undecided, with the rounds
/// that would decide; a different result of the medians follows the verdict. The exit status is 0
/// whatever the verdicts, unless --fail-on-slower is given.
#[derive(clap::Args, Debug, Clone)]
pub struct CompareArgs {
    /// Results file to compare with, written by --json
    #[arg(value_name = "A")]
    a: PathBuf,

    /// Results file to compare, written by --json
    #[arg(value_name = "B")]
    b: PathBuf,

    /// Write the comparison to FILE as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,

    /// Least difference between two equal runs, in percent, by which the interval is widened
    /// [default: 2; 10 if either machine is virtual]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    between_runs: Option<f64>,

    /// Exit with status 1 if any row is slower
    #[arg(long)]
    fail_on_slower: bool,
}

/// The document that `--json` writes.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    a: String,
    b: String,
    /// As a fraction of one.
    between_runs: f64,
    /// The differences between the machines.
    machines: &'a [String],
    rows: &'a [Compared],
}

/// The version of that document.
const SCHEMA: &str = "hairpin.comparison/1";

/// Reads both files, writes the comparison if requested, and prints it.
///
/// # Errors
/// A file that cannot be read or is not valid; one that cannot be written.
pub fn run(arguments: &CompareArgs) -> Result<ExitCode> {
    let [a, b] = [Results::read(&arguments.a)?, Results::read(&arguments.b)?];
    let allowance = arguments.between_runs.unwrap_or_else(|| between_runs(&a, &b));
    let (rows, machines) = (compare_allowing(&a, &b, allowance), differences(&a.host, &b.host));
    if let Some(path) = &arguments.json {
        let document = Document {
            schema: SCHEMA,
            a: arguments.a.display().to_string(),
            b: arguments.b.display().to_string(),
            between_runs: allowance,
            machines: &machines,
            rows: &rows,
        };
        save(path, &document)?;
    }
    let head = head([(&arguments.a, &a), (&arguments.b, &b)], &machines);
    let style = Style::for_stdout();
    let (table, chart) = (Compared::table(&rows, style), Compared::chart(&rows, style));
    let notes = match style {
        Style::Plain => String::new(),
        Style::Terminal { .. } => Compared::notes(&rows),
    };
    let census = Compared::census(&rows);
    let rest = format!("{notes}{census}{}{}", reading(allowance), next(&rows));
    output::print(&(style.wrap(&head) + &table + &chart + &style.wrap(&rest)))?;
    let slower = rows.iter().filter(|row| row.verdict == Verdict::Slower).count();
    if arguments.fail_on_slower && slower > 0 {
        let verb = if slower == 1 { "is" } else { "are" };
        let rows = counted(rows.len(), "row");
        let _ = writeln!(io::stderr(), "hairpin: {slower} of {rows} {verb} slower");
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

fn save(path: &Path, document: &Document<'_>) -> Result<()> {
    let text = serde_json::to_string_pretty(document)? + "\n";
    let written = write_text(path, &text);
    written.with_context(|| format!("cannot write the comparison to {}", path.display()))
}

/// Prints the files, and relevant facts about their machines.
fn head(files: [(&PathBuf, &Results); 2], machines: &[String]) -> String {
    let line = |(letter, (path, results)): (&str, (&PathBuf, &Results))| {
        let commit = results.commit.as_deref().map(|it| format!(" ({it})")).unwrap_or_default();
        let Results { command, version, .. } = results;
        format!("{letter}: {}: {command}; Hairpin {version}{commit}\n", path.display())
    };
    let mut head: String = ["A", "B"].into_iter().zip(files).map(line).collect();
    if !machines.is_empty() {
        head += "different machines, so any difference may be the machine's: ";
        head += &(machines.join("; ") + "\n");
    }
    head
}

fn reading(allowance: f64) -> String {
    format!(
        "µs; ratios B / A. p50: the median over rounds; quiet: the lower decile over rounds, \
         whose ratio has the interval. The same if it lies within 0.95 to 1.05; two equal runs may \
         differ by {:.1} %\n",
        allowance * 100.0
    )
}

/// Returns the flags that make two runs comparable, if rows are not.
fn next(rows: &[Compared]) -> String {
    let has = |wanted: fn(&Reason) -> bool| {
        rows.iter().any(|row| matches!(&row.verdict, Verdict::NotComparable(it) if wanted(it)))
    };
    let mut text = String::new();
    if has(|reason| matches!(reason, Reason::TooFewRounds { .. })) {
        text += "to compare rows, measure both files with --rounds 7 --json FILE\n";
    }
    if has(|reason| matches!(reason, Reason::OnlyInA | Reason::OnlyInB)) {
        text += "to pair rows, measure both files with the same --feed, --wait, --interval-us and \
                 --transport\n";
    }
    text
}

fn percent(word: &str) -> Result<f64, String> {
    match word.parse::<f64>() {
        Ok(percent) if (0.0..=1_000.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("expected a number from 0 to 1000".to_owned()),
    }
}
