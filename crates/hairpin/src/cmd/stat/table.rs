//! Live counters as a periodically redrawn table.

use std::collections::BTreeMap;
use std::fmt::Write;

use hairpin_mapped::{Kind, Metric};
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

/// Returns the table. Zeros are left out unless `with_zeros`, and the title has their number.
pub(super) fn render(
    snapshot: &CounterSnapshot<'_>,
    previous: &PreviousValues,
    with_zeros: bool,
) -> String {
    let mut text = format!("hairpin stat, {}", seconds(snapshot.taken));
    if snapshot.unreadable > 0 {
        let _ = write!(text, "; {} processes of other users skipped", snapshot.unreadable);
    }
    text.push('\n');
    if snapshot.pages.is_empty() {
        text.push_str("\nno process publishes such counters\n");
    }
    for page in &snapshot.pages {
        let _ =
            writeln!(text, "\n{} {}, since {}", page.process, page.title, seconds(page.started));
        render_page(&mut text, page, snapshot, previous, with_zeros);
    }
    for (process, why) in &snapshot.refused {
        let _ = writeln!(text, "\ncannot read {process}: {why}");
    }
    text
}

fn render_page(
    text: &mut String,
    page: &ProcessPage<'_>,
    snapshot: &CounterSnapshot<'_>,
    previous: &PreviousValues,
    with_zeros: bool,
) {
    let id = page.id();
    let is_shown = |(_, value): &&(&Metric, u64)| with_zeros || *value > 0;
    let shown = || page.values.iter().filter(is_shown);
    let name = shown().map(|(metric, _)| metric.name.len()).max().unwrap_or_default();
    for (metric, value) in shown() {
        let rate = previous.rate(&id, metric, *value, snapshot.taken);
        let rate = rate.map(|rate| format!("{:>12}/s", short(rate))).unwrap_or_default();
        let line = format!("  {:<name$} {value:>15} {:<11}{rate}", metric.name, metric.unit);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    let hidden = page.values.len() - shown().count();
    if hidden > 0 {
        let _ = writeln!(text, "  and {hidden} that are 0");
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

    #[test]
    fn rates_are_of_counters_between_two_readings() {
        let ticks = metric("run.ticks", Kind::Counter, Unit::Count);
        let bytes = metric("run.bytes_sent", Kind::Counter, Unit::Bytes);
        let traders = metric("run.traders", Kind::Gauge, Unit::Connections);
        let values = |values: [u64; 3]| {
            vec![(&ticks, values[0]), (&bytes, values[1]), (&traders, values[2])]
        };
        let first = snapshot(100, vec![page(7, 50, values([10, 0, 3]))]);
        let shown = render(&first, &PreviousValues::default(), false);
        assert_eq!(
            shown,
            "hairpin stat, 1970-01-01T00:01:40Z\n\n\
             7 exchange --interface lo, since 1970-01-01T00:00:50Z\n  \
             run.ticks                10 count\n  \
             run.traders               3 connections\n  \
             and 1 that are 0\n"
        );
        let second = snapshot(104, vec![page(7, 50, values([15, 4_000, 2]))]);
        let shown = render(&second, &PreviousValues::new(&first), false);
        let expected = "  run.ticks                   15 count               1.2/s\n  \
                        run.bytes_sent            4000 bytes              1000/s\n  \
                        run.traders                  2 connections\n";
        assert!(shown.ends_with(expected), "{shown}");
        // The next process with that id has another start time.
        let third = snapshot(105, vec![page(7, 104, values([99, 0, 0]))]);
        let shown = render(&third, &PreviousValues::new(&second), true);
        let expected = "  run.ticks                   99 count\n  \
                        run.bytes_sent               0 bytes\n  \
                        run.traders                  0 connections\n";
        assert!(shown.ends_with(expected), "{shown}");
    }

    #[test]
    fn has_no_rate_for_falling_counter_or_stopped_clock() {
        let ticks = metric("run.ticks", Kind::Counter, Unit::Count);
        let at = |taken, value| snapshot(taken, vec![page(7, 50, vec![(&ticks, value)])]);
        let shown = render(&at(101, 9), &PreviousValues::new(&at(100, 10)), false);
        assert!(shown.contains(" 0/s"), "{shown}");
        let shown = render(&at(100, 11), &PreviousValues::new(&at(100, 10)), false);
        assert!(!shown.contains("/s"), "{shown}");
    }

    #[test]
    fn reports_values_not_shown() {
        let mut snapshot = snapshot(0, Vec::new());
        let error = PageError::Newer(2);
        snapshot.refused.push((8, &error));
        snapshot.unreadable = 3;
        let shown = render(&snapshot, &PreviousValues::default(), false);
        for expected in [
            "Z; 3 processes of other users skipped\n",
            "\nno process publishes such counters\n",
            "\ncannot read 8: unsupported page version 2: this program supports version 1\n",
        ] {
            assert!(shown.contains(expected), "{shown}");
        }
    }
}
