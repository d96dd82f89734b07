//! One row: an exchange and a trader as two processes, started, watched and asked for the result.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::ground::{Ground, Role};
use crate::setup::{
    ExchangeOutcome, ExchangeSetup, Load, Page, Ready, TraderChildSetup, TraderOutcome,
};
use crate::signals::Signals;

/// How often the parent looks at progress and signals: seldom, because where there are two cores
/// it takes its time from one of the two processes it watches.
const LOOK: Duration = Duration::from_millis(100);
/// For the exchange to listen, and for either side to end after the last tick.
const PATIENCE: Duration = Duration::from_secs(20);

/// What one row gave.
pub(super) struct Outcome {
    pub(super) exchange: ExchangeOutcome,
    pub(super) trader: TraderOutcome,
}

/// The exchange did not get as far as listening: no row can run in these surroundings.
#[derive(Debug, thiserror::Error)]
#[error("the exchange cannot start")]
pub(super) struct NotReady;

/// Runs one row on `ground`. `progress` is told the number of ticks that have left so far.
///
/// # Errors
/// A child that cannot be started, that fails (with its own words), or that does not end.
pub(super) fn run(
    ground: &Ground,
    exchange: &ExchangeSetup,
    trader: impl FnOnce(Ready) -> TraderChildSetup,
    signals: &Signals,
    mut progress: impl FnMut(u64),
) -> Result<Outcome> {
    // A page each: between the two of them pass packets and nothing else.
    let (page, trader_page) = (Page::create()?, Page::create()?);
    let mut exchange_side = Side::start(ground, Role::Exchange, &page, exchange)?;
    let ready: Ready = exchange_side.line(PATIENCE).map_err(|error| error.context(NotReady))?;
    progress(0);
    let mut trader_side = Side::start(ground, Role::Trader, &trader_page, &trader(ready))?;

    let mut deadline = Instant::now() + length(&exchange.load) + PATIENCE;
    let mut asked = false;
    let outcome: ExchangeOutcome = loop {
        match exchange_side.poll_line(LOOK)? {
            Some(outcome) => break outcome,
            None => progress(page.ticks()),
        }
        if let Some(words) = trader_side.failed()? {
            bail!("trader: {words}");
        }
        if signals.asked_to_stop() && !asked {
            // The exchange alone: it lets the last orders come, then terminates the session.
            page.ask_to_stop();
            deadline = Instant::now() + PATIENCE;
            asked = true;
        }
        if Instant::now() > deadline {
            bail!("the exchange did not end the row in time");
        }
    };
    progress(page.ticks());
    trader_page.ask_to_stop();
    let trader: TraderOutcome = trader_side.line(PATIENCE)?;
    trader_side.end()?;
    exchange_side.end()?;
    Ok(Outcome { exchange: outcome, trader })
}

/// How long a row's ticks take if none waits.
fn length(load: &Load) -> Duration {
    let ticks = load.warm_up + load.samples;
    // Without a pause the exchange goes as fast as it can: a tick takes well under 100 us.
    Duration::from_micros(ticks.saturating_mul(load.interval_us.max(100)))
}

/// A child process, its set-up written, its lines read by a thread that sleeps in the kernel.
struct Side {
    name: &'static str,
    child: Child,
    lines: Receiver<String>,
    words: Receiver<String>,
}

impl Side {
    fn start(ground: &Ground, role: Role, page: &Page, setup: &impl Serialize) -> Result<Self> {
        let name = role.name();
        let program = std::env::current_exe().context("this program's own file is not known")?;
        let mut command = Command::new(program);
        command
            .arg(role.subcommand())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = ground
            .spawn(role, command, page.control())
            .with_context(|| format!("the {name} cannot be started"))?;
        let mut stdin = child.stdin.take().context("a child without standard input")?;
        // A child that has died already says why on standard error.
        let _ = stdin.write_all(&serde_json::to_vec(setup)?);
        drop(stdin);
        let lines = read_lines(child.stdout.take().context("a child without standard output")?);
        let words = read_lines(child.stderr.take().context("a child without standard error")?);
        Ok(Self { name, child, lines, words })
    }

    /// The next line, as JSON.
    fn line<T: DeserializeOwned>(&mut self, patience: Duration) -> Result<T> {
        self.poll_line(patience)?
            .ok_or_else(|| anyhow!("the {} says nothing; it has been ended", self.name))
    }

    /// The next line, as JSON, if it comes within `patience`.
    fn poll_line<T: DeserializeOwned>(&mut self, patience: Duration) -> Result<Option<T>> {
        match self.lines.recv_timeout(patience) {
            Ok(line) => serde_json::from_str(&line)
                .map(Some)
                .with_context(|| format!("the {} says what is not understood", self.name)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.complaint()),
        }
    }

    /// Its words, if the child has ended in an error.
    fn failed(&mut self) -> Result<Option<String>> {
        match self.child.try_wait()? {
            Some(status) if !status.success() => Ok(Some(self.last_words())),
            _ => Ok(None),
        }
    }

    /// Who ended, and its last words.
    fn complaint(&mut self) -> anyhow::Error {
        let words = self.last_words();
        anyhow!("{}: {words}", self.name)
    }

    /// What the child said on standard error, or how it ended if it said nothing.
    fn last_words(&mut self) -> String {
        let status = self.child.wait();
        let said: Vec<String> = self.words.iter().collect();
        match (said.last(), status) {
            (Some(words), _) => words.trim_start_matches("hairpin: ").to_owned(),
            (None, Ok(status)) => format!("ended without a word, {status}"),
            (None, Err(error)) => error.to_string(),
        }
    }

    /// Waits for the child to end by itself.
    fn end(mut self) -> Result<()> {
        if self.child.wait()?.success() { Ok(()) } else { Err(self.complaint()) }
    }
}

/// No child outlives its row, whatever ends it.
impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(from: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(from).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    receiver
}
