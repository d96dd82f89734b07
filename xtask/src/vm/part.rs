//! The guests of some cells of a kernel.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::cell::Cell;
use super::guest::{Guest, Next};
use super::image::Programs;
use super::kernel::{Kernel, KernelFiles};
use super::report::{CellReport, Line};
use super::table::CellResult;

/// The guests in a row that may report nothing because QEMU has crashed or lost their timer.
const USELESS_MAX: usize = 4;

/// Some cells of a kernel.
pub(super) struct Part<'a> {
    pub(super) kernel: Kernel,
    /// Counts from 1; 0 for the part that runs alone.
    pub(super) number: usize,
    pub(super) cells: Vec<Cell>,
    pub(super) files: &'a KernelFiles,
    pub(super) programs: &'a Programs,
    /// The folder of the guests' files.
    pub(super) logs: &'a Path,
}

impl Part<'_> {
    /// Runs the cells. A guest that ends early is followed by another one for the remaining cells.
    pub(super) fn run(&self) -> Result<Vec<CellResult>> {
        let cells = &*self.cells;
        let mut results: Vec<CellResult> = Vec::new();
        let (mut boots, mut useless) = (0, 0);
        while results.len() < cells.len() {
            boots += 1;
            let remaining = &cells[results.len()..];
            let found = self.run_guest(remaining, boots, useless)?;
            useless = if found.is_empty() { useless + 1 } else { 0 };
            ensure!(useless < USELESS_MAX, "QEMU has crashed or lost its timer {useless} times");
            results.extend(found);
        }
        Ok(results)
    }

    /// Runs one guest. Returns the results of at least one cell; possibly none if QEMU has crashed
    /// or lost its timer.
    fn run_guest(&self, cells: &[Cell], boot: usize, useless: usize) -> Result<Vec<CellResult>> {
        let name = self.kernel.name();
        let file = |ending| self.logs.join(format!("{name}-{}-{ending}", self.number));
        let file_system = file("files.cpio".to_owned());
        let console = file(format!("{boot}.console"));
        let messages = file(format!("{boot}.qemu"));
        self.programs.write(&self.files.modules, cells, &file_system)?;
        println!("vm: kernel {name}: booting for {} cells", cells.len());
        let start = Instant::now();
        let guest = Guest::boot(self.files, &file_system, cells, &console, &messages)?;
        let mut results = Vec::new();
        let mut release = String::new();
        let mut report = CellReport::default();
        let mut begun = start;
        let end = loop {
            let line = match guest.next() {
                Next::Line(line) => line,
                // A cell that crashes QEMU each time has failed.
                Next::End => match crash(&messages).filter(|_| useless + 1 < USELESS_MAX) {
                    Some(reason) => {
                        println!("vm: kernel {name}: QEMU has crashed, booting again: {reason}");
                        return Ok(results);
                    }
                    None => break "the guest ends during the test",
                },
                Next::Silence => break "the guest reports nothing",
                Next::LostTimer => {
                    println!("vm: kernel {name}: QEMU has lost its timer, booting again");
                    return Ok(results);
                }
            };
            let Some(line) = Line::parse(&line) else { continue };
            match line {
                Line::Release(text) => {
                    println!("vm: kernel {name}: {text} after {} s", start.elapsed().as_secs());
                    text.clone_into(&mut release);
                }
                Line::Note(text) => println!("vm: kernel {name}: {text}"),
                Line::Begin(_) => {
                    report = CellReport::default();
                    begun = Instant::now();
                }
                Line::End(_) => {
                    let report = std::mem::take(&mut report);
                    let took = begun.elapsed();
                    results.push(self.result(cells[results.len()], &release, &report, took));
                    if results.len() == cells.len() {
                        break "";
                    }
                }
                line => report.add(&line),
            }
        };
        drop(guest);
        if results.len() < cells.len() {
            report.log.extend(last_lines("console", &console));
            report.log.extend(last_lines("qemu", &messages));
            report.add(&Line::Error(end));
            // A guest that does not boot would not boot for the next cell either.
            let failed = if release.is_empty() { cells } else { &cells[results.len()..][..1] };
            let took = begun.elapsed();
            results.extend(failed.iter().map(|cell| self.result(*cell, &release, &report, took)));
        }
        println!("vm: kernel {name}: ended after {} s", start.elapsed().as_secs());
        Ok(results)
    }

    /// Prints the result of a cell and the time that it took.
    fn result(&self, cell: Cell, release: &str, report: &CellReport, took: Duration) -> CellResult {
        let (outcome, reason) = report.outcome();
        let result = CellResult {
            kernel: self.kernel,
            release: release.to_owned(),
            cell,
            outcome,
            reason,
            mode: report.mode(),
            share: report.share(),
            log: report.log.clone(),
        };
        let mut text = format!("vm: {}, {:.1} s\n", result.line(), took.as_secs_f64());
        if result.shows_log() {
            report.log.iter().for_each(|line| text.extend(["    ", line, "\n"]));
        }
        // At once, as other guests report too.
        print!("{text}");
        result
    }
}

/// Returns the failed assertion of QEMU itself, if its messages contain one.
fn crash(messages: &Path) -> Option<String> {
    let text = String::from_utf8_lossy(&fs::read(messages).ok()?).into_owned();
    text.lines().find(|line| line.contains("Assertion `")).map(str::to_owned)
}

/// Returns the last lines of a file, each with a name in front.
fn last_lines(name: &str, path: &Path) -> Vec<String> {
    let bytes = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().collect();
    let start = lines.len().saturating_sub(40);
    lines[start..].iter().map(|line| format!("{name}: {}", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crash_of_qemu_is_an_assertion_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let messages = folder.path().join("qemu");
        let warning = "qemu-system-x86_64: warning: hub 3 is not connected to host network\n";
        fs::write(&messages, warning).unwrap();
        assert_eq!(crash(&messages), None);
        let assertion = "qemu-system-x86_64: physmem.c:2678: f: Assertion `index < n' failed.";
        fs::write(&messages, format!("{warning}{assertion}\n")).unwrap();
        assert_eq!(crash(&messages).as_deref(), Some(assertion));
        assert_eq!(crash(&folder.path().join("none")), None);
    }
}
