//! Percentile curves: how long the slowest one in ten, in a hundred, in a thousand took.

use super::{Canvas, Ink, Picture};
use crate::Row;
use crate::cell::{Cell, Line, Panel};
use crate::scale::{Form, Scale, tick_micros};
use crate::svg::{Anchor, Outline};

/// Right of each panel, for the names at the ends of the lines.
const NAMES: f64 = 84.0;
const HEIGHT: f64 = 300.0;
/// Above a panel, for its title; below it, for its axis.
const TITLE: f64 = 26.0;
const AXIS: f64 = 48.0;
/// Between two names.
const NAME_LEADING: f64 = 15.0;
/// As many samples must lie beyond a percentile before a line is drawn through it.
const SAMPLES_BEYOND: u64 = crate::Quantile::SAMPLES_BEYOND;

/// The picture of a cell; `None` if there is nothing to draw.
pub(super) fn draw(cell: &Cell<'_>, subject: &str) -> Option<Picture> {
    let (x, y) = axes(&[cell])?;
    let title = format!("Percentiles: {}, {}", cell.feed, cell.interval());
    let mut canvas = Canvas::new();
    let columns = super::columns(cell.panels.len(), NAMES);
    for row in cell.panels.chunks(columns.len()) {
        let (top, bottom) = (canvas.y + TITLE, canvas.y + TITLE + HEIGHT);
        for (column, panel) in columns.iter().zip(row) {
            let (x, y) = (x.moved(*column), y.moved([bottom, top]));
            canvas.words((column[0], top - 10.0), Anchor::Start, &super::panel_title(cell, panel));
            let is_first = column[0] == columns[0][0];
            canvas.rows(&y, *column, 9, is_first.then_some(tick_micros as fn(f64) -> String));
            canvas.axis(bottom, &x, &nines(&x), "percentile: % of samples that were faster");
            self::panel(&mut canvas, panel, &x, &y);
        }
        let unit = format!("{}, µs (log)", cell.quantity());
        canvas.along(14.0, [top, bottom], &unit);
        canvas.y = bottom + AXIS;
    }
    let name = format!("percentiles-{}", cell.slug);
    Some(canvas.finish(name, title, subject, [super::counts(cell), reading(cell)]))
}

fn reading(cell: &Cell<'_>) -> String {
    let others = match cell.lines().any(|line| !line.others.is_empty()) {
        true => " Thin: other runs of the same setting.",
        false => "",
    };
    format!(
        "A line ends where fewer than 10 samples lie beyond; dots are the 10 slowest samples, the \
         last of them the maximum.{others}"
    )
}

/// Common axes of some cells: nines from the left, nanoseconds upwards, nowhere yet.
pub(super) fn axes(cells: &[&Cell<'_>]) -> Option<(Scale, Scale)> {
    let extremes = cells.iter().filter_map(|cell| cell.extremes());
    let [min, max] = extremes.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])?;
    let lines = cells.iter().flat_map(|cell| cell.lines());
    let samples = lines.flat_map(Line::runs).map(|row| row.samples).max()?;
    let x = Scale::new(Form::Linear, [0.0, rarity(1, samples).max(1.0)], [0.0, 1.0]);
    Some((x, Scale::new(Form::Log, [min * 0.95, max * 1.05], [1.0, 0.0])))
}

/// The percentiles that a share of 1, 1/10, 1/100, … lies beyond, and the median.
pub(super) fn nines(x: &Scale) -> Vec<(f64, String)> {
    let last = x.values()[1];
    let more =
        (3..).map(|nines| (f64::from(nines), format!("99.{}", "9".repeat(nines as usize - 2))));
    let first = [(0.0, "0"), (rarity(1, 2), "50"), (1.0, "90"), (2.0, "99")];
    let first = first.map(|(at, label)| (at, label.to_string()));
    first.into_iter().chain(more).take_while(|(at, _)| *at <= last + 1e-9).collect()
}

/// How many nines: 0 for all of the samples, 1 for one in ten, 2 for one in a hundred.
fn rarity(these: u64, of: u64) -> f64 {
    (of as f64 / these as f64).log10()
}

fn panel(canvas: &mut Canvas, panel: &Panel<'_>, x: &Scale, y: &Scale) {
    super::open_plot(&mut canvas.svg, x, y, "percentile");
    for line in &panel.lines {
        for other in &line.others {
            curve(canvas, line.wait, other, x, y, 0.6);
        }
        curve(canvas, line.wait, line.row, x, y, 1.8);
        let ink = Ink::of(line.wait);
        let class = format!("stroke-{}", ink.class);
        canvas.svg.element(
            "path",
            &[
                ("class", &class),
                ("d", &slowest(line.row, x, y)),
                ("fill", &"none"),
                ("stroke", &ink.light),
                ("stroke-width", &4),
                ("stroke-linecap", &"round"),
            ],
        );
    }
    canvas.svg.close("g");
    names(canvas, panel, x, y);
}

/// The line through all percentiles that enough samples lie beyond.
pub(super) fn curve(canvas: &mut Canvas, wait: &str, row: &Row, x: &Scale, y: &Scale, width: f64) {
    let ink = Ink::of(wait);
    let outline = outline(row, x, y);
    if outline.is_empty() {
        return;
    }
    canvas.svg.element(
        "path",
        &[
            ("class", &format!("line stroke-{}", ink.class)),
            ("data-wait", &wait),
            ("d", &outline),
            ("fill", &"none"),
            ("stroke", &ink.light),
            ("stroke-width", &width),
            ("stroke-linejoin", &"round"),
            ("stroke-dasharray", &ink.dash),
        ],
    );
}

/// From bucket to bucket of the histogram; what moves less than the eye sees is left out.
fn outline(row: &Row, x: &Scale, y: &Scale) -> Outline {
    /// Squared distance in pixels.
    const VISIBLE: f64 = 0.5;
    let mut outline = Outline::default();
    let mut last: Option<(f64, f64)> = None;
    let mut beyond = row.samples;
    for bucket in row.summary.histogram.iter() {
        let from = beyond;
        beyond -= bucket.count.min(beyond);
        if from <= SAMPLES_BEYOND {
            break;
        }
        // The bucket's samples stand side by side at its height.
        for these in [from, (beyond + 1).max(SAMPLES_BEYOND + 1)] {
            let (to_x, to_y) = (x.at(rarity(these, row.samples)), y.at(value(row, bucket)));
            let is_far = |(x, y): (f64, f64)| (to_x - x).powi(2) + (to_y - y).powi(2) >= VISIBLE;
            match last {
                None => outline.jump(to_x, to_y),
                Some(last) if is_far(last) => outline.draw(to_x, to_y),
                Some(_) => continue,
            }
            last = Some((to_x, to_y));
        }
    }
    outline
}

/// The middle of a bucket, within what the row says of its extremes.
fn value(row: &Row, bucket: crate::Counted) -> f64 {
    let middle = bucket.least + (bucket.greatest - bucket.least) / 2;
    let (min, max) = (row.summary.min.unwrap_or(0), row.summary.max.unwrap_or(u64::MAX));
    middle.clamp(min, max) as f64
}

/// A dot for each of the last few samples.
fn slowest(row: &Row, x: &Scale, y: &Scale) -> Outline {
    let mut dots = Outline::default();
    let mut beyond = row.samples;
    for bucket in row.summary.histogram.iter() {
        let after = beyond.saturating_sub(bucket.count);
        for these in (after + 1..=beyond.min(SAMPLES_BEYOND)).rev() {
            let nanos = if these == 1 { exact_max(row) } else { value(row, bucket) };
            dots.dot(x.at(rarity(these, row.samples)), y.at(nanos));
        }
        beyond = after;
    }
    dots
}

fn exact_max(row: &Row) -> f64 {
    row.summary.max.unwrap_or(0) as f64
}

/// Each line's name beside its end; those whose ends are close give way to one another.
fn names(canvas: &mut Canvas, panel: &Panel<'_>, x: &Scale, y: &Scale) {
    let [bottom, top] = y.pixels();
    let mut ends: Vec<_> =
        panel.lines.iter().map(|line| (y.at(exact_max(line.row)), line)).collect();
    ends.sort_by(|a, b| a.0.total_cmp(&b.0));
    let wished: Vec<f64> = ends.iter().map(|(end, _)| *end).collect();
    let right = x.pixels()[1];
    for ((end, line), at) in ends.iter().zip(apart(&wished, NAME_LEADING, [top, bottom])) {
        let from = x.at(rarity(1, line.row.samples)) + 4.0;
        let ink = Ink::of(line.wait);
        canvas.svg.line(
            (from, *end),
            (right + 12.0, at),
            &[
                ("class", &format!("stroke-{}", ink.class)),
                ("stroke", &ink.light),
                ("stroke-width", &0.7),
            ],
        );
        canvas.label((right + 15.0, at + 4.0), line.wait, &super::line_name(line));
    }
}

/// Positions as near to those wished as a distance between them allows, within bounds; `wished`
/// rises.
fn apart(wished: &[f64], distance: f64, [least, most]: [f64; 2]) -> Vec<f64> {
    let mut places = wished.to_vec();
    for at in 0..places.len() {
        let after = at.checked_sub(1).map_or(least, |before| places[before] + distance);
        places[at] = places[at].max(after);
    }
    let mut limit = most;
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
    fn a_nine_more_is_a_step_further() {
        let (x, y) = scales();
        // One in ten took 100 ns instead of 10: the line rises at 90 % and ends 10 samples early.
        let row = row((0..10_000).map(|index| if index % 10 == 0 { 100 } else { 10 }));
        assert_eq!(outline(&row, &x, &y).to_string(), "M0 300L100 300L100 200L295.9 200");
    }

    #[test]
    fn no_line_is_drawn_through_the_last_ten_samples() {
        let (x, y) = scales();
        assert!(outline(&row([10; 10]), &x, &y).is_empty());
        let text = outline(&row([10; 100]), &x, &y).to_string();
        assert_eq!(text, "M0 300L95.9 300"); // 11 of 100
    }

    #[test]
    fn the_last_dot_is_the_exact_maximum() {
        let x = Scale::new(Form::Linear, [0.0, 1.0], [0.0, 100.0]);
        let y = Scale::new(Form::Log, [1.0, 1e12], [120.0, 0.0]);
        // Longer than the histogram reaches.
        let dots = slowest(&row([1_000, 100_000_000_000]), &x, &y).to_string();
        assert_eq!(dots, "M0 90h0M30.1 10h0");
    }

    #[test]
    fn marks_are_where_hdr_histogram_has_them() {
        let x = Scale::new(Form::Linear, [0.0, 4.3], [0.0, 1.0]);
        let marks = nines(&x);
        let labels: Vec<_> = marks.iter().map(|(_, label)| label.as_str()).collect();
        assert_eq!(labels, ["0", "50", "90", "99", "99.9", "99.99"]);
        for (at, share) in marks.iter().zip([0.0, 0.5, 0.9, 0.99, 0.999, 0.9999]) {
            assert!((at.0 - (1.0 / (1.0_f64 - share)).log10()).abs() < 1e-6, "{at:?}");
        }
    }

    #[test]
    fn names_keep_their_distance_and_their_order() {
        assert_eq!(apart(&[10.0, 11.0, 50.0], 15.0, [0.0, 100.0]), [10.0, 25.0, 50.0]);
        assert_eq!(apart(&[97.0, 98.0, 99.0], 15.0, [0.0, 100.0]), [70.0, 85.0, 100.0]);
        assert!(apart(&[], 15.0, [0.0, 100.0]).is_empty());
    }
}
