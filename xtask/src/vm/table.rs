//! The table of results, and their file.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::cell::{Cell, Device, Test, name_of};
use super::kernel::Kernel;
use super::report::Outcome;

/// The result of a cell on a kernel.
#[derive(Debug, Clone)]
pub(super) struct CellResult {
    pub(super) kernel: Kernel,
    /// The kernel's release, empty if the guest did not boot.
    pub(super) release: String,
    pub(super) cell: Cell,
    pub(super) outcome: Outcome,
    /// The reason, empty for a test that passed.
    pub(super) reason: String,
    /// How frames reached the programs.
    pub(super) mode: Option<String>,
    /// The share of messages that bypassed the kernel, in percent, where the programs print it.
    pub(super) share: Option<f64>,
    /// The guest's log of the cell.
    pub(super) log: Vec<String>,
}

impl CellResult {
    /// Returns `true` if the log says more than the outcome.
    pub(super) fn shows_log(&self) -> bool {
        self.outcome == Outcome::Failed || self.cell.test == Test::RdsKernel
    }

    /// Returns one line: `6.12 igb none udp: pass (native, copy, 2 queues)`.
    pub(super) fn line(&self) -> String {
        let mut line = format!("{} {}: {}", self.kernel.name(), self.cell, word(self.outcome));
        let detail =
            if self.reason.is_empty() { self.mode.as_deref() } else { Some(&*self.reason) };
        if let Some(detail) = detail {
            let _ = write!(line, " ({detail})");
        }
        if let Some(share) = self.share {
            let _ = write!(line, ", {share} % bypass");
        }
        line
    }
}

/// Formats the results as a table, one row for each kernel, driver and device, with the reasons
/// below.
pub(super) fn format(results: &[CellResult]) -> String {
    let is_used = |test: &&Test| results.iter().any(|it| it.cell.test == **test);
    let tests: Vec<Test> = Test::value_variants().iter().filter(is_used).copied().collect();
    let mut head: Vec<String> = ["kernel", "driver", "device", "mode"].map(str::to_owned).into();
    head.extend(tests.iter().map(|&test| name_of(test)));
    let mut rows = vec![head];
    let mut reasons: Vec<String> = Vec::new();
    let row_of = |it: &CellResult| (it.kernel, it.cell.driver, it.cell.device);
    for group in results.chunk_by(|a, b| row_of(a) == row_of(b)) {
        let first = &group[0];
        let mode = group.iter().find_map(|it| it.mode.clone()).unwrap_or_else(|| "-".to_owned());
        let device = match first.cell.device {
            Device::None => "-".to_owned(),
            device => name_of(device),
        };
        let kernel = first.kernel.name();
        let mut row = vec![kernel, name_of(first.cell.driver), device, mode];
        for test in &tests {
            let result = group.iter().find(|it| it.cell.test == *test);
            row.push(result.map_or("-".to_owned(), |it| text(it, &mut reasons)));
        }
        rows.push(row);
    }
    let mut table = aligned(&rows);
    for (index, reason) in reasons.iter().enumerate() {
        let _ = writeln!(table, "{}: {reason}", index + 1);
    }
    table
}

/// Returns the text of a cell, with the number of its reason.
fn text(result: &CellResult, reasons: &mut Vec<String>) -> String {
    let word = word(result.outcome);
    if result.reason.is_empty() {
        return word.to_owned();
    }
    let number = reasons.iter().position(|it| *it == result.reason).unwrap_or_else(|| {
        reasons.push(result.reason.clone());
        reasons.len() - 1
    });
    format!("{word} {}", number + 1)
}

fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Kernel => "kernel",
        Outcome::Refused => "refused",
        Outcome::Unavailable => "n/a",
        Outcome::Failed => "FAILED",
    }
}

fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows[0].len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// A cell of a results file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) kernel: String,
    pub(super) release: String,
    pub(super) driver: String,
    pub(super) device: String,
    pub(super) test: String,
    pub(super) outcome: Outcome,
    pub(super) reason: String,
    pub(super) mode: Option<String>,
    /// The share of messages that bypassed the kernel, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) share: Option<f64>,
    /// The guest's log, if the test failed or its output is a result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) log: Vec<String>,
}

impl Row {
    /// Returns what identifies the cell.
    pub(super) fn cell(&self) -> [&str; 4] {
        [&self.kernel, &self.driver, &self.device, &self.test]
    }
}

impl From<&CellResult> for Row {
    fn from(it: &CellResult) -> Self {
        Self {
            kernel: it.kernel.name(),
            release: it.release.clone(),
            driver: name_of(it.cell.driver),
            device: name_of(it.cell.device),
            test: name_of(it.cell.test),
            outcome: it.outcome,
            reason: it.reason.clone(),
            mode: it.mode.clone(),
            share: it.share,
            log: if it.shows_log() { it.log.clone() } else { Vec::new() },
        }
    }
}

/// Writes rows to a file as JSON: an array with an object for each cell.
pub(super) fn write(rows: &[Row], path: &Path) -> Result<()> {
    let text = serde_json::to_string_pretty(rows)? + "\n";
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// Reads a results file.
pub(super) fn read(path: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(path);
    let rows = text.map_err(anyhow::Error::from).and_then(|it| Ok(serde_json::from_str(&it)?));
    rows.with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vm::cell::Driver;

    fn result(driver: Driver, test: Test, outcome: Outcome, reason: &str) -> CellResult {
        CellResult {
            kernel: Kernel::V6_12,
            release: "6.12.117".to_owned(),
            cell: Cell { driver, device: Device::None, test },
            outcome,
            reason: reason.to_owned(),
            mode: (outcome == Outcome::Pass).then(|| "native, copy, 1 queue".to_owned()),
            share: None,
            log: Vec::new(),
        }
    }

    #[test]
    fn prints_a_row_per_driver_and_each_reason_once() {
        let results = [
            result(Driver::Igb, Test::Udp, Outcome::Pass, ""),
            result(Driver::Igb, Test::Tcp, Outcome::Failed, "no answer"),
            result(Driver::Veth, Test::Udp, Outcome::Failed, "no answer"),
            result(Driver::Veth, Test::Tcp, Outcome::Refused, "not supported"),
        ];
        let expected = "\
kernel  driver  device  mode                   udp       tcp
6.12    igb     -       native, copy, 1 queue  pass      FAILED 1
6.12    veth    -       -                      FAILED 1  refused 2
1: no answer
2: not supported
";
        assert_eq!(format(&results), expected);
        let line = "6.12 igb none udp: pass (native, copy, 1 queue)";
        assert_eq!(results[0].line(), line);
    }

    #[test]
    fn writes_every_cell_to_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("results.json");
        let results = [result(Driver::E1000e, Test::HostPing, Outcome::Failed, "no answer")];
        let rows: Vec<Row> = results.iter().map(Row::from).collect();
        write(&rows, &path).unwrap();
        let rows = read(&path).unwrap();
        assert_eq!((&*rows[0].driver, &*rows[0].test), ("e1000e", "host-ping"));
        assert_eq!(rows[0].outcome, Outcome::Failed);
        assert!(std::fs::read_to_string(&path).unwrap().contains("\"outcome\": \"failed\""));
    }
}
