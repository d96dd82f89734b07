//! The protocol between a command and the processes that it starts.
//!
//! A child reads its setup as one JSON document from standard input and prints lines of JSON on
//! standard output; its errors are lines on standard error. Both share a page of counters, by which
//! the parent starts and stops the child and reads its progress.

use std::fs::OpenOptions;
use std::io::{self, Write};

use anyhow::{Context, Result};
use hairpin_mapped::{SharedCounterPage, Slot};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The counter by which the parent requests a stop: nonzero.
const STOP: &str = "stop";
/// The counter of ticks sent, for the parent's progress bar.
const TICKS: &str = "ticks";
/// The counter by which the parent starts a child that waits for its peer: nonzero.
const BEGIN: &str = "begin";

/// The counter page that the parent shares with one child.
pub struct ChildPage {
    control: SharedCounterPage,
    stop: Slot,
    ticks: Slot,
    begin: Slot,
}

impl ChildPage {
    /// Creates a page in the parent.
    pub fn create() -> Result<Self> {
        Self::new(SharedCounterPage::create(&[STOP, TICKS, BEGIN])?)
    }

    /// Opens the page that the parent passed as descriptor `number`.
    fn inherited(number: u32) -> Result<Self> {
        let path = format!("/proc/self/fd/{number}");
        let file = OpenOptions::new().read(true).write(true).open(path);
        let file = file.context("this subcommand is started by `hairpin` itself only")?;
        Self::new(SharedCounterPage::open(file.into())?)
    }

    fn new(control: SharedCounterPage) -> Result<Self> {
        let slot = |name| control.slot(name).context("not a page of counters of this program");
        let (stop, ticks, begin) = (slot(STOP)?, slot(TICKS)?, slot(BEGIN)?);
        Ok(Self { control, stop, ticks, begin })
    }

    /// Returns the shared page, which a child inherits.
    pub(crate) fn control(&self) -> &SharedCounterPage {
        &self.control
    }

    /// Requests the child to stop.
    pub fn request_stop(&self) {
        self.control.store(self.stop, 1);
    }

    /// Returns `true` if the parent has requested a stop.
    pub fn stop_requested(&self) -> bool {
        self.control.load(self.stop) != 0
    }

    /// Starts a child that waits for its peer.
    pub fn allow_start(&self) {
        self.control.store(self.begin, 1);
    }

    /// Returns `true` if the peer is ready.
    pub fn start_allowed(&self) -> bool {
        self.control.load(self.begin) != 0
    }

    /// Publishes the number of ticks sent.
    pub fn set_ticks(&self, ticks: u64) {
        self.control.store(self.ticks, ticks);
    }

    /// Returns the number of ticks sent.
    pub fn ticks(&self) -> u64 {
        self.control.load(self.ticks)
    }
}

/// The arguments of a child process.
#[derive(clap::Args, Debug)]
pub struct ChildArgs {
    /// The descriptor of the counter page shared with the parent
    #[arg(long, value_name = "FD")]
    control: u32,
}

impl ChildArgs {
    /// Reads the setup from standard input and opens the shared page.
    ///
    /// # Errors
    /// Either was not passed by a parent of this version.
    pub fn receive<T: DeserializeOwned>(&self) -> Result<(T, ChildPage)> {
        let page = ChildPage::inherited(self.control)?;
        let setup = serde_json::from_reader(io::stdin().lock());
        Ok((setup.context("this subcommand is started by `hairpin` itself only")?, page))
    }
}

/// Prints one line of JSON for the parent.
pub fn print_line(line: &impl Serialize) -> Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, line)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}
