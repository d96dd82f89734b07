//! Live counters again and again, until a signal comes or nobody is left.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hairpin_host::Clock;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::reading::{PageId, Reading, Wanted};
use super::table::Before;
use super::{Format, find, json, lines, print, say, table, tell_the_rest};
use crate::signals::Signals;

/// Looking through all of `/proc` takes some milliseconds of a core that somebody may be measured
/// on: it is done no more often, however often the values are read.
const LOOK: Duration = Duration::from_secs(1);

/// Seconds from 0.01 to an hour.
pub(super) fn parse_interval(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().unwrap_or(f64::NAN);
    if (0.01..=3_600.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("seconds, from 0.01 to 3600".to_owned())
    }
}

/// Prints at every interval.
///
/// # Errors
/// No `/proc`; standard output cannot be written; signals cannot be handled.
pub(super) fn run(
    wanted: &Wanted,
    interval: Duration,
    format: Format,
    is_table: bool,
) -> Result<ExitCode> {
    let signals = Signals::take()?;
    let mut pause = Pause::new()?;
    let clock = Clock::from_kernel();
    let mut pages = find()?;
    let first = Reading::take(&pages, wanted, clock.now().utc);
    // A table says by itself what else there is.
    let is_to_be_told = !is_table || !wanted.processes.is_empty();
    if is_to_be_told && !tell_the_rest(&first, &pages, wanted) {
        return Ok(ExitCode::FAILURE);
    }
    let mut screen = Screen::new(format, is_table, !wanted.names.is_empty());
    screen.known = names_of(&first);
    let (mut looked, mut due) = (Instant::now(), Instant::now());
    loop {
        let reading = Reading::take(&pages, wanted, clock.now().utc);
        screen.show(&reading)?;
        if !wanted.processes.is_empty() && reading.pages.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        // Late is late: what was missed is not made up for.
        due = (due + interval).max(Instant::now());
        pause.until(due, &signals)?;
        if let Some(status) = signals.exit_status() {
            screen.end();
            return Ok(status);
        }
        if looked.elapsed() + interval / 2 >= LOOK {
            looked = Instant::now();
            pages.refresh().context("processes cannot be looked for in /proc")?;
        }
    }
}

/// Where readings go.
struct Screen {
    format: Format,
    /// The table, on a terminal.
    table: Option<ProgressBar>,
    with_zeros: bool,
    before: Before,
    /// The pages of the last reading, and what their processes are called.
    known: BTreeMap<PageId, String>,
}

impl Screen {
    fn new(format: Format, is_table: bool, with_zeros: bool) -> Self {
        let table = is_table.then(|| {
            let target = ProgressDrawTarget::stdout_with_hz(u8::MAX);
            let bar = ProgressBar::with_draw_target(None, target);
            if let Ok(style) = ProgressStyle::with_template("{msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { format, table, with_zeros, before: Before::default(), known: BTreeMap::new() }
    }

    /// Shows a reading, and which processes have begun or ended since the last.
    fn show(&mut self, reading: &Reading<'_>) -> Result<()> {
        let present = names_of(reading);
        let ended = self.known.iter().filter(|(id, _)| !present.contains_key(id));
        let begun = present.iter().filter(|(id, _)| !self.known.contains_key(id));
        for (change, pages) in
            [("has ended", ended.collect::<Vec<_>>()), ("has begun", begun.collect())]
        {
            for (id, command) in pages {
                self.tell(&format!("{command}, process {}, {change}", id.process));
            }
        }
        self.known = present;
        match &self.table {
            Some(bar) => {
                bar.set_message(table::render(reading, &self.before, self.with_zeros));
                bar.tick();
                self.before = Before::of(reading);
            }
            None if self.format == Format::Json => print(&json::render(reading)?)?,
            None => print(&lines::render_with_time(reading))?,
        }
        Ok(())
    }

    fn tell(&self, words: &str) {
        match &self.table {
            Some(bar) => bar.println(words),
            None => say(words),
        }
    }

    /// Leaves the last table where it is.
    fn end(&self) {
        if let Some(bar) = &self.table {
            bar.abandon();
        }
    }
}

fn names_of(reading: &Reading<'_>) -> BTreeMap<PageId, String> {
    reading.pages.iter().map(|page| (page.id(), page.command.clone())).collect()
}

/// Sleeps without waking in between, except when a signal comes.
struct Pause {
    woken: UnixStream,
}

impl Pause {
    fn new() -> Result<Self> {
        let (woken, waker) = UnixStream::pair().context("no descriptor is left")?;
        for signal in [SIGINT, SIGTERM] {
            let waker = waker.try_clone().context("no descriptor is left")?;
            signal_hook::low_level::pipe::register(signal, waker)
                .with_context(|| format!("signal {signal} cannot be handled"))?;
        }
        Ok(Self { woken })
    }

    fn until(&mut self, due: Instant, signals: &Signals) -> Result<()> {
        while !signals.asked_to_stop() {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.woken.set_read_timeout(Some(left)).context("no timer")?;
            match self.woken.read(&mut [0]) {
                Ok(_) => {}
                Err(error) if is_no_error(&error) => {}
                Err(error) => return Err(error).context("no signal can be waited for"),
            }
        }
        Ok(())
    }
}

/// The time is over, or a signal came amid the wait.
fn is_no_error(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_a_hundredth_of_a_second_to_an_hour() {
        assert_eq!(parse_interval("0.1"), Ok(Duration::from_millis(100)));
        assert_eq!(parse_interval("3600"), Ok(Duration::from_secs(3_600)));
        for text in ["0", "0.009", "3601", "-1", "nan", "inf", "", "1s"] {
            assert!(parse_interval(text).is_err(), "{text}");
        }
    }
}
