//! The terminal while books are watched: another screen, drawn again and again.

use std::io::{self, Write};

/// The other screen, no cursor, no wrapping of long lines.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
/// As it was.
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// To the first place.
const HOME: &str = "\x1b[H";
/// What is left of a line, and of the screen.
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_REST: &str = "\x1b[J";

/// Where there is no telling options large the terminal is.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// PrintOptions much a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Size {
    /// As it is now: it may be another at the next drawing.
    pub(super) fn of_terminal() -> Self {
        let size = terminal_size::terminal_size();
        size.map_or(USUAL, |(width, height)| Self {
            columns: width.0.into(),
            rows: height.0.into(),
        })
    }
}

/// A terminal that shows another screen until this is dropped.
#[derive(Debug)]
pub(super) struct Screen<O: Write> {
    out: O,
    text: String,
}

impl<O: Write> Screen<O> {
    /// Shows the other screen.
    ///
    /// # Errors
    /// The terminal's.
    pub(super) fn enter(mut out: O) -> io::Result<Self> {
        out.write_all(ENTER.as_bytes())?;
        out.flush()?;
        Ok(Self { out, text: String::new() })
    }

    /// Draws lines in place of those before; of what is too long or too much the end is not shown.
    ///
    /// # Errors
    /// The terminal's.
    pub(super) fn draw(&mut self, lines: &[String], size: Size) -> io::Result<()> {
        self.text.clear();
        self.text.push_str(HOME);
        for (index, line) in lines.iter().take(size.rows).enumerate() {
            self.text.push_str(if index == 0 { "" } else { "\r\n" });
            self.text.extend(line.chars().take(size.columns));
            self.text.push_str(CLEAR_LINE);
        }
        self.text.push_str(CLEAR_REST);
        // With one write, so that nothing flickers.
        self.out.write_all(self.text.as_bytes())?;
        self.out.flush()
    }
}

impl<O: Write> Drop for Screen<O> {
    fn drop(&mut self) {
        // A terminal that is gone has nothing to be restored.
        let _ = self.out.write_all(LEAVE.as_bytes()).and_then(|()| self.out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_drawn_fits_and_the_terminal_is_given_back() {
        let mut out = Vec::new();
        let mut screen = Screen::enter(&mut out).unwrap();
        let lines = ["a title", "a long line", "too much"].map(String::from);
        screen.draw(&lines, Size { columns: 7, rows: 2 }).unwrap();
        drop(screen);
        let text = String::from_utf8(out).unwrap();
        let drawn = "\x1b[Ha title\x1b[K\r\na long \x1b[K\x1b[J";
        assert_eq!(text, format!("{ENTER}{drawn}{LEAVE}"));
    }
}
