//! Prints live counters repeatedly, until a signal arrives or no process is left.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use hairpin_cli_harness::signals::Signals;
use hairpin_host::Clock;
use hairpin_measure::Style;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::{SIGINT, SIGTERM};

use super::snapshot::{CounterFilter, CounterSnapshot, PageId};
use super::table::PreviousValues;
use super::{Format, find, json, lines, print, print_message, print_missing, table};

/// Searching all of `/proc` takes some milliseconds of a core that may be under measurement, so it
/// happens no more often than this, however often the values are read.
pub(super) const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Parses seconds from 0.01 to an hour.
pub(super) fn parse_interval(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().unwrap_or(f64::NAN);
    if (0.01..=3_600.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("expected seconds, from 0.01 to 3600".to_owned())
    }
}

/// Prints at every interval.
///
/// # Errors
/// No `/proc`; standard output cannot be written; cannot handle signals.
pub(super) fn run(
    filter: &CounterFilter,
    interval: Duration,
    format: Format,
    (is_table, with_zeros): (bool, bool),
) -> Result<ExitCode> {
    let signals = Signals::take()?;
    let mut pause = Pause::new()?;
    let clock = Clock::from_kernel();
    let mut pages = find()?;
    let first = CounterSnapshot::take(&pages, filter, clock.now().utc);
    // A table itself shows what is missing.
    let warns = !is_table || !filter.processes.is_empty();
    if warns && !print_missing(&first, &pages, filter) {
        return Ok(ExitCode::FAILURE);
    }
    let mut screen = Screen::new(format, is_table, with_zeros);
    screen.known = names_of(&first);
    let (mut looked, mut due) = (Instant::now(), Instant::now());
    loop {
        let snapshot = CounterSnapshot::take(&pages, filter, clock.now().utc);
        screen.show(&snapshot)?;
        if !filter.processes.is_empty() && snapshot.pages.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        // Missed intervals are not made up for.
        due = (due + interval).max(Instant::now());
        pause.until(due, &signals)?;
        if let Some(status) = signals.exit_status() {
            screen.end();
            return Ok(status);
        }
        if looked.elapsed() + interval / 2 >= POLL_INTERVAL {
            looked = Instant::now();
            pages.refresh().context("cannot search /proc for processes")?;
        }
    }
}

/// The output of snapshots.
struct Screen {
    format: Format,
    /// The table, on a terminal.
    table: Option<ProgressBar>,
    with_zeros: bool,
    previous: PreviousValues,
    /// The pages of the last snapshot, and the names of their processes.
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
        Self {
            format,
            table,
            with_zeros,
            previous: PreviousValues::default(),
            known: BTreeMap::new(),
        }
    }

    /// Prints a snapshot, and which processes have started or ended since the last.
    fn show(&mut self, snapshot: &CounterSnapshot<'_>) -> Result<()> {
        let present = names_of(snapshot);
        let ended = self.known.iter().filter(|(id, _)| !present.contains_key(id));
        let begun = present.iter().filter(|(id, _)| !self.known.contains_key(id));
        for (change, pages) in
            [("has ended", ended.collect::<Vec<_>>()), ("has begun", begun.collect())]
        {
            for (id, command) in pages {
                self.print_line(&format!("{command}, process {}, {change}", id.process));
            }
        }
        self.known = present;
        match &self.table {
            Some(bar) => {
                let style = Style::for_stdout();
                bar.set_message(table::render(snapshot, &self.previous, self.with_zeros, style));
                bar.tick();
                self.previous = PreviousValues::new(snapshot);
            }
            None if self.format == Format::Json => print(&json::render(snapshot)?)?,
            None => print(&lines::render_with_time(snapshot))?,
        }
        Ok(())
    }

    fn print_line(&self, words: &str) {
        match &self.table {
            Some(bar) => bar.println(words),
            None => print_message(words),
        }
    }

    /// Leaves the last table on the terminal.
    fn end(&self) {
        if let Some(bar) = &self.table {
            bar.abandon();
        }
    }
}

fn names_of(snapshot: &CounterSnapshot<'_>) -> BTreeMap<PageId, String> {
    snapshot.pages.iter().map(|page| (page.id(), page.command.clone())).collect()
}

/// Sleeps without intermediate wakeups, except by a signal.
pub(super) struct Pause {
    woken: UnixStream,
}

impl Pause {
    pub(super) fn new() -> Result<Self> {
        let (woken, waker) = UnixStream::pair().context("cannot create a descriptor")?;
        for signal in [SIGINT, SIGTERM] {
            let waker = waker.try_clone().context("cannot create a descriptor")?;
            signal_hook::low_level::pipe::register(signal, waker)
                .with_context(|| format!("cannot handle signal {signal}"))?;
        }
        Ok(Self { woken })
    }

    pub(super) fn until(&mut self, due: Instant, signals: &Signals) -> Result<()> {
        while !signals.stop_requested() {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.woken.set_read_timeout(Some(left)).context("no timer")?;
            match self.woken.read(&mut [0]) {
                Ok(_) => {}
                Err(error) if is_no_error(&error) => {}
                Err(error) => return Err(error).context("cannot wait for signals"),
            }
        }
        Ok(())
    }
}

/// The time is over, or a signal interrupted the wait.
fn is_no_error(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_interval_from_10_ms_to_an_hour() {
        assert_eq!(parse_interval("0.1"), Ok(Duration::from_millis(100)));
        assert_eq!(parse_interval("3600"), Ok(Duration::from_secs(3_600)));
        for text in ["0", "0.009", "3601", "-1", "nan", "inf", "", "1s"] {
            assert!(parse_interval(text).is_err(), "{text}");
        }
    }
}
