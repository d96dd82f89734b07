//! Percentile charts: latency by percentile, with an axis by the number of nines.

use super::{Canvas, Chart, Layout, SeriesStyle};
use crate::Row;
use crate::chart_group::{ChartGroup, Panel, Series};
use crate::scale::{Form, Scale, tick_micros};
use crate::svg::{Anchor, PathData};

/// The space right of each panel, for the names at the ends of the curves.
const NAMES: f64 = 100.0;
/// The height of a panel.
const HEIGHT: f64 = 300.0;
/// The space above a panel, for its title.
const TITLE: f64 = 26.0;
/// The space below a panel, for its axis.
const AXIS: f64 = 48.0;
/// The distance between two names.
const NAME_LEADING: f64 = 15.0;
/// The minimum number of samples that exceed a drawn percentile.
const SAMPLES_BEYOND: u64 = crate::Quantile::SAMPLES_BEYOND;

/// Draws the chart of a group; `None` without series.
pub(super) fn draw(group: &ChartGroup<'_>, subject: &str, layout: Layout) -> Option<Chart> {
    let (x, y) = axes(&[group])?;
    let title = format!("Percentiles: {}, {}", group.feed, group.interval());
    let mut canvas = Canvas::new(layout);
    let columns = canvas.columns(group.panels.len(), NAMES);
    for row in group.panels.chunks(columns.len()) {
        let (top, bottom) = (canvas.y + TITLE, canvas.y + TITLE + HEIGHT);
        for (column, panel) in columns.iter().zip(row) {
            let (x, y) = (x.with_pixels(*column), y.with_pixels([bottom, top]));
            canvas.heading(
                (column[0], top - 10.0),
                Anchor::Start,
                &super::panel_title(group, panel),
            );
            let is_first = column[0] == columns[0][0];
            canvas.grid(&y, *column, 9, is_first.then_some(tick_micros as fn(f64) -> String));
            canvas.axis(bottom, &x, &nines(&x), "percentile: % of faster samples");
            self::panel(&mut canvas, panel, &x, &y);
        }
        let unit = format!("{}, µs (log)", group.quantity());
        canvas.vertical_label(14.0, [top, bottom], &unit);
        canvas.y = bottom + AXIS;
    }
    let name = format!("percentiles-{}", group.slug);
    Some(canvas.finish(name, title, subject, [super::counts(group), reading(group)]))
}

fn reading(group: &ChartGroup<'_>) -> String {
    let others = match group.series().any(|series| !series.others.is_empty()) {
        true => " Thin lines: other runs of the same setting.",
        false => "",
    };
    format!(
        "A line ends where fewer than 10 samples exceed the percentile. Dots are the 10 slowest \
         samples, the last one the maximum.{others}"
    )
}

/// Returns the common axes of some groups, of nines and nanoseconds, without a position.
pub(super) fn axes(groups: &[&ChartGroup<'_>]) -> Option<(Scale, Scale)> {
    let extremes = groups.iter().filter_map(|group| group.extremes());
    let [min, max] = extremes.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
    let lines = groups.iter().flat_map(|group| group.series());
    let samples = lines.flat_map(Series::runs).map(|row| row.samples).max()?;
    let x = Scale::new(Form::Linear, [0.0, nines_of(1, samples).max(1.0)], [0.0, 1.0]);
    Some((x, Scale::new(Form::Log, [min * 0.95, max * 1.05], [1.0, 0.0])))
}

/// Returns the ticks: percentiles exceeded by a share of 1, 1/10, 1/100, …, and the median.
pub(super) fn nines(x: &Scale) -> Vec<(f64, String)> {
    let last = x.values()[1];
    let more =
        (3..).map(|nines| (f64::from(nines), format!("99.{}", "9".repeat(nines as usize - 2))));
    let first = [(0.0, "0"), (nines_of(1, 2), "50"), (1.0, "90"), (2.0, "99")];
    let first = first.map(|(at, label)| (at, label.to_string()));
    first.into_iter().chain(more).take_while(|(at, _)| *at <= last + 1e-9).collect()
}

/// Returns the number of nines: 0 for all samples, 1 for one in ten, 2 for one in a hundred.
fn nines_of(exceeding: u64, samples: u64) -> f64 {
    (samples as f64 / exceeding as f64).log10()
}

fn panel(canvas: &mut Canvas, panel: &Panel<'_>, x: &Scale, y: &Scale) {
    super::open_plot(&mut canvas.svg, x, y, "percentile");
    for series in &panel.series {
        for other in &series.others {
            curve(canvas, series.wait, other, x, y, 0.6);
        }
        curve(canvas, series.wait, series.row, x, y, 1.8);
        let style = SeriesStyle::for_wait(series.wait);
        let class = format!("stroke-{}", style.class);
        canvas.svg.element(
            "path",
            &[
                ("class", &class),
                ("d", &slowest(series.row, x, y)),
                ("fill", &"none"),
                ("stroke", &style.light),
                ("stroke-width", &4),
                ("stroke-linecap", &"round"),
            ],
        );
    }
    canvas.svg.close("g");
    names(canvas, panel, x, y);
}

/// Draws the curve through all percentiles that enough samples exceed.
pub(super) fn curve(canvas: &mut Canvas, wait: &str, row: &Row, x: &Scale, y: &Scale, width: f64) {
    let style = SeriesStyle::for_wait(wait);
    let outline = outline(row, x, y);
    if outline.is_empty() {
        return;
    }
    canvas.svg.element(
        "path",
        &[
            ("class", &format!("line stroke-{}", style.class)),
            ("data-wait", &wait),
            ("d", &outline),
            ("fill", &"none"),
            ("stroke", &style.light),
            ("stroke-width", &width),
            ("stroke-linejoin", &"round"),
            ("stroke-dasharray", &style.dash),
        ],
    );
}

/// Returns the curve from bucket to bucket of the histogram, without invisibly small steps.
fn outline(row: &Row, x: &Scale, y: &Scale) -> PathData {
    /// Squared distance in pixels.
    const VISIBLE: f64 = 0.5;
    let mut outline = PathData::default();
    let mut last: Option<(f64, f64)> = None;
    let mut beyond = row.samples;
    for bucket in row.summary.histogram.iter() {
        let before = beyond;
        beyond -= bucket.count.min(beyond);
        if before <= SAMPLES_BEYOND {
            break;
        }
        // The samples of a bucket form a horizontal line at its value.
        for exceeding in [before, (beyond + 1).max(SAMPLES_BEYOND + 1)] {
            let (to_x, to_y) =
                (x.position(nines_of(exceeding, row.samples)), y.position(value(row, bucket)));
            let is_far = |(x, y): (f64, f64)| (to_x - x).powi(2) + (to_y - y).powi(2) >= VISIBLE;
            match last {
                None => outline.move_to(to_x, to_y),
                Some(last) if is_far(last) => outline.line_to(to_x, to_y),
                Some(_) => continue,
            }
            last = Some((to_x, to_y));
        }
    }
    outline
}

/// Returns the middle of a bucket, within the minimum and maximum of the row.
fn value(row: &Row, bucket: crate::HistogramBucket) -> f64 {
    let middle = bucket.least + (bucket.greatest - bucket.least) / 2;
    let (min, max) = (row.summary.min.unwrap_or(0), row.summary.max.unwrap_or(u64::MAX));
    middle.clamp(min, max) as f64
}

/// Returns a dot for each of the slowest samples.
fn slowest(row: &Row, x: &Scale, y: &Scale) -> PathData {
    let mut dots = PathData::default();
    let mut beyond = row.samples;
    for bucket in row.summary.histogram.iter() {
        let after = beyond.saturating_sub(bucket.count);
        for these in (after + 1..=beyond.min(SAMPLES_BEYOND)).rev() {
            let nanos = if these == 1 { exact_max(row) } else { value(row, bucket) };
            dots.dot(x.position(nines_of(these, row.samples)), y.position(nanos));
        }
        beyond = after;
    }
    dots
}

fn exact_max(row: &Row) -> f64 {
    row.summary.max.unwrap_or(0) as f64
}

/// Draws the name of each curve next to its end, and separates names that are too close.
fn names(canvas: &mut Canvas, panel: &Panel<'_>, x: &Scale, y: &Scale) {
    let [bottom, top] = y.pixels();
    let mut ends: Vec<_> =
        panel.series.iter().map(|series| (y.position(exact_max(series.row)), series)).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wanted: Vec<f64> = ends.iter().map(|(end, _)| *end).collect();
    let right = x.pixels()[1];
    for ((end, series), at) in ends.iter().zip(separate(&wanted, NAME_LEADING, [top, bottom])) {
        let from = x.position(nines_of(1, series.row.samples)) + 4.0;
        let style = SeriesStyle::for_wait(series.wait);
        canvas.svg.line(
            (from, *end),
            (right + 12.0, at),
            &[
                ("class", &format!("stroke-{}", style.class)),
                ("stroke", &style.light),
                ("stroke-width", &0.7),
            ],
        );
        canvas.label((right + 15.0, at + 4.0), series.wait, &super::series_name(series));
    }
}

/// Returns positions as close to `wanted`, which increases, as a minimum distance and the bounds
/// allow.
fn separate(wanted: &[f64], distance: f64, [min, max]: [f64; 2]) -> Vec<f64> {
    let mut places = wanted.to_vec();
    for at in 0..places.len() {
        let after = at.checked_sub(1).map_or(min, |before| places[before] + distance);
        places[at] = places[at].max(after);
    }
    let mut limit = max;
    for place in places.iter_mut().rev() {
        *place = place.min(limit);
        limit = *place - distance;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{recorded, setting};

    fn row(samples: impl IntoIterator<Item = u64>) -> Row {
        Row::new(setting("intended to order"), &recorded(samples), &recorded([]))
    }

    fn scales() -> (Scale, Scale) {
        let x = Scale::new(Form::Linear, [0.0, 4.0], [0.0, 400.0]);
        (x, Scale::new(Form::Log, [1.0, 10_000.0], [400.0, 0.0]))
    }

    #[test]
    fn nines_have_equal_distances() {
        let (x, y) = scales();
        // One in ten took 100 ns instead of 10: the curve rises at 90 % and ends 10 samples early.
        let row = row((0..10_000).map(|index| if index % 10 == 0 { 100 } else { 10 }));
        assert_eq!(outline(&row, &x, &y).to_string(), "M0 300L100 300L100 200L295.9 200");
    }

    #[test]
    fn curve_ends_before_the_last_ten_samples() {
        let (x, y) = scales();
        assert!(outline(&row([10; 10]), &x, &y).is_empty());
        let text = outline(&row([10; 100]), &x, &y).to_string();
        assert_eq!(text, "M0 300L95.9 300"); // 11 of 100
    }

    #[test]
    fn last_dot_is_the_exact_maximum() {
        let x = Scale::new(Form::Linear, [0.0, 1.0], [0.0, 100.0]);
        let y = Scale::new(Form::Log, [1.0, 1e12], [120.0, 0.0]);
        // Longer than the histogram's range.
        let dots = slowest(&row([1_000, 100_000_000_000]), &x, &y).to_string();
        assert_eq!(dots, "M0 90h0M30.1 10h0");
    }

    #[test]
    fn ticks_match_hdr_histogram_plots() {
        let x = Scale::new(Form::Linear, [0.0, 4.3], [0.0, 1.0]);
        let ticks = nines(&x);
        let labels: Vec<_> = ticks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["0", "50", "90", "99", "99.9", "99.99"]);
        for (at, share) in ticks.iter().zip([0.0, 0.5, 0.9, 0.99, 0.999, 0.9999]) {
            assert!((at.0 - (1.0 / (1.0_f64 - share)).log10()).abs() < 1e-6, "{at:?}");
        }
    }

    #[test]
    fn names_keep_distance_and_order() {
        assert_eq!(separate(&[10.0, 11.0, 50.0], 15.0, [0.0, 100.0]), [10.0, 25.0, 50.0]);
        assert_eq!(separate(&[97.0, 98.0, 99.0], 15.0, [0.0, 100.0]), [70.0, 85.0, 100.0]);
        assert!(separate(&[], 15.0, [0.0, 100.0]).is_empty());
    }
}
