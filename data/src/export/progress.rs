//! The line that shows the progress on a terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::captures::BytesRead;

/// The time between two drawings.
const INTERVAL: Duration = Duration::from_millis(200);
/// Characters of the bar.
const WIDTH: usize = 24;

/// The progress of reading captures. Nothing is drawn unless standard error is a terminal.
pub(super) struct Progress {
    bytes: BytesRead,
    /// The bytes that all passes over the captures read.
    total: Option<u64>,
    begun: Instant,
    due: Option<Instant>,
}

impl Progress {
    /// Creates the progress of so many passes over captures of `total` bytes.
    pub(super) fn new(bytes: BytesRead, total: Option<u64>, passes: u64) -> Self {
        let begun = Instant::now();
        let due = io::stderr().is_terminal().then_some(begun + INTERVAL);
        let total = total.map(|total| total.saturating_mul(passes));
        Self { bytes, total, begun, due }
    }

    /// Draws the line if a drawing is due.
    pub(super) fn draw_if_due(&mut self) {
        let Some(due) = self.due else { return };
        let now = Instant::now();
        if now < due {
            return;
        }
        self.due = Some(now + INTERVAL);
        let read = self.bytes.load(Ordering::Relaxed);
        let seconds = now.duration_since(self.begun).as_secs_f64();
        let _ = write!(io::stderr(), "\r{}\x1b[K", line(read, self.total, seconds));
    }

    /// Removes the line.
    pub(super) fn clear(&mut self) {
        if self.due.take().is_some() {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// Returns the line: a bar, the share, the rate and the time left.
fn line(read: u64, total: Option<u64>, seconds: f64) -> String {
    let rate = read as f64 / seconds.max(0.001);
    let megabytes = rate / 1e6;
    let Some(total) = total.filter(|total| *total > 0) else {
        return format!("{:.0} MB  {megabytes:.0} MB/s", read as f64 / 1e6);
    };
    let share = (read as f64 / total as f64).min(1.0);
    let full = (share * WIDTH as f64) as usize;
    let left = (total.saturating_sub(read) as f64 / rate.max(1.0)).ceil() as u64;
    format!(
        "[{}{}] {:.0} %  {megabytes:.0} MB/s  {}:{:02} left",
        "#".repeat(full),
        ".".repeat(WIDTH - full),
        share * 100.0,
        left / 60,
        left % 60,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_has_share_rate_and_time_left() {
        let text = line(50_000_000, Some(200_000_000), 1.0);
        assert_eq!(text, "[######..................] 25 %  50 MB/s  0:03 left");
        assert_eq!(line(50_000_000, None, 1.0), "50 MB  50 MB/s");
    }
}
