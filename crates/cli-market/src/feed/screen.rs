//! The terminal while books are displayed: the alternate screen, redrawn periodically.

use std::io::{self, IsTerminal, Read, Write};

use nix::sys::termios::{
    LocalFlags, SetArg, SpecialCharacterIndices, Termios, tcgetattr, tcsetattr,
};

/// Switches to the alternate screen, hides the cursor, and disables wrapping of long lines.
const ENTER: &str = "\x1b[?1049h\x1b[?25l\x1b[?7l";
/// Restores the terminal.
const LEAVE: &str = "\x1b[?7h\x1b[?25h\x1b[?1049l";
/// Moves to the first position.
const HOME: &str = "\x1b[H";
/// Clears the rest of a line, and of the screen.
const CLEAR_LINE: &str = "\x1b[K";
const CLEAR_REST: &str = "\x1b[J";

/// The size if the terminal's is unknown.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Size {
    /// Returns the current size: it may differ at the next drawing.
    pub(super) fn of_terminal() -> Self {
        let size = terminal_size::terminal_size();
        size.map_or(USUAL, |(width, height)| Self {
            columns: width.0.into(),
            rows: height.0.into(),
        })
    }
}

/// The keys typed on standard input, without waiting for a line, until this is dropped.
#[derive(Debug)]
pub(super) struct Keyboard {
    /// The settings to restore; `None` if standard input is no terminal.
    before: Option<Termios>,
}

impl Keyboard {
    /// Switches the terminal to single keys that are not displayed. Control characters still send
    /// signals.
    pub(super) fn open() -> Self {
        let stdin = io::stdin();
        let before = stdin.is_terminal().then(|| tcgetattr(&stdin).ok()).flatten();
        let before = before.filter(|before| {
            let mut keys = before.clone();
            keys.local_flags.remove(LocalFlags::ICANON | LocalFlags::ECHO);
            // A read returns at once, with what has been typed.
            keys.control_chars[SpecialCharacterIndices::VMIN as usize] = 0;
            keys.control_chars[SpecialCharacterIndices::VTIME as usize] = 0;
            tcsetattr(&stdin, SetArg::TCSANOW, &keys).is_ok()
        });
        Self { before }
    }

    /// Returns `true` if keys can be typed.
    pub(super) const fn is_open(&self) -> bool {
        self.before.is_some()
    }

    /// Returns `true` if `key` was typed since the last call.
    pub(super) fn typed(&self, key: u8) -> bool {
        let mut keys = [0; 64];
        let count = if self.is_open() { io::stdin().read(&mut keys).unwrap_or(0) } else { 0 };
        keys[..count].contains(&key)
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // A closed terminal need not be restored.
            let _ = tcsetattr(io::stdin(), SetArg::TCSANOW, before);
        }
    }
}

/// A terminal that shows the alternate screen until this is dropped.
#[derive(Debug)]
pub(super) struct Screen<O: Write> {
    out: O,
    text: String,
}

impl<O: Write> Screen<O> {
    /// Switches to the alternate screen.
    ///
    /// # Errors
    /// The terminal's.
    pub(super) fn enter(mut out: O) -> io::Result<Self> {
        out.write_all(ENTER.as_bytes())?;
        out.flush()?;
        Ok(Self { out, text: String::new() })
    }

    /// Replaces the previous lines; cuts what does not fit.
    ///
    /// # Errors
    /// The terminal's.
    pub(super) fn draw(&mut self, lines: &[String], size: Size) -> io::Result<()> {
        self.text.clear();
        self.text.push_str(HOME);
        for (index, line) in lines.iter().take(size.rows).enumerate() {
            self.text.push_str(if index == 0 { "" } else { "\r\n" });
            // Before the text: behind a line of full width the cursor is still on its last
            // character, which would be cleared.
            let is_last = index + 1 == lines.len().min(size.rows);
            self.text.push_str(if is_last { CLEAR_REST } else { CLEAR_LINE });
            self.text.extend(line.chars().take(size.columns));
        }
        // One write, to avoid flicker.
        self.out.write_all(self.text.as_bytes())?;
        self.out.flush()
    }
}

impl<O: Write> Drop for Screen<O> {
    fn drop(&mut self) {
        // A closed terminal need not be restored.
        let _ = self.out.write_all(LEAVE.as_bytes()).and_then(|()| self.out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fits_terminal_and_restores_it() {
        let mut out = Vec::new();
        let mut screen = Screen::enter(&mut out).unwrap();
        let lines = ["a title", "a long line", "too much"].map(String::from);
        screen.draw(&lines, Size { columns: 7, rows: 2 }).unwrap();
        drop(screen);
        let text = String::from_utf8(out).unwrap();
        let drawn = "\x1b[H\x1b[Ka title\r\n\x1b[Ja long ";
        assert_eq!(text, format!("{ENTER}{drawn}{LEAVE}"));
    }
}
