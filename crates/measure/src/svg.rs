//! Scalable vector graphics, as text.
//!
//! No plotting library: this module names fonts instead of embedding them, and positions elements
//! to the pixel. It escapes all text from results files.

use std::fmt::{self, Display, Write};

/// The elements of a chart.
///
/// Colors and dashes are presentation attributes, which every SVG viewer supports. Classes are for
/// browsers (dark mode).
#[derive(Debug, Default)]
pub(crate) struct Svg(String);

/// A length or position in pixels, formatted with one decimal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Px(pub(crate) f64);

impl Display for Px {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        let (whole, rest) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
        let sign = if tenths < 0 { "-" } else { "" };
        match rest {
            0 => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{rest}"),
        }
    }
}

/// Text escaped for the content and attributes of XML and HTML.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                _ => f.write_char(printable(c))?,
            }
        }
        Ok(())
    }
}

/// Returns the character, or U+FFFD for a control character that XML does not allow even as a
/// character reference (XML 1.0, section 2.2).
pub(crate) const fn printable(c: char) -> char {
    match c {
        '\0'..='\x08' | '\x0b' | '\x0c' | '\x0e'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ => c,
    }
}

/// The part of a text at its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

impl Svg {
    /// Adds an element without content.
    pub(crate) fn element(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.begin(name, attributes);
        self.0.push_str("/>");
    }

    /// Adds an element with text.
    pub(crate) fn text(
        &mut self,
        (x, y): (f64, f64),
        anchor: Anchor,
        attributes: &[(&str, &dyn Display)],
        text: &str,
    ) {
        self.begin("text", &[("x", &Px(x)), ("y", &Px(y))]);
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => self.attribute("text-anchor", &"middle"),
            Anchor::End => self.attribute("text-anchor", &"end"),
        }
        attributes.iter().for_each(|(name, value)| self.attribute(name, *value));
        let _ = writeln!(self.0, ">{}</text>", Escaped(text));
    }

    /// Opens an element, which [`Self::close`] closes.
    pub(crate) fn open(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        self.begin(name, attributes);
        self.0.push_str(">\n");
    }

    /// Closes an element.
    pub(crate) fn close(&mut self, name: &str) {
        let _ = writeln!(self.0, "</{name}>");
    }

    /// Adds a straight line.
    pub(crate) fn line(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
        attributes: &[(&str, &dyn Display)],
    ) {
        let d = format!("M{} {}L{} {}", Px(from.0), Px(from.1), Px(to.0), Px(to.1));
        let attributes: Vec<_> =
            [("d", &d as &dyn Display)].into_iter().chain(attributes.iter().copied()).collect();
        self.element("path", &attributes);
        self.0.push('\n');
    }

    /// Returns the text.
    pub(crate) fn into_text(self) -> String {
        self.0
    }

    // Writing to a `String` cannot fail.
    fn begin(&mut self, name: &str, attributes: &[(&str, &dyn Display)]) {
        let _ = write!(self.0, "<{name}");
        attributes.iter().for_each(|(name, value)| self.attribute(name, *value));
    }

    fn attribute(&mut self, name: &str, value: &dyn Display) {
        let _ = write!(self.0, " {name}=\"{}\"", Escaped(&value.to_string()));
    }
}

/// The data of a path, built step by step.
#[derive(Debug, Default)]
pub(crate) struct PathData(String);

impl PathData {
    /// Moves to a point without drawing.
    pub(crate) fn move_to(&mut self, x: f64, y: f64) {
        let _ = write!(self.0, "M{} {}", Px(x), Px(y));
    }

    /// Draws a straight line to a point.
    pub(crate) fn line_to(&mut self, x: f64, y: f64) {
        let _ = write!(self.0, "L{} {}", Px(x), Px(y));
    }

    /// Draws a horizontal line.
    pub(crate) fn horizontal_to(&mut self, x: f64) {
        let _ = write!(self.0, "H{}", Px(x));
    }

    /// Draws a vertical line.
    pub(crate) fn vertical_to(&mut self, y: f64) {
        let _ = write!(self.0, "V{}", Px(y));
    }

    /// Draws a dot, as the round ends of a line of length zero.
    pub(crate) fn dot(&mut self, x: f64, y: f64) {
        self.move_to(x, y);
        self.0.push_str("h0");
    }

    /// Closes the path with a line to the last [`Self::move_to`].
    pub(crate) fn close(&mut self) {
        self.0.push('Z');
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Display for PathData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_have_at_most_one_decimal() {
        let written = [0.0, -0.04, 1.0, 1.25, -1.26, 959.96, 12.04].map(|x| Px(x).to_string());
        assert_eq!(written, ["0", "0", "1", "1.3", "-1.3", "960", "12"]);
    }

    #[test]
    fn text_is_escaped() {
        let hostile = "</text><script>alert('1' & \"2\")</script>\u{0}\u{1b}";
        let mut svg = Svg::default();
        svg.text((1.0, 2.0), Anchor::End, &[("class", &"\"x")], hostile);
        let text = svg.into_text();
        let parsed = roxmltree::Document::parse(&text).unwrap();
        let root = parsed.root_element();
        assert_eq!(root.attribute("class"), Some("\"x"));
        let expected = hostile.replace(['\0', '\x1b'], "\u{fffd}");
        assert_eq!(root.text(), Some(expected.as_str()));
    }
}
