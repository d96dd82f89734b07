//! Live counters as lines, for people and scripts.

use std::fmt::Write;

use super::snapshot::{CounterSnapshot, ProcessPage};

/// Returns a line for each value: process id, command, name, value, unit; columns aligned, words
/// without spaces.
pub(super) fn render(snapshot: &CounterSnapshot<'_>) -> String {
    lines(snapshot, "")
}

/// Returns the same with the time at the beginning of each line.
pub(super) fn render_with_time(snapshot: &CounterSnapshot<'_>) -> String {
    lines(snapshot, &format!("{} ", snapshot.taken))
}

fn lines(snapshot: &CounterSnapshot<'_>, prefix: &str) -> String {
    let widest = |length: &dyn Fn(&ProcessPage<'_>) -> usize| {
        snapshot.pages.iter().map(length).max().unwrap_or_default()
    };
    let process = widest(&|page| page.process.to_string().len());
    let command = widest(&|page| page.command.len());
    let name = widest(&|page| page.values.iter().map(|(m, _)| m.name.len()).max().unwrap_or(0));
    let value =
        widest(&|page| page.values.iter().map(|(_, v)| v.to_string().len()).max().unwrap_or(0));
    let mut text = String::new();
    for page in &snapshot.pages {
        for (metric, number) in &page.values {
            let _ = writeln!(
                text,
                "{prefix}{:>process$} {:<command$} {:<name$} {number:>value$} {}",
                page.process, page.command, metric.name, metric.unit,
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use hairpin_mapped::{Kind, Unit};

    use super::super::snapshot::tests::{metric, page, snapshot};
    use super::*;

    #[test]
    fn prints_one_line_per_value() {
        let ticks = metric("exchange.ticks", Kind::Counter, Unit::Count);
        let bytes = metric("exchange.bytes_sent", Kind::Counter, Unit::Bytes);
        let pages = vec![
            page(99, 1, vec![(&ticks, 7), (&bytes, 123_456)]),
            page(4711, 2, vec![(&ticks, u64::MAX)]),
        ];
        let snapshot = snapshot(1_800_000_000, pages);
        let expected = concat!(
            "  99 exchange exchange.ticks                         7 count\n",
            "  99 exchange exchange.bytes_sent               123456 bytes\n",
            "4711 exchange exchange.ticks      18446744073709551615 count\n",
        );
        assert_eq!(render(&snapshot), expected);
        let line = render_with_time(&snapshot);
        assert!(line.starts_with("2027-01-15T08:00:00.000000000Z   99 exchange "), "{line}");
        assert!(line.lines().all(|line| line.split_whitespace().count() == 6));
    }

    #[test]
    fn skips_empty_lines() {
        assert_eq!(render(&snapshot(0, Vec::new())), "");
    }
}
