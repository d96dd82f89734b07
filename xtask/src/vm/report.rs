//! The lines that a guest reports, and the outcome of a cell.
//!
//! | line | meaning |
//! |---|---|
//! | `release RELEASE` | the kernel's release |
//! | `note TEXT` | an event outside of cells |
//! | `begin CELL` | a cell starts |
//! | `step PROGRAM STATUS` | the server or the client has ended with a status, or `hang` |
//! | `error TEXT` | the cell could not start |
//! | `log FILE: LINE` | a line of the cell's log |
//! | `end CELL` | the cell is complete |
//! | `done` | all cells are complete |

use serde::{Deserialize, Serialize};

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    Release(&'a str),
    Note(&'a str),
    Begin(&'a str),
    Step { program: &'a str, status: &'a str },
    Error(&'a str),
    Log(&'a str),
    End(&'a str),
    Done,
}

impl<'a> Line<'a> {
    /// Reads a line. Returns `None` for text of other programs.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        Some(match word {
            "release" => Self::Release(rest),
            "note" => Self::Note(rest),
            "begin" => Self::Begin(rest),
            "step" => {
                let (program, status) = rest.split_once(' ')?;
                Self::Step { program, status }
            }
            "error" => Self::Error(rest),
            "log" => Self::Log(rest),
            "end" => Self::End(rest),
            "done" if rest.is_empty() => Self::Done,
            _ => return None,
        })
    }
}

/// The outcome of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    /// The test passed, and its messages bypassed the kernel.
    Pass,
    /// The test passed, but messages fell back to the kernel.
    Kernel,
    /// The program declined with an error message before it exchanged messages.
    Refused,
    /// The kernel or the driver has no such device.
    Unavailable,
    /// Everything else.
    Failed,
}

/// What a guest reported about a cell.
#[derive(Debug, Default)]
pub(super) struct CellReport {
    steps: Vec<(String, String)>,
    error: Option<String>,
    pub(super) log: Vec<String>,
}

impl CellReport {
    /// Adds a line of the cell.
    pub(super) fn add(&mut self, line: &Line<'_>) {
        match line {
            Line::Step { program, status } => {
                self.steps.push(((*program).to_owned(), (*status).to_owned()));
            }
            Line::Error(text) => self.error = Some((*text).to_owned()),
            Line::Log(text) => self.log.push((*text).to_owned()),
            _ => {}
        }
    }

    /// Returns the outcome and its reason, which is empty for a test that passed.
    pub(super) fn outcome(&self) -> (Outcome, String) {
        if let Some(error) = &self.error {
            let is_unavailable = error.starts_with("cannot add the device");
            let outcome = if is_unavailable { Outcome::Unavailable } else { Outcome::Failed };
            return (outcome, error.clone());
        }
        let Some((program, status)) = self.steps.last() else {
            return (Outcome::Failed, "no report about a program".to_owned());
        };
        let failed = |reason: &str| (Outcome::Failed, reason.to_owned());
        if status == "hang" {
            return failed(&format!("the {program} does not end"));
        }
        if status == "0" {
            return self.outcome_of_success(program);
        }
        let statistics = |line: &str| line.contains("packets transmitted");
        let prefix = format!("{program}: hairpin: ");
        let message = self.find(|line| line.starts_with(&prefix));
        match message.map(|line| &line[program.len() + 2..]) {
            Some(message) if is_refusal(message) && matches!(status.as_str(), "1" | "2") => {
                (Outcome::Refused, message.to_owned())
            }
            Some(message) => failed(message),
            None => match self.find(statistics) {
                Some(line) => failed(line),
                None => failed(&format!("the {program} ends with status {status}")),
            },
        }
    }

    fn outcome_of_success(&self, program: &str) -> (Outcome, String) {
        if program != "client" {
            return (Outcome::Failed, "the server ends before it is ready".to_owned());
        }
        if let Some(line) = self.find(|line| line.contains("No messages were received")) {
            return (Outcome::Failed, line.to_owned());
        }
        if let Some(line) = self.find(|line| answered(line).is_some_and(|share| share < 0.9)) {
            return (Outcome::Failed, line.to_owned());
        }
        match self.fallback() {
            Some(line) => (Outcome::Kernel, line.to_owned()),
            None => (Outcome::Pass, String::new()),
        }
    }

    /// Returns the line that reports a fallback to the kernel which lasts.
    fn fallback(&self) -> Option<&str> {
        if let Some(line) = self.find(|line| line.contains(": nothing of ")) {
            let cause = self.find(|line| line.contains(": hairpin: not accelerated: "));
            return Some(cause.unwrap_or(line));
        }
        let (mut fallback, mut restored) = (None, 0);
        for line in &self.log {
            if line.contains(" falls back to the kernel: ") {
                fallback = Some(line.as_str());
            } else if line.contains(" bypasses the kernel again") {
                restored += 1;
            }
        }
        let is_low = |line: &str| share(line).is_some_and(|share| share < 50.0);
        fallback.filter(|_| restored == 0).or_else(|| self.find(is_low))
    }

    /// Returns how frames reached the programs: `native mode, copy, 1 queue`.
    pub(super) fn mode(&self) -> Option<String> {
        let line = self.find(|line| line.contains(" mode, "))?;
        // FILE: hairpin: IF: DRIVER, N queues, MODE, COPY, …
        let (_, description) = line.rsplit_once(": ")?;
        let parts: Vec<&str> = description.split(", ").collect();
        let queues = parts.iter().find(|it| it.contains("queue"))?;
        let mode = parts.iter().position(|it| it.ends_with(" mode"))?;
        let copy = parts.get(mode + 1)?;
        Some(format!("{}, {copy}, {queues}", parts[mode].trim_end_matches(" mode")))
    }

    /// Returns the smallest share of messages that bypassed the kernel, in percent, of the programs
    /// that print it.
    pub(super) fn share(&self) -> Option<f64> {
        self.log.iter().filter_map(|line| share(line)).reduce(f64::min)
    }

    /// Returns the last line of the log that satisfies a condition.
    fn find(&self, is_match: impl Fn(&str) -> bool) -> Option<&str> {
        self.log.iter().map(String::as_str).rfind(|line| is_match(line))
    }
}

/// Reads the share of messages that bypassed the kernel, in percent, from a summary.
fn share(line: &str) -> Option<f64> {
    let (_, share) = line.split_once(" sockets accelerated; ")?;
    share.split_once(" %")?.0.parse().ok()
}

/// Reads the share of answers from ping's statistics. A device may lose 1 % on purpose.
fn answered(line: &str) -> Option<f64> {
    let (transmitted, rest) = line.split_once(" packets transmitted, ")?;
    let transmitted: f64 = transmitted.rsplit(' ').next()?.parse().ok()?;
    let received: f64 = rest.split_once(" packets received")?.0.parse().ok()?;
    Some(received / transmitted)
}

/// Returns `true` unless an error message is about the other host, which a refusal never is.
fn is_refusal(message: &str) -> bool {
    let failures = ["no answer", "cannot connect", "connection", "reset", "lost", "timed out"];
    let message = message.to_lowercase();
    !failures.iter().any(|failure| message.contains(failure))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(lines: &str) -> CellReport {
        let mut report = CellReport::default();
        for line in lines.lines() {
            report.add(&Line::parse(line).unwrap());
        }
        report
    }

    #[test]
    fn ignores_lines_of_other_programs() {
        assert_eq!(Line::parse("SeaBIOS (version 1)"), None);
        assert_eq!(Line::parse("step client"), None);
        assert_eq!(Line::parse("done"), Some(Line::Done));
        let line = Line::parse("begin igb vlan tcp");
        assert_eq!(line, Some(Line::Begin("igb vlan tcp")));
    }

    #[test]
    fn passes_with_the_mode() {
        let report = report(
            "step client 0\n\
             log server: xdp: eth0: igb, 2 queues, native mode, zero-copy, rx-vlan-offload on\n\
             log server: pong answers over udp at 10.7.0.2:9200",
        );
        assert_eq!(report.outcome(), (Outcome::Pass, String::new()));
        assert_eq!(report.mode().unwrap(), "native, zero-copy, 2 queues");
    }

    #[test]
    fn reports_the_programs_own_line_of_a_refusal() {
        let lines = "step server 1\nlog server: hairpin: eth0: Operation not supported";
        let expected = "hairpin: eth0: Operation not supported".to_owned();
        assert_eq!(report(lines).outcome(), (Outcome::Refused, expected));
    }

    #[test]
    fn passes_through_the_kernel_with_a_reason() {
        let fallback = "server: xdp: 10.7.0.2:9200 falls back to the kernel: the filter is full";
        let lines = format!("step client 0\nlog {fallback}");
        assert_eq!(report(&lines).outcome(), (Outcome::Kernel, fallback.to_owned()));
        let restored = format!("{lines}\nlog server: xdp: 10.7.0.2:9200 bypasses the kernel again");
        assert_eq!(report(&restored).outcome().0, Outcome::Pass);

        let summary = |share: &str| {
            report(&format!(
                "step client 0\nlog client: hairpin: 1 of 1 sockets accelerated; {share} % of 59"
            ))
        };
        assert_eq!(summary("99.9").outcome().0, Outcome::Pass);
        assert_eq!(summary("99.9").share(), Some(99.9));
        assert_eq!(summary("0").outcome().0, Outcome::Kernel);

        let cause = "server: hairpin: not accelerated: cannot open a socket on nic0";
        let lines = format!("step client 0\nlog {cause}\nlog server: hairpin: nothing of sockperf");
        assert_eq!(report(&lines).outcome(), (Outcome::Kernel, cause.to_owned()));
    }

    #[test]
    fn fails_without_an_answer() {
        let lines = "step client 1\nlog client: hairpin: ping: 10.7.0.2: no answer within 3s";
        assert_eq!(report(lines).outcome().0, Outcome::Failed);
        let lines = "step client 1\nlog client: 5 packets transmitted, 0 packets received";
        let expected = "client: 5 packets transmitted, 0 packets received".to_owned();
        assert_eq!(report(lines).outcome(), (Outcome::Failed, expected));
        let lines =
            "step client 0\nlog client: 600 packets transmitted, 9 packets received, 98% loss";
        assert_eq!(report(lines).outcome().0, Outcome::Failed);
        let lines = "step client 0\nlog client: 600 packets transmitted, 590 packets received";
        assert_eq!(report(lines).outcome().0, Outcome::Pass);
        assert_eq!(report("step client hang").outcome().0, Outcome::Failed);
        assert_eq!(report("step server 139").outcome().0, Outcome::Failed);
        assert_eq!(report("").outcome().0, Outcome::Failed);
    }

    #[test]
    fn separates_devices_that_the_driver_lacks() {
        let report = report("error cannot add the device: mtu greater than device maximum");
        assert_eq!(report.outcome().0, Outcome::Unavailable);
    }
}
