//! The last line of a run: which part of a program's traffic bypassed the kernel.

use std::fmt::Write as _;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};

use hairpin_mapped::{PageError, SharedCounterPage, Slot};

/// A count of a run, over all its processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunCount {
    /// UDP sockets with an address of the run's interfaces, and TCP connections except on loopback.
    Sockets,
    /// Those that were accelerated, at least for some time.
    Accelerated,
    /// UDP sockets, TCP listeners and connections on loopback.
    Loopback,
    /// UDP sockets and TCP connections on other interfaces.
    OtherInterface,
    /// Of [`Self::Sockets`], those that stay with the kernel for a reason that was printed.
    Refused,
    /// Messages that bypassed the kernel.
    Bypassed,
    /// Messages through the kernel, of the accelerated sockets and of all TCP connections.
    Kernel,
    /// UDP sockets and TCP connections that `--accelerate` does not name.
    NotNamed,
}

/// The values after those of [`RunCount`]: the first process, and 1 after the line was printed.
const PROCESS: usize = 8;
const PRINTED: usize = 9;
const NAMES: [&str; 10] = [
    "sockets",
    "accelerated",
    "loopback",
    "other_interface",
    "refused",
    "bypassed",
    "kernel",
    "not_named",
    "process",
    "printed",
];

/// The counts of a run, in a memory file that its processes and its keeper share.
#[derive(Debug)]
pub struct RunSummary {
    page: SharedCounterPage,
    slots: [Slot; NAMES.len()],
}

impl RunSummary {
    /// Creates the counts of a run whose first process is this one.
    ///
    /// # Errors
    /// [`PageError::Io`] if the kernel has no more memory or descriptors.
    pub fn create() -> Result<Self, PageError> {
        let summary = Self::new(SharedCounterPage::create(&NAMES)?)?;
        summary.page.store(summary.slots[PROCESS], std::process::id().into());
        Ok(summary)
    }

    /// Opens the counts from a descriptor that this process has inherited.
    ///
    /// # Errors
    /// Every [`PageError`]: the file is not such a page, or cannot be read or mapped.
    pub fn open(fd: OwnedFd) -> Result<Self, PageError> {
        Self::new(SharedCounterPage::open(fd)?)
    }

    fn new(page: SharedCounterPage) -> Result<Self, PageError> {
        let found = NAMES.map(|name| page.slot(name));
        if found.contains(&None) {
            return Err(PageError::NotPage);
        }
        let slots = found.map(|slot| slot.expect("checked above"));
        Ok(Self { page, slots })
    }

    /// Returns the memory file's descriptor.
    #[must_use]
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.page.fd()
    }

    /// Adds to a count.
    pub fn add(&self, count: RunCount, number: u64) {
        self.page.add(self.slots[count as usize], number);
    }

    /// Returns `true` if this is the first process of the run.
    #[must_use]
    pub fn is_first_process(&self) -> bool {
        self.page.load(self.slots[PROCESS]) == u64::from(std::process::id())
    }

    /// Returns the line to print, for the first caller of all processes only.
    #[must_use]
    pub fn take_line(&self, program: &str) -> Option<String> {
        (self.page.add(self.slots[PRINTED], 1) == 0).then(|| self.line(program))
    }

    fn line(&self, program: &str) -> String {
        let value = |count: RunCount| self.page.load(self.slots[count as usize]);
        let [sockets, accelerated] = [RunCount::Sockets, RunCount::Accelerated].map(value);
        let mut line = "hairpin: ".to_owned();
        let written = if accelerated == 0 {
            let [loopback, other] = [RunCount::Loopback, RunCount::OtherInterface].map(value);
            let cause = if other > 0 && other >= sockets {
                "its addresses are on interfaces that are not accelerated"
            } else if value(RunCount::Refused) > 0 {
                "a line above has the reason"
            } else if value(RunCount::NotNamed) > 0 {
                "--accelerate names none of its sockets"
            } else if sockets > 0 {
                "its TCP connections had few short messages, or its UDP sockets are unsupported"
            } else if loopback > 0 {
                "its addresses are loopback, which never leaves the kernel"
            } else {
                "it has bound or connected no UDP socket, and had no TCP connection"
            };
            writeln!(line, "nothing of {program} was accelerated: {cause}")
        } else {
            let bypassed = value(RunCount::Bypassed);
            let messages = bypassed + value(RunCount::Kernel);
            // Rounded down: 100 % are all.
            let share = (u128::from(bypassed) * 1_000 / u128::from(messages.max(1))) as u64;
            let (percent, tenth) = (share / 10, share % 10);
            let [sockets, accelerated, messages] =
                [sockets, accelerated, messages].map(with_separators);
            writeln!(
                line,
                "{accelerated} of {sockets} sockets accelerated; {percent}.{tenth} % of \
                 {messages} messages bypassed the kernel"
            )
        };
        written.expect("a string grows");
        line
    }
}

/// Returns a number in groups of three digits.
fn with_separators(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What the keeper prints, unless the program has: it was killed, or the library was not in it.
#[derive(Debug)]
pub struct LastLine {
    /// The counts of the run.
    pub summary: RunSummary,
    /// The name of the program.
    pub program: String,
    /// The standard error of the run.
    pub output: OwnedFd,
}

impl LastLine {
    /// Returns the descriptors that the keeper keeps.
    pub(crate) fn descriptors(&self) -> [i32; 2] {
        [self.summary.fd().as_raw_fd(), self.output.as_raw_fd()]
    }

    pub(crate) fn print(self) {
        use std::io::Write as _;
        if let Some(line) = self.summary.take_line(&self.program) {
            // The terminal may be closed.
            let _ = std::fs::File::from(self.output).write_all(line.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(counts: &[(RunCount, u64)]) -> String {
        let summary = RunSummary::create().unwrap();
        counts.iter().for_each(|(count, number)| summary.add(*count, *number));
        summary.line("program")
    }

    #[test]
    fn line_names_the_share_rounded_down() {
        use RunCount::{Accelerated, Bypassed, Kernel, Sockets};
        let counts = [(Sockets, 3), (Accelerated, 2), (Bypassed, 1_999_999), (Kernel, 1)];
        let expected = "hairpin: 2 of 3 sockets accelerated; 99.9 % of 2,000,000 messages bypassed \
                        the kernel\n";
        assert_eq!(line(&counts), expected);
        assert!(line(&[(Sockets, 1), (Accelerated, 1)]).contains("0.0 % of 0 messages"));
        assert!(line(&[(Sockets, 1), (Accelerated, 1), (Bypassed, 7)]).contains("100.0 % of 7 m"));
    }

    #[test]
    fn line_names_why_nothing_was_accelerated() {
        use RunCount::{Loopback, NotNamed, OtherInterface, Refused, Sockets};
        assert!(line(&[]).contains("of program was accelerated: it has bound or connected no"));
        assert!(line(&[(Loopback, 1)]).contains("loopback, which never"));
        assert!(line(&[(Sockets, 1), (OtherInterface, 1)]).contains("that are not accelerated"));
        assert!(line(&[(OtherInterface, 1)]).contains("that are not accelerated"));
        assert!(line(&[(Sockets, 2), (Refused, 1)]).contains("a line above has the reason"));
        assert!(line(&[(Sockets, 1), (NotNamed, 1)]).contains("--accelerate names none"));
        assert!(line(&[(Sockets, 1), (Loopback, 1)]).contains("few short messages"));
    }

    #[test]
    fn line_is_taken_once_by_all_processes() {
        let ours = RunSummary::create().unwrap();
        let theirs = RunSummary::open(ours.fd().try_clone_to_owned().unwrap()).unwrap();
        assert!(ours.is_first_process() && theirs.is_first_process());
        assert!(theirs.take_line("program").is_some());
        assert!(ours.take_line("program").is_none() && theirs.take_line("program").is_none());
    }

    #[test]
    fn numbers_have_separators() {
        let cases = [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")];
        cases.iter().for_each(|(number, text)| assert_eq!(with_separators(*number), *text));
    }
}
