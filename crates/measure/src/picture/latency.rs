//! Latency over time: when it was slow, and whether it stayed so.

use super::{Canvas, Ink, Picture, brief};
use crate::Bucket;
use crate::cell::{Cell, Line, Panel};
use crate::scale::{Form, Scale, thousands, tick_micros};
use crate::svg::{Anchor, Outline};

/// Above a panel, for its title; below it, for its axis.
const TITLE: f64 = 24.0;
const AXIS: f64 = 48.0;
/// Of one wait: a line of words above its course.
const WORDS: f64 = 20.0;
const COURSE: f64 = 72.0;

/// The picture of a cell; `None` if there is nothing to draw, or no file tells in what order its
/// samples came.
pub(super) fn draw(cell: &Cell<'_>, subject: &str) -> Option<Picture> {
    cell.lines().find(|line| !line.row.over_time.is_empty())?;
    let (x, y) = axes(cell)?;
    let title = format!("Latency over time: {}, {}", cell.feed, cell.interval());
    let mut canvas = Canvas::new();
    let (columns, waits) = (super::columns(cell.panels.len(), 0.0), cell.waits());
    let ticks: Vec<_> = x.ticks(5).into_iter().map(|tick| (tick, thousands(tick as u64))).collect();
    for row in cell.panels.chunks(columns.len()) {
        let top = canvas.y + TITLE;
        let bottom = top + waits.len() as f64 * (WORDS + COURSE);
        for (column, panel) in columns.iter().zip(row) {
            let x = x.moved(*column);
            canvas.words((column[0], top - 6.0), Anchor::Start, &super::panel_title(cell, panel));
            let label = (column[0] == columns[0][0]).then_some(tick_micros as fn(f64) -> String);
            for (number, wait) in waits.iter().enumerate() {
                let base = top + (number + 1) as f64 * (WORDS + COURSE);
                let y = y.moved([base, base - COURSE]);
                canvas.rows(&y, *column, 4, label);
                strip(&mut canvas, panel, wait, &x, &y);
            }
            canvas.axis(bottom, &x, &ticks, &axis_title(cell, x.values()[1]));
        }
        canvas.along(14.0, [top, bottom], &format!("{}, µs (log)", cell.quantity()));
        canvas.y = bottom + AXIS;
    }
    let name = format!("latency-{}", cell.slug);
    Some(canvas.finish(name, title, subject, [super::counts(cell), reading(cell)]))
}

/// Samples from the left, nanoseconds upwards, nowhere yet.
fn axes(cell: &Cell<'_>) -> Option<(Scale, Scale)> {
    let [min, max] = cell.extremes()?;
    let samples = cell.lines().map(|line| line.row.samples).max()?;
    let x = Scale::new(Form::Linear, [0.0, samples as f64], [0.0, 1.0]);
    Some((x, Scale::new(Form::Log, [min * 0.95, max * 1.05], [1.0, 0.0])))
}

fn axis_title(cell: &Cell<'_>, samples: f64) -> String {
    let seconds = samples * cell.interval_us as f64 / 1e6;
    match cell.interval_us {
        0 => "samples in their order".to_string(),
        _ if seconds < 1.0 => format!("samples in their order, {seconds:.2} s in all"),
        _ => format!("samples in their order, {} s in all", thousands(seconds.round() as u64)),
    }
}

fn reading(cell: &Cell<'_>) -> String {
    let buckets = || cell.lines().flat_map(|line| &line.row.over_time);
    let sizes = (buckets().map(|it| it.count).min(), buckets().map(|it| it.count).max());
    let size = match sizes {
        (Some(least), Some(most)) if least == most => thousands(most),
        (Some(least), Some(most)) => format!("{} to {}", thousands(least), thousands(most)),
        _ => return String::new(),
    };
    let to = match buckets().all(|bucket| bucket.p99.is_some()) {
        true => "the 99th percentile, dots are maxima",
        false => "the greatest",
    };
    format!("Line: median of {size} consecutive samples. Band: from the least of them to {to}.")
}

/// One wait of a panel.
fn strip(canvas: &mut Canvas, panel: &Panel<'_>, wait: &str, x: &Scale, y: &Scale) {
    let (left, top) = (x.pixels()[0], y.pixels()[1]);
    let right = x.pixels()[1];
    let Some(line) = panel.lines.iter().find(|line| line.wait == wait) else {
        canvas.quiet((left, top - 4.0), Anchor::Start, &format!("{wait}: nothing to draw"));
        return;
    };
    canvas.label((left, top - 4.0), wait, &super::line_name(line));
    let of = &line.row.summary;
    let figures = format!("median {} µs, max {} µs", brief(of.p50), brief(of.max));
    canvas.quiet((right, top - 4.0), Anchor::End, &figures);
    if line.row.over_time.is_empty() {
        let middle = (f64::midpoint(left, right), f64::midpoint(y.pixels()[0], top) + 4.0);
        canvas.quiet(
            middle,
            Anchor::Middle,
            "the file does not tell in what order its samples came",
        );
        return;
    }
    super::open_plot(&mut canvas.svg, x, y, "sample");
    course(canvas, line, x, y);
    canvas.svg.close("g");
}

fn course(canvas: &mut Canvas, line: &Line<'_>, x: &Scale, y: &Scale) {
    let (buckets, ink) = (&line.row.over_time, Ink::of(line.wait));
    let (fill, stroke) = (format!("fill-{}", ink.class), format!("stroke-{}", ink.class));
    canvas.svg.element(
        "path",
        &[
            ("class", &fill),
            ("d", &band(buckets, x, y)),
            ("fill", &ink.light),
            ("fill-opacity", &0.28),
        ],
    );
    canvas.svg.element(
        "path",
        &[
            ("class", &format!("line {stroke}")),
            ("data-wait", &line.wait),
            ("d", &medians(buckets, x, y)),
            ("fill", &"none"),
            ("stroke", &ink.light),
            ("stroke-width", &1.5),
        ],
    );
    let maxima = maxima(buckets, x, y);
    if !maxima.is_empty() {
        canvas.svg.element(
            "path",
            &[
                ("class", &stroke),
                ("d", &maxima),
                ("stroke", &ink.light),
                ("stroke-width", &1.8),
                ("stroke-linecap", &"round"),
            ],
        );
    }
}

fn span(bucket: &Bucket, x: &Scale) -> [f64; 2] {
    [bucket.first, bucket.first + bucket.count].map(|index| x.at(index as f64))
}

/// Along the tails from the left, back along the minima.
fn band(buckets: &[Bucket], x: &Scale, y: &Scale) -> Outline {
    let mut outline = Outline::default();
    for bucket in buckets {
        let ([from, to], tail) = (span(bucket, x), y.at(bucket.p99.unwrap_or(bucket.max) as f64));
        if outline.is_empty() {
            outline.jump(from, tail);
        } else {
            outline.upright(tail);
        }
        outline.across(to);
    }
    for bucket in buckets.iter().rev() {
        outline.upright(y.at(bucket.min as f64));
        outline.across(span(bucket, x)[0]);
    }
    outline.finish();
    outline
}

/// A step for each bucket that has a median; a gap where one has none.
fn medians(buckets: &[Bucket], x: &Scale, y: &Scale) -> Outline {
    let mut outline = Outline::default();
    let mut is_drawing = false;
    for bucket in buckets {
        let [from, to] = span(bucket, x);
        if let Some(median) = bucket.p50.map(|median| y.at(median as f64)) {
            if is_drawing {
                outline.upright(median);
            } else {
                outline.jump(from, median);
            }
            outline.across(to);
        }
        is_drawing = bucket.p50.is_some();
    }
    outline
}

/// A dot above the band, where the band does not reach the greatest sample.
fn maxima(buckets: &[Bucket], x: &Scale, y: &Scale) -> Outline {
    let mut outline = Outline::default();
    for bucket in buckets.iter().filter(|it| it.p99.is_some_and(|p99| p99 < it.max)) {
        let [from, to] = span(bucket, x);
        outline.dot(f64::midpoint(from, to), y.at(bucket.max as f64));
    }
    outline
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scales() -> (Scale, Scale) {
        let x = Scale::new(Form::Linear, [0.0, 40.0], [0.0, 400.0]);
        (x, Scale::new(Form::Log, [1.0, 1_000.0], [300.0, 0.0]))
    }

    fn bucket(first: u64, p50: Option<u64>, p99: Option<u64>) -> Bucket {
        Bucket { first, count: 20, min: 1, p50, p99, max: 1_000 }
    }

    #[test]
    fn the_band_goes_to_the_99th_percentile_or_else_the_maximum() {
        let (x, y) = scales();
        let buckets = [bucket(0, Some(10), Some(100)), bucket(20, Some(10), None)];
        let expected = "M0 100H200V0H400V300H200V300H0Z";
        assert_eq!(band(&buckets, &x, &y).to_string(), expected);
        assert_eq!(maxima(&buckets, &x, &y).to_string(), "M100 0h0");
    }

    #[test]
    fn a_bucket_without_a_median_is_a_gap() {
        let (x, y) = scales();
        let buckets =
            [bucket(0, Some(10), None), bucket(10, None, None), bucket(20, Some(100), None)];
        assert_eq!(medians(&buckets, &x, &y).to_string(), "M0 200H200M200 100H400");
    }
}
