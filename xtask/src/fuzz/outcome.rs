//! The result of a target's run, parsed from libFuzzer's log.

use std::fmt;

use anyhow::{Result, ensure};

/// The result of a target's run.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Outcome {
    name: String,
    /// The inputs that ran, the seeds included.
    executions: u64,
    seconds: u64,
    /// The edges that were reached.
    coverage: u64,
    /// The inputs that each reach a new edge.
    corpus: u64,
    /// The inputs that broke an invariant, hung, or needed too much memory.
    findings: u64,
    /// The reason for which the run failed.
    fault: Option<String>,
}

/// The fewest inputs in addition to the seeds. A run with fewer is a fault: the target is broken or
/// far too slow.
pub(super) const FEWEST: u64 = 500;

impl Outcome {
    /// Parses the log of a run with this number of seeds and findings.
    pub(super) fn new(name: &str, is_success: bool, log: &str, seeds: u64, findings: u64) -> Self {
        let last =
            |label| log.lines().rev().find_map(|line| number_after(line, label)).unwrap_or(0);
        let executions = last("stat::number_of_executed_units:");
        let fault = if findings > 0 {
            Some(format!("{findings} findings"))
        } else if !is_success {
            Some("the program failed".to_owned())
        } else if executions < seeds + FEWEST {
            Some(format!("only {executions} inputs, {seeds} of them seeds"))
        } else {
            None
        };
        let name = name.to_owned();
        let [seconds, coverage, corpus] = ["runs in", "cov:", "corp:"].map(last);
        Self { name, executions, seconds, coverage, corpus, findings, fault }
    }

    /// Returns `true` if the run found no fault.
    pub(super) const fn is_good(&self) -> bool {
        self.fault.is_none()
    }
}

/// Returns the number after a label.
fn number_after(line: &str, label: &str) -> Option<u64> {
    let (_, rest) = line.split_once(label)?;
    let rest = rest.trim_start();
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

const COLUMNS: [&str; 6] = ["target", "executions", "seconds", "coverage", "corpus", "findings"];

/// Formats a row of the table.
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
/// Fails with the list of faults if there is one.
pub(super) fn print(outcomes: &[Outcome]) -> Result<()> {
    let [target, executions, seconds, coverage, corpus, findings] = COLUMNS;
    println!("{target:<20} {executions:>12} {seconds:>8} {coverage:>9} {corpus:>7} {findings:>9}");
    outcomes.iter().for_each(|outcome| println!("{outcome}"));
    let fault = |it: &Outcome| it.fault.as_ref().map(|fault| format!("{}: {fault}", it.name));
    let faults: Vec<String> = outcomes.iter().filter_map(fault).collect();
    ensure!(faults.is_empty(), "fuzz: {}", faults.join("; "));
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
    fn parses_the_statistics_of_a_log() {
        let outcome = Outcome::new("a", true, LOG, 31, 0);
        assert_eq!((outcome.executions, outcome.seconds), (40_960, 4));
        assert_eq!((outcome.coverage, outcome.corpus), (1_203, 199));
        assert!(outcome.is_good());
        assert!(print(&[outcome]).is_ok());
    }

    #[test]
    fn findings_failures_and_too_few_inputs_are_faults() {
        for (is_success, log, seeds, findings, fault) in [
            (false, LOG, 31, 1, "1 findings"),
            (false, LOG, 31, 0, "the program failed"),
            (true, LOG, 40_700, 0, "only 40960 inputs, 40700 of them seeds"),
            (true, "", 0, 0, "only 0 inputs, 0 of them seeds"),
        ] {
            let outcome = Outcome::new("a", is_success, log, seeds, findings);
            assert_eq!(outcome.fault.as_deref(), Some(fault));
            assert!(print(&[outcome]).is_err());
        }
    }
}
