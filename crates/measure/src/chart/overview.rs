//! The overview chart: percentile curves of all groups as small multiples, intervals from left to
//! right.

use super::{Canvas, Chart, Layout, SeriesStyle, file_letter, percentiles};
use crate::chart_group::{ChartGroup, Panel};
use crate::scale::{Scale, tick_micros};
use crate::svg::{Anchor, PathData};

/// The height of a frame.
const HEIGHT: f64 = 132.0;
/// The space above a row of frames, for their titles.
const TITLE: f64 = 24.0;
/// The space below a row of frames, for their axes.
const AXIS: f64 = 40.0;
/// The space between two frames.
const GAP: f64 = 16.0;
/// The space of a name in the legend.
const NAME: f64 = 130.0;

/// Draws the first case of each file in every group; `None` with fewer than two nonempty groups.
pub(crate) fn overview(groups: &[ChartGroup<'_>], subject: &str, layout: Layout) -> Option<Chart> {
    let groups: Vec<&ChartGroup<'_>> = groups.iter().filter(|group| !group.is_empty()).collect();
    let (x, y) = percentiles::axes(&groups)?;
    let first = groups.first().filter(|_| groups.len() > 1)?.panels.first()?;
    let title = format!("Percentiles of every feed and interval: {}", first.title);
    let mut canvas = Canvas::new(layout);
    legend(&mut canvas, &groups);
    let frames = Frame::for_groups(&groups);
    let is_row =
        |a: &Frame<'_>, b: &Frame<'_>| (a.group.feed, a.panel.file) == (b.group.feed, b.panel.file);
    let widest = frames.chunk_by(is_row).map(<[_]>::len).max().unwrap_or(1);
    // Feeds of one interval share rows.
    let rows: Vec<&[Frame<'_>]> = match widest {
        1 => frames.chunks(layout.frames).collect(),
        _ => frames.chunk_by(is_row).flat_map(|feed| feed.chunks(layout.frames)).collect(),
    };
    let count = rows.iter().map(|row| row.len()).max().unwrap_or(1);
    rows.iter().for_each(|row| draw(&mut canvas, row, count, (&x, &y)));
    let reading = "All frames have the same axes. Percentiles from left to right: each mark is \
                   exceeded by a tenth of the samples that exceed the previous one. A line ends \
                   where fewer than 10 samples exceed the percentile.";
    Some(canvas.finish(
        "overview".to_string(),
        title,
        subject,
        [reading.to_string(), String::new()],
    ))
}

/// A frame of the small multiples.
struct Frame<'a> {
    group: &'a ChartGroup<'a>,
    panel: &'a Panel<'a>,
    title: String,
}

impl<'a> Frame<'a> {
    /// Returns the frames, ordered by feed and file.
    fn for_groups(groups: &[&'a ChartGroup<'a>]) -> Vec<Self> {
        let panels = || groups.iter().flat_map(|group| &group.panels);
        let files = panels().map(|panel| panel.file).max().map_or(0, |last| last + 1);
        let several = files > 1;
        let mut frames = Vec::new();
        for feed in groups.chunk_by(|a, b| a.feed == b.feed) {
            for (file, group) in
                (0..files).flat_map(|file| feed.iter().map(move |group| (file, group)))
            {
                let panel = group.panels.iter().find(|panel| panel.file == file);
                let letter =
                    if several { format!("{}: ", file_letter(file)) } else { String::new() };
                let title = format!("{letter}{}, {}", group.feed, group.interval());
                frames.extend(panel.map(|panel| Self { group, panel, title }));
            }
        }
        frames
    }
}

/// Draws the legend of the waits above all frames.
fn legend(canvas: &mut Canvas, groups: &[&ChartGroup<'_>]) {
    let mut waits: Vec<&str> = Vec::new();
    for wait in groups.iter().flat_map(|group| group.waits()) {
        if !waits.contains(&wait) {
            waits.push(wait);
        }
    }
    let room = canvas.layout.width - super::LEFT - super::RIGHT;
    let in_row = ((room / NAME) as usize).max(1);
    for (number, wait) in waits.iter().enumerate() {
        if number > 0 && number % in_row == 0 {
            canvas.y += 18.0;
        }
        let y = canvas.y + 14.0;
        let x = super::LEFT + (number % in_row) as f64 * NAME;
        let style = SeriesStyle::for_wait(wait);
        let mut stroke = PathData::default();
        stroke.move_to(x, y - 4.0);
        stroke.horizontal_to(x + 38.0);
        canvas.svg.element(
            "path",
            &[
                ("class", &format!("stroke-{}", style.class)),
                ("d", &stroke),
                ("fill", &"none"),
                ("stroke", &style.light),
                ("stroke-width", &2),
                ("stroke-dasharray", &style.dash),
            ],
        );
        canvas.label((x + 45.0, y), wait, wait);
    }
    canvas.y += 22.0;
}

/// Draws a row of frames, with the width of `count` in a row.
fn draw(canvas: &mut Canvas, row: &[Frame<'_>], count: usize, (x, y): (&Scale, &Scale)) {
    let gaps = GAP * (count - 1) as f64;
    let width = (canvas.layout.width - super::LEFT - super::RIGHT - gaps) / count as f64;
    let (top, bottom) = (canvas.y + TITLE, canvas.y + TITLE + HEIGHT);
    for (number, frame) in row.iter().enumerate() {
        let left = super::LEFT + number as f64 * (width + GAP);
        let (x, y) = (x.with_pixels([left, left + width]), y.with_pixels([bottom, top]));
        canvas.heading((left, top - 7.0), Anchor::Start, &frame.title);
        let label = (number == 0).then_some(tick_micros as fn(f64) -> String);
        canvas.grid(&y, x.pixels(), 6, label);
        let is_nine = |(at, _): &(f64, String)| *at > 0.0 && at.fract() < 1e-9;
        let ticks: Vec<_> = percentiles::nines(&x).into_iter().filter(is_nine).collect();
        canvas.axis(bottom, &x, &ticks, if number == 0 { "percentile" } else { "" });
        super::open_plot(&mut canvas.svg, &x, &y, "percentile");
        for series in &frame.panel.series {
            percentiles::curve(canvas, series.wait, series.row, &x, &y, 1.5);
        }
        canvas.svg.close("g");
    }
    canvas.vertical_label(14.0, [top, bottom], "µs (log)");
    canvas.y = bottom + AXIS;
}
