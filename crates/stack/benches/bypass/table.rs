//! The results, for a person.

use std::fmt::Write;

use crate::results::{Results, Round, spread};
use crate::stand::Side;

/// Half round trips by side, and the ratios of sides.
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
    for (side, rounds) in &results.sides {
        text += &line(*side, rounds);
    }
    text += "\nRatios of p50: median over rounds, least to greatest\n";
    for (of, to, [median, least, most]) in results.ratios() {
        let names = format!("{} / {}", of.way.name(), to.way.name());
        let mode = of.mode_name();
        let _ = writeln!(text, "{names:<22} {mode:<8} {median:>6.3}  {least:.3} to {most:.3}");
    }
    text
}

fn line(side: Side, rounds: &[Round]) -> String {
    let (way, mode) = (side.way.name(), side.mode_name());
    let figures = |of: fn(&Round) -> f64| spread(rounds.iter().map(of).collect());
    let Some(([p50, least, most], [p99, ..])) = figures(|it| it.p50).zip(figures(|it| it.p99))
    else {
        return format!("{way:<11} {mode:<8} {:>6}\n", 0);
    };
    let [p50, least, most, p99] = [p50, least, most, p99].map(|nanos| nanos / 1e3);
    let lost: u64 = rounds.iter().map(|it| it.lost).sum();
    let late: u64 = rounds.iter().map(|it| it.late).sum();
    let count = rounds.len();
    format!(
        "{way:<11} {mode:<8} {count:>6} {p50:>8.3} {least:>8.3} {most:>8.3} {p99:>8.3} \
         {lost:>6} {late:>6}\n"
    )
}
