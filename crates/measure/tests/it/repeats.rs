//! Comparisons of real runs: repeats of a command, and runs slowed on purpose.
//!
//! ```text
//! HAIRPIN_REPEATS=FOLDER cargo test --release -p hairpin-measure --test it repeats -- --nocapture
//! ```
//!
//! Without the variable, the test compares the complete runs in `docs/results`. A folder contains
//! results files `r-1.json`, `r-2.json`, … of one repeated command, and `s-1.json`, … of the same
//! command with a slower server, all with many rounds. Runs of fewer rounds are parts of them. The
//! output is the table in `docs/guide/comparing-results.md`.
use std::path::Path;

use hairpin_measure::{Compared, Results, Verdict, compare};

/// The runs of docs/guide/comparing-results.md, without latency over time: folder, rounds, and the
/// minimum percentage of rows of the slower runs that must be detected.
const COMMITTED: [(&str, usize, f64); 2] = [("repeats", 40, 95.0), ("repeats-200", 200, 100.0)];

/// The rounds of the compared parts, after the complete runs.
const ROUNDS: [usize; 3] = [20, 10, 7];

/// Reads the files of a kind, in chronological order.
fn files(folder: &Path, kind: &str) -> Vec<Results> {
    let paths = (1..).map(|number| folder.join(format!("{kind}-{number}.json")));
    paths.take_while(|path| path.exists()).map(|path| Results::read(&path).unwrap()).collect()
}

/// Divides a run into consecutive parts with this number of rounds.
fn parts(run: &Results, rounds: usize) -> Vec<Results> {
    let all = run.rows.iter().map(|row| row.by_round.len()).min().unwrap();
    let part = |first: usize| {
        let mut part = run.clone();
        for row in &mut part.rows {
            row.by_round = row.by_round[first..first + rounds].to_vec();
        }
        part
    };
    (0..all / rounds).map(|at| part(at * rounds)).collect()
}

/// Returns the run with all medians multiplied by `factor`.
fn slowed(run: &Results, factor: f64) -> Results {
    let mut run = run.clone();
    for round in run.rows.iter_mut().flat_map(|row| &mut row.by_round) {
        round.p50 = round.p50.map(|nanos| (nanos as f64 * factor) as u64);
    }
    run
}

/// The number of compared rows, and of those with the wanted verdict and the wanted median verdict.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    rows: usize,
    verdicts: usize,
    medians: usize,
}

impl Count {
    /// Compares each run of one list with each of the other, except parts of the same file.
    fn new(
        [a, b]: [&[Vec<Results>]; 2],
        is_same: bool,
        factor: f64,
        wanted: fn(Verdict) -> bool,
    ) -> Self {
        let mut count = Self::default();
        for (from, a) in a.iter().enumerate() {
            for (to, b) in b.iter().enumerate().filter(|(to, _)| !is_same || from != *to) {
                let _ = to;
                for a in a {
                    b.iter().for_each(|b| count.add(&compare(a, &slowed(b, factor)), wanted));
                }
            }
        }
        count
    }

    fn add(&mut self, compared: &[Compared], wanted: fn(Verdict) -> bool) {
        self.rows += compared.len();
        self.verdicts += compared.iter().filter(|row| wanted(row.verdict)).count();
        let medians = compared.iter().filter_map(|row| row.median_verdict);
        self.medians += medians.filter(|verdict| wanted(*verdict)).count();
    }

    fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            verdicts: self.verdicts + other.verdicts,
            medians: self.medians + other.medians,
        }
    }

    /// Returns the percentages by verdict and by median verdict.
    fn percentages(self) -> [f64; 2] {
        [self.verdicts, self.medians].map(|it| 100.0 * it as f64 / self.rows as f64)
    }
}

/// Prints the table of a folder's runs, and checks it for complete runs. Returns their rounds.
fn check_table(folder: &Path, fewer: &[usize], min_detected: f64) -> usize {
    let [plain, slow] = ["r", "s"].map(|kind| files(folder, kind));
    assert!(plain.len() > 1, "r-1.json and r-2.json are required");
    let all = plain[0].rows[0].by_round.len();
    println!(
        "rounds  rows  false alarms  20 % detected  30 % detected  slower run detected (by medians)"
    );
    for rounds in [all].into_iter().chain(fewer.iter().copied()) {
        let divided =
            |runs: &[Results]| runs.iter().map(|run| parts(run, rounds)).collect::<Vec<_>>();
        let (plain, slow) = (divided(&plain), divided(&slow));
        let count_both = |factor, wanted| {
            let count = |it: &[Vec<Results>]| Count::new([it, it], true, factor, wanted);
            count(&plain).plus(count(&slow))
        };
        let false_alarms = count_both(1.0, Verdict::is_change);
        let is_slower = |it| it == Verdict::Slower;
        let detected = [1.2, 1.3].map(|factor| count_both(factor, is_slower));
        let slower = Count::new([&plain, &slow], false, 1.0, is_slower);
        let shown = [false_alarms, detected[0], detected[1], slower].map(|count| {
            let [verdicts, medians] = count.percentages();
            format!("{verdicts:5.1} ({medians:5.1})")
        });
        println!("{rounds:6} {:5}  {}", false_alarms.rows, shown.join("  "));
        // Among few consecutive rounds there may be no quiet one, so parts are printed, not
        // checked.
        let [false_alarms, by_medians] = false_alarms.percentages();
        assert!(rounds < all || false_alarms <= 5.0, "{false_alarms} % false alarms");
        assert!(rounds < all || false_alarms <= by_medians, "by medians: {by_medians} %");
        let [detected, by_medians] = slower.percentages();
        assert!(rounds < all || detected >= min_detected, "{detected} % detected");
        assert!(rounds < all || detected > by_medians, "by medians: {by_medians} %");
    }
    all
}

#[test]
fn repeats_are_within_noise_and_slower_runs_are_detected() {
    if let Some(folder) = std::env::var_os("HAIRPIN_REPEATS") {
        // Comparing parts of the runs takes a minute, so it happens only on request.
        check_table(Path::new(&folder), &ROUNDS, 95.0);
        return;
    }
    for (folder, rounds, min_detected) in COMMITTED {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
        assert_eq!(check_table(&results.join(folder), &[], min_detected), rounds);
    }
}
