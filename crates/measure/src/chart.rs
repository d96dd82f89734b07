//! The common parts of all charts.
//!
//! A chart shows one [`ChartGroup`]: small multiples on common axes, a panel for each case and
//! file. It
//! contains its title, units, counts and a reading aid, so it can be used without the report.

mod by_size;
mod histogram;
mod over_time;
mod overview;
mod percentiles;
mod series_style;

use std::fmt::Display;

use crate::Row;
use crate::chart_group::{ChartGroup, Panel, Series};
use crate::scale::{Scale, thousands, tick_micros};
use crate::svg::{Anchor, Escaped, Px, Svg};
use crate::text_table::wrapped;
use series_style::{BACKGROUND, GRID, SECONDARY, TEXT};

pub(crate) use overview::overview;
pub(crate) use series_style::{SeriesStyle, dark_style};

/// A complete chart.
#[derive(Debug)]
pub(crate) struct Chart {
    /// The file name without `.svg`.
    pub(crate) name: String,
    pub(crate) title: String,
    layout: Layout,
    /// The machines and commands of the measurement.
    subject: String,
    /// Counts and reading aid, one paragraph each.
    pub(crate) caption: Vec<String>,
    /// The lower end of the drawing.
    bottom: f64,
    body: String,
}

/// The dimensions of a chart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Layout {
    /// The width in pixels.
    width: f64,
    /// The most panels in a row: with more, text is too small on paper.
    columns: usize,
    /// The most frames in a row of the overview.
    frames: usize,
}

impl Layout {
    /// Full size on a laptop, two thirds on A4, where the smallest text has 6 points. The frames
    /// are the four intervals of a full benchmark.
    pub(crate) const WIDE: Self = Self { width: 960.0, columns: 2, frames: 4 };
    /// A telephone. The page contains the title as text, which is broken into lines.
    pub(crate) const NARROW: Self = Self { width: 366.0, columns: 1, frames: 1 };
}

/// The space left of the first panel, for the labels of the vertical axis.
const LEFT: f64 = 62.0;
/// The space between two panels.
const GUTTER: f64 = 24.0;
const RIGHT: f64 = 14.0;
/// The space above the panels, for title and subject.
const HEAD: f64 = 50.0;
/// The line height of the caption.
const LEADING: f64 = 17.0;
/// The characters per line of the caption.
const CAPTION_COLUMNS: usize = 165;

/// The most panels that are drawn if a chart by message size shows the same rows.
const PANELS: usize = 12;

/// Returns the charts of a group: latency by message size if there are several sizes, percentiles,
/// histogram, latency over time. The last three are omitted if several sizes make many panels.
/// `subject` is one line with the machines and commands.
pub(crate) fn charts(group: &ChartGroup<'_>, subject: &str, layout: Layout) -> Vec<Chart> {
    let by_size = by_size::draw(group, subject, layout);
    if by_size.is_some() && group.panels.len() > PANELS {
        return by_size.into_iter().collect();
    }
    let charts = [percentiles::draw, histogram::draw, over_time::draw];
    let charts = charts.into_iter().filter_map(|draw| draw(group, subject, layout));
    by_size.into_iter().chain(charts).collect()
}

impl Chart {
    /// Returns a standalone SVG document, with subject and caption.
    pub(crate) fn standalone(&self) -> String {
        let mut canvas = Canvas { svg: Svg::default(), y: self.bottom, layout: self.layout };
        canvas.title(22.0, &self.title);
        canvas.secondary((RIGHT, 40.0), Anchor::Start, &self.subject);
        for line in self.caption.iter().flat_map(|text| wrapped(text, CAPTION_COLUMNS)) {
            canvas.y += LEADING;
            canvas.secondary((RIGHT, canvas.y), Anchor::Start, &line);
        }
        let vertical_range = [0.0, canvas.y + 12.0];
        let style = format!("<style>{}</style>\n", dark_style());
        let head = style + &canvas.svg.into_text();
        let svg = self.element("xmlns=\"http://www.w3.org/2000/svg\" ", vertical_range, &head);
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{svg}")
    }

    /// Returns an SVG element for the report page, which contains the style, the subject and the
    /// caption; of a narrow chart also the title.
    pub(crate) fn inline(&self) -> String {
        /// The height of the omitted subject.
        const SUBJECT: f64 = 18.0;
        if self.layout == Layout::NARROW {
            return self.element("", [HEAD, self.bottom], "");
        }
        let mut canvas = Canvas { svg: Svg::default(), y: 0.0, layout: self.layout };
        canvas.title(22.0 + SUBJECT, &self.title);
        self.element("", [SUBJECT, self.bottom], &canvas.svg.into_text())
    }

    fn element(&self, namespace: &str, [top, bottom]: [f64; 2], head: &str) -> String {
        let Self { name, body, layout: Layout { width, .. }, .. } = self;
        let kind = if self.layout == Layout::NARROW { "-narrow" } else { "" };
        let (top, height) = (Px(top), Px(bottom - top));
        let (title, description) = (Escaped(&self.title), self.caption.join(" "));
        let description = Escaped(&description);
        format!(
            "<svg {namespace}class=\"chart\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 {top} {width} {height}\" role=\"img\" \
             aria-labelledby=\"{name}{kind}-title {name}{kind}-desc\" font-family=\"{FONTS}\" \
             font-size=\"13\">\n<title id=\"{name}{kind}-title\">{title}</title>\n\
             <desc id=\"{name}{kind}-desc\">{description}</desc>\n\
             <rect class=\"fill-background\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
             fill=\"{BACKGROUND}\"/>\n{head}{body}</svg>\n"
        )
    }
}

/// Common fonts, in order of preference.
const FONTS: &str = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif";

/// A chart under construction, from top to bottom.
struct Canvas {
    svg: Svg,
    /// The lower end of the drawing so far.
    y: f64,
    layout: Layout,
}

impl Canvas {
    /// Returns an empty canvas. The head is added last.
    fn new(layout: Layout) -> Self {
        Self { svg: Svg::default(), y: HEAD, layout }
    }

    /// Returns the left and right ends of each column of panels.
    fn columns(&self, panels: usize, margin: f64) -> Vec<[f64; 2]> {
        let Layout { width, columns, .. } = self.layout;
        let count = panels.clamp(1, columns) as f64;
        let width = (width - LEFT - RIGHT - GUTTER * (count - 1.0)) / count - margin;
        let left = |column: usize| LEFT + column as f64 * (width + margin + GUTTER);
        (0..panels.min(columns)).map(|column| [left(column), left(column) + width]).collect()
    }

    fn title(&mut self, y: f64, title: &str) {
        let attributes: [(&str, &dyn Display); 4] = [
            ("class", &"fill-text"),
            ("fill", &TEXT),
            ("font-size", &16),
            ("font-weight", &"bold"),
        ];
        self.svg.text((RIGHT, y), Anchor::Start, &attributes, title);
    }

    /// Adds secondary text: axes, captions.
    fn secondary(&mut self, at: (f64, f64), anchor: Anchor, text: &str) {
        let attributes: [(&str, &dyn Display); 3] =
            [("class", &"fill-secondary"), ("fill", &SECONDARY), ("font-size", &12)];
        self.svg.text(at, anchor, &attributes, text);
    }

    /// Adds a heading.
    fn heading(&mut self, at: (f64, f64), anchor: Anchor, text: &str) {
        let attributes: [(&str, &dyn Display); 3] =
            [("class", &"fill-text"), ("fill", &TEXT), ("font-weight", &"bold")];
        self.svg.text(at, anchor, &attributes, text);
    }

    /// Adds the name of a wait in its color.
    fn label(&mut self, at: (f64, f64), wait: &str, text: &str) {
        let style = SeriesStyle::for_wait(wait);
        let class = format!("fill-{}", style.class);
        self.svg.text(
            at,
            Anchor::Start,
            &[("class", &class), ("fill", &style.light), ("font-weight", &"bold")],
            text,
        );
    }

    /// Adds the horizontal grid lines of a panel, one per tick of its vertical axis, with optional
    /// labels.
    fn grid(&mut self, y: &Scale, x: [f64; 2], max: usize, label: Option<fn(f64) -> String>) {
        for tick in y.ticks(max) {
            let at = y.position(tick);
            self.svg.line((x[0], at), (x[1], at), &GRID_LINE);
            if let Some(label) = label {
                self.secondary((x[0] - 6.0, at + 4.0), Anchor::End, &label(tick));
            }
        }
    }

    /// Adds a horizontal axis with ticks, labels and a title.
    fn axis(&mut self, y: f64, x: &Scale, ticks: &[(f64, String)], title: &str) {
        /// Half the width of a label.
        const END: f64 = 20.0;
        /// The greatest width of a character.
        const CHARACTER: f64 = 7.0;
        /// The least space between two labels.
        const GAP: f64 = 4.0;
        let [left, right] = x.pixels();
        self.svg.line((left, y), (right, y), &AXIS_LINE);
        let mut free = f64::NEG_INFINITY;
        for (tick, label) in ticks {
            let at = x.position(*tick);
            self.svg.line((at, y), (at, y + 4.0), &AXIS_LINE);
            // A label at an end must not overlap the space next to the panel.
            let (anchor, at) = match (at - left < 1.0, right - at < END) {
                (true, _) => (Anchor::Start, left),
                (false, true) => (Anchor::End, right),
                (false, false) => (Anchor::Middle, at),
            };
            // Labels must not overlap each other either.
            let width = label.chars().count() as f64 * CHARACTER;
            let from = match anchor {
                Anchor::Start => at,
                Anchor::Middle => at - width / 2.0,
                Anchor::End => at - width,
            };
            if from >= free {
                self.secondary((at, y + 17.0), anchor, label);
                free = from + width + GAP;
            }
        }
        self.secondary((f64::midpoint(left, right), y + 34.0), Anchor::Middle, title);
    }

    /// Adds the title of a vertical axis, written along the axis.
    fn vertical_label(&mut self, x: f64, y: [f64; 2], text: &str) {
        let middle = f64::midpoint(y[0], y[1]);
        let rotation = format!("rotate(-90 {} {})", Px(x), Px(middle));
        self.svg.text(
            (x, middle),
            Anchor::Middle,
            &[
                ("class", &"fill-secondary"),
                ("fill", &SECONDARY),
                ("font-size", &12),
                ("transform", &rotation),
            ],
            text,
        );
    }

    /// Returns the chart. Empty paragraphs of the caption are omitted.
    fn finish(self, name: String, title: String, subject: &str, caption: [String; 2]) -> Chart {
        let caption = caption.into_iter().filter(|text| !text.is_empty()).collect();
        let (subject, bottom) = (subject.to_string(), self.y);
        Chart {
            name,
            title,
            layout: self.layout,
            subject,
            caption,
            bottom,
            body: self.svg.into_text(),
        }
    }
}

const GRID_LINE: [(&str, &dyn Display); 4] =
    [("class", &"stroke-grid"), ("stroke", &GRID), ("stroke-width", &1), ("fill", &"none")];
const AXIS_LINE: [(&str, &dyn Display); 4] = [
    ("class", &"stroke-secondary"),
    ("stroke", &SECONDARY),
    ("stroke-width", &1),
    ("fill", &"none"),
];

/// Returns the title of a panel, with the letter of its file if there are several files.
fn panel_title(group: &ChartGroup<'_>, panel: &Panel<'_>) -> String {
    match group.panels.iter().all(|other| other.file == panel.file) {
        true => panel.title.clone(),
        false => format!("{}: {}", file_letter(panel.file), panel.title),
    }
}

/// Returns the letter of a file: A, B, C, …; after Z its number.
pub(crate) fn file_letter(file: usize) -> String {
    match u8::try_from(file) {
        Ok(file @ 0..26) => char::from(b'A' + file).to_string(),
        _ => (file + 1).to_string(),
    }
}

/// Returns the name of a wait, with a mark if the row is late.
fn series_name(series: &Series<'_>) -> String {
    format!("{}{}", series.wait, if series.row.late { " late" } else { "" })
}

/// Describes each panel: samples and loss, late, interrupted and omitted rows.
fn counts(group: &ChartGroup<'_>) -> String {
    let mut sentences: Vec<String> = Vec::new();
    let several = group.panels.iter().any(|panel| panel.file != group.panels[0].file);
    for panel in &group.panels {
        let text = panel_counts(panel);
        let text = if several { format!("{}: {text}", file_letter(panel.file)) } else { text };
        // The cases of a file have the same samples.
        if !sentences.contains(&text) {
            sentences.push(text);
        }
    }
    sentences.join(" ")
}

fn panel_counts(panel: &Panel<'_>) -> String {
    let counts = |row: &Row| (row.samples, row.lost);
    let text = match &panel.series[..] {
        [] => "no samples".to_string(),
        [first, rest @ ..] if rest.iter().all(|series| counts(series.row) == counts(first.row)) => {
            let each = if rest.is_empty() { "" } else { " per line" };
            format!("{} samples{each}, {} lost", thousands(first.row.samples), lost(first.row))
        }
        lines => {
            let each = lines.iter().map(|series| {
                format!(
                    "{} {} samples, {} lost",
                    series.wait,
                    thousands(series.row.samples),
                    lost(series.row)
                )
            });
            each.collect::<Vec<_>>().join("; ")
        }
    };
    let waits = |wanted: fn(&Row) -> bool| {
        let all = panel.series.iter().filter(|series| wanted(series.row)).map(|series| series.wait);
        all.collect::<Vec<_>>().join(", ")
    };
    let (late, cut) = (waits(|row| row.late), waits(|row| row.interrupted));
    let mut text = text + ".";
    for (what, waits) in [("Sender late: ", late), ("Interrupted: ", cut)] {
        if !waits.is_empty() {
            text += &format!(" {what}{waits}.");
        }
    }
    let mut left_out: Vec<_> = panel.left_out.iter().map(|row| row.setting.wait.as_str()).collect();
    left_out.dedup();
    if !left_out.is_empty() {
        text += &format!(" Not drawn, see the table: {}.", left_out.join(", "));
    }
    text
}

fn lost(row: &Row) -> String {
    match row.lost {
        0 => "none".to_string(),
        lost => thousands(lost),
    }
}

/// Formats nanoseconds as microseconds, with a decimal below 100 µs.
fn brief(nanos: Option<u64>) -> String {
    match nanos {
        None => "–".to_string(),
        Some(nanos @ ..100_000) => format!("{:.1}", nanos as f64 / 1e3),
        Some(nanos) => thousands(nanos / 1_000 + u64::from(nanos % 1_000 >= 500)),
    }
}

/// Returns the ticks of an axis of nanoseconds, with labels in microseconds.
fn micros_ticks(scale: &Scale, max: usize) -> Vec<(f64, String)> {
    scale.ticks(max).into_iter().map(|tick| (tick, tick_micros(tick))).collect()
}

/// Opens the element of a plot, with its position and axes for the script that displays values at
/// the pointer. The attributes contain the values at left, right, bottom and top.
fn open_plot(svg: &mut Svg, x: &Scale, y: &Scale, meaning: &str) {
    let number = |[a, b]: [f64; 2]| format!("{a} {b}");
    let pixels = |[a, b]: [f64; 2]| format!("{} {}", Px(a), Px(b));
    let form = |scale: &Scale| match scale.form() {
        crate::scale::Form::Linear => "linear",
        crate::scale::Form::Log => "log",
    };
    svg.open(
        "g",
        &[
            ("class", &"plot"),
            ("data-meaning", &meaning),
            ("data-x", &pixels(x.pixels())),
            ("data-y", &pixels(y.pixels())),
            ("data-from-to", &number(x.values())),
            ("data-low-high", &number(y.values())),
            ("data-forms", &format!("{} {}", form(x), form(y))),
        ],
    );
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{Host, Results, Timestamping};
    use hairpin_time::Utc;

    /// Returns a results file with these rows.
    pub(crate) fn results(rows: Vec<Row>) -> Results {
        let host = Host {
            cpu: "A processor".to_string(),
            cores: 2,
            kernel: "6.1.0".to_string(),
            virtualised: false,
            tsc_hz: None,
            governor: None,
            nic: "veth".to_string(),
            timestamping: Timestamping::Software,
        };
        Results {
            rows,
            ..Results::new(Utc::from_nanos(1_795_284_000_000_000_000), "hairpin t2t", host)
        }
    }
}
