//! The rows of one chart.

use std::collections::BTreeMap;

use crate::scale::thousands;
use crate::{Kind, Results, Row, Setting};

/// The rows of one feed and interval, from all files of a report.
#[derive(Debug)]
pub(crate) struct ChartGroup<'a> {
    /// The transport of market data, or the benchmark's name if it has none.
    pub(crate) feed: &'a str,
    /// Microseconds between intended sends.
    pub(crate) interval_us: u64,
    /// The part of file names: `multicast-500`. Only letters, digits and dashes.
    pub(crate) slug: String,
    /// A panel per file and case, ordered by file.
    pub(crate) panels: Vec<Panel<'a>>,
}

/// A panel of a chart: the waits of one case of one file.
#[derive(Debug)]
pub(crate) struct Panel<'a> {
    /// The index of the file, counted from zero.
    pub(crate) file: usize,
    /// The case, and the other settings that differ between the panels of the group.
    pub(crate) title: String,
    /// The span that a sample measures.
    pub(crate) kind: Kind,
    /// The series, in the order of [`WAITS`].
    pub(crate) series: Vec<Series<'a>>,
    /// The rows that are not drawn: failed rows, and rows without samples.
    pub(crate) left_out: Vec<&'a Row>,
}

/// The runs of one wait.
#[derive(Debug)]
pub(crate) struct Series<'a> {
    pub(crate) wait: &'a str,
    /// The run that counts: the last one that kept its schedule, otherwise the last.
    pub(crate) row: &'a Row,
    /// The other runs with the same setting.
    pub(crate) others: Vec<&'a Row>,
}

/// The order of waits in charts: from the deepest sleep to none.
const WAITS: [&str; 5] = ["block", "poll", "epoll", "io_uring", "spin"];

/// The settings that distinguish the panels of one file and group.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str, u64, &'static str);

fn key(setting: &Setting) -> Key<'_> {
    let Setting { bench, case, transport, protocol, size_bytes, kind, .. } = setting;
    (bench, case, transport, protocol, *size_bytes, kind_name(*kind))
}

/// Returns the name of the span that a sample measures.
pub(crate) const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Rtt => "round trip",
        Kind::OneWay => "one way",
        Kind::Stage => "stage",
        Kind::Batch => "mean of a batch",
    }
}

/// Returns the groups of these files: feeds in the order of their first row, intervals in
/// increasing
/// order.
pub(crate) fn chart_groups(results: &[Results]) -> Vec<ChartGroup<'_>> {
    let mut feeds: Vec<&str> = Vec::new();
    let mut rows: BTreeMap<(usize, u64), Vec<(usize, &Row)>> = BTreeMap::new();
    for (file, row) in
        results.iter().enumerate().flat_map(|(file, it)| it.rows.iter().map(move |row| (file, row)))
    {
        let feed = feed(&row.setting);
        let order = feeds.iter().position(|known| *known == feed).unwrap_or_else(|| {
            feeds.push(feed);
            feeds.len() - 1
        });
        rows.entry((order, row.setting.interval_us)).or_default().push((file, row));
    }
    let mut groups: Vec<ChartGroup<'_>> = Vec::new();
    for ((order, interval_us), rows) in rows {
        let slug =
            slug(feeds[order], interval_us, |slug| groups.iter().any(|group| group.slug == slug));
        groups.push(ChartGroup { feed: feeds[order], interval_us, slug, panels: panels(&rows) });
    }
    groups
}

fn feed(setting: &Setting) -> &str {
    setting.feed.as_deref().unwrap_or(&setting.bench)
}

/// Returns a unique part of file names. The name of a feed in a results file may contain other
/// characters, which are replaced. A number distinguishes equal names.
fn slug(feed: &str, interval_us: u64, is_taken: impl Fn(&str) -> bool) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let feed: String = feed.chars().take(40).map(plain).collect();
    let first = format!("{feed}-{interval_us}");
    let numbered = (2..).map(|number| format!("{feed}-{interval_us}-{number}"));
    std::iter::once(first).chain(numbered).find(|slug| !is_taken(slug)).unwrap_or_default()
}

fn panels<'a>(rows: &[(usize, &'a Row)]) -> Vec<Panel<'a>> {
    let mut keys: Vec<Key<'a>> = Vec::new();
    for (_, row) in rows {
        let key = key(&row.setting);
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    let files = rows.last().map_or(0, |(file, _)| file + 1);
    let all = (0..files).flat_map(|file| keys.iter().map(move |wanted| (file, wanted)));
    let panels = all.filter_map(|(file, wanted)| {
        let belongs =
            |(row_file, row): &&(usize, &Row)| *row_file == file && key(&row.setting) == *wanted;
        let rows: Vec<&Row> = rows.iter().filter(belongs).map(|(_, row)| *row).collect();
        let kind = rows.first()?.setting.kind;
        let (left_out, drawn) =
            rows.into_iter().partition(|row| row.failed.is_some() || row.samples == 0);
        Some(Panel { file, title: title(wanted, &keys), kind, series: series(drawn), left_out })
    });
    panels.collect()
}

/// Returns the case and the settings that differ within the group.
fn title(key: &Key<'_>, keys: &[Key<'_>]) -> String {
    let (bench, case, transport, protocol, size_bytes, kind) = *key;
    let size = format!("{size_bytes} B");
    let parts = [
        (bench, keys.iter().any(|it| it.0 != bench)),
        (case, true),
        (transport, keys.iter().any(|it| it.2 != transport)),
        (protocol, keys.iter().any(|it| it.3 != protocol)),
        (size.as_str(), keys.iter().any(|it| it.4 != size_bytes)),
        (kind, keys.iter().any(|it| it.5 != kind)),
    ];
    let shown: Vec<&str> =
        parts.iter().filter(|(_, differs)| *differs).map(|(part, _)| *part).collect();
    shown.join(", ")
}

fn series(rows: Vec<&Row>) -> Vec<Series<'_>> {
    let mut all: Vec<Series<'_>> = Vec::new();
    for row in rows {
        let wait = row.setting.wait.as_str();
        let Some(series) = all.iter_mut().find(|series| series.wait == wait) else {
            all.push(Series { wait, row, others: Vec::new() });
            continue;
        };
        if row.late && !series.row.late {
            series.others.push(row);
        } else {
            series.others.push(std::mem::replace(&mut series.row, row));
        }
    }
    all.sort_by_key(|series| order(series.wait));
    all
}

/// Returns the sort key of a wait: known waits in their order, then others by name.
fn order(wait: &str) -> (usize, &str) {
    (WAITS.iter().position(|known| *known == wait).unwrap_or(WAITS.len()), wait)
}

impl<'a> Series<'a> {
    /// Returns the run that counts, then the others.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &'a Row> {
        std::iter::once(self.row).chain(self.others.iter().copied())
    }
}

impl<'a> ChartGroup<'a> {
    /// Returns the series of all panels.
    pub(crate) fn series(&self) -> impl Iterator<Item = &Series<'a>> {
        self.panels.iter().flat_map(|panel| &panel.series)
    }

    /// Returns the waits of all panels, in their order.
    pub(crate) fn waits(&self) -> Vec<&'a str> {
        let mut waits: Vec<&str> = self.series().map(|series| series.wait).collect();
        waits.sort_by_key(|wait| order(wait));
        waits.dedup();
        waits
    }

    /// Returns `true` if there is no series to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.series().next().is_none()
    }

    /// Returns the name of the measured span if all panels agree; `latency` otherwise.
    pub(crate) fn quantity(&self) -> &'static str {
        match self.panels.split_first() {
            Some((first, rest)) if rest.iter().all(|panel| panel.kind == first.kind) => {
                kind_name(first.kind)
            }
            _ => "latency",
        }
    }

    /// Returns the minimum and maximum of all runs in nanoseconds; `None` without series.
    pub(crate) fn extremes(&self) -> Option<[f64; 2]> {
        let rows = || self.series().flat_map(Series::runs);
        let min = rows().filter_map(|row| row.summary.min).min()?;
        let max = rows().filter_map(|row| row.summary.max).max()?;
        Some([min as f64, max as f64])
    }

    /// Returns the interval as text.
    pub(crate) fn interval(&self) -> String {
        interval(self.interval_us)
    }
}

/// Formats an interval.
pub(crate) fn interval(micros: u64) -> String {
    match micros {
        0 => "no pause".to_string(),
        _ => format!("{} µs", thousands(micros)),
    }
}
