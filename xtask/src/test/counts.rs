//! The numbers of passed, failed and skipped tests, from libtest's result lines.

use std::ops::AddAssign;

/// The results of some tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TestCounts {
    pub(super) passed: u64,
    pub(super) failed: u64,
    /// Tests that need root.
    pub(super) ignored: u64,
}

impl TestCounts {
    /// Adds a line such as `test result: ok. 5 passed; 0 failed; 2 ignored; 0 measured; …`. Other
    /// lines change nothing.
    pub(super) fn add_line(&mut self, line: &str) {
        let Some((_, counts)) =
            line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            let Some((number, result)) = count.split_once(' ') else { continue };
            let number: u64 = number.parse().unwrap_or(0);
            match result {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.ignored += number,
                _ => {}
            }
        }
    }
}

impl AddAssign for TestCounts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.ignored += other.ignored;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_the_result_lines() {
        let mut counts = TestCounts::default();
        let lines = "\
test utc::tests::prints_leap_days_and_year_ends ... ok
test result: ok. 5 passed; 0 failed; 2 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 8 tests
test result: FAILED. 7 passed; 1 failed; 0 ignored; 0 measured; 3 filtered out; finished in 1.2s
";
        lines.lines().for_each(|line| counts.add_line(line));
        assert_eq!(counts, TestCounts { passed: 12, failed: 1, ignored: 2 });
    }
}
