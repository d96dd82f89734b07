//! The result of a run in words: the best row, the rows that do not count, and why.

use std::fmt;

use crate::results::shown;
use crate::table::{label, micros, notes, rounded, without_repeats};
use crate::{EnvironmentReport, Figure, RoundFigures, Row};

/// The lines after a table that name the best row, the late and failed ones with the cause, and the
/// next command.
#[derive(Debug, Clone, Copy)]
pub struct Conclusion<'a> {
    rows: &'a [Row],
    environment: Option<&'a EnvironmentReport>,
    next: &'a str,
    is_of_all_samples: bool,
}

impl<'a> Conclusion<'a> {
    /// Returns the conclusion of these rows and their environment. `next` is the command that
    /// follows a run that counts; an invalid run is to be repeated first.
    #[must_use]
    pub const fn new(
        rows: &'a [Row],
        environment: Option<&'a EnvironmentReport>,
        next: &'a str,
    ) -> Self {
        Self { rows, environment, next, is_of_all_samples: false }
    }

    /// Prints percentiles of all samples instead of medians over rounds, as the table above does.
    #[must_use]
    pub const fn of_all_samples(self) -> Self {
        Self { is_of_all_samples: true, ..self }
    }

    fn figure(&self, row: &Row, figure: Figure) -> Option<f64> {
        match self.is_of_all_samples {
            true => RoundFigures::from_row(row).figure(figure),
            false => shown(row, figure),
        }
    }

    /// Returns the row with the least median among those that count; the first case alone, which is
    /// measured from the intended time.
    fn best(&self) -> Option<&'a Row> {
        let case = &self.rows.first()?.setting.case;
        let faults = |row: &Row| (row.late, row.interrupted);
        let median = |row: &Row| self.figure(row, Figure::P50).unwrap_or(f64::INFINITY);
        self.rows
            .iter()
            .filter(|row| row.setting.case == *case && row.failed.is_none() && row.samples > 0)
            .filter(|row| self.figure(row, Figure::P50).is_some())
            .min_by(|one, other| {
                faults(one).cmp(&faults(other)).then(median(one).total_cmp(&median(other)))
            })
    }

    fn late(&self) -> usize {
        self.rows.iter().filter(|row| row.late && row.failed.is_none()).count()
    }

    /// Returns the reasons of failed rows, each once with its rows.
    fn failures(&self) -> Vec<(String, Vec<String>)> {
        let mut failures: Vec<(String, Vec<String>)> = Vec::new();
        for row in self.rows {
            let Some(reason) = row.failed.as_deref().map(without_repeats) else { continue };
            let label = label(row, self.rows);
            match failures.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, labels)) if labels.contains(&label) => {}
                Some((_, labels)) => labels.push(label),
                None => failures.push((reason, vec![label])),
            }
        }
        failures
    }

    /// Returns the cause of late rows, as far as it is known.
    fn cause(&self) -> String {
        match self.environment.and_then(EnvironmentReport::busy) {
            Some(busy) => busy.split(": ").next().unwrap_or_default().to_owned(),
            None => "a longer interval may help".to_owned(),
        }
    }
}

/// Formats a line each.
impl fmt::Display for Conclusion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (late, all) = (self.late(), self.rows.len());
        if let Some(row) = self.best() {
            let faults: Vec<String> = notes(row, self.environment);
            let faults = if faults.is_empty() { faults } else { vec![faults.join(", ")] };
            let faults: String = faults.iter().map(|faults| format!(" ({faults})")).collect();
            let [p50, p99] = [Figure::P50, Figure::P99].map(|it| rounded(self.figure(row, it)));
            let p99 = p99.map(|nanos| format!(", p99 {} µs", micros(Some(nanos))));
            let (label, case) = (label(row, self.rows), &row.setting.case);
            let (p50, p99) = (micros(p50), p99.unwrap_or_default());
            writeln!(f, "best: {label}, {case}: p50 {p50} µs{p99}{faults}")?;
        }
        if late > 0 {
            let verb = if late == 1 { "is" } else { "are" };
            writeln!(
                f,
                "{late} of {} {verb} late: sends were behind schedule by more than 5 % of \
                 the interval, so a row shows the sender's delay as well; {}",
                crate::counted(all, "row"),
                self.cause()
            )?;
        }
        for (reason, labels) in self.failures() {
            writeln!(f, "failed: {}: {reason}", labels.join("; "))?;
        }
        match self.environment.and_then(EnvironmentReport::busy) {
            Some(_) => writeln!(f, "next: run again on an idle machine; then {}", self.next),
            None => writeln!(f, "next: {}", self.next),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CoreReport;
    use crate::results::tests::{recorded, setting};

    fn row(wait: &str, nanos: u64) -> Row {
        let samples = recorded((0..2_000).map(|more| nanos + more % 10));
        let mut setting = setting("intended to order");
        wait.clone_into(&mut setting.wait);
        Row::new(setting, &samples, &recorded([]))
    }

    fn busy() -> EnvironmentReport {
        let core = CoreReport {
            run_ns: 1_000,
            others_ns: Some(360),
            steal_ns: Some(0),
            ..CoreReport::default()
        };
        EnvironmentReport { cores: vec![core], ..EnvironmentReport::default() }
    }

    #[test]
    fn best_row_has_the_least_median_of_those_that_count() {
        let rows = [
            row("epoll", 20_000),
            Row { late: true, ..row("spin", 9_000) },
            Row { failed: Some("3 ticks lost".to_owned()), ..row("poll", 1_000) },
            row("block", 30_000),
        ];
        let text = Conclusion::new(&rows, None, "hairpin t2t --full").to_string();
        let lines: Vec<&str> = text.lines().collect();
        let best = "best: multicast, epoll, 500 µs, intended to order: p50 20.01 µs, p99 20.01 µs";
        assert_eq!(lines[0], best);
        assert!(lines[1].starts_with("1 of 4 rows is late: "), "{text}");
        assert!(lines[1].ends_with("; a longer interval may help"), "{text}");
        assert_eq!(lines[2], "failed: multicast, poll, 500 µs: 3 ticks lost");
        assert_eq!(lines[3..], ["next: hairpin t2t --full"]);
    }

    #[test]
    fn figures_are_those_of_all_samples_on_request() {
        let mut row = row("spin", 9_000);
        let round = |nanos| RoundFigures { p50: Some(nanos), ..RoundFigures::from_row(&row) };
        row.by_round = vec![round(4_000), round(5_000)];
        let rows = [row];
        let conclusion = Conclusion::new(&rows, None, "x");
        assert!(conclusion.to_string().contains("p50 4.50 µs"), "{conclusion}");
        let text = conclusion.of_all_samples().to_string();
        assert!(text.contains("p50 9.01 µs"), "{text}");
    }

    #[test]
    fn late_rows_have_the_cause() {
        let rows = [Row { late: true, ..row("spin", 9_000) }];
        let environment = busy();
        let text = Conclusion::new(&rows, Some(&environment), "x").to_string();
        assert!(text.starts_with("best: multicast, spin"), "{text}");
        assert!(text.lines().next().is_some_and(|line| line.ends_with(" (late)")), "{text}");
        assert!(text.contains("delay as well; 36 % of core 0 was taken by others\n"), "{text}");
        assert!(text.ends_with("next: run again on an idle machine; then x\n"), "{text}");
    }

    #[test]
    fn equal_reasons_are_printed_once() {
        let reason = "cannot start the trader: cannot open x: cannot open x";
        let failed = |case: &str, wait: &str| {
            let mut row = Row::failed(setting(case), reason);
            wait.clone_into(&mut row.setting.wait);
            row
        };
        let rows = [failed("a", "spin"), failed("b", "spin"), failed("a", "poll")];
        let text = Conclusion::new(&rows, None, "x").to_string();
        let expected = "failed: multicast, spin, 500 µs; multicast, poll, 500 µs: cannot start \
                        the trader: cannot open x\nnext: x\n";
        assert_eq!(text, expected);
    }
}
