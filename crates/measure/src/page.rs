//! The page of a report: the data of its template.

use std::collections::BTreeSet;

use askama::Template;
use hairpin_time::Utc;

use crate::chart::{self, Chart, Layout, dark_style, file_letter};
use crate::chart_group::{ChartGroup, Panel, interval};
use crate::compare::against_kernel;
use crate::results::shown;
use crate::scale::thousands;
use crate::svg::printable;
use crate::table::{
    explanations, has_baseline, has_rounds, interval_of_p50, micros, notes, rounded,
    without_repeats,
};
use crate::text_table::shortened;
use crate::{EnvironmentReport, Figure as RowFigure, Host, Results, Row, Timestamping};

/// The data of `report.html`.
#[derive(Template)]
#[template(path = "report.html")]
pub(crate) struct Page<'a> {
    dark: String,
    title: String,
    files: Vec<File<'a>>,
    /// The printed tables, with their titles.
    tables: &'a [(String, String)],
    /// The overview chart of all groups.
    overview: Option<Figure>,
    sections: Vec<Section<'a>>,
    /// The comparison of the first file with the second, if there are two.
    ratios: Vec<RatioRow>,
    compared: Vec<Compared>,
    has_ticks: bool,
}

/// A results file.
struct File<'a> {
    /// The letter of the file; empty for a single file.
    letter: String,
    name: &'a str,
    results: &'a Results,
    started: String,
    /// The warnings, a sentence each.
    warnings: Vec<String>,
    /// The facts of the machine, name and value.
    machine: Vec<(&'static str, String)>,
    groups: Vec<Group>,
    /// `true` for the optional columns: the interval of rounds, and the comparison with kernel
    /// sockets.
    columns: [bool; 2],
    /// The number of columns.
    span: usize,
    /// The explanations of the table and the environment, a line each.
    footnotes: Vec<String>,
}

/// The consecutive rows of one feed and interval.
struct Group {
    title: String,
    rows: Vec<TableRow>,
}

/// A row of the table of all rows.
struct TableRow {
    /// The CSS class: failed, late.
    class: String,
    labels: [String; 2],
    figures: Vec<String>,
    note: String,
}

/// The section of a feed and interval.
struct Section<'a> {
    group: &'a ChartGroup<'a>,
    interval: String,
    charts: Vec<Figure>,
}

struct Figure {
    name: String,
    title: String,
    svg: String,
    /// The same for a telephone, without the title.
    narrow: String,
    caption: Vec<String>,
}

/// A row of two files.
struct RatioRow {
    labels: String,
    /// Median of both, ratio, quiet ratio with its interval, verdict.
    figures: [String; 5],
}

/// The comparison of `poll` and `epoll` in one panel.
struct Compared {
    labels: [String; 3],
    /// The figures of median, mean and 99th percentile: poll, epoll, difference, percent.
    figures: Vec<String>,
}

impl<'a> Page<'a> {
    /// Returns the page of these files, whose groups have these charts.
    pub(crate) fn new(
        results: &'a [Results],
        names: &'a [String],
        groups: &'a [ChartGroup<'a>],
        charts: &[Vec<Chart>],
    ) -> Self {
        let subject = Self::subject(results, names);
        let is_tick = |row: &Row| row.setting.bench == "t2t";
        let has_ticks = results.iter().flat_map(|it| &it.rows).any(is_tick);
        let benchmark = if has_ticks { "tick to trade" } else { "results" };
        let section = |(group, charts): (&'a ChartGroup<'a>, &Vec<Chart>)| Section {
            group,
            interval: group.interval(),
            charts: charts
                .iter()
                .zip(chart::charts(group, &subject, Layout::NARROW))
                .map(|(wide, narrow)| figure(wide, &narrow))
                .collect(),
        };
        let overview = |layout| chart::overview(groups, &subject, layout);
        let overview = overview(Layout::WIDE).zip(overview(Layout::NARROW));
        Self {
            dark: dark_style(),
            title: format!("Hairpin: {benchmark}"),
            files: (0..results.len()).map(|at| File::new(results, names, at)).collect(),
            tables: &[],
            overview: overview.map(|(wide, narrow)| figure(&wide, &narrow)),
            ratios: ratios(results),
            sections: groups.iter().zip(charts).map(section).collect(),
            compared: groups.iter().flat_map(compare).collect(),
            has_ticks,
        }
    }

    /// Sets the printed tables.
    pub(crate) fn with_tables(mut self, tables: &'a [(String, String)]) -> Self {
        self.tables = tables;
        if !tables.is_empty() {
            "Hairpin: all benchmarks".clone_into(&mut self.title);
        }
        self
    }

    /// Returns the HTML.
    pub(crate) fn render(&self) -> String {
        let page = Template::render(self).expect("writing to a String cannot fail");
        page.chars().map(printable).collect()
    }

    /// Returns the subject of charts in one line: the machine and the command, or the names of the
    /// files.
    pub(crate) fn subject(results: &[Results], names: &[String]) -> String {
        /// The characters that fit the width of a chart.
        const COLUMNS: usize = 145;
        let text = match results {
            [only] => {
                format!("{}; {}; {}", machine_line(&only.host), time(only.started), only.command)
            }
            _ => {
                let named = |at| format!("{}: {}", file_letter(at), name(results, names, at));
                (0..results.len()).map(named).collect::<Vec<_>>().join("; ")
            }
        };
        shortened(&text, COLUMNS)
    }
}

/// Returns the name of a file, or its command without a name.
fn name<'a>(results: &'a [Results], names: &'a [String], at: usize) -> &'a str {
    names.get(at).unwrap_or(&results[at].command)
}

fn machine_line(host: &Host) -> String {
    let cores = if host.cores == 1 { "core" } else { "cores" };
    let kind = if host.virtualised { ", virtual" } else { "" };
    format!("{}, {} {cores}{kind}, Linux {}, {}", host.cpu, host.cores, host.kernel, host.nic)
}

/// Formats a time in seconds, without the fraction, which is always zero.
fn time(utc: Utc) -> String {
    let text = utc.to_string();
    let seconds = text.split('.').next().unwrap_or(&text);
    format!("{} UTC", seconds.replace('T', " "))
}

fn figure(chart: &Chart, narrow: &Chart) -> Figure {
    let Chart { name, title, caption, .. } = chart;
    Figure {
        name: name.clone(),
        title: title.clone(),
        svg: chart.inline(),
        narrow: narrow.inline(),
        caption: caption.clone(),
    }
}

/// Returns the comparison of two files: the settings, both medians, their ratio, the ratio with the
/// interval, and the verdict. Empty for another number of files.
fn ratios(results: &[Results]) -> Vec<RatioRow> {
    let [a, b] = results else { return Vec::new() };
    let rows = crate::compare(a, b);
    rows.iter().map(|row| RatioRow { labels: row.labels(&rows), figures: row.summary() }).collect()
}

impl Section<'_> {
    /// Returns `true` if a file contains the order of samples.
    fn has_order(&self) -> bool {
        self.group.series().any(|series| !series.row.over_time.is_empty())
    }
}

impl<'a> File<'a> {
    fn new(all: &'a [Results], names: &'a [String], at: usize) -> Self {
        let results = &all[at];
        let columns = [has_rounds(&results.rows), has_baseline(&results.rows)];
        Self {
            letter: if all.len() == 1 { String::new() } else { file_letter(at) },
            name: name(all, names, at),
            results,
            started: time(results.started),
            warnings: warnings(&results.rows),
            machine: machine(results),
            groups: groups(results),
            columns,
            span: 19 + columns.iter().filter(|shown| **shown).count(),
            footnotes: footnotes(results),
        }
    }
}

/// Returns the warnings of a file.
fn warnings(rows: &[Row]) -> Vec<String> {
    let count = |wanted: fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count();
    let late = count(|row| row.late && row.failed.is_none());
    let (lossy, cut) = (count(|row| row.lost > 0), count(|row| row.interrupted));
    let mut warnings = failures(rows);
    let mut warn = |count: usize, what: &str| {
        if count > 0 {
            warnings.push(format!("{count} of {} {what}", crate::counted(rows.len(), "row")));
        }
    };
    warn(
        late,
        "late: the sender missed its schedule, so they measure the sender more than its subject.",
    );
    warn(lossy, "with loss: sends without an answer are in no latency.");
    warn(cut, "interrupted: fewer samples than requested.");
    warnings
}

/// Returns the failed rows with their reasons, once for all cases of a row.
fn failures(rows: &[Row]) -> Vec<String> {
    let mut failures: Vec<String> = Vec::new();
    for row in rows {
        let Some(reason) = row.failed.as_deref().map(without_repeats) else { continue };
        let ([feed, interval], wait) = (place(row), &row.setting.wait);
        let failure = format!("Failed: {feed}, {interval}, {wait}: {reason}");
        if failures.last() != Some(&failure) {
            failures.push(failure);
        }
    }
    failures
}

/// Returns the facts of the host and the common settings of the rows.
fn machine(results: &Results) -> Vec<(&'static str, String)> {
    let Host { cpu, cores, kernel, virtualised, tsc_hz, governor, nic, timestamping } =
        &results.host;
    let rows = &results.rows;
    let yes = |is| if is { "yes" } else { "no" }.to_string();
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "–".to_string());
    let megahertz = |hz: u64| format!("{:.3} MHz", hz as f64 / 1e6);
    let stamps = match timestamping {
        Timestamping::None => "none",
        Timestamping::Software => "software",
        Timestamping::Hardware => "hardware",
    };
    let bound = |row: &Row| row.cores.map(|[one, other]| format!("exchange {one}, trader {other}"));
    vec![
        ("Processor", cpu.clone()),
        ("Cores", cores.to_string()),
        ("Kernel", kernel.clone()),
        ("Virtual machine", yes(*virtualised)),
        ("Time stamp counter", or_dash(tsc_hz.map(megahertz))),
        ("Frequency governor", or_dash(governor.clone())),
        ("Network", nic.clone()),
        ("Packet time stamps", stamps.to_string()),
        ("Hosts", each(rows, |row| row.ground.clone())),
        ("Pinned to cores", each(rows, bound)),
        ("Seed", each(rows, |row| row.seed.map(|seed| seed.to_string()))),
        ("Deadlines of block", each(rows, |row| row.block_deadline_ns.map(deadline))),
        ("Clock", each(rows, |row| Some(format!("{:?}", row.setting.clock).to_lowercase()))),
        ("Transport", each(rows, |row| Some(row.setting.transport.clone()))),
        ("Protocols", each(rows, |row| Some(row.setting.protocol.clone()))),
        ("Message size", each(rows, |row| Some(format!("{} B", row.setting.size_bytes)))),
        ("Rounds", each(rows, |row| Some(row.setting.rounds.to_string()))),
    ]
}

fn deadline(nanos: u64) -> String {
    format!("rounded up to {} µs", micros(Some(nanos)))
}

/// Returns the distinct values of the rows, or a dash without values.
fn each(rows: &[Row], value: impl Fn(&Row) -> Option<String>) -> String {
    let values: BTreeSet<String> = rows.iter().filter_map(value).collect();
    match values.is_empty() {
        true => "–".to_string(),
        false => values.into_iter().collect::<Vec<_>>().join("; "),
    }
}

/// Returns feed and interval.
fn place(row: &Row) -> [String; 2] {
    let setting = &row.setting;
    let feed = setting.feed.as_ref().unwrap_or(&setting.bench);
    [feed.clone(), interval(setting.interval_us)]
}

fn groups(results: &Results) -> Vec<Group> {
    let together = results.rows.chunk_by(|a, b| place(a) == place(b));
    together.map(|rows| Group::new(rows, results)).collect()
}

/// Returns the lines below the table of all rows.
fn footnotes(results: &Results) -> Vec<String> {
    let mut lines = explanations(&results.rows);
    lines.extend(results.truth.as_ref().map(EnvironmentReport::lines).unwrap_or_default());
    lines
}

impl Group {
    fn new(rows: &[Row], results: &Results) -> Self {
        let line = |row: &Row| {
            let classes = [("failed", row.failed.is_some()), ("late", row.late)];
            let class = classes.iter().filter(|(_, applies)| *applies).map(|(name, _)| *name);
            TableRow {
                class: class.collect::<Vec<_>>().join(" "),
                labels: [row.setting.wait.clone(), row.setting.case.clone()],
                figures: figures(row, &results.rows),
                note: note(row, results.truth.as_ref()),
            }
        };
        let title = rows.first().map(|row| place(row).join(", ")).unwrap_or_default();
        Self { title, rows: rows.iter().map(line).collect() }
    }
}

/// Returns the figures of a row, in the order of the template's headings. A failed row has no
/// latencies.
fn figures(row: &Row, rows: &[Row]) -> Vec<String> {
    let summary = &row.summary;
    let micros = |nanos: Option<u64>| micros(nanos.filter(|_| row.failed.is_none()));
    let float = |nanos: Option<f64>| micros(rounded(nanos));
    let over_rounds = |figure| float(shown(row, figure));
    let mut all = vec![thousands(row.samples), thousands(row.lost), micros(summary.min)];
    all.extend([RowFigure::P25, RowFigure::P50].map(over_rounds));
    all.extend(has_rounds(rows).then(|| interval_of_p50(row)));
    all.extend(
        [RowFigure::P75, RowFigure::P90, RowFigure::P95, RowFigure::P99, RowFigure::P99_9]
            .map(over_rounds),
    );
    all.extend([
        micros(summary.p99_99),
        micros(summary.max),
        float(summary.mean),
        float(summary.stddev),
    ]);
    all.extend([micros(row.lateness_p50), micros(row.lateness_p99)]);
    all.extend(has_baseline(rows).then(|| against_kernel(row, rows).to_string()));
    all
}

fn note(row: &Row, environment: Option<&EnvironmentReport>) -> String {
    let mut notes = notes(row, environment);
    if row.late_orders > 0 {
        notes.push(format!("{} answered after the timeout", thousands(row.late_orders)));
    }
    notes.join("; ")
}

fn compare<'a>(group: &'a ChartGroup<'_>) -> impl Iterator<Item = Compared> + use<'a> {
    let several = group.panels.iter().any(|panel| panel.file != group.panels[0].file);
    group.panels.iter().filter_map(move |panel| {
        let letter = if several { format!("{}: ", file_letter(panel.file)) } else { String::new() };
        Compared::new(group, panel, &letter)
    })
}

impl Compared {
    /// Returns the comparison; `None` unless the panel has both waits.
    fn new(group: &ChartGroup<'_>, panel: &Panel<'_>, letter: &str) -> Option<Self> {
        let row_of = |wait: &str| {
            panel.series.iter().find(|series| series.wait == wait).map(|series| series.row)
        };
        let (poll, epoll) = (row_of("poll")?, row_of("epoll")?);
        let pair = |figure| (shown(poll, figure), shown(epoll, figure));
        let mean = (poll.summary.mean, epoll.summary.mean);
        let pairs = [pair(RowFigure::P50), mean, pair(RowFigure::P99)];
        let figures = pairs.into_iter().flat_map(|(poll, epoll)| difference(poll, epoll)).collect();
        let case = format!("{letter}{}", panel.title);
        Some(Self { labels: [group.feed.to_string(), interval(group.interval_us), case], figures })
    }
}

/// Formats both values, their difference, and the difference as a percentage of the second.
fn difference(poll: Option<f64>, epoll: Option<f64>) -> [String; 4] {
    let format = |nanos: f64| micros(Some(nanos.round() as u64));
    let (Some(poll), Some(epoll)) = (poll, epoll) else {
        return [
            poll.map_or("-".into(), format),
            epoll.map_or("-".into(), format),
            "-".into(),
            "-".into(),
        ];
    };
    let difference = poll - epoll;
    let percent =
        if epoll > 0.0 { format!("{:+.1} %", difference / epoll * 100.0) } else { "-".into() };
    [format(poll), format(epoll), format!("{:+.2}", difference / 1e3), percent]
}
