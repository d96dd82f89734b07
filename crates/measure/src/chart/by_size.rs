//! Charts of latency by message size, with a line for each transport and protocol.

use std::collections::BTreeMap;

use super::{Canvas, Chart, Layout, SeriesStyle};
use crate::chart_group::ChartGroup;
use crate::scale::{Form, Scale, tick_micros};
use crate::svg::{Anchor, PathData};
use crate::{Kind, Row};

/// The height of the plot.
const HEIGHT: f64 = 360.0;
/// The space above the plot, for its title.
const TITLE: f64 = 26.0;
/// The space below the plot, for its axis.
const AXIS: f64 = 48.0;
/// The space right of the plot, for the names of the lines.
const NAMES: f64 = 150.0;
/// The distance between two names.
const NAME_LEADING: f64 = 16.0;
/// The fewest sizes of a line.
const SIZES: usize = 3;
/// The most labels of the horizontal axis.
const LABELS: usize = 16;

/// The parts of a setting that distinguish lines: file, transport, protocol, wait and case.
type Key<'a> = (usize, &'a str, &'a str, &'a str, &'a str);

/// The rows of a line by size.
type Line<'a> = BTreeMap<u64, &'a Row>;

/// Draws the medians of a group; `None` if no line has several sizes.
pub(super) fn draw(group: &ChartGroup<'_>, subject: &str, layout: Layout) -> Option<Chart> {
    let lines = lines(group);
    let points = || lines.values().flatten();
    let (least, most) =
        (points().map(|(size, _)| *size).min()?, points().map(|(size, _)| *size).max()?);
    let slowest = points().filter_map(|(_, row)| row.summary.p50).max()?;
    let mut canvas = Canvas::new(layout);
    let (top, bottom) = (canvas.y + TITLE, canvas.y + TITLE + HEIGHT);
    let (left, right) = (super::LEFT, layout.width - super::RIGHT - NAMES);
    let x = Scale::new(Form::Log, [least as f64, most as f64], [left, right]);
    let y = Scale::new(Form::Linear, [0.0, slowest as f64 * 1.05], [bottom, top]);
    let title = format!("Latency by message size: {}, {}", group.feed, group.interval());
    canvas.heading((left, top - 10.0), Anchor::Start, "median");
    canvas.grid(&y, [left, right], 9, Some(tick_micros as fn(f64) -> String));
    canvas.axis(bottom, &x, &ticks(&lines), "message size in bytes (log)");
    super::open_plot(&mut canvas.svg, &x, &y, "bytes");
    for (key, line) in &lines {
        curve(&mut canvas, key, line, &x, &y);
    }
    canvas.svg.close("g");
    names(&mut canvas, &lines, right, &y);
    canvas.vertical_label(14.0, [top, bottom], "µs");
    canvas.y = bottom + AXIS;
    let reading = "A dot is the median of all samples of one message size. Solid lines: through \
                   the kernel. Dashed lines: bypassing the kernel.";
    let name = format!("size-{}", group.slug);
    Some(canvas.finish(name, title, subject, [reading.to_string(), String::new()]))
}

/// Returns the lines with at least [`SIZES`] sizes.
fn lines<'a>(group: &ChartGroup<'a>) -> BTreeMap<Key<'a>, Line<'a>> {
    let mut lines: BTreeMap<Key<'a>, Line<'a>> = BTreeMap::new();
    for panel in group.panels.iter().filter(|panel| panel.kind != Kind::Batch) {
        for series in &panel.series {
            let row = series.row;
            let setting = &row.setting;
            let key = (
                panel.file,
                setting.transport.as_str(),
                setting.protocol.as_str(),
                series.wait,
                setting.case.as_str(),
            );
            if row.summary.p50.is_some() {
                lines.entry(key).or_default().insert(setting.size_bytes, row);
            }
        }
    }
    lines.retain(|_, line| line.len() >= SIZES);
    lines
}

/// Returns the sizes as ticks; every second size if there are many.
fn ticks(lines: &BTreeMap<Key<'_>, Line<'_>>) -> Vec<(f64, String)> {
    let mut sizes: Vec<u64> = lines.values().flat_map(|line| line.keys().copied()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let every = sizes.len().div_ceil(LABELS);
    sizes.into_iter().step_by(every).map(|size| (size as f64, size.to_string())).collect()
}

/// Returns the median of a row in nanoseconds.
fn median(row: &Row) -> f64 {
    row.summary.p50.unwrap_or_default() as f64
}

fn curve(canvas: &mut Canvas, key: &Key<'_>, line: &Line<'_>, x: &Scale, y: &Scale) {
    let (mut path, mut dots) = (PathData::default(), PathData::default());
    for (number, (size, row)) in line.iter().enumerate() {
        let (at, up) = (x.position(*size as f64), y.position(median(row)));
        if number == 0 {
            path.move_to(at, up)
        } else {
            path.line_to(at, up)
        }
        dots.dot(at, up);
    }
    let (_, transport, protocol, ..) = *key;
    let style = SeriesStyle::for_protocol(protocol);
    let class = format!("stroke-{}", style.class);
    let dash = if transport == "kernel" { "none" } else { "7 4" };
    for (data, width, dash) in [(path, 1.8, dash), (dots, 5.0, "none")] {
        canvas.svg.element(
            "path",
            &[
                ("class", &class),
                ("d", &data),
                ("fill", &"none"),
                ("stroke", &style.light),
                ("stroke-width", &width),
                ("stroke-dasharray", &dash),
                ("stroke-linecap", &"round"),
            ],
        );
    }
}

/// Adds the names at the right ends of the lines, from top to bottom without overlap.
fn names(canvas: &mut Canvas, lines: &BTreeMap<Key<'_>, Line<'_>>, right: f64, y: &Scale) {
    let several = |of: fn(&Key<'_>) -> String| {
        let mut all: Vec<String> = lines.keys().map(of).collect();
        all.sort_unstable();
        all.dedup();
        all.len() > 1
    };
    let has_files = several(|key| key.0.to_string());
    let (has_waits, has_cases) =
        (several(|key| key.3.to_string()), several(|key| key.4.to_string()));
    let mut ends: Vec<(f64, &Key<'_>)> = lines
        .iter()
        .filter_map(|(key, line)| Some((y.position(median(line.values().next_back()?)), key)))
        .collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut lowest = f64::MIN;
    for (at, key) in ends {
        let (file, transport, protocol, wait, case) = *key;
        let file = if has_files { super::file_letter(file) + ": " } else { String::new() };
        let wait = if has_waits { format!(", {wait}") } else { String::new() };
        let case = if has_cases { format!(", {case}") } else { String::new() };
        let text = format!("{file}{protocol}, {transport}{wait}{case}");
        lowest = (lowest + NAME_LEADING).max(at + 4.0);
        let style = SeriesStyle::for_protocol(protocol);
        let class = format!("fill-{}", style.class);
        canvas.svg.text(
            (right + 8.0, lowest),
            Anchor::Start,
            &[("class", &class), ("fill", &style.light), ("font-weight", &"bold")],
            &text,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tests::results;
    use crate::chart_group::chart_groups;
    use crate::{Clock, Recorder, Report, Setting};
    use hairpin_time::Duration;

    fn row(transport: &str, protocol: &str, size_bytes: u64, nanos: u64) -> Row {
        let mut samples = Recorder::with_capacity(100);
        (0..100).for_each(|more| samples.record(Duration::from_nanos(nanos + more)));
        let setting = Setting {
            bench: "rds".to_string(),
            case: "ping".to_string(),
            feed: None,
            transport: transport.to_string(),
            wait: "spin".to_string(),
            protocol: protocol.to_string(),
            size_bytes,
            interval_us: 0,
            kind: Kind::Rtt,
            clock: Clock::Tsc,
            rounds: 1,
        };
        Row::new(setting, &samples, &Recorder::with_capacity(0))
    }

    fn rows(sizes: &[u64]) -> Vec<Row> {
        let all = [("kernel", "udp", 20_000), ("kernel", "rds", 21_000), ("xdp", "rds", 9_000)];
        let of = |size: u64| {
            all.map(|(transport, protocol, nanos)| row(transport, protocol, size, nanos))
        };
        sizes.iter().flat_map(|&size| of(size)).collect()
    }

    #[test]
    fn draws_a_line_for_each_transport_and_protocol() {
        let results = [results(rows(&[4, 64, 1_024, 8]))];
        let groups = chart_groups(&results);
        let chart = draw(&groups[0], "", Layout::WIDE).unwrap().standalone();
        let document = roxmltree::Document::parse(&chart).unwrap();
        let texts: Vec<&str> = document.descendants().filter_map(|node| node.text()).collect();
        for name in ["udp, kernel", "rds, kernel", "rds, xdp", "4", "1024"] {
            assert!(texts.contains(&name), "{name}: {texts:?}");
        }
        assert_eq!(chart.matches("stroke-dasharray=\"7 4\"").count(), 1);
    }

    #[test]
    fn few_sizes_are_no_line() {
        let results = [results(rows(&[4, 64]))];
        assert!(draw(&chart_groups(&results)[0], "", Layout::WIDE).is_none());
    }

    #[test]
    fn many_panels_are_replaced_by_this_chart() {
        let folder = tempfile::tempdir().unwrap();
        let many = [results(rows(&[4, 8, 16, 32, 64]))];
        let written = Report::new(&many).write(folder.path()).unwrap();
        let names: Vec<_> = written.iter().filter_map(|path| path.file_name()?.to_str()).collect();
        assert_eq!(names, ["size-rds-0.svg", "report.html"]);
        let few = [results(rows(&[4, 8, 16]))];
        assert_eq!(Report::new(&few).write(folder.path()).unwrap().len(), 5);
    }
}
