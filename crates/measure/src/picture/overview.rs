//! All cells at a glance: percentile curves as small multiples, intervals from left to right.

use super::{Canvas, Ink, Picture, file_letter, percentiles};
use crate::cell::{Cell, Panel};
use crate::scale::{Scale, tick_micros};
use crate::svg::{Anchor, Outline};

const HEIGHT: f64 = 132.0;
/// Above a row of frames, for their titles; below it, for their axes.
const TITLE: f64 = 24.0;
const AXIS: f64 = 40.0;
const BETWEEN: f64 = 16.0;
/// Frames in a row: the four intervals of the whole table.
const FRAMES: usize = 4;

/// The first case of each file in every cell; `None` unless there are two cells or more with
/// something to draw.
pub(crate) fn overview(cells: &[Cell<'_>], subject: &str) -> Option<Picture> {
    let cells: Vec<&Cell<'_>> = cells.iter().filter(|cell| !cell.is_empty()).collect();
    let (x, y) = percentiles::axes(&cells)?;
    let first = cells.first().filter(|_| cells.len() > 1)?.panels.first()?;
    let title = format!("Percentiles of every feed and interval: {}", first.title);
    let mut canvas = Canvas::new();
    legend(&mut canvas, &cells);
    let frames = Frame::of(&cells);
    for feed in frames.chunk_by(|a, b| (a.cell.feed, a.panel.file) == (b.cell.feed, b.panel.file)) {
        feed.chunks(FRAMES).for_each(|row| draw(&mut canvas, row, &x, &y));
    }
    let reading = "All frames have the same axes. Percentiles from left to right: beyond each mark \
                   lies a tenth of the samples that lie beyond the one before. A line ends where \
                   fewer than 10 samples lie beyond.";
    Some(canvas.finish(
        "overview".to_string(),
        title,
        subject,
        [reading.to_string(), String::new()],
    ))
}

/// One of the small multiples.
struct Frame<'a> {
    cell: &'a Cell<'a>,
    panel: &'a Panel<'a>,
    title: String,
}

impl<'a> Frame<'a> {
    /// Those of one feed and file together.
    fn of(cells: &[&'a Cell<'a>]) -> Vec<Self> {
        let panels = || cells.iter().flat_map(|cell| &cell.panels);
        let files = panels().map(|panel| panel.file).max().map_or(0, |last| last + 1);
        let several = files > 1;
        let mut frames = Vec::new();
        for feed in cells.chunk_by(|a, b| a.feed == b.feed) {
            for (file, cell) in
                (0..files).flat_map(|file| feed.iter().map(move |cell| (file, cell)))
            {
                let panel = cell.panels.iter().find(|panel| panel.file == file);
                let letter =
                    if several { format!("{}: ", file_letter(file)) } else { String::new() };
                let title = format!("{letter}{}, {}", cell.feed, cell.interval());
                frames.extend(panel.map(|panel| Self { cell, panel, title }));
            }
        }
        frames
    }
}

/// A stroke and a name for each wait, above all frames.
fn legend(canvas: &mut Canvas, cells: &[&Cell<'_>]) {
    let mut waits: Vec<&str> = Vec::new();
    for wait in cells.iter().flat_map(|cell| cell.waits()) {
        if !waits.contains(&wait) {
            waits.push(wait);
        }
    }
    let y = canvas.y + 14.0;
    for (number, wait) in waits.iter().enumerate() {
        let (x, ink) = (super::LEFT + number as f64 * 130.0, Ink::of(wait));
        let mut stroke = Outline::default();
        stroke.jump(x, y - 4.0);
        stroke.across(x + 38.0);
        canvas.svg.element(
            "path",
            &[
                ("class", &format!("stroke-{}", ink.class)),
                ("d", &stroke),
                ("fill", &"none"),
                ("stroke", &ink.light),
                ("stroke-width", &2),
                ("stroke-dasharray", &ink.dash),
            ],
        );
        canvas.label((x + 45.0, y), wait, wait);
    }
    canvas.y += 22.0;
}

fn draw(canvas: &mut Canvas, row: &[Frame<'_>], x: &Scale, y: &Scale) {
    let room = super::WIDTH - super::LEFT - super::RIGHT - BETWEEN * (FRAMES - 1) as f64;
    let width = room / FRAMES as f64;
    let (top, bottom) = (canvas.y + TITLE, canvas.y + TITLE + HEIGHT);
    for (number, frame) in row.iter().enumerate() {
        let left = super::LEFT + number as f64 * (width + BETWEEN);
        let (x, y) = (x.moved([left, left + width]), y.moved([bottom, top]));
        canvas.words((left, top - 7.0), Anchor::Start, &frame.title);
        let label = (number == 0).then_some(tick_micros as fn(f64) -> String);
        canvas.rows(&y, x.pixels(), 6, label);
        let is_nine = |(at, _): &(f64, String)| *at > 0.0 && at.fract() < 1e-9;
        let ticks: Vec<_> = percentiles::nines(&x).into_iter().filter(is_nine).collect();
        canvas.axis(bottom, &x, &ticks, if number == 0 { "percentile" } else { "" });
        super::open_plot(&mut canvas.svg, &x, &y, "percentile");
        for line in &frame.panel.lines {
            percentiles::curve(canvas, line.wait, line.row, &x, &y, 1.5);
        }
        canvas.svg.close("g");
    }
    canvas.along(14.0, [top, bottom], "µs (log)");
    canvas.y = bottom + AXIS;
}
