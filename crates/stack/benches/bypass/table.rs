//! The results as a table.

use std::fmt::Write;

use crate::results::{Results, Round, spread};
use crate::run_context::BenchCase;

/// Renders half round trips by case, and the ratios between cases.
pub(crate) fn render(results: &Results) -> String {
    let mut text =
        "Half round trips of 64 bytes, µs: median over rounds of each round's p50, their \
                    least and greatest, median of p99\n"
            .to_owned();
    let _ = writeln!(
        text,
        "{:<11} {:<8} {:>6} {:>8} {:>8} {:>8} {:>8} {:>6} {:>6}",
        "way", "mode", "rounds", "p50", "min", "max", "p99", "lost", "late"
    );
    for (case, rounds) in &results.cases {
        text += &line(*case, rounds);
    }
    text += "\nRatios of p50: median over rounds, least to greatest\n";
    for (of, to, [median, least, most]) in results.ratios() {
        let names = format!("{} / {}", of.transport.name(), to.transport.name());
        let mode = of.mode_name();
        let _ = writeln!(text, "{names:<22} {mode:<8} {median:>6.3}  {least:.3} to {most:.3}");
    }
    text
}

fn line(case: BenchCase, rounds: &[Round]) -> String {
    let (transport, mode) = (case.transport.name(), case.mode_name());
    let figures = |of: fn(&Round) -> f64| spread(rounds.iter().map(of).collect());
    let Some(([p50, least, most], [p99, ..])) = figures(|it| it.p50).zip(figures(|it| it.p99))
    else {
        return format!("{transport:<11} {mode:<8} {:>6}\n", 0);
    };
    let [p50, least, most, p99] = [p50, least, most, p99].map(|nanos| nanos / 1e3);
    let lost: u64 = rounds.iter().map(|it| it.lost).sum();
    let late: u64 = rounds.iter().map(|it| it.late).sum();
    let count = rounds.len();
    format!(
        "{transport:<11} {mode:<8} {count:>6} {p50:>8.3} {least:>8.3} {most:>8.3} {p99:>8.3} \
         {lost:>6} {late:>6}\n"
    )
}
