//! What came of a target's run, read from libFuzzer's own words.

use std::fmt;

use anyhow::{Result, ensure};

/// A target's run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    name: String,
    /// Inputs that were run, the seeds included.
    executions: u64,
    seconds: u64,
    /// Edges reached.
    coverage: u64,
    /// Inputs kept because each reaches something new.
    corpus: u64,
    /// Files with inputs that broke a promise, hung, or took too much memory.
    findings: u64,
    /// Why the run is not a good one.
    fault: Option<String>,
}

/// Fewer inputs beyond the seeds than this say nothing: the target is broken, or far too slow.
pub(super) const FEWEST: u64 = 500;

impl Outcome {
    /// Reads the log of a run that began with so many seeds and left so many findings.
    pub(super) fn new(name: &str, is_success: bool, log: &str, seeds: u64, findings: u64) -> Self {
        let last = |word| log.lines().rev().find_map(|line| after(line, word)).unwrap_or(0);
        let executions = last("stat::number_of_executed_units:");
        let fault = if findings > 0 {
            Some(format!("{findings} findings"))
        } else if !is_success {
            Some("has not ended well".to_owned())
        } else if executions < seeds + FEWEST {
            Some(format!("has tried only {executions} inputs, {seeds} of them seeds"))
        } else {
            None
        };
        let name = name.to_owned();
        let [seconds, coverage, corpus] = ["runs in", "cov:", "corp:"].map(last);
        Self { name, executions, seconds, coverage, corpus, findings, fault }
    }

    /// Whether there is something to be looked at.
    pub(super) const fn is_good(&self) -> bool {
        self.fault.is_none()
    }
}

/// The number behind a word.
fn after(line: &str, word: &str) -> Option<u64> {
    let (_, rest) = line.split_once(word)?;
    let rest = rest.trim_start();
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

const COLUMNS: [&str; 6] = ["target", "executions", "seconds", "coverage", "corpus", "findings"];

/// A row of the table.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, executions, seconds, coverage, corpus, findings, .. } = self;
        write!(
            f,
            "{name:<20} {executions:>12} {seconds:>8} {coverage:>9} {corpus:>7} {findings:>9}"
        )
    }
}

/// Prints the table.
///
/// # Errors
/// The faults, if there are any.
pub(super) fn print(outcomes: &[Outcome]) -> Result<()> {
    let [target, executions, seconds, coverage, corpus, findings] = COLUMNS;
    println!("{target:<20} {executions:>12} {seconds:>8} {coverage:>9} {corpus:>7} {findings:>9}");
    outcomes.iter().for_each(|outcome| println!("{outcome}"));
    let fault = |of: &Outcome| of.fault.as_ref().map(|fault| format!("{} {fault}", of.name));
    let faults: Vec<String> = outcomes.iter().filter_map(fault).collect();
    ensure!(faults.is_empty(), "fuzz: {}", faults.join(", "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "\
INFO: Loaded 1 modules   (8128 inline 8-bit counters)
#31\tINITED cov: 900 ft: 1200 corp: 31/5Kb exec/s: 0 rss: 44Mb
#40960\tDONE   cov: 1203 ft: 3410 corp: 199/38Kb lim: 508 exec/s: 13653 rss: 58Mb
Done 40960 runs in 4 second(s)
stat::number_of_executed_units: 40960
stat::average_exec_per_sec:     10240
";

    #[test]
    fn a_log_tells_how_much_was_tried() {
        let outcome = Outcome::new("a", true, LOG, 31, 0);
        assert_eq!((outcome.executions, outcome.seconds), (40_960, 4));
        assert_eq!((outcome.coverage, outcome.corpus), (1_203, 199));
        assert!(outcome.is_good());
        assert!(print(&[outcome]).is_ok());
    }

    #[test]
    fn findings_failures_and_idleness_are_faults() {
        for (is_success, log, seeds, findings, fault) in [
            (false, LOG, 31, 1, "1 findings"),
            (false, LOG, 31, 0, "has not ended well"),
            (true, LOG, 40_700, 0, "has tried only 40960 inputs, 40700 of them seeds"),
            (true, "", 0, 0, "has tried only 0 inputs, 0 of them seeds"),
        ] {
            let outcome = Outcome::new("a", is_success, log, seeds, findings);
            assert_eq!(outcome.fault.as_deref(), Some(fault));
            assert!(print(&[outcome]).is_err());
        }
    }
}
