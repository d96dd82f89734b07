//! The `jitter` command: the interruptions of cores, with what the kernel counts of their causes.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::{fmt, io};

use anyhow::{Context, Result, anyhow, bail};
use hairpin_cli_harness::output;
use hairpin_cli_harness::signals::Signals;
use hairpin_host::{
    CoreEvents, CoreWatch, displacements, format_cores, parse_cores, watch_this_core,
};
use hairpin_measure::{Histogram, Quantile, Style, TextTable, write_text};
use hairpin_time::Duration;
use serde::Serialize;

/// The most causes of a core in the text; the document has all.
const CAUSES: usize = 8;
/// The width of the longest bar.
const BAR: u64 = 40;

/// Measure the interruptions of cores, and name their causes
///
/// A thread on each core reads the clock without a pause. Between two readings that are further
/// apart than the threshold, something else had the core: an interrupt, the kernel, another
/// program, or the hypervisor. Prints how often that happened, for how long, a histogram, and what
/// the kernel counted on the core meanwhile: interrupts, softirqs, other threads, stolen time. The
/// counts do not tell which of them caused which interruption. A core that trades should have none
/// above a few microseconds. It needs no privileges.
#[derive(clap::Args, Debug, Clone)]
pub struct JitterArgs {
    /// Cores, such as 2,4-7 [default: all that this process may use]
    #[arg(long, value_name = "LIST", value_parser = cores)]
    cpus: Option<Cores>,

    /// Duration in seconds
    #[arg(long = "for", value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    duration: Duration,

    /// Shortest interruption that counts, in nanoseconds
    #[arg(long, value_name = "NS", default_value_t = 1_000,
          value_parser = clap::value_parser!(u64).range(100..=1_000_000_000))]
    threshold: u64,

    /// Write the measurement to FILE as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Cores in ascending order, each once.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cores(Vec<usize>);

fn cores(text: &str) -> Result<Cores, String> {
    let is_core = |text: &str| text.trim().parse::<usize>().is_ok_and(|core| core < 65_536);
    let is_valid = text.split(',').all(|part| match part.split_once('-') {
        Some((first, last)) => is_core(first) && is_core(last),
        None => is_core(part),
    });
    let mut all = if is_valid { parse_cores(text) } else { Vec::new() };
    all.sort_unstable();
    all.dedup();
    if all.is_empty() { Err("expected a list such as 2,4-7".to_owned()) } else { Ok(Cores(all)) }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds".to_owned())?;
    if !(0.01..=86_400.0).contains(&seconds) {
        return Err("expected 0.01 to 86400 seconds".to_owned());
    }
    Ok(Duration::from_nanos((seconds * 1e9) as u64))
}

/// The measurement of a core.
#[derive(Debug)]
struct Measured {
    watch: CoreWatch,
    pauses: Histogram,
    events: CoreEvents,
    /// How often another thread took the core, and how long this one waited for it.
    displaced: (u64, Duration),
}

/// Measures and prints. A signal ends the measurement early, and it is printed.
///
/// # Errors
/// A core that this process may not use; `/proc` cannot be read; a file that cannot be written.
pub fn run(arguments: &JitterArgs) -> Result<ExitCode> {
    let allowed = hairpin_host::allowed_cores()?;
    let cores = arguments.cpus.as_ref().map_or(&allowed, |cores| &cores.0);
    if let Some(core) = cores.iter().find(|core| !allowed.contains(core)) {
        bail!("cannot pin to core {core}: allowed cores are {}", format_cores(&allowed));
    }
    let signals = Signals::take()?;
    let measured = measure(cores, arguments, &signals)?;
    let style = Style::for_stdout();
    let head = format!(
        "interruptions of {} ns or more, in µs; share: of the time that the core was watched\n",
        arguments.threshold
    );
    let details: Vec<String> = measured.iter().map(Measured::details).collect();
    output::print(&format!("{head}{}{}", table(&measured, style), details.concat()))?;
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&document(arguments, &measured))? + "\n";
        let written = write_text(path, &text);
        written.with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(signals.exit_status().unwrap_or(ExitCode::SUCCESS))
}

/// Watches all cores at once. This thread sleeps meanwhile: it may run on one of them.
fn measure(cores: &[usize], arguments: &JitterArgs, signals: &Signals) -> Result<Vec<Measured>> {
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let watchers: Result<Vec<_>> =
            cores.iter().map(|&core| start(scope, core, arguments, signals, &stop)).collect();
        let watchers = watchers.inspect_err(|_| stop.store(true, Ordering::Relaxed))?;
        let join = |watcher: ScopedJoinHandle<'_, io::Result<Measured>>| {
            watcher.join().map_err(|_| anyhow!("a watching thread panicked"))
        };
        let measured: Result<Vec<_>> = watchers.into_iter().map(join).collect();
        measured?.into_iter().map(|it| it.map_err(Into::into)).collect()
    })
}

/// Starts to watch a core. One that cannot be watched ends all others.
fn start<'scope, 'a: 'scope>(
    scope: &'scope Scope<'scope, '_>,
    core: usize,
    arguments: &'a JitterArgs,
    signals: &'a Signals,
    stop: &'a AtomicBool,
) -> Result<ScopedJoinHandle<'scope, io::Result<Measured>>> {
    let watch = move || {
        let is_over = || stop.load(Ordering::Relaxed) || signals.stop_requested();
        let watched = watch(core, arguments, is_over);
        if watched.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        watched
    };
    let name = format!("jitter-{core}");
    Ok(std::thread::Builder::new().name(name).spawn_scoped(scope, watch)?)
}

fn watch(core: usize, arguments: &JitterArgs, is_over: impl Fn() -> bool) -> io::Result<Measured> {
    let threshold = Duration::from_nanos(arguments.threshold.saturating_sub(1));
    let mut pauses = Histogram::new();
    // On the core already, so that the move to it is not counted.
    watch_this_core(core, Duration::ZERO, threshold, &is_over, |_| {})?;
    let (before, displaced) = (CoreEvents::read(core)?, displacements()?);
    let record = |pause: Duration| pauses.record(pause.as_nanos());
    let watch = watch_this_core(core, arguments.duration, threshold, &is_over, record)?;
    let (times, waited) = displacements()?;
    let displaced = (times - displaced.0, waited.saturating_sub(displaced.1));
    let events = CoreEvents::read(core)?.since(&before);
    Ok(Measured { watch, pauses, events, displaced })
}

fn micros(nanos: u64) -> String {
    format!("{:.2}", nanos as f64 / 1e3)
}

fn table(measured: &[Measured], style: Style) -> String {
    let mut table = TextTable::default();
    for (heading, rank) in [
        ("core", 0),
        ("seconds", 4),
        ("interruptions", 0),
        ("per second", 3),
        ("share %", 1),
        ("p50", 3),
        ("p99", 2),
        ("max", 0),
    ] {
        table.add_figures(heading, rank);
    }
    for it in measured {
        let CoreWatch { core, watched, interruptions, interrupted, longest } = it.watch;
        let seconds = (watched.as_nanos() as f64 / 1e9).max(1e-9);
        let at = |quantile| it.pauses.at(quantile).map_or("-".to_owned(), micros);
        table.add_row([
            core.to_string(),
            format!("{seconds:.1}"),
            interruptions.to_string(),
            format!("{:.1}", interruptions as f64 / seconds),
            format!("{:.3}", interrupted.as_nanos() as f64 / 1e7 / seconds),
            at(Quantile::P50),
            at(Quantile::P99),
            micros(longest.as_nanos()),
        ]);
    }
    table.render(style)
}

/// The interruptions from a power of two of microseconds up to the next.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Bucket {
    from_us: u64,
    to_us: u64,
    count: u64,
}

impl Measured {
    /// Returns the histogram by powers of two, from the first bucket to the last that has any.
    fn buckets(&self) -> Vec<Bucket> {
        let mut buckets: Vec<Bucket> = Vec::new();
        for part in self.pauses.iter() {
            let micros = part.least / 1_000;
            let to_us = (micros + 1).next_power_of_two();
            let from_us = if to_us == 1 { 0 } else { to_us / 2 };
            while buckets.last().is_some_and(|last| last.to_us < from_us) {
                let from_us = buckets.last().map_or(0, |last| last.to_us);
                buckets.push(Bucket { from_us, to_us: from_us * 2, count: 0 });
            }
            match buckets.last_mut() {
                Some(last) if last.to_us == to_us => last.count += part.count,
                _ => buckets.push(Bucket { from_us, to_us, count: part.count }),
            }
        }
        buckets
    }

    /// Describes the histogram and the causes.
    fn details(&self) -> String {
        let buckets = self.buckets();
        let most = buckets.iter().map(|it| it.count).max().unwrap_or(1).max(1);
        let widest = buckets.last().map_or(1, |it| it.to_us.to_string().len());
        let mut text = format!("\ncore {}\n", self.watch.core);
        for Bucket { from_us, to_us, count } in &buckets {
            let bar = "#".repeat((count * BAR).div_ceil(most) as usize);
            let line = format!("  {from_us:>widest$} to {to_us:>widest$} µs {count:>9}  {bar}");
            text += line.trim_end();
            text.push('\n');
        }
        let (times, waited) = self.displaced;
        text += &format!(
            "  counted meanwhile: other threads took the core {times} times, for {} ms{}\n",
            waited.as_millis(),
            Stolen(self.events.stolen)
        );
        for event in self.events.events.iter().take(CAUSES) {
            let line = format!(
                "  {:>11}  {} {} {}",
                event.count, event.kind, event.name, event.description
            );
            text += line.trim_end();
            text.push('\n');
        }
        let rest = self.events.events.len().saturating_sub(CAUSES);
        if rest > 0 {
            text += &format!("  and {rest} rarer kinds (--json has all)\n");
        }
        text
    }
}

/// The end of a line about stolen time.
struct Stolen(Option<Duration>);

impl fmt::Display for Stolen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(stolen) => write!(f, "; the hypervisor, {} ms", stolen.as_millis()),
            None => f.write_str("; stolen time is not counted"),
        }
    }
}

/// The document that `--json` writes.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    threshold_ns: u64,
    cores: Vec<CoreDocument>,
}

#[derive(Serialize)]
struct CoreDocument {
    core: usize,
    watched_ns: u64,
    interruptions: u64,
    interrupted_ns: u64,
    longest_ns: u64,
    histogram: Vec<Bucket>,
    displaced: u64,
    waited_ns: u64,
    stolen_ns: Option<u64>,
    events: Vec<EventDocument>,
}

#[derive(Serialize)]
struct EventDocument {
    kind: &'static str,
    name: String,
    description: String,
    count: u64,
}

fn document(arguments: &JitterArgs, measured: &[Measured]) -> Document {
    let core = |it: &Measured| CoreDocument {
        core: it.watch.core,
        watched_ns: it.watch.watched.as_nanos(),
        interruptions: it.watch.interruptions,
        interrupted_ns: it.watch.interrupted.as_nanos(),
        longest_ns: it.watch.longest.as_nanos(),
        histogram: it.buckets(),
        displaced: it.displaced.0,
        waited_ns: it.displaced.1.as_nanos(),
        stolen_ns: it.events.stolen.map(Duration::as_nanos),
        events: it
            .events
            .events
            .iter()
            .map(|event| EventDocument {
                kind: event.kind,
                name: event.name.clone(),
                description: event.description.clone(),
                count: event.count,
            })
            .collect(),
    };
    let cores = measured.iter().map(core).collect();
    Document { schema: "hairpin.jitter/1", threshold_ns: arguments.threshold, cores }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_ascending_and_complete() {
        assert_eq!(cores("4-6,2,5"), Ok(Cores(vec![2, 4, 5, 6])));
        for wrong in ["", "a", "1,", "1-", "-1", "3-2", "1 2", "99999"] {
            assert!(cores(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn durations_are_seconds_within_a_day() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(["0", "-1", "nan", "1e9", "x"].iter().all(|wrong| seconds(wrong).is_err()));
    }

    fn measured(pauses: &[u64]) -> Measured {
        let mut histogram = Histogram::new();
        pauses.iter().for_each(|pause| histogram.record(*pause));
        let watch = CoreWatch {
            core: 3,
            watched: Duration::from_millis(2_000),
            interruptions: pauses.len() as u64,
            interrupted: Duration::from_nanos(pauses.iter().sum()),
            longest: Duration::from_nanos(pauses.iter().copied().max().unwrap_or(0)),
        };
        let events = CoreEvents { events: Vec::new(), stolen: Some(Duration::from_millis(10)) };
        Measured { watch, pauses: histogram, events, displaced: (2, Duration::from_millis(7)) }
    }

    #[test]
    fn buckets_are_powers_of_two_without_holes() {
        let buckets = measured(&[500, 1_000, 1_999, 2_000, 9_000]).buckets();
        let shown: Vec<_> = buckets.iter().map(|it| (it.from_us, it.to_us, it.count)).collect();
        assert_eq!(shown, [(0, 1, 1), (1, 2, 2), (2, 4, 1), (4, 8, 0), (8, 16, 1)]);
        assert_eq!(measured(&[]).buckets(), []);
    }

    #[test]
    fn text_has_rates_and_causes() {
        let one = measured(&[1_000, 3_000]);
        let table = table(std::slice::from_ref(&one), Style::Plain);
        let words: Vec<&str> = table.lines().nth(1).unwrap().split_whitespace().collect();
        assert_eq!(words, ["3", "2.0", "2", "1.0", "0.000", "-", "-", "3.00"], "{table}");
        let details = one.details();
        for expected in [
            "core 3\n  1 to 2 µs         1  ########################################\n",
            "other threads took the core 2 times, for 7 ms; the hypervisor, 10 ms\n",
        ] {
            assert!(details.contains(expected), "{details}");
        }
    }
}
