//! Rows that belong in one picture.

use std::collections::BTreeMap;

use crate::scale::thousands;
use crate::{Kind, Results, Row, Setting};

/// All rows of one feed and interval, over all files of a report.
#[derive(Debug)]
pub(crate) struct Cell<'a> {
    /// How market data travelled; of a benchmark without any, its name.
    pub(crate) feed: &'a str,
    /// Microseconds between intended sends.
    pub(crate) interval_us: u64,
    /// What its files are called: `multicast-500`. Letters, digits and dashes only.
    pub(crate) slug: String,
    /// One per file and case, those of one file together.
    pub(crate) panels: Vec<Panel<'a>>,
}

/// What is compared in one frame: the waits of one case of one file.
#[derive(Debug)]
pub(crate) struct Panel<'a> {
    /// Counted from zero.
    pub(crate) file: usize,
    /// The case, and what else sets it apart from the other panels of its cell.
    pub(crate) title: String,
    /// What span a sample is.
    pub(crate) kind: Kind,
    /// In the order of [`WAITS`].
    pub(crate) lines: Vec<Line<'a>>,
    /// Rows that do not count: those that failed, and those without a sample.
    pub(crate) left_out: Vec<&'a Row>,
}

/// What was measured under one wait.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    pub(crate) wait: &'a str,
    /// The run to believe: the last whose sender kept its schedule, else the last.
    pub(crate) row: &'a Row,
    /// The other runs of the same setting.
    pub(crate) others: Vec<&'a Row>,
}

/// In which order waits are shown: from the one that sleeps deepest to the one that never does.
const WAITS: [&str; 5] = ["block", "poll", "epoll", "io_uring", "spin"];

/// All that sets panels of one file and cell apart.
type Key<'a> = (&'a str, &'a str, &'a str, &'a str, u64, &'static str);

fn key(setting: &Setting) -> Key<'_> {
    let Setting { bench, case, transport, protocol, size_bytes, kind, .. } = setting;
    (bench, case, transport, protocol, *size_bytes, name(*kind))
}

/// What a sample of a kind is called.
pub(crate) const fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Rtt => "round trip",
        Kind::OneWay => "one way",
        Kind::Stage => "stage",
        Kind::Batch => "mean of a batch",
    }
}

/// Every cell of these files: feeds in the order of their first row, intervals rising.
pub(crate) fn cells(results: &[Results]) -> Vec<Cell<'_>> {
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
    let mut cells: Vec<Cell<'_>> = Vec::new();
    for ((order, interval_us), rows) in rows {
        let slug =
            slug(feeds[order], interval_us, |slug| cells.iter().any(|cell| cell.slug == slug));
        cells.push(Cell { feed: feeds[order], interval_us, slug, panels: panels(&rows) });
    }
    cells
}

fn feed(setting: &Setting) -> &str {
    setting.feed.as_deref().unwrap_or(&setting.bench)
}

/// A name for files: what a results file calls a feed is no path. Two feeds whose names differ only
/// in what is left out get a number.
fn slug(feed: &str, interval_us: u64, is_taken: impl Fn(&str) -> bool) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let feed: String = feed.chars().take(40).map(plain).collect();
    let first = format!("{feed}-{interval_us}");
    let others = (2..).map(|number| format!("{feed}-{interval_us}-{number}"));
    std::iter::once(first).chain(others).find(|slug| !is_taken(slug)).unwrap_or_default()
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
        let of_panel = |(of, row): &&(usize, &Row)| *of == file && key(&row.setting) == *wanted;
        let rows: Vec<&Row> = rows.iter().filter(of_panel).map(|(_, row)| *row).collect();
        let kind = rows.first()?.setting.kind;
        let (left_out, drawn) =
            rows.into_iter().partition(|row| row.failed.is_some() || row.samples == 0);
        Some(Panel { file, title: title(wanted, &keys), kind, lines: lines(drawn), left_out })
    });
    panels.collect()
}

/// The case, and of all else what differs within the cell.
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
    let said: Vec<&str> =
        parts.iter().filter(|(_, differs)| *differs).map(|(part, _)| *part).collect();
    said.join(", ")
}

fn lines(rows: Vec<&Row>) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for row in rows {
        let wait = row.setting.wait.as_str();
        let Some(line) = lines.iter_mut().find(|line| line.wait == wait) else {
            lines.push(Line { wait, row, others: Vec::new() });
            continue;
        };
        if row.late && !line.row.late {
            line.others.push(row);
        } else {
            line.others.push(std::mem::replace(&mut line.row, row));
        }
    }
    lines.sort_by_key(|line| order(line.wait));
    lines
}

/// Known waits first, in their order; then the others by name.
fn order(wait: &str) -> (usize, &str) {
    (WAITS.iter().position(|known| *known == wait).unwrap_or(WAITS.len()), wait)
}

impl<'a> Line<'a> {
    /// The run to believe, and the others.
    pub(crate) fn runs(&self) -> impl Iterator<Item = &'a Row> {
        std::iter::once(self.row).chain(self.others.iter().copied())
    }
}

impl<'a> Cell<'a> {
    /// Every line of every panel.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &Line<'a>> {
        self.panels.iter().flat_map(|panel| &panel.lines)
    }

    /// The waits that any panel shows, in their order.
    pub(crate) fn waits(&self) -> Vec<&'a str> {
        let mut waits: Vec<&str> = self.lines().map(|line| line.wait).collect();
        waits.sort_by_key(|wait| order(wait));
        waits.dedup();
        waits
    }

    /// Whether there is anything to draw.
    pub(crate) fn is_empty(&self) -> bool {
        self.lines().next().is_none()
    }

    /// What a sample is, where all panels agree; `latency` otherwise.
    pub(crate) fn quantity(&self) -> &'static str {
        match self.panels.split_first() {
            Some((first, rest)) if rest.iter().all(|panel| panel.kind == first.kind) => {
                name(first.kind)
            }
            _ => "latency",
        }
    }

    /// The least and the greatest sample of all runs, in nanoseconds; `None` without lines.
    pub(crate) fn extremes(&self) -> Option<[f64; 2]> {
        let rows = || self.lines().flat_map(Line::runs);
        let min = rows().filter_map(|row| row.summary.min).min()?;
        let max = rows().filter_map(|row| row.summary.max).max()?;
        Some([min as f64, max as f64])
    }

    /// The interval in words.
    pub(crate) fn interval(&self) -> String {
        interval(self.interval_us)
    }
}

/// An interval in words.
pub(crate) fn interval(micros: u64) -> String {
    match micros {
        0 => "no pause".to_string(),
        _ => format!("{} µs", thousands(micros)),
    }
}
