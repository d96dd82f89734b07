//! Charts of latency over time.

use super::{Canvas, Chart, Layout, SeriesStyle, brief};
use crate::Bucket;
use crate::chart_group::{ChartGroup, Panel, Series};
use crate::scale::{Form, Scale, thousands, tick_micros};
use crate::svg::{Anchor, PathData};

/// The space above a panel, for its title.
const TITLE: f64 = 24.0;
/// The space below a panel, for its axis.
const AXIS: f64 = 48.0;
/// The space above the plot of a wait, for its label.
const LABEL: f64 = 20.0;
/// The height of the plot of a wait.
const PLOT: f64 = 72.0;

/// Draws the chart of a group; `None` without series, or if no file contains the order of samples.
pub(super) fn draw(group: &ChartGroup<'_>, subject: &str, layout: Layout) -> Option<Chart> {
    group.series().find(|series| !series.row.over_time.is_empty())?;
    let (x, y) = axes(group)?;
    let title = format!("Latency over time: {}, {}", group.feed, group.interval());
    let mut canvas = Canvas::new(layout);
    let (columns, waits) = (canvas.columns(group.panels.len(), 0.0), group.waits());
    let ticks: Vec<_> = x.ticks(5).into_iter().map(|tick| (tick, thousands(tick as u64))).collect();
    for row in group.panels.chunks(columns.len()) {
        let top = canvas.y + TITLE;
        let bottom = top + waits.len() as f64 * (LABEL + PLOT);
        for (column, panel) in columns.iter().zip(row) {
            let x = x.with_pixels(*column);
            canvas.heading(
                (column[0], top - 6.0),
                Anchor::Start,
                &super::panel_title(group, panel),
            );
            let label = (column[0] == columns[0][0]).then_some(tick_micros as fn(f64) -> String);
            for (number, wait) in waits.iter().enumerate() {
                let base = top + (number + 1) as f64 * (LABEL + PLOT);
                let y = y.with_pixels([base, base - PLOT]);
                canvas.grid(&y, *column, 4, label);
                strip(&mut canvas, panel, wait, &x, &y);
            }
            canvas.axis(bottom, &x, &ticks, &axis_title(group, x.values()[1]));
        }
        canvas.vertical_label(14.0, [top, bottom], &format!("{}, µs (log)", group.quantity()));
        canvas.y = bottom + AXIS;
    }
    let name = format!("latency-{}", group.slug);
    Some(canvas.finish(name, title, subject, [super::counts(group), reading(group)]))
}

/// Returns the axes of samples and nanoseconds, without a position.
fn axes(group: &ChartGroup<'_>) -> Option<(Scale, Scale)> {
    let [min, max] = group.extremes()?;
    let samples = group.series().map(|series| series.row.samples).max()?;
    let x = Scale::new(Form::Linear, [0.0, samples as f64], [0.0, 1.0]);
    Some((x, Scale::new(Form::Log, [min * 0.95, max * 1.05], [1.0, 0.0])))
}

fn axis_title(group: &ChartGroup<'_>, samples: f64) -> String {
    let seconds = samples * group.interval_us as f64 / 1e6;
    match group.interval_us {
        0 => "samples in order".to_string(),
        _ if seconds < 1.0 => format!("samples in order, {seconds:.2} s in total"),
        _ => format!("samples in order, {} s in total", thousands(seconds.round() as u64)),
    }
}

fn reading(group: &ChartGroup<'_>) -> String {
    let buckets = || group.series().flat_map(|series| &series.row.over_time);
    let sizes = (buckets().map(|it| it.count).min(), buckets().map(|it| it.count).max());
    let size = match sizes {
        (Some(least), Some(most)) if least == most => thousands(most),
        (Some(least), Some(most)) => format!("{} to {}", thousands(least), thousands(most)),
        _ => return String::new(),
    };
    let to = match buckets().all(|bucket| bucket.p99.is_some()) {
        true => "the 99th percentile; dots are maxima",
        false => "the maximum",
    };
    format!("Line: median of {size} consecutive samples. Band: from the minimum to {to}.")
}

/// Draws one wait of a panel.
fn strip(canvas: &mut Canvas, panel: &Panel<'_>, wait: &str, x: &Scale, y: &Scale) {
    let (left, top) = (x.pixels()[0], y.pixels()[1]);
    let right = x.pixels()[1];
    let Some(series) = panel.series.iter().find(|series| series.wait == wait) else {
        canvas.secondary((left, top - 4.0), Anchor::Start, &format!("{wait}: no samples"));
        return;
    };
    canvas.label((left, top - 4.0), wait, &super::series_name(series));
    let summary = &series.row.summary;
    let figures = format!("median {} µs, max {} µs", brief(summary.p50), brief(summary.max));
    canvas.secondary((right, top - 4.0), Anchor::End, &figures);
    if series.row.over_time.is_empty() {
        let middle = (f64::midpoint(left, right), f64::midpoint(y.pixels()[0], top) + 4.0);
        canvas.secondary(middle, Anchor::Middle, "the file does not contain the order of samples");
        return;
    }
    super::open_plot(&mut canvas.svg, x, y, "sample");
    plot(canvas, series, x, y);
    canvas.svg.close("g");
}

fn plot(canvas: &mut Canvas, series: &Series<'_>, x: &Scale, y: &Scale) {
    let (buckets, style) = (&series.row.over_time, SeriesStyle::for_wait(series.wait));
    let (fill, stroke) = (format!("fill-{}", style.class), format!("stroke-{}", style.class));
    canvas.svg.element(
        "path",
        &[
            ("class", &fill),
            ("d", &band(buckets, x, y)),
            ("fill", &style.light),
            ("fill-opacity", &0.28),
        ],
    );
    canvas.svg.element(
        "path",
        &[
            ("class", &format!("line {stroke}")),
            ("data-wait", &series.wait),
            ("d", &medians(buckets, x, y)),
            ("fill", &"none"),
            ("stroke", &style.light),
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
                ("stroke", &style.light),
                ("stroke-width", &1.8),
                ("stroke-linecap", &"round"),
            ],
        );
    }
}

fn span(bucket: &Bucket, x: &Scale) -> [f64; 2] {
    [bucket.first, bucket.first + bucket.count].map(|index| x.position(index as f64))
}

/// Returns the outline of the band: along the upper ends to the right, back along the minima.
fn band(buckets: &[Bucket], x: &Scale, y: &Scale) -> PathData {
    let mut outline = PathData::default();
    for bucket in buckets {
        let ([from, to], tail) =
            (span(bucket, x), y.position(bucket.p99.unwrap_or(bucket.max) as f64));
        if outline.is_empty() {
            outline.move_to(from, tail);
        } else {
            outline.vertical_to(tail);
        }
        outline.horizontal_to(to);
    }
    for bucket in buckets.iter().rev() {
        outline.vertical_to(y.position(bucket.min as f64));
        outline.horizontal_to(span(bucket, x)[0]);
    }
    outline.close();
    outline
}

/// Returns a step for each bucket with a median, and a gap for each bucket without.
fn medians(buckets: &[Bucket], x: &Scale, y: &Scale) -> PathData {
    let mut outline = PathData::default();
    let mut is_drawing = false;
    for bucket in buckets {
        let [from, to] = span(bucket, x);
        if let Some(median) = bucket.p50.map(|median| y.position(median as f64)) {
            if is_drawing {
                outline.vertical_to(median);
            } else {
                outline.move_to(from, median);
            }
            outline.horizontal_to(to);
        }
        is_drawing = bucket.p50.is_some();
    }
    outline
}

/// Returns a dot for each maximum above the band.
fn maxima(buckets: &[Bucket], x: &Scale, y: &Scale) -> PathData {
    let mut outline = PathData::default();
    for bucket in buckets.iter().filter(|it| it.p99.is_some_and(|p99| p99 < it.max)) {
        let [from, to] = span(bucket, x);
        outline.dot(f64::midpoint(from, to), y.position(bucket.max as f64));
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
    fn band_ends_at_the_99th_percentile_or_the_maximum() {
        let (x, y) = scales();
        let buckets = [bucket(0, Some(10), Some(100)), bucket(20, Some(10), None)];
        let expected = "M0 100H200V0H400V300H200V300H0Z";
        assert_eq!(band(&buckets, &x, &y).to_string(), expected);
        assert_eq!(maxima(&buckets, &x, &y).to_string(), "M100 0h0");
    }

    #[test]
    fn buckets_without_a_median_are_gaps() {
        let (x, y) = scales();
        let buckets =
            [bucket(0, Some(10), None), bucket(10, None, None), bucket(20, Some(100), None)];
        assert_eq!(medians(&buckets, &x, &y).to_string(), "M0 200H200M200 100H400");
    }
}
