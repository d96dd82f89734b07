//! The page of a report: what stands in its template.

use std::collections::BTreeSet;

use askama::Template;
use hairpin_time::Utc;

use crate::cell::{Cell, Panel, interval};
use crate::compare::against_kernel;
use crate::picture::{self, Picture, dark_style, file_letter};
use crate::results::shown;
use crate::scale::thousands;
use crate::svg::printable;
use crate::table::{has_baseline, has_rounds, interval_of_p50, micros, notes, reading, rounded};
use crate::{EnvironmentReport, Figure as Of, Host, Results, Row, Timestamping};

/// `report.html`.
#[derive(Template)]
#[template(path = "report.html")]
pub(crate) struct Page<'a> {
    dark: String,
    title: String,
    files: Vec<File<'a>>,
    /// All cells in one picture.
    overview: Option<Figure>,
    cells: Vec<Section<'a>>,
    compared: Vec<Compared>,
    has_ticks: bool,
}

/// A results file.
struct File<'a> {
    /// `A`; empty if there is only one.
    letter: String,
    name: &'a str,
    results: &'a Results,
    started: String,
    /// What was not as it should be, a sentence each.
    warnings: Vec<String>,
    /// What it was measured on, name and value.
    machine: Vec<(&'static str, String)>,
    groups: Vec<Group>,
    /// Whether rows have rounds, and whether some were not carried by kernel sockets: a column
    /// each.
    columns: [bool; 2],
    /// How many columns there are in all.
    span: usize,
    /// How the table is to be read, and the truth checks, a line each.
    footnotes: Vec<String>,
}

/// Consecutive rows of one feed and interval.
struct Group {
    title: String,
    rows: Vec<TableRow>,
}

/// A row of the table of all rows.
struct TableRow {
    /// How it is set off: failed, late.
    class: String,
    words: [String; 2],
    figures: Vec<String>,
    note: String,
}

/// A feed and interval.
struct Section<'a> {
    cell: &'a Cell<'a>,
    interval: String,
    pictures: Vec<Figure>,
}

struct Figure {
    name: String,
    svg: String,
    caption: Vec<String>,
}

/// What `poll` costs against `epoll` in one panel.
struct Compared {
    words: [String; 3],
    /// Of median, mean and 99th percentile: poll, epoll, difference, per cent.
    figures: Vec<String>,
}

impl<'a> Page<'a> {
    /// The page of these files, whose cells have these pictures.
    pub(crate) fn new(
        results: &'a [Results],
        names: &'a [String],
        cells: &'a [Cell<'a>],
        pictures: &[Vec<Picture>],
    ) -> Self {
        let subject = Self::subject(results, names);
        let is_tick = |row: &Row| row.setting.bench == "t2t";
        let has_ticks = results.iter().flat_map(|it| &it.rows).any(is_tick);
        let of = if has_ticks { "tick to trade" } else { "results" };
        let section = |(cell, pictures): (&'a Cell<'a>, &Vec<Picture>)| Section {
            cell,
            interval: cell.interval(),
            pictures: pictures.iter().map(figure).collect(),
        };
        Self {
            dark: dark_style(),
            title: format!("Hairpin: {of}"),
            files: (0..results.len()).map(|at| File::new(results, names, at)).collect(),
            overview: picture::overview(cells, &subject).as_ref().map(figure),
            cells: cells.iter().zip(pictures).map(section).collect(),
            compared: cells.iter().flat_map(compare).collect(),
            has_ticks,
        }
    }

    /// The text of the page.
    pub(crate) fn render(&self) -> String {
        let page = Template::render(self).expect("a String takes all that is written to it");
        page.chars().map(printable).collect()
    }

    /// The machine and the command, or each file's name, in a line that fits the head of a picture.
    pub(crate) fn subject(results: &[Results], names: &[String]) -> String {
        /// Of the picture's width at this size, with room for wide letters.
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

/// What a file is called: its own name if that is known.
fn name<'a>(results: &'a [Results], names: &'a [String], at: usize) -> &'a str {
    names.get(at).unwrap_or(&results[at].command)
}

fn machine_line(host: &Host) -> String {
    let cores = if host.cores == 1 { "core" } else { "cores" };
    let kind = if host.virtualised { ", virtual" } else { "" };
    format!("{}, {} {cores}{kind}, Linux {}, {}", host.cpu, host.cores, host.kernel, host.nic)
}

/// To the second, without the fraction that is always zero.
fn time(utc: Utc) -> String {
    let text = utc.to_string();
    let seconds = text.split('.').next().unwrap_or(&text);
    format!("{} UTC", seconds.replace('T', " "))
}

fn shortened(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_string();
    }
    text.chars().take(columns - 1).chain(['…']).collect()
}

fn figure(picture: &Picture) -> Figure {
    let Picture { name, caption, .. } = picture;
    Figure { name: name.clone(), svg: picture.inline(), caption: caption.clone() }
}

impl Section<'_> {
    /// Whether any file tells in what order its samples came.
    fn has_course(&self) -> bool {
        self.cell.lines().any(|line| !line.row.over_time.is_empty())
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
            span: 19 + columns.iter().filter(|is_there| **is_there).count(),
            footnotes: footnotes(results),
        }
    }
}

/// What a reader must know before looking at any figure.
fn warnings(rows: &[Row]) -> Vec<String> {
    let count = |wanted: fn(&Row) -> bool| rows.iter().filter(|row| wanted(row)).count();
    let late = count(|row| row.late && row.failed.is_none());
    let (lossy, cut) = (count(|row| row.lost > 0), count(|row| row.interrupted));
    let mut warnings = failures(rows);
    let mut warn = |count: usize, what: &str| {
        if count > 0 {
            warnings.push(format!("{count} of {} rows {what}", rows.len()));
        }
    };
    warn(
        late,
        "late: the sender missed its schedule, so their figures say more of it than of the rest.",
    );
    warn(lossy, "with loss: sends that nobody answered are in no latency.");
    warn(cut, "interrupted: fewer samples than were asked for.");
    warnings
}

/// Which rows failed, and why; once for all cases of a row that failed as a whole.
fn failures(rows: &[Row]) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    for row in rows {
        let Some(reason) = &row.failed else { continue };
        let ([feed, interval], wait) = (place(row), &row.setting.wait);
        let failure = format!("Failed: {feed}, {interval}, {wait}: {reason}");
        if said.last() != Some(&failure) {
            said.push(failure);
        }
    }
    said
}

/// Facts of the host, and of the rows what they have in common with it.
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
        ("Ground", each(rows, |row| row.ground.clone())),
        ("Bound to cores", each(rows, bound)),
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

/// What the rows say, each thing once; a dash if none says anything.
fn each(rows: &[Row], what: impl Fn(&Row) -> Option<String>) -> String {
    let said: BTreeSet<String> = rows.iter().filter_map(what).collect();
    match said.is_empty() {
        true => "–".to_string(),
        false => said.into_iter().collect::<Vec<_>>().join("; "),
    }
}

/// Feed and interval.
fn place(row: &Row) -> [String; 2] {
    let setting = &row.setting;
    let feed = setting.feed.as_ref().unwrap_or(&setting.bench);
    [feed.clone(), interval(setting.interval_us)]
}

fn groups(results: &Results) -> Vec<Group> {
    let together = results.rows.chunk_by(|a, b| place(a) == place(b));
    together.map(|rows| Group::new(rows, results)).collect()
}

/// The lines below the table of all rows.
fn footnotes(results: &Results) -> Vec<String> {
    let mut said = reading(&results.rows);
    said.extend(results.truth.as_ref().map(EnvironmentReport::lines).unwrap_or_default());
    said
}

impl Group {
    fn new(rows: &[Row], of: &Results) -> Self {
        let line = |row: &Row| {
            let classes = [("failed", row.failed.is_some()), ("late", row.late)];
            let class = classes.iter().filter(|(_, applies)| *applies).map(|(name, _)| *name);
            TableRow {
                class: class.collect::<Vec<_>>().join(" "),
                words: [row.setting.wait.clone(), row.setting.case.clone()],
                figures: figures(row, &of.rows),
                note: note(row, of.truth.as_ref()),
            }
        };
        let title = rows.first().map(|row| place(row).join(", ")).unwrap_or_default();
        Self { title, rows: rows.iter().map(line).collect() }
    }
}

/// In the order of the template's headings.
fn figures(row: &Row, rows: &[Row]) -> Vec<String> {
    let of = &row.summary;
    let float = |nanos: Option<f64>| micros(rounded(nanos));
    let over_rounds = |figure| float(shown(row, figure));
    let mut all = vec![thousands(row.samples), thousands(row.lost), micros(of.min)];
    all.extend([Of::P25, Of::P50].map(over_rounds));
    all.extend(has_rounds(rows).then(|| interval_of_p50(row)));
    all.extend([Of::P75, Of::P90, Of::P95, Of::P99, Of::P99_9].map(over_rounds));
    all.extend([micros(of.p99_99), micros(of.max), float(of.mean), float(of.stddev)]);
    all.extend([micros(row.lateness_p50), micros(row.lateness_p99)]);
    all.extend(has_baseline(rows).then(|| against_kernel(row, rows).to_string()));
    all
}

fn note(row: &Row, truth: Option<&EnvironmentReport>) -> String {
    let mut said = notes(row, truth);
    if row.late_orders > 0 {
        said.push(format!("{} answered after they had been given up", thousands(row.late_orders)));
    }
    said.join("; ")
}

fn compare<'a>(cell: &'a Cell<'_>) -> impl Iterator<Item = Compared> + use<'a> {
    let several = cell.panels.iter().any(|panel| panel.file != cell.panels[0].file);
    cell.panels.iter().filter_map(move |panel| {
        let letter = if several { format!("{}: ", file_letter(panel.file)) } else { String::new() };
        Compared::new(cell, panel, &letter)
    })
}

impl Compared {
    /// `None` unless the panel has both.
    fn new(cell: &Cell<'_>, panel: &Panel<'_>, letter: &str) -> Option<Self> {
        let of =
            |wait: &str| panel.lines.iter().find(|line| line.wait == wait).map(|line| line.row);
        let (poll, epoll) = (of("poll")?, of("epoll")?);
        let pair = |figure| (shown(poll, figure), shown(epoll, figure));
        let mean = (poll.summary.mean, epoll.summary.mean);
        let pairs = [pair(Of::P50), mean, pair(Of::P99)];
        let figures = pairs.into_iter().flat_map(|(poll, epoll)| difference(poll, epoll)).collect();
        let case = format!("{letter}{}", panel.title);
        Some(Self { words: [cell.feed.to_string(), interval(cell.interval_us), case], figures })
    }
}

/// Both, how much more the first is, and that in parts of a hundred of the second.
fn difference(poll: Option<f64>, epoll: Option<f64>) -> [String; 4] {
    let one = |nanos: f64| micros(Some(nanos.round() as u64));
    let (Some(poll), Some(epoll)) = (poll, epoll) else {
        return [
            poll.map_or("-".into(), one),
            epoll.map_or("-".into(), one),
            "-".into(),
            "-".into(),
        ];
    };
    let more = poll - epoll;
    let percent = if epoll > 0.0 { format!("{:+.1} %", more / epoll * 100.0) } else { "-".into() };
    [one(poll), one(epoll), format!("{:+.2}", more / 1e3), percent]
}
