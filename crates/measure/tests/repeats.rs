//! What comparisons say of runs that were really made: of repeats, and of runs slowed on purpose.
//!
//! ```text
//! HAIRPIN_REPEATS=FOLDER cargo test --release -p hairpin-measure --test repeats -- --nocapture
//! ```
//!
//! Without a folder it is those of the runs in `docs/results`, in whole runs alone. A folder has
//! results files `r-1.json`, `r-2.json`, … of one command that was run again and again, and
//! `s-1.json`, … of the same with a slower server, all with many rounds. Runs of fewer rounds are
//! cut from them. What is printed is the table in `docs/guide/comparing-results.md`.
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::path::Path;

use hairpin_measure::{Compared, Results, Verdict, compare};

/// The runs that docs/guide/comparing-results.md tells of, without what they hold over time; of how
/// many rounds,
/// and how many rows in a hundred of the slower runs must be found at least.
const KEPT: [(&str, usize, f64); 2] = [("repeats", 40, 95.0), ("repeats-200", 200, 100.0)];

/// Rounds of the runs that are compared; as many as there are come first.
const ROUNDS: [usize; 3] = [20, 10, 7];

/// The files of this kind, in the order they were made.
fn files(folder: &Path, kind: &str) -> Vec<Results> {
    let paths = (1..).map(|number| folder.join(format!("{kind}-{number}.json")));
    paths.take_while(|path| path.exists()).map(|path| Results::read(&path).unwrap()).collect()
}

/// Consecutive parts of a run, of so many rounds each.
fn parts(run: &Results, rounds: usize) -> Vec<Results> {
    let of = run.rows.iter().map(|row| row.by_round.len()).min().unwrap();
    let part = |first: usize| {
        let mut part = run.clone();
        for row in &mut part.rows {
            row.by_round = row.by_round[first..first + rounds].to_vec();
        }
        part
    };
    (0..of / rounds).map(|at| part(at * rounds)).collect()
}

/// The same run had everything taken so many times as long.
fn slowed(run: &Results, factor: f64) -> Results {
    let mut run = run.clone();
    for round in run.rows.iter_mut().flat_map(|row| &mut row.by_round) {
        round.p50 = round.p50.map(|nanos| (nanos as f64 * factor) as u64);
    }
    run
}

/// How many rows were compared, and of how many that was said by the verdict and by the medians.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    rows: usize,
    verdicts: usize,
    medians: usize,
}

impl Count {
    /// Each run of the one list against each of the other, except what came from one file.
    fn of(
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
        self.medians += medians.filter(|said| wanted(*said)).count();
    }

    fn plus(self, other: Self) -> Self {
        Self {
            rows: self.rows + other.rows,
            verdicts: self.verdicts + other.verdicts,
            medians: self.medians + other.medians,
        }
    }

    /// Per cent, by verdict and by medians.
    fn parts(self) -> [f64; 2] {
        [self.verdicts, self.medians].map(|it| 100.0 * it as f64 / self.rows as f64)
    }
}

/// Prints the table of a folder's runs, and judges whole runs by it.
fn judge(folder: &Path, fewer: &[usize], least_found: f64) -> usize {
    let [plain, slow] = ["r", "s"].map(|kind| files(folder, kind));
    assert!(plain.len() > 1, "two files of repeats are needed, r-1.json and r-2.json");
    let all = plain[0].rows[0].by_round.len();
    println!("rounds  rows  repeat accused  20 % found  30 % found  slowed run found (by medians)");
    for rounds in [all].into_iter().chain(fewer.iter().copied()) {
        let cut = |of: &[Results]| of.iter().map(|run| parts(run, rounds)).collect::<Vec<_>>();
        let (plain, slow) = (cut(&plain), cut(&slow));
        let of_both = |factor, wanted| {
            let count = |it: &[Vec<Results>]| Count::of([it, it], true, factor, wanted);
            count(&plain).plus(count(&slow))
        };
        let accused = of_both(1.0, |it| it != Verdict::WithinNoise);
        let is_slower = |it| it == Verdict::Slower;
        let found = [1.2, 1.3].map(|factor| of_both(factor, is_slower));
        let really = Count::of([&plain, &slow], false, 1.0, is_slower);
        let shown = [accused, found[0], found[1], really].map(|count| {
            let [verdicts, medians] = count.parts();
            format!("{verdicts:5.1} ({medians:5.1})")
        });
        println!("{rounds:6} {:5}  {}", accused.rows, shown.join("  "));
        // Of few rounds, next to one another, there may be no quiet one: printed, not judged.
        let [accused, of_medians] = accused.parts();
        assert!(rounds < all || accused <= 5.0, "{accused} % of repeats are accused");
        assert!(rounds < all || accused <= of_medians, "the medians accuse less: {of_medians} %");
        let [found, of_medians] = really.parts();
        assert!(rounds < all || found >= least_found, "{found} % of slower runs are found");
        assert!(rounds < all || found > of_medians, "the medians find as many: {of_medians} %");
    }
    all
}

#[test]
fn repeats_are_within_noise_and_slower_runs_are_found() {
    if let Some(folder) = std::env::var_os("HAIRPIN_REPEATS") {
        // Parts of the runs take a minute: only where somebody asks.
        judge(Path::new(&folder), &ROUNDS, 95.0);
        return;
    }
    for (folder, rounds, least_found) in KEPT {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results");
        assert_eq!(judge(&results.join(folder), &[], least_found), rounds);
    }
}
