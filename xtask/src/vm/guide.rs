//! The tables in the docs, from the committed results: kernels and drivers, and RDS's contract.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::ValueEnum;

use super::cell::{Device, Driver, Test, name_of};
use super::kernel::Kernel;
use super::report::Outcome;
use super::table::{self, Row};

/// The last result of each cell, relative to the root.
const RESULTS: &str = "docs/results/kernels-and-drivers.json";
/// A page with a table.
struct Page {
    /// Relative to the root.
    path: &'static str,
    /// The name of the comments before and after the table.
    marker: &'static str,
    table: fn(&[Row]) -> String,
}

const PAGES: [Page; 2] = [
    Page { path: "docs/guide/kernel-bypass.md", marker: "kernels", table: markdown },
    Page { path: "docs/reference/rds-differences.md", marker: "contract", table: contract },
];

/// Replaces the cells of these results in the committed ones, and the tables of the docs.
pub(super) fn write(root: &Path, results: &[table::CellResult]) -> Result<()> {
    let committed = table::read(&root.join(RESULTS))?;
    let rows = merged(committed, results.iter().map(Row::from).collect());
    table::write(&rows, &root.join(RESULTS))?;
    for page in PAGES {
        let path = root.join(page.path);
        let text = page.with_table(&fs::read_to_string(&path)?, &rows)?;
        fs::write(&path, text).with_context(|| format!("cannot write {}", page.path))?;
    }
    Ok(())
}

impl Page {
    /// Returns the text of the page with the table of these rows.
    fn with_table(&self, text: &str, rows: &[Row]) -> Result<String> {
        let (begin, end) =
            (format!("<!-- {} -->\n", self.marker), format!("<!-- /{} -->\n", self.marker));
        let missing = |marker: &str| format!("{}: no {marker}", self.path);
        let (before, rest) = text.split_once(&begin).with_context(|| missing(&begin))?;
        let (_, after) = rest.split_once(&end).with_context(|| missing(&end))?;
        Ok(format!("{before}{begin}{}{end}{after}", (self.table)(rows)))
    }
}

/// Replaces the rows of cells that ran again, and adds those of others.
fn merged(mut rows: Vec<Row>, newer: Vec<Row>) -> Vec<Row> {
    for row in newer {
        match rows.iter_mut().find(|it| it.cell() == row.cell()) {
            Some(before) => *before = row,
            None => rows.push(row),
        }
    }
    rows
}

/// Returns the outcomes of the contract of RDS on the newest kernel that has shown them.
fn contract(rows: &[Row]) -> String {
    let is_of = |row: &&Row| row.test == name_of(Test::RdsKernel) && row.outcome == Outcome::Pass;
    let Some(row) = rows.iter().rfind(is_of) else { return String::new() };
    let mut text = format!("Kernel {}, {}:\n\n", row.release, row.driver);
    for line in row.log.iter().filter_map(|line| line.strip_prefix("client: ")) {
        if line.starts_with('|') {
            text += line;
            text.push('\n');
        } else if !text.ends_with("\n\n") {
            text.push('\n');
        }
    }
    text.trim_end().to_owned() + "\n"
}

/// Returns the table: a line for each driver and device, a column for each kernel.
fn markdown(rows: &[Row]) -> String {
    let of = |kernel: Kernel| rows.iter().filter(move |row| row.kernel == kernel.name());
    let kernels = Kernel::value_variants().iter().copied();
    let kernels: Vec<Kernel> = kernels.filter(|kernel| of(*kernel).next().is_some()).collect();
    let release = |kernel| of(kernel).map(|row| &*row.release).find(|it| !it.is_empty());
    let mut text = String::from("| driver | device |");
    for &kernel in &kernels {
        let release = release(kernel).map_or_else(|| kernel.name(), version);
        text += &format!(" {release} |");
    }
    text += "\n|---|---|";
    text += &"---|".repeat(kernels.len());
    text.push('\n');
    for &device in Device::value_variants() {
        for &driver in Driver::value_variants() {
            let is_of = |row: &&Row| row.driver == name_of(driver) && row.device == name_of(device);
            if !rows.iter().any(|row| is_of(&row)) {
                continue;
            }
            let shown = if device == Device::None { String::new() } else { name_of(device) };
            text += &format!("| {} | {shown} |", name_of(driver));
            for &kernel in &kernels {
                let cells: Vec<&Row> = of(kernel).filter(is_of).collect();
                text += &format!(" {} |", verdict(&cells));
            }
            text.push('\n');
        }
    }
    text
}

/// Returns the first two numbers of a kernel's release.
fn version(release: &str) -> String {
    let numbers: Vec<&str> = release.split(['.', '-', '+']).take(2).collect();
    numbers.join(".")
}

/// Returns the mode that a program gets by default, and what else the tests of a driver and device
/// showed.
fn verdict(cells: &[&Row]) -> String {
    let with = |outcome| cells.iter().filter(move |row| row.outcome == outcome);
    let of = |test: Test| cells.iter().find(|row| row.test == name_of(test));
    let mut parts = Vec::new();
    if cells.is_empty() {
        return "untested".to_owned();
    }
    if with(Outcome::Unavailable).count() == cells.len() {
        return "no such device".to_owned();
    }
    match of(Test::Udp) {
        Some(Row { outcome: Outcome::Pass, mode: Some(mode), .. }) => {
            parts.push(mode.split(", ").next().unwrap_or(mode).to_owned());
        }
        Some(Row { outcome: Outcome::Refused, .. }) => parts.push("refused".to_owned()),
        Some(Row { outcome: Outcome::Kernel, .. }) => parts.push("through the kernel".to_owned()),
        _ => {}
    }
    let runs = [Test::RunUdp, Test::RunTcp, Test::RunRedis].into_iter().filter_map(of);
    let mut run = runs.map(|row| row.outcome).peekable();
    let has_run = run.peek().is_some() && run.all(|outcome| outcome == Outcome::Pass);
    if has_run && (parts == ["refused"] || parts.is_empty()) {
        parts = vec!["`hairpin run` only".to_owned()];
    }
    match with(Outcome::Failed).count() {
        0 => {}
        failed => parts.push(format!("{failed} of {} tests fail", cells.len())),
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kernel: Kernel, driver: Driver, test: Test, outcome: Outcome, mode: &str) -> Row {
        Row {
            kernel: kernel.name(),
            release: format!("{}.4+deb13-amd64", kernel.name()),
            driver: name_of(driver),
            device: name_of(Device::None),
            test: name_of(test),
            outcome,
            reason: String::new(),
            mode: (!mode.is_empty()).then(|| mode.to_owned()),
            share: None,
            log: Vec::new(),
        }
    }

    #[test]
    fn docs_have_the_tables_of_the_committed_results() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let rows = table::read(&root.join(RESULTS)).unwrap();
        for page in PAGES {
            let text = fs::read_to_string(root.join(page.path)).unwrap();
            let is_current = page.with_table(&text, &rows).unwrap() == text;
            assert!(is_current, "{}: run `cargo xtask vm --write`", page.path);
        }
    }

    #[test]
    fn cells_that_ran_again_replace_the_committed_ones() {
        let of = |test, outcome| row(Kernel::V6_12, Driver::Igb, test, outcome, "");
        let (pass, failed) = (Outcome::Pass, Outcome::Failed);
        let committed = vec![of(Test::Udp, failed), of(Test::Tcp, pass)];
        let all = merged(committed, vec![of(Test::RunUdp, pass), of(Test::Udp, pass)]);
        let shown: Vec<_> = all.iter().map(|it| (&*it.test, it.outcome)).collect();
        assert_eq!(shown, [("udp", pass), ("tcp", pass), ("run-udp", pass)]);
    }

    #[test]
    fn contract_is_the_output_of_its_program() {
        let mut row = row(Kernel::V6_12, Driver::VirtioNet, Test::RdsKernel, Outcome::Pass, "");
        assert_eq!(
            contract(std::slice::from_ref(&row)),
            "Kernel 6.12.4+deb13-amd64, virtio-net:\n"
        );
        let lines =
            ["client: | a |", "client: | b |", "client: compared: 1", "kernel: x", "client: | c |"];
        row.log = lines.map(str::to_owned).into();
        let expected = "Kernel 6.12.4+deb13-amd64, virtio-net:\n\n| a |\n| b |\n\n| c |\n";
        assert_eq!(contract(&[row]), expected);
    }

    #[test]
    fn each_outcome_has_its_words() {
        use Outcome::{Failed, Kernel as ByKernel, Pass, Refused, Unavailable};
        let (old, new) = (Kernel::V5_10, Kernel::V6_12);
        let native = "native, copy, 1 queue";
        let rows = [
            row(new, Driver::Igb, Test::Udp, Pass, native),
            row(new, Driver::Igb, Test::Tcp, Failed, ""),
            row(old, Driver::Igb, Test::Udp, Refused, ""),
            row(old, Driver::Igb, Test::RunUdp, Pass, ""),
            row(old, Driver::Igb, Test::RunTcp, Pass, ""),
            row(new, Driver::Veth, Test::Udp, ByKernel, ""),
            row(new, Driver::E1000, Test::Udp, Unavailable, ""),
            row(old, Driver::E1000, Test::Udp, Refused, ""),
            row(new, Driver::Rtl8139, Test::RunRedis, Pass, ""),
        ];
        let expected = "\
| driver | device | 5.10 | 6.12 |
|---|---|---|---|
| igb |  | `hairpin run` only | native, 1 of 2 tests fail |
| e1000 |  | refused | no such device |
| rtl8139 |  | untested | `hairpin run` only |
| veth |  | untested | through the kernel |
";
        assert_eq!(markdown(&rows), expected);
        let [page, _] = &PAGES;
        let of =
            |table: &str| format!("before\n<!-- kernels -->\n{table}<!-- /kernels -->\nafter\n");
        assert_eq!(page.with_table(&of("old\n"), &rows).unwrap(), of(expected));
        assert!(page.with_table("before\n", &rows).is_err());
    }
}
