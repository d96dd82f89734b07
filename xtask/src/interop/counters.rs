//! The counters of accelerated programs, as `hairpin stat` prints them.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use anyhow::{Context, Result};
use hairpin_testbed::Host;
use serde::Deserialize;

use super::Side;

/// The seconds between two snapshots. A program that ends loses what it counted since the last.
const INTERVAL: &str = "0.2";

/// One line of `hairpin stat --format json`; see docs/guide/live-counters.md.
#[derive(Deserialize)]
struct Document {
    processes: Vec<Page>,
}

#[derive(Deserialize)]
struct Page {
    pid: u32,
    page: String,
    values: Vec<Value>,
}

#[derive(Deserialize)]
struct Value {
    name: String,
    value: u64,
}

type Values = HashMap<String, u64>;

/// The last values of each process, by side.
#[derive(Default)]
struct Seen {
    pages: HashMap<(u32, String), (Side, Values)>,
}

/// Follows the counters of all accelerated programs on two hosts while it exists.
pub(super) struct CounterLog {
    stat: Child,
    reader: Option<JoinHandle<()>>,
    seen: Arc<Mutex<Seen>>,
}

impl CounterLog {
    /// Starts `hairpin stat`.
    pub(super) fn start(hairpin: &Path, hosts: &[Host; 2]) -> Result<Self> {
        let mut stat = Command::new(hairpin);
        stat.args(["stat", "--watch", INTERVAL, "--format", "json"]);
        stat.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut stat = stat.spawn().context("cannot start hairpin stat")?;
        let output = stat.stdout.take().context("no output of hairpin stat")?;
        let seen = Arc::new(Mutex::new(Seen::default()));
        let namespaces = [namespace(&hosts[0])?, namespace(&hosts[1])?];
        let to = Arc::clone(&seen);
        let reader = std::thread::spawn(move || read(output, &namespaces, &to));
        Ok(Self { stat, reader: Some(reader), seen })
    }

    /// Ends, and returns the sums of each side: server, client.
    pub(super) fn finish(mut self) -> [Sums; 2] {
        self.end();
        let seen = lock(&self.seen);
        let mut sums = [Sums::default(), Sums::default()];
        for (side, values) in seen.pages.values() {
            let sum = &mut sums[*side as usize];
            for (name, value) in values {
                *sum.values.entry(name.clone()).or_default() += value;
            }
        }
        sums
    }

    fn end(&mut self) {
        let _ = self.stat.kill();
        let _ = self.stat.wait();
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
    }
}

impl Drop for CounterLog {
    fn drop(&mut self) {
        self.end();
    }
}

/// The counters of all processes of a side.
#[derive(Debug, Default, Clone)]
pub(super) struct Sums {
    values: Values,
}

impl Sums {
    /// Returns a counter.
    pub(super) fn get(&self, name: &str) -> u64 {
        self.values.get(name).copied().unwrap_or(0)
    }

    /// Returns the share of what bypassed the kernel, in percent, and the number of bytes or
    /// datagrams; `None` without any.
    pub(super) fn bypass_share(&self, path: &str, unit: &str) -> Option<(f64, u64)> {
        let sum = |kind: &str| {
            let of = |direction| self.get(&format!("{path}.{direction}_{kind}{unit}"));
            of("received") + of("sent")
        };
        let (bypass, kernel) = (sum("bypass"), sum("kernel"));
        let total = bypass + kernel;
        (total > 0).then(|| (100.0 * bypass as f64 / total as f64, total))
    }

    /// Returns `true` if connections were left to the kernel for good, which does not count their
    /// bytes from then on.
    pub(super) fn has_given_up(&self) -> bool {
        ["fork", "exec", "passed", "duplicated", "stdio"]
            .iter()
            .any(|cause| self.get(&format!("handbacks.{cause}")) > 0)
    }

    /// Returns the causes of handbacks and their numbers, the most frequent first.
    pub(super) fn handbacks(&self) -> String {
        let named = self.values.iter().filter_map(|(name, value)| {
            let cause = name.strip_prefix("handbacks.")?;
            (*value > 0).then_some((*value, cause))
        });
        let mut named: Vec<_> = named.collect();
        named.sort_unstable_by(|one, other| other.cmp(one));
        let named: Vec<_> = named.iter().map(|(value, cause)| format!("{cause} {value}")).collect();
        named.join(", ")
    }
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

fn namespace(host: &Host) -> Result<PathBuf> {
    let link = host.run(|| std::fs::read_link("/proc/thread-self/ns/net"))??;
    Ok(link)
}

fn read(output: ChildStdout, namespaces: &[PathBuf; 2], to: &Mutex<Seen>) {
    for line in BufReader::new(output).lines() {
        let Ok(line) = line else { return };
        let Ok(document) = serde_json::from_str::<Document>(&line) else { continue };
        let mut seen = lock(to);
        for page in document.processes {
            let key = (page.pid, page.page);
            let known = seen.pages.get(&key).map(|(side, _)| *side);
            let Some(side) = known.or_else(|| side_of(page.pid, namespaces)) else { continue };
            let values = page.values.into_iter().map(|it| (it.name, it.value)).collect();
            seen.pages.insert(key, (side, values));
        }
    }
}

/// Returns the host on which a process runs.
fn side_of(process: u32, namespaces: &[PathBuf; 2]) -> Option<Side> {
    let own = std::fs::read_link(format!("/proc/{process}/ns/net")).ok()?;
    match namespaces.iter().position(|namespace| *namespace == own)? {
        0 => Some(Side::Server),
        _ => Some(Side::Client),
    }
}
