//! Live counters as a periodically redrawn table.

use std::collections::BTreeMap;
use std::fmt::Write;

use hairpin_mapped::{Kind, Metric};
use hairpin_measure::{Style, TextTable, counted};
use hairpin_time::Utc;

use super::snapshot::{CounterSnapshot, PageId, ProcessPage};

/// The values of the last snapshot, for rates.
#[derive(Debug, Default)]
pub(super) struct PreviousValues {
    taken: Utc,
    values: BTreeMap<PageId, BTreeMap<String, u64>>,
}

impl PreviousValues {
    /// Returns the values for comparison with the next snapshot.
    pub(super) fn new(snapshot: &CounterSnapshot<'_>) -> Self {
        let values = |page: &ProcessPage<'_>| {
            let value = |(metric, value): &(&Metric, u64)| (metric.name.clone(), *value);
            (page.id(), page.values.iter().map(value).collect())
        };
        Self { taken: snapshot.taken, values: snapshot.pages.iter().map(values).collect() }
    }

    /// Returns by how much a counter has grown per second.
    fn rate(&self, page: &PageId, metric: &Metric, value: u64, now: Utc) -> Option<f64> {
        if metric.kind != Kind::Counter {
            return None;
        }
        let previous = self.values.get(page)?.get(&metric.name)?;
        let nanos = now.saturating_since(self.taken).as_nanos();
        (nanos > 0).then(|| value.saturating_sub(*previous) as f64 * 1e9 / nanos as f64)
    }
}

/// Returns the table. Zeros are left out unless `with_zeros`, and their number is below the others.
/// A narrow terminal loses units; see [`TextTable`].
pub(super) fn render(
    snapshot: &CounterSnapshot<'_>,
    previous: &PreviousValues,
    with_zeros: bool,
    style: Style,
) -> String {
    let mut head = format!("hairpin stat, {}", seconds(snapshot.taken));
    if snapshot.unreadable > 0 {
        let _ =
            write!(head, "; {} of other users skipped", counted(snapshot.unreadable, "process"));
    }
    head.push('\n');
    if snapshot.pages.is_empty() {
        head.push_str("\nno process publishes such counters\n");
    }
    let mut text = style.wrap(&head);
    for page in &snapshot.pages {
        let title = format!("\n{} {}, since {}\n", page.process, page.title, seconds(page.started));
        text += &style.wrap(&title);
        render_page(&mut text, page, snapshot, (previous, with_zeros), style);
    }
    for (process, why) in &snapshot.refused {
        text += &style.wrap(&format!("\ncannot read {process}: {why}\n"));
    }
    text
}

fn render_page(
    text: &mut String,
    page: &ProcessPage<'_>,
    snapshot: &CounterSnapshot<'_>,
    (previous, with_zeros): (&PreviousValues, bool),
    style: Style,
) {
    let id = page.id();
    let is_shown = |(_, value): &&(&Metric, u64)| with_zeros || *value > 0;
    let shown = || page.values.iter().filter(is_shown);
    let rates: Vec<String> = shown()
        .map(|(metric, value)| {
            let rate = previous.rate(&id, metric, *value, snapshot.taken);
            rate.map(|rate| format!("{}/s", short(rate))).unwrap_or_default()
        })
        .collect();
    let has_rates = rates.iter().any(|rate| !rate.is_empty());
    let mut table = TextTable::default().without_borders();
    table.add_words("counter", 0);
    table.add_figures("value", 0);
    table.add_words("unit", 1);
    if has_rates {
        table.add_figures("rate", 0);
    }
    for ((metric, value), rate) in shown().zip(rates) {
        let cells = [metric.name.clone(), value.to_string(), metric.unit.to_string()];
        table.add_row(cells.into_iter().chain(has_rates.then_some(rate)));
    }
    if shown().next().is_some() {
        *text += &table.render(style);
    }
    let hidden = page.values.len() - shown().count();
    if hidden > 0 {
        let line = format!("hidden zeros: {hidden} (--all shows them)\n");
        *text += &style.wrap(&line);
    }
}

/// Formats a rate with the digits that matter.
fn short(rate: f64) -> String {
    if rate >= 100.0 || rate == 0.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}

/// Formats a time to the second.
fn seconds(time: Utc) -> String {
    let mut text = time.to_string();
    text.truncate("2026-11-22T08:00:00".len());
    text + "Z"
}

#[cfg(test)]
mod tests {
    use hairpin_mapped::{PageError, Unit};

    use super::super::snapshot::tests::{metric, page, snapshot};
    use super::*;

    const STYLE: Style = Style::Terminal { columns: 60 };

    fn shown(snapshot: &CounterSnapshot<'_>, previous: &PreviousValues, all: bool) -> String {
        render(snapshot, previous, all, STYLE)
    }

    #[test]
    fn rates_are_of_counters_between_two_readings() {
        let ticks = metric("run.ticks", Kind::Counter, Unit::Count);
        let bytes = metric("run.bytes_sent", Kind::Counter, Unit::Bytes);
        let traders = metric("run.traders", Kind::Gauge, Unit::Connections);
        let values = |values: [u64; 3]| {
            vec![(&ticks, values[0]), (&bytes, values[1]), (&traders, values[2])]
        };
        let first = snapshot(100, vec![page(7, 50, values([10, 0, 3]))]);
        assert_eq!(
            shown(&first, &PreviousValues::default(), false),
            "hairpin stat, 1970-01-01T00:01:40Z\n\n\
             7 exchange --interface lo, since 1970-01-01T00:00:50Z\n\
             counter      value  unit\n\
             run.ticks       10  count\n\
             run.traders      3  connections\n\
             hidden zeros: 1 (--all shows them)\n"
        );
        let second = snapshot(104, vec![page(7, 50, values([15, 4_000, 2]))]);
        let text = shown(&second, &PreviousValues::new(&first), false);
        let expected = "counter         value  unit           rate\n\
                        run.ticks          15  count         1.2/s\n\
                        run.bytes_sent   4000  bytes        1000/s\n\
                        run.traders         2  connections\n";
        assert!(text.ends_with(expected), "{text}");
        // The next process with that id has another start time.
        let third = snapshot(105, vec![page(7, 104, values([99, 0, 0]))]);
        let text = shown(&third, &PreviousValues::new(&second), true);
        let expected = "run.ticks          99  count\n\
                        run.bytes_sent      0  bytes\n\
                        run.traders         0  connections\n";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn fits_terminals_of_every_width() {
        let long = "feed.a_counter_whose_name_is_longer_than_usual_terminals_are_wide";
        let metrics = [metric(long, Kind::Counter, Unit::Count)];
        let values = |value| metrics.iter().map(|metric| (metric, value)).collect();
        let at = |taken, value| snapshot(taken, vec![page(7, 50, values(value))]);
        for columns in [60, 80, 100, 120, 160] {
            let style = Style::Terminal { columns };
            let text = render(&at(2, u64::MAX), &PreviousValues::new(&at(1, 1)), false, style);
            assert!(text.lines().all(|line| line.chars().count() <= columns), "{text}");
            assert!(text.contains("18446744073709551615"), "{text}");
            assert_eq!(text.contains("unit  "), columns > 100, "{columns}: {text}");
        }
    }

    #[test]
    fn has_no_rate_for_falling_counter_or_stopped_clock() {
        let ticks = metric("run.ticks", Kind::Counter, Unit::Count);
        let at = |taken, value| snapshot(taken, vec![page(7, 50, vec![(&ticks, value)])]);
        let text = shown(&at(101, 9), &PreviousValues::new(&at(100, 10)), false);
        assert!(text.contains(" 0/s"), "{text}");
        let text = shown(&at(100, 11), &PreviousValues::new(&at(100, 10)), false);
        assert!(!text.contains("/s"), "{text}");
    }

    #[test]
    fn reports_values_not_shown() {
        let mut snapshot = snapshot(0, Vec::new());
        let error = PageError::Newer(2);
        snapshot.refused.push((8, &error));
        snapshot.unreadable = 3;
        let text = render(&snapshot, &PreviousValues::default(), false, Style::Plain);
        for expected in [
            "Z; 3 processes of other users skipped\n",
            "\nno process publishes such counters\n",
            "\ncannot read 8: unsupported page version 2: this program supports version 1\n",
        ] {
            assert!(text.contains(expected), "{text}");
        }
    }
}
