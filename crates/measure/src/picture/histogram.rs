//! Histograms: the shape of each wait's latency, one above the other on a common axis.

use super::{Canvas, Ink, Picture, brief};
use crate::Row;
use crate::cell::{Cell, Panel};
use crate::scale::{Form, Scale};
use crate::svg::{Anchor, Outline};

/// Above a panel, for its title; below it, for its axis.
const TITLE: f64 = 24.0;
const AXIS: f64 = 48.0;
/// Of one wait: a line of words above its bars.
const WORDS: f64 = 25.0;
const BARS: f64 = 62.0;
/// Bars of a panel, unless the histogram is coarser.
const BARS_MAX: usize = 120;
/// A spread wider than this from the least to the greatest sample would press most of them into a
/// bar or two of equal width.
const WIDEST_LINEAR: f64 = 20.0;

/// The picture of a cell; `None` if there is nothing to draw.
pub(super) fn draw(cell: &Cell<'_>, subject: &str) -> Option<Picture> {
    let [min, max] = cell.extremes()?;
    let form = if max / min.max(1.0) > WIDEST_LINEAR { Form::Log } else { Form::Linear };
    let title = format!("Histogram: {}, {}", cell.feed, cell.interval());
    let mut canvas = Canvas::new();
    let (columns, waits) = (super::columns(cell.panels.len(), 0.0), cell.waits());
    let x = Scale::new(form, [min, max], columns[0]);
    let bars = bar_count(cell, &x);
    let shares = |row: &Row| shares(row, &x, bars);
    let peaks = cell.lines().flat_map(|line| shares(line.row));
    let peak = peaks.fold(0.0, f64::max);
    for row in cell.panels.chunks(columns.len()) {
        let top = canvas.y + TITLE;
        let bottom = top + waits.len() as f64 * (WORDS + BARS);
        for (column, panel) in columns.iter().zip(row) {
            let x = x.moved(*column);
            canvas.words((column[0], top - 6.0), Anchor::Start, &super::panel_title(cell, panel));
            for (number, wait) in waits.iter().enumerate() {
                let base = top + (number + 1) as f64 * (WORDS + BARS);
                let y = Scale::new(Form::Linear, [0.0, peak], [base, base - BARS]);
                let is_first = column[0] == columns[0][0];
                canvas.rows(&y, *column, 3, is_first.then_some(percent as fn(f64) -> String));
                strip(&mut canvas, panel, wait, &x, &y, &shares);
            }
            let unit = if form == Form::Log { "µs (log)" } else { "µs" };
            let title = format!("{}, {unit}", cell.quantity());
            canvas.axis(bottom, &x, &super::micros_ticks(&x, 8), &title);
        }
        canvas.along(14.0, [top, bottom], "samples in each bar, %");
        canvas.y = bottom + AXIS;
    }
    let name = format!("histogram-{}", cell.slug);
    Some(canvas.finish(name, title, subject, [super::counts(cell), reading(form)]))
}

fn reading(form: Form) -> String {
    let width = match form {
        Form::Linear => "All bars are equally wide.",
        Form::Log => "A bar twice as far right is not twice as wide: all span the same ratio.",
    };
    format!(
        "{width} A bar that holds anything is at least a pixel high, so that single slow samples \
         show. Below each shape: ▲ median, | 99th percentile."
    )
}

/// A share in parts of a hundred.
fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// As many as may be without a bar that is narrower than a bucket, which would look like a comb.
fn bar_count(cell: &Cell<'_>, x: &Scale) -> usize {
    let buckets = cell.lines().flat_map(|line| line.row.summary.histogram.iter());
    let widths = buckets.map(|it| x.at(it.greatest as f64 + 1.0) - x.at(it.least as f64));
    let widest = widths.fold(0.0, f64::max);
    let [left, right] = x.pixels();
    (((right - left) / widest.max(1e-9)) as usize).clamp(1, BARS_MAX)
}

/// The share of the samples in each bar.
fn shares(row: &Row, x: &Scale, bars: usize) -> Vec<f64> {
    let [left, right] = x.pixels();
    let mut counts = vec![0_u64; bars];
    for bucket in row.summary.histogram.iter() {
        let middle = f64::midpoint(bucket.least as f64, bucket.greatest as f64);
        let part = (x.at(middle) - left) / (right - left);
        counts[((part * bars as f64) as usize).min(bars - 1)] += bucket.count;
    }
    counts.into_iter().map(|count| count as f64 / row.samples as f64).collect()
}

/// One wait of a panel.
fn strip(
    canvas: &mut Canvas,
    panel: &Panel<'_>,
    wait: &str,
    x: &Scale,
    y: &Scale,
    shares: &dyn Fn(&Row) -> Vec<f64>,
) {
    let ([left, right], [base, top]) = (x.pixels(), y.pixels());
    let Some(line) = panel.lines.iter().find(|line| line.wait == wait) else {
        canvas.quiet((left, top - 4.0), Anchor::Start, &format!("{wait}: nothing to draw"));
        return;
    };
    let (of, ink) = (&line.row.summary, Ink::of(wait));
    canvas.label((left, top - 4.0), wait, &super::line_name(line));
    let figures = format!("median {} µs, p99 {} µs", brief(of.p50), brief(of.p99));
    canvas.quiet((right, top - 4.0), Anchor::End, &figures);
    super::open_plot(&mut canvas.svg, x, y, "share");
    canvas.svg.element(
        "path",
        &[
            ("class", &format!("line fill-{} stroke-{}", ink.class, ink.class)),
            ("data-wait", &wait),
            ("d", &outline(&shares(line.row), x, y)),
            ("fill", &ink.light),
            ("fill-opacity", &0.3),
            ("stroke", &ink.light),
            ("stroke-width", &1),
        ],
    );
    canvas.svg.close("g");
    marks(canvas, line.row, x, base);
}

/// Along the tops of the bars, down to the base wherever there are none.
fn outline(shares: &[f64], x: &Scale, y: &Scale) -> Outline {
    let ([left, right], base) = (x.pixels(), y.pixels()[0]);
    let width = (right - left) / shares.len() as f64;
    let mut outline = Outline::default();
    let mut is_open = false;
    for (number, share) in shares.iter().enumerate() {
        let from = left + number as f64 * width;
        match (*share > 0.0, is_open) {
            (true, _) => {
                if !is_open {
                    outline.jump(from, base);
                }
                outline.upright(y.at(*share).min(base - 1.0));
                outline.across(from + width);
            }
            (false, true) => outline.upright(base),
            (false, false) => {}
        }
        is_open = *share > 0.0;
    }
    if is_open {
        outline.upright(base);
    }
    outline
}

/// Median and 99th percentile below the base.
fn marks(canvas: &mut Canvas, row: &Row, x: &Scale, base: f64) {
    let ink = Ink::of(&row.setting.wait);
    if let Some(median) = row.summary.p50 {
        let at = x.at(median as f64);
        let mut triangle = Outline::default();
        triangle.jump(at, base + 1.0);
        triangle.draw(at - 3.5, base + 7.0);
        triangle.draw(at + 3.5, base + 7.0);
        triangle.finish();
        canvas.svg.element(
            "path",
            &[("class", &format!("fill-{}", ink.class)), ("fill", &ink.light), ("d", &triangle)],
        );
    }
    if let Some(p99) = row.summary.p99 {
        let at = x.at(p99 as f64);
        canvas.svg.line(
            (at, base + 1.0),
            (at, base + 7.0),
            &[
                ("class", &format!("stroke-{}", ink.class)),
                ("stroke", &ink.light),
                ("stroke-width", &1.5),
            ],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::{recorded, setting};

    fn row(samples: impl IntoIterator<Item = u64>) -> Row {
        Row::new(setting("intended to order"), &recorded(samples), &recorded([]))
    }

    #[test]
    fn every_sample_is_in_a_bar() {
        let x = Scale::new(Form::Log, [10.0, 1_000_000.0], [0.0, 500.0]);
        let row = row([10, 10, 1_000, 1_000_000]);
        let shares = shares(&row, &x, 50);
        assert_eq!((shares[0], shares[20], shares[49]), (0.5, 0.25, 0.25));
        assert_eq!(shares.iter().sum::<f64>(), 1.0);
    }

    #[test]
    fn a_single_sample_shows() {
        let x = Scale::new(Form::Linear, [0.0, 40.0], [0.0, 40.0]);
        let y = Scale::new(Form::Linear, [0.0, 1.0], [100.0, 0.0]);
        let text = outline(&[0.5, 0.0, 0.0001, 0.0], &x, &y).to_string();
        assert_eq!(text, "M0 100V50H10V100M20 100V99H30V100");
    }

    #[test]
    fn bars_are_no_narrower_than_buckets() {
        let results = crate::picture::tests::results(vec![row([2_000_000, 2_010_000])]);
        let cells = crate::cell::cells(std::slice::from_ref(&results));
        let x = Scale::new(Form::Linear, [2e6, 2.01e6], [0.0, 500.0]);
        let bars = bar_count(&cells[0], &x);
        assert!((1..12).contains(&bars), "{bars}"); // buckets are 1,024 ns wide there
    }
}
