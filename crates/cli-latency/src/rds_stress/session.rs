//! The tasks of a session on one side.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use hairpin_cli_harness::output;
use hairpin_cli_harness::run_loop::RunLoop;
use hairpin_endpoint::rds::{RdsOptions, RdsSocket, RdsTransport};
use hairpin_host::Clock;
use hairpin_reactor::Wait;

use super::args::Parameters;
use super::statistics::{HEADINGS, Interval, TaskCounts, Totals};
use super::task::{Phase, StressTask};

/// The interval between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(1);
/// The peers of a socket: its counterpart, and strangers.
const PEERS: usize = 16;

/// Binds the sockets of all tasks: to consecutive ports from that of `first` on, or to free ports
/// if it is 0.
///
/// # Errors
/// Those of the carrier, with the address; ports beyond 65,535.
pub(super) fn bind(
    carrier: &RdsTransport,
    first: SocketAddr,
    parameters: &Parameters,
) -> Result<Vec<RdsSocket>> {
    let mut options = RdsOptions::default();
    let protocol = &mut options.protocol;
    let longest = parameters.request_size.max(parameters.ack_size);
    protocol.message_max = longest.max(protocol.packet_max);
    (protocol.peers, protocol.unconfirmed_peers, protocol.tracked_messages) = (PEERS, PEERS, 1);
    let now = Clock::new().instant();
    let open = |index: usize| {
        let mut address = first;
        if first.port() != 0 {
            let port = usize::from(first.port()) + index;
            address.set_port(u16::try_from(port).context("the ports of the tasks exceed 65535")?);
        }
        let mut socket = RdsSocket::new(now, options);
        socket.bind(now, carrier, address)?;
        Ok(socket)
    };
    (0..parameters.tasks).map(open).collect()
}

/// The running tasks, with the lines printed about them.
pub(super) struct Session {
    parameters: Parameters,
    counts: Arc<[TaskCounts]>,
    phase: Arc<Phase>,
    threads: Vec<JoinHandle<Result<()>>>,
    start: Instant,
    whole: Interval,
    /// The start of the next line; `None` after the last one.
    last_line: Option<Instant>,
    current: Interval,
}

impl Session {
    /// Starts a thread for each socket; `title` names the tasks in their live counters.
    ///
    /// # Errors
    /// Those of the kernel.
    pub(super) fn start(
        sockets: Vec<RdsSocket>,
        peers: &[SocketAddr],
        parameters: Parameters,
        wait: Wait,
        title: &str,
    ) -> Result<Self> {
        let counts: Arc<[TaskCounts]> = (0..sockets.len()).map(|_| TaskCounts::default()).collect();
        let phase = Arc::new(Phase::default());
        let mut threads = Vec::new();
        for (index, (socket, &peer)) in sockets.into_iter().zip(peers).enumerate() {
            let (counts, phase, title) =
                (Arc::clone(&counts), Arc::clone(&phase), title.to_owned());
            let run = move || {
                let task = (counts, index);
                let name = format!("task{index}");
                let mut task =
                    StressTask::new(socket, wait, peer, parameters, task, Arc::clone(&phase))?;
                let mut run_loop = RunLoop::default();
                run_loop.publish(&title, &name, &task);
                run_loop.run(&mut task, || phase.is_ended()).map(drop)
            };
            threads.push(thread::Builder::new().name(format!("task{index}")).spawn(run)?);
        }
        output::print(&format!("{HEADINGS}\n"))?;
        let now = Instant::now();
        let interval = Interval::new(Totals::of(&counts));
        Ok(Self {
            parameters,
            counts,
            phase,
            threads,
            start: now,
            whole: interval,
            last_line: Some(now),
            current: interval,
        })
    }

    /// Returns the sums over all tasks.
    pub(super) fn totals(&self) -> Totals {
        Totals::of(&self.counts)
    }

    /// Returns the time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Prints a line if a second has passed, until the average is printed.
    ///
    /// # Errors
    /// The error of a task that has failed; those of standard output.
    pub(super) fn poll(&mut self) -> Result<()> {
        if let Some(index) = self.threads.iter().position(JoinHandle::is_finished) {
            self.phase.end();
            return joined(self.threads.swap_remove(index));
        }
        let span = self.last_line.map_or(Duration::ZERO, |at| at.elapsed());
        if span >= LINE_INTERVAL {
            let totals = self.totals();
            output::print(&(self.current.line(&totals, span, &self.parameters) + "\n"))?;
            (self.last_line, self.current) = (Some(Instant::now()), Interval::new(totals));
        }
        Ok(())
    }

    /// Stops new requests.
    pub(super) fn drain(&self) {
        self.phase.drain();
    }

    /// Prints the line of the whole session.
    ///
    /// # Errors
    /// Those of standard output.
    pub(super) fn print_average(&mut self) -> Result<()> {
        self.last_line = None;
        let line = self.whole.line(&self.totals(), self.elapsed(), &self.parameters);
        Ok(output::print(&(line + "  (average)\n"))?)
    }

    /// Ends the tasks.
    ///
    /// # Errors
    /// The error of a task.
    pub(super) fn end(mut self) -> Result<()> {
        self.phase.end();
        std::mem::take(&mut self.threads).into_iter().try_for_each(joined)
    }
}

/// Ends the tasks: no thread outlives its session.
impl Drop for Session {
    fn drop(&mut self) {
        self.phase.end();
        for thread in std::mem::take(&mut self.threads) {
            let _ = thread.join();
        }
    }
}

fn joined(thread: JoinHandle<Result<()>>) -> Result<()> {
    thread.join().unwrap_or_else(|_| Err(anyhow!("a task has panicked")))
}
