//! Pictures of rows: what they share.
//!
//! A picture is of one [`Cell`]: small multiples on common axes, a panel for each case and file.
//! It carries its own title, units, counts and reading aid, so that it can be cut out of the report
//! and still be believed.

mod histogram;
mod ink;
mod latency;
mod overview;
mod percentiles;

use std::fmt::Display;

use crate::Row;
use crate::cell::{Cell, Line, Panel};
use crate::scale::{Scale, thousands, tick_micros};
use crate::svg::{Anchor, Escaped, Px, Svg};
use ink::{GRID, PAPER, QUIET, WORDS};

pub(crate) use ink::{Ink, dark_style};
pub(crate) use overview::overview;

/// A finished picture.
#[derive(Debug)]
pub(crate) struct Picture {
    /// Its name as a file, without `.svg`.
    pub(crate) name: String,
    title: String,
    /// On which machines it was measured, and by which commands.
    subject: String,
    /// Counts and reading aid, a paragraph each.
    pub(crate) caption: Vec<String>,
    /// Down to where it is drawn.
    bottom: f64,
    body: String,
}

/// All pictures are as wide: a laptop shows one at its own size, and A4 at two thirds of it, where
/// the smallest text is still 6 points.
const WIDTH: f64 = 960.0;
/// Left of the first panel: room for the labels of its vertical axis.
const LEFT: f64 = 62.0;
/// Between two panels side by side.
const GUTTER: f64 = 24.0;
const RIGHT: f64 = 14.0;
/// Above the panels: the picture's title and what it was measured on.
const HEAD: f64 = 50.0;
/// Of lines of the caption.
const LEADING: f64 = 17.0;
/// Characters that fit the width at the caption's size.
const CAPTION_COLUMNS: usize = 165;

/// The three pictures of a cell: over time, histogram, percentiles. `subject` says of which
/// machines and commands, one line.
pub(crate) fn of_cell(cell: &Cell<'_>, subject: &str) -> Vec<Picture> {
    let pictures = [percentiles::draw, histogram::draw, latency::draw];
    pictures.into_iter().filter_map(|draw| draw(cell, subject)).collect()
}

impl Picture {
    /// A document of its own, subject and caption included.
    pub(crate) fn standalone(&self) -> String {
        let mut canvas = Canvas { svg: Svg::default(), y: self.bottom };
        canvas.title(22.0, &self.title);
        canvas.quiet((RIGHT, 40.0), Anchor::Start, &self.subject);
        for line in self.caption.iter().flat_map(|text| wrapped(text, CAPTION_COLUMNS)) {
            canvas.y += LEADING;
            canvas.quiet((RIGHT, canvas.y), Anchor::Start, &line);
        }
        let box_of = [0.0, canvas.y + 12.0];
        let style = format!("<style>{}</style>\n", dark_style());
        let words = style + &canvas.svg.into_text();
        let svg = self.element("xmlns=\"http://www.w3.org/2000/svg\" ", box_of, &words);
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{svg}")
    }

    /// The same as part of a page, which has the style, the subject and room for the caption.
    pub(crate) fn inline(&self) -> String {
        /// So much is less above it without the subject.
        const LESS: f64 = 18.0;
        let mut canvas = Canvas { svg: Svg::default(), y: 0.0 };
        canvas.title(22.0 + LESS, &self.title);
        self.element("", [LESS, self.bottom], &canvas.svg.into_text())
    }

    fn element(&self, namespace: &str, [top, bottom]: [f64; 2], words: &str) -> String {
        let Self { name, body, .. } = self;
        let (top, height) = (Px(top), Px(bottom - top));
        let (title, description) = (Escaped(&self.title), self.caption.join(" "));
        let description = Escaped(&description);
        format!(
            "<svg {namespace}class=\"picture\" width=\"{WIDTH}\" height=\"{height}\" \
             viewBox=\"0 {top} {WIDTH} {height}\" role=\"img\" \
             aria-labelledby=\"{name}-title {name}-desc\" font-family=\"{FONTS}\" \
             font-size=\"13\">\n<title id=\"{name}-title\">{title}</title>\n\
             <desc id=\"{name}-desc\">{description}</desc>\n\
             <rect class=\"fill-paper\" y=\"{top}\" width=\"{WIDTH}\" height=\"{height}\" \
             fill=\"{PAPER}\"/>\n{words}{body}</svg>\n"
        )
    }
}

/// Fonts that some system has, then whatever is there.
const FONTS: &str = "Helvetica Neue, Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif";

/// A picture while it is drawn, from the top down.
struct Canvas {
    svg: Svg,
    /// Down to where it is drawn.
    y: f64,
}

impl Canvas {
    /// Below the head, which is written last.
    fn new() -> Self {
        Self { svg: Svg::default(), y: HEAD }
    }

    fn title(&mut self, y: f64, title: &str) {
        let look: [(&str, &dyn Display); 4] = [
            ("class", &"fill-words"),
            ("fill", &WORDS),
            ("font-size", &16),
            ("font-weight", &"bold"),
        ];
        self.svg.text((RIGHT, y), Anchor::Start, &look, title);
    }

    /// Text of lesser rank: axes, captions.
    fn quiet(&mut self, at: (f64, f64), anchor: Anchor, text: &str) {
        let look: [(&str, &dyn Display); 3] =
            [("class", &"fill-quiet"), ("fill", &QUIET), ("font-size", &12)];
        self.svg.text(at, anchor, &look, text);
    }

    /// Text of first rank.
    fn words(&mut self, at: (f64, f64), anchor: Anchor, text: &str) {
        let look: [(&str, &dyn Display); 3] =
            [("class", &"fill-words"), ("fill", &WORDS), ("font-weight", &"bold")];
        self.svg.text(at, anchor, &look, text);
    }

    /// A wait's name in its colour.
    fn label(&mut self, at: (f64, f64), wait: &str, text: &str) {
        let ink = Ink::of(wait);
        let class = format!("fill-{}", ink.class);
        self.svg.text(
            at,
            Anchor::Start,
            &[("class", &class), ("fill", &ink.light), ("font-weight", &"bold")],
            text,
        );
    }

    /// Lines of the grid across a panel, one per tick of its vertical axis, with labels if it has
    /// room for them.
    fn rows(&mut self, y: &Scale, x: [f64; 2], most: usize, label: Option<fn(f64) -> String>) {
        for tick in y.ticks(most) {
            let at = y.at(tick);
            self.svg.line((x[0], at), (x[1], at), &GRID_LINE);
            if let Some(label) = label {
                self.quiet((x[0] - 6.0, at + 4.0), Anchor::End, &label(tick));
            }
        }
    }

    /// A horizontal axis: small marks, their labels, and what they mean.
    fn axis(&mut self, y: f64, x: &Scale, ticks: &[(f64, String)], title: &str) {
        /// Half as wide as a label.
        const END: f64 = 20.0;
        let [left, right] = x.pixels();
        self.svg.line((left, y), (right, y), &AXIS_LINE);
        for (tick, label) in ticks {
            let at = x.at(*tick);
            self.svg.line((at, y), (at, y + 4.0), &AXIS_LINE);
            // What stands at an end must not run into what stands beside the panel.
            let (anchor, at) = match (at - left < 1.0, right - at < END) {
                (true, _) => (Anchor::Start, left),
                (false, true) => (Anchor::End, right),
                (false, false) => (Anchor::Middle, at),
            };
            self.quiet((at, y + 17.0), anchor, label);
        }
        self.quiet((f64::midpoint(left, right), y + 34.0), Anchor::Middle, title);
    }

    /// What the vertical axis of a panel means, written along it.
    fn along(&mut self, x: f64, y: [f64; 2], text: &str) {
        let middle = f64::midpoint(y[0], y[1]);
        let turn = format!("rotate(-90 {} {})", Px(x), Px(middle));
        self.svg.text(
            (x, middle),
            Anchor::Middle,
            &[("class", &"fill-quiet"), ("fill", &QUIET), ("font-size", &12), ("transform", &turn)],
            text,
        );
    }

    /// The picture of what was drawn: of a cell, or of all. Empty paragraphs are left out.
    fn finish(self, name: String, title: String, subject: &str, caption: [String; 2]) -> Picture {
        let caption = caption.into_iter().filter(|text| !text.is_empty()).collect();
        let (subject, bottom) = (subject.to_string(), self.y);
        Picture { name, title, subject, caption, bottom, body: self.svg.into_text() }
    }
}

const GRID_LINE: [(&str, &dyn Display); 4] =
    [("class", &"stroke-grid"), ("stroke", &GRID), ("stroke-width", &1), ("fill", &"none")];
const AXIS_LINE: [(&str, &dyn Display); 4] =
    [("class", &"stroke-quiet"), ("stroke", &QUIET), ("stroke-width", &1), ("fill", &"none")];

/// Panels in a row: at most two, or text gets too small for paper.
const COLUMNS: usize = 2;

/// Where the panels of a cell stand: the left and right of each column.
fn columns(panels: usize, margin: f64) -> Vec<[f64; 2]> {
    let count = panels.clamp(1, COLUMNS) as f64;
    let width = (WIDTH - LEFT - RIGHT - GUTTER * (count - 1.0)) / count - margin;
    let left = |column: usize| LEFT + column as f64 * (width + margin + GUTTER);
    (0..panels.min(COLUMNS)).map(|column| [left(column), left(column) + width]).collect()
}

/// A panel's title; with several files, whose it is.
fn panel_title(cell: &Cell<'_>, panel: &Panel<'_>) -> String {
    match cell.panels.iter().all(|other| other.file == panel.file) {
        true => panel.title.clone(),
        false => format!("{}: {}", file_letter(panel.file), panel.title),
    }
}

/// Files are A, B, C, …; after Z their number.
pub(crate) fn file_letter(file: usize) -> String {
    match u8::try_from(file) {
        Ok(file @ 0..26) => char::from(b'A' + file).to_string(),
        _ => (file + 1).to_string(),
    }
}

/// A wait and what must be known of its row.
fn line_name(line: &Line<'_>) -> String {
    format!("{}{}", line.wait, if line.row.late { " late" } else { "" })
}

/// Samples and loss of every panel, what was late, cut short or is not shown.
fn counts(cell: &Cell<'_>) -> String {
    let mut sentences: Vec<String> = Vec::new();
    let several = cell.panels.iter().any(|panel| panel.file != cell.panels[0].file);
    for panel in &cell.panels {
        let said = panel_counts(panel);
        let said = if several { format!("{}: {said}", file_letter(panel.file)) } else { said };
        // The cases of a file have their samples in common: once is enough.
        if !sentences.contains(&said) {
            sentences.push(said);
        }
    }
    sentences.join(" ")
}

fn panel_counts(panel: &Panel<'_>) -> String {
    let of = |row: &Row| (row.samples, row.lost);
    let said = match &panel.lines[..] {
        [] => "no samples".to_string(),
        [first, rest @ ..] if rest.iter().all(|line| of(line.row) == of(first.row)) => {
            let each = if rest.is_empty() { "" } else { " a line" };
            format!("{} samples{each}, {} lost", thousands(first.row.samples), lost(first.row))
        }
        lines => {
            let each = lines.iter().map(|line| {
                format!(
                    "{} {} samples, {} lost",
                    line.wait,
                    thousands(line.row.samples),
                    lost(line.row)
                )
            });
            each.collect::<Vec<_>>().join("; ")
        }
    };
    let waits = |wanted: fn(&Row) -> bool| {
        let all = panel.lines.iter().filter(|line| wanted(line.row)).map(|line| line.wait);
        all.collect::<Vec<_>>().join(", ")
    };
    let (late, cut) = (waits(|row| row.late), waits(|row| row.interrupted));
    let mut said = said + ".";
    for (what, waits) in [("Sender late: ", late), ("Interrupted: ", cut)] {
        if !waits.is_empty() {
            said += &format!(" {what}{waits}.");
        }
    }
    let mut left_out: Vec<_> = panel.left_out.iter().map(|row| row.setting.wait.as_str()).collect();
    left_out.dedup();
    if !left_out.is_empty() {
        said += &format!(" Not drawn, see the table: {}.", left_out.join(", "));
    }
    said
}

fn lost(row: &Row) -> String {
    match row.lost {
        0 => "none".to_string(),
        lost => thousands(lost),
    }
}

/// Nanoseconds as microseconds, as many digits as a reader needs.
fn brief(nanos: Option<u64>) -> String {
    match nanos {
        None => "–".to_string(),
        Some(nanos @ ..100_000) => format!("{:.1}", nanos as f64 / 1e3),
        Some(nanos) => thousands(nanos / 1_000 + u64::from(nanos % 1_000 >= 500)),
    }
}

/// A text in lines of at most so many characters, broken at spaces.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// Ticks of an axis of nanoseconds with their labels in microseconds.
fn micros_ticks(scale: &Scale, most: usize) -> Vec<(f64, String)> {
    scale.ticks(most).into_iter().map(|tick| (tick, tick_micros(tick))).collect()
}

/// Begins a panel's group: its place and axes, for a script that answers where the pointer is.
/// Values are those at left, right, bottom and top.
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

    /// A document of these rows.
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

    #[test]
    fn a_caption_is_broken_at_spaces() {
        assert_eq!(wrapped("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrapped("aaaaaaaa b", 5), ["aaaaaaaa", "b"]);
    }
}
