//! Histogram charts: the distribution of each wait, stacked on a common axis.

use super::{Canvas, Chart, Layout, SeriesStyle, brief};
use crate::Row;
use crate::chart_group::{ChartGroup, Panel};
use crate::scale::{Form, Scale};
use crate::svg::{Anchor, PathData};

/// The space above a panel, for its title.
const TITLE: f64 = 24.0;
/// The space below a panel, for its axis.
const AXIS: f64 = 48.0;
/// The space above the bars of a wait, for its label.
const LABEL: f64 = 25.0;
/// The height of the bars of a wait.
const BARS: f64 = 62.0;
/// The most bars of a panel.
const BARS_MAX: usize = 120;
/// The greatest ratio of maximum to minimum for a linear axis. Beyond it, most samples would be in
/// one
/// or two bars.
const WIDEST_LINEAR: f64 = 20.0;

/// Draws the chart of a group; `None` without series.
pub(super) fn draw(group: &ChartGroup<'_>, subject: &str, layout: Layout) -> Option<Chart> {
    let [min, max] = group.extremes()?;
    let form = if max / min.max(1.0) > WIDEST_LINEAR { Form::Log } else { Form::Linear };
    let title = format!("Histogram: {}, {}", group.feed, group.interval());
    let mut canvas = Canvas::new(layout);
    let (columns, waits) = (canvas.columns(group.panels.len(), 0.0), group.waits());
    let x = Scale::new(form, [min, max], columns[0]);
    let bars = bar_count(group, &x);
    let shares = |row: &Row| shares(row, &x, bars);
    let peaks = group.series().flat_map(|series| shares(series.row));
    let peak = peaks.fold(0.0, f64::max);
    for row in group.panels.chunks(columns.len()) {
        let top = canvas.y + TITLE;
        let bottom = top + waits.len() as f64 * (LABEL + BARS);
        for (column, panel) in columns.iter().zip(row) {
            let x = x.with_pixels(*column);
            canvas.heading(
                (column[0], top - 6.0),
                Anchor::Start,
                &super::panel_title(group, panel),
            );
            for (number, wait) in waits.iter().enumerate() {
                let base = top + (number + 1) as f64 * (LABEL + BARS);
                let y = Scale::new(Form::Linear, [0.0, peak], [base, base - BARS]);
                let is_first = column[0] == columns[0][0];
                canvas.grid(&y, *column, 3, is_first.then_some(percent as fn(f64) -> String));
                strip(&mut canvas, panel, wait, &x, &y, &shares);
            }
            let unit = if form == Form::Log { "µs (log)" } else { "µs" };
            let title = format!("{}, {unit}", group.quantity());
            canvas.axis(bottom, &x, &super::micros_ticks(&x, 8), &title);
        }
        canvas.vertical_label(14.0, [top, bottom], "samples in each bar, %");
        canvas.y = bottom + AXIS;
    }
    let name = format!("histogram-{}", group.slug);
    Some(canvas.finish(name, title, subject, [super::counts(group), reading(form)]))
}

fn reading(form: Form) -> String {
    let width = match form {
        Form::Linear => "All bars have the same width.",
        Form::Log => "All bars span the same ratio of latencies.",
    };
    format!(
        "{width} A nonempty bar is at least one pixel high, so single slow samples are visible. \
         Below each histogram: ▲ median, | 99th percentile."
    )
}

/// Formats a share as a percentage.
fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Returns the number of bars: as many as possible without a bar narrower than a bucket, which
/// would leave gaps.
fn bar_count(group: &ChartGroup<'_>, x: &Scale) -> usize {
    let buckets = group.series().flat_map(|series| series.row.summary.histogram.iter());
    let widths =
        buckets.map(|it| x.position(it.greatest as f64 + 1.0) - x.position(it.least as f64));
    let widest = widths.fold(0.0, f64::max);
    let [left, right] = x.pixels();
    (((right - left) / widest.max(1e-9)) as usize).clamp(1, BARS_MAX)
}

/// Returns the share of the samples in each bar.
fn shares(row: &Row, x: &Scale, bars: usize) -> Vec<f64> {
    let [left, right] = x.pixels();
    let mut counts = vec![0_u64; bars];
    for bucket in row.summary.histogram.iter() {
        let middle = f64::midpoint(bucket.least as f64, bucket.greatest as f64);
        let part = (x.position(middle) - left) / (right - left);
        counts[((part * bars as f64) as usize).min(bars - 1)] += bucket.count;
    }
    counts.into_iter().map(|count| count as f64 / row.samples as f64).collect()
}

/// Draws one wait of a panel.
fn strip(
    canvas: &mut Canvas,
    panel: &Panel<'_>,
    wait: &str,
    x: &Scale,
    y: &Scale,
    shares: &dyn Fn(&Row) -> Vec<f64>,
) {
    let ([left, right], [base, top]) = (x.pixels(), y.pixels());
    let Some(series) = panel.series.iter().find(|series| series.wait == wait) else {
        canvas.secondary((left, top - 4.0), Anchor::Start, &format!("{wait}: no samples"));
        return;
    };
    let (summary, style) = (&series.row.summary, SeriesStyle::for_wait(wait));
    canvas.label((left, top - 4.0), wait, &super::series_name(series));
    let figures = format!("median {} µs, p99 {} µs", brief(summary.p50), brief(summary.p99));
    canvas.secondary((right, top - 4.0), Anchor::End, &figures);
    super::open_plot(&mut canvas.svg, x, y, "share");
    canvas.svg.element(
        "path",
        &[
            ("class", &format!("line fill-{} stroke-{}", style.class, style.class)),
            ("data-wait", &wait),
            ("d", &outline(&shares(series.row), x, y)),
            ("fill", &style.light),
            ("fill-opacity", &0.3),
            ("stroke", &style.light),
            ("stroke-width", &1),
        ],
    );
    canvas.svg.close("g");
    marks(canvas, series.row, x, base);
}

/// Returns the outline along the tops of the bars, closed at the base around empty bars.
fn outline(shares: &[f64], x: &Scale, y: &Scale) -> PathData {
    let ([left, right], base) = (x.pixels(), y.pixels()[0]);
    let width = (right - left) / shares.len() as f64;
    let mut outline = PathData::default();
    let mut is_open = false;
    for (number, share) in shares.iter().enumerate() {
        let from = left + number as f64 * width;
        match (*share > 0.0, is_open) {
            (true, _) => {
                if !is_open {
                    outline.move_to(from, base);
                }
                outline.vertical_to(y.position(*share).min(base - 1.0));
                outline.horizontal_to(from + width);
            }
            (false, true) => outline.vertical_to(base),
            (false, false) => {}
        }
        is_open = *share > 0.0;
    }
    if is_open {
        outline.vertical_to(base);
    }
    outline
}

/// Draws the marks of median and 99th percentile below the base.
fn marks(canvas: &mut Canvas, row: &Row, x: &Scale, base: f64) {
    let style = SeriesStyle::for_wait(&row.setting.wait);
    if let Some(median) = row.summary.p50 {
        let at = x.position(median as f64);
        let mut triangle = PathData::default();
        triangle.move_to(at, base + 1.0);
        triangle.line_to(at - 3.5, base + 7.0);
        triangle.line_to(at + 3.5, base + 7.0);
        triangle.close();
        canvas.svg.element(
            "path",
            &[
                ("class", &format!("fill-{}", style.class)),
                ("fill", &style.light),
                ("d", &triangle),
            ],
        );
    }
    if let Some(p99) = row.summary.p99 {
        let at = x.position(p99 as f64);
        canvas.svg.line(
            (at, base + 1.0),
            (at, base + 7.0),
            &[
                ("class", &format!("stroke-{}", style.class)),
                ("stroke", &style.light),
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
    fn shares_include_every_sample() {
        let x = Scale::new(Form::Log, [10.0, 1_000_000.0], [0.0, 500.0]);
        let row = row([10, 10, 1_000, 1_000_000]);
        let shares = shares(&row, &x, 50);
        assert_eq!((shares[0], shares[20], shares[49]), (0.5, 0.25, 0.25));
        assert_eq!(shares.iter().sum::<f64>(), 1.0);
    }

    #[test]
    fn single_samples_are_visible() {
        let x = Scale::new(Form::Linear, [0.0, 40.0], [0.0, 40.0]);
        let y = Scale::new(Form::Linear, [0.0, 1.0], [100.0, 0.0]);
        let text = outline(&[0.5, 0.0, 0.0001, 0.0], &x, &y).to_string();
        assert_eq!(text, "M0 100V50H10V100M20 100V99H30V100");
    }

    #[test]
    fn bars_are_no_narrower_than_buckets() {
        let results = crate::chart::tests::results(vec![row([2_000_000, 2_010_000])]);
        let groups = crate::chart_group::chart_groups(std::slice::from_ref(&results));
        let x = Scale::new(Form::Linear, [2e6, 2.01e6], [0.0, 500.0]);
        let bars = bar_count(&groups[0], &x);
        assert!((1..12).contains(&bars), "{bars}"); // the buckets there have 1,024 ns
    }
}
