//! Cases measured alternately: A B C A B C …, each round with its own processes.

use anyhow::Result;
use hairpin_measure::{Row, interleaved};

use super::run_plan::{RunPlan, T2tCase};

/// Runs the rounds of a case.
pub(super) trait Runner {
    /// Runs one round and returns the two rows of a case, with the reason if the round failed.
    ///
    /// # Errors
    /// A condition that would fail every other round as well.
    fn round(&mut self, case: &T2tCase) -> Result<Vec<Row>>;

    /// Called with another plan before its first round.
    fn extend_plan(&mut self, plan: &RunPlan);

    /// Returns `true` if no other round may begin.
    fn stop_requested(&self) -> bool;
}

/// Returns the rows of all cases, in the order of the plan. If the plan repeats cases whose
/// generator was late, these have the rows of both runs.
///
/// Interrupted, it returns the rows measured so far: missing rounds make a row an interrupted one,
/// and a case without any has no row.
///
/// # Errors
/// Those of the runner.
pub(super) fn measure(plan: &RunPlan, runner: &mut impl Runner) -> Result<Vec<Row>> {
    let first = in_turn(plan, runner)?;
    let is_late = |rows: &Vec<Row>| plan.repeats_late && rows.iter().any(|row| row.late);
    let late: Vec<bool> = first.iter().map(is_late).collect();
    let cases = plan.cases.iter().zip(&late).filter(|(_, late)| **late).map(|(case, _)| *case);
    let again = RunPlan { cases: cases.collect(), ..*plan };
    let mut again_rows = Vec::new();
    if !again.cases.is_empty() && !runner.stop_requested() {
        runner.extend_plan(&again);
        again_rows = in_turn(&again, runner)?;
    }
    let mut again_rows = again_rows.into_iter();
    let both = first.into_iter().zip(late).flat_map(|(mut rows, late)| {
        rows.extend(late.then(|| again_rows.next()).flatten().unwrap_or_default());
        rows
    });
    Ok(both.collect())
}

/// Returns the rows of each case, joined over its rounds.
fn in_turn(plan: &RunPlan, runner: &mut impl Runner) -> Result<Vec<Vec<Row>>> {
    let mut sets: Vec<Vec<Vec<Row>>> = vec![Vec::new(); plan.cases.len()];
    for (round, side) in interleaved(plan.cases.len(), plan.rounds as usize) {
        if runner.stop_requested() {
            break;
        }
        let rows = runner.round(&plan.share(side, round))?;
        sets[side].push(rows);
    }
    Ok(sets.iter().map(|rounds| joined(rounds, plan.rounds as usize)).collect())
}

/// Returns the rows of one case.
fn joined(rounds: &[Vec<Row>], planned: usize) -> Vec<Row> {
    let is_cut_short = rounds.len() < planned;
    let cases = rounds.iter().map(Vec::len).min().unwrap_or(0);
    let case = |index: usize| {
        let of_case: Vec<Row> = rounds.iter().map(|rows| rows[index].clone()).collect();
        let row = match &of_case[..] {
            [only] if planned == 1 => only.clone(),
            rows => of_rounds(rows),
        };
        Row { interrupted: row.interrupted || is_cut_short, ..row }
    };
    (0..cases).map(case).collect()
}

/// Joins the rows of several rounds. A round that failed fails the result, with its number and
/// reason.
fn of_rounds(rows: &[Row]) -> Row {
    Row::from_rounds(rows).unwrap_or_else(|error| {
        Row::failed(rows[0].setting.clone(), format!("the rounds differ: {error}"))
    })
}

#[cfg(test)]
mod tests {
    use anyhow::bail;
    use hairpin_cli_harness::t2t_setup;
    use hairpin_cli_harness::transport::Transport;
    use hairpin_host::ClockSource;
    use hairpin_measure::Recorder;
    use hairpin_time::Duration;

    use super::super::run_plan::tests::plan;
    use super::*;

    /// A runner that runs nothing: it records the calls and does what the test sets for certain
    /// rounds, counted from zero over the whole run.
    #[derive(Default)]
    struct Fake {
        /// (interval, samples) of each round.
        ran: Vec<(u64, u64)>,
        fails: Vec<usize>,
        late: Vec<usize>,
        /// A signal arrives during this round.
        stopped_in: Option<usize>,
        /// No round can run from this one on.
        broken_from: Option<usize>,
        further: Vec<RunPlan>,
    }

    impl Runner for Fake {
        fn round(&mut self, case: &T2tCase) -> Result<Vec<Row>> {
            let number = self.ran.len();
            if self.broken_from.is_some_and(|from| number >= from) {
                bail!("no key");
            }
            self.ran.push((case.load.interval_us, case.load.samples));
            let interrupted = self.stopped_in == Some(number);
            let samples = case.load.samples / if interrupted { 2 } else { 1 };
            let recorder = || Recorder::with_capacity(samples as usize);
            let (mut latency, mut lateness) = (recorder(), recorder());
            let is_late = self.late.contains(&number);
            for sample in 0..samples {
                latency.record(Duration::from_nanos(1_000 * (number as u64 + 1) + sample));
                lateness.record(Duration::from_micros(if is_late { 50 } else { 1 }));
            }
            let settings = t2t_setup::settings(
                "tcp",
                Transport::Kernel,
                "epoll",
                &case.load,
                ClockSource::Tsc,
            );
            let failed = self.fails.contains(&number).then(|| "3 ticks lost".to_owned());
            let row = |setting| Row {
                failed: failed.clone(),
                interrupted,
                ..Row::new(setting, &latency, &lateness)
            };
            Ok(settings.map(row).into())
        }

        fn extend_plan(&mut self, plan: &RunPlan) {
            self.further.push(plan.clone());
        }

        fn stop_requested(&self) -> bool {
            self.stopped_in.is_some_and(|number| self.ran.len() > number)
        }
    }

    /// Returns the rows, one per case, and the runner afterwards.
    fn run(plan: &RunPlan, mut fake: Fake) -> (Vec<Row>, Fake) {
        let rows = measure(plan, &mut fake).unwrap();
        assert!(rows.iter().all(|row| row.validate().is_ok()));
        let (even, odd): (Vec<_>, Vec<_>) = rows.into_iter().zip(0..).partition(|it| it.1 % 2 == 0);
        let cases = even.iter().zip(&odd).map(|(a, b)| [&*a.0.setting.case, &*b.0.setting.case]);
        cases.for_each(|cases| assert_eq!(cases, ["intended to order", "sent to order"]));
        (even.into_iter().map(|(row, _)| row).collect(), fake)
    }

    fn intervals(rows: &[Row]) -> Vec<u64> {
        rows.iter().map(|row| row.setting.interval_us).collect()
    }

    fn samples(rows: &[Row]) -> Vec<u64> {
        rows.iter().map(|row| row.samples).collect()
    }

    #[test]
    fn sets_take_turns_round_by_round() {
        let (rows, fake) = run(&plan(3, 100, 2), Fake::default());
        let expected = [100, 200, 300, 100, 200, 300].map(|interval| (interval, 50));
        assert_eq!(fake.ran, expected);
        assert_eq!(intervals(&rows), [100, 200, 300]);
    }

    #[test]
    fn joins_rounds_of_case_into_row() {
        let (rows, _) = run(&plan(2, 2_000, 7), Fake::default());
        assert_eq!(samples(&rows), [2_000, 2_000]);
        assert!(rows.iter().all(|row| row.setting.rounds == 7 && row.by_round.len() == 7));
        // Case A had rounds 0, 2 … 12, whose samples begin at 1 µs, 3 µs … 13 µs.
        assert_eq!((rows[0].summary.min, rows[1].summary.min), (Some(1_000), Some(2_000)));
        let begin: Vec<_> = rows[0].by_round.iter().map(|round| round.min).collect();
        assert_eq!(begin, [1, 3, 5, 7, 9, 11, 13].map(|micros| Some(micros * 1_000)));
    }

    #[test]
    fn single_round_is_its_row() {
        let (rows, _) = run(&plan(1, 400, 1), Fake::default());
        assert_eq!((rows[0].setting.rounds, rows[0].samples), (1, 400));
        assert!(!rows[0].over_time.is_empty() && !rows[0].interrupted);
    }

    #[test]
    fn failed_round_fails_its_row_only() {
        let fails = vec![3, 5];
        let (rows, fake) = run(&plan(2, 90, 3), Fake { fails, ..Fake::default() });
        assert_eq!(fake.ran.len(), 6);
        let reason = "rounds 2, 3: 3 ticks lost";
        assert_eq!((rows[0].failed.as_deref(), rows[1].failed.as_deref()), (None, Some(reason)));
    }

    #[test]
    fn late_sets_are_run_once_more_at_the_end_and_both_are_reported() {
        let late = (0..9).filter(|round| round % 3 != 1).collect();
        let (rows, fake) = run(&plan(3, 90, 3), Fake { late, ..Fake::default() });
        let again: Vec<u64> = fake.ran[9..].iter().map(|ran| ran.0).collect();
        assert_eq!(again, [100, 300, 100, 300, 100, 300]);
        assert_eq!(intervals(&rows), [100, 100, 200, 300, 300]);
        let late: Vec<bool> = rows.iter().map(|row| row.late).collect();
        assert_eq!(late, [true, false, false, true, false]);
        assert_eq!(fake.further.len(), 1, "the progress bar was extended");
    }

    #[test]
    fn late_twice_is_late_and_not_run_a_third_time() {
        let late = (0..100).collect();
        let (rows, fake) = run(&plan(1, 90, 3), Fake { late, ..Fake::default() });
        assert_eq!((rows.len(), fake.ran.len()), (2, 6));
        assert!(rows.iter().all(|row| row.late));
    }

    #[test]
    fn repeats_late_cases_only_if_configured() {
        let plan = RunPlan { repeats_late: false, ..plan(2, 90, 3) };
        let (rows, fake) = run(&plan, Fake { late: (0..6).collect(), ..Fake::default() });
        assert_eq!((rows.len(), fake.ran.len()), (2, 6));
        assert!(rows.iter().all(|row| row.late));
    }

    #[test]
    fn interrupted_in_the_middle_what_is_done_is_joined_and_marked() {
        let stopped_in = Some(4);
        let (rows, fake) = run(&plan(3, 90, 3), Fake { stopped_in, ..Fake::default() });
        assert_eq!(fake.ran.len(), 5);
        assert_eq!(samples(&rows), [60, 45, 30]);
        assert_eq!(rows.iter().map(|row| row.setting.rounds).collect::<Vec<_>>(), [2, 2, 1]);
        assert!(rows.iter().all(|row| row.interrupted));
    }

    #[test]
    fn interrupted_in_the_last_round_only_its_row_is_marked() {
        let stopped_in = Some(5);
        let (rows, _) = run(&plan(2, 90, 3), Fake { stopped_in, ..Fake::default() });
        assert_eq!(samples(&rows), [90, 75]);
        assert_eq!(rows.iter().map(|row| row.interrupted).collect::<Vec<_>>(), [false, true]);
    }

    #[test]
    fn interrupted_case_without_rounds_has_no_row() {
        let stopped_in = Some(1);
        let (rows, _) = run(&plan(3, 90, 3), Fake { stopped_in, ..Fake::default() });
        assert_eq!(intervals(&rows), [100, 200]);
    }

    #[test]
    fn interrupted_nothing_is_run_once_more() {
        let fake = Fake { stopped_in: Some(5), late: (0..6).collect(), ..Fake::default() };
        let (rows, fake) = run(&plan(2, 90, 3), fake);
        assert_eq!((fake.ran.len(), fake.further.len()), (6, 0));
        assert!(rows.iter().all(|row| row.late));
    }

    #[test]
    fn surroundings_in_which_nothing_runs_end_it() {
        let mut fake = Fake { broken_from: Some(0), ..Fake::default() };
        assert_eq!(measure(&plan(2, 90, 3), &mut fake).unwrap_err().to_string(), "no key");
    }
}
