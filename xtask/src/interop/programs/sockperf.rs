//! sockperf, over UDP and TCP, with each of its waits.

use anyhow::{Context, Result, ensure};

use crate::interop::case::{Case, Expected, Outcome, await_counters};
use crate::interop::trial::{Trial, number_after};

const SECONDS: &str = "2";
/// So long that what is sent until the takeover is less than 1 %.
const LONG: &str = "20";
const LIMIT: u64 = 60;
const PORT: u16 = 11_111;
/// A group of the range for private use (RFC 2365).
const GROUP: &str = "239.192.7.1";

/// The tests of sockperf that this module runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    PingPong,
    UnderLoad,
    Throughput,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::PingPong => "ping-pong",
            Self::UnderLoad => "under-load",
            Self::Throughput => "throughput",
        }
    }

    /// The rate: without a limit, or one that kernel sockets sustain on a busy machine.
    fn rate(self) -> &'static str {
        if self == Self::PingPong { "--mps=3000000" } else { "--mps=2000" }
    }
}

pub(super) fn udp() -> Vec<Case> {
    let mut cases = Vec::new();
    for queues in [1, 2] {
        for kind in [Kind::PingPong, Kind::UnderLoad, Kind::Throughput] {
            for wait in ["recvfrom", "select", "poll", "epoll"] {
                let queued = if queues == 1 { "1 queue" } else { "2 queues" };
                let name = format!("sockperf {} -F {wait}, {queued}", kind.name());
                let run = move |trial: &Trial| run(trial, kind, wait, "U", None);
                cases.push(Case::new(name, Expected::Datagrams, run).queues(queues));
            }
        }
    }
    for wait in ["recvfrom", "epoll"] {
        let name = format!("sockperf multicast -F {wait}");
        let run = move |trial: &Trial| run(trial, Kind::PingPong, wait, "U", Some(GROUP));
        cases.push(Case::new(name, Expected::Datagrams, run));
    }
    cases
}

pub(super) fn tcp() -> Vec<Case> {
    let mut cases = Vec::new();
    for kind in [Kind::PingPong, Kind::UnderLoad] {
        for wait in ["recvfrom", "select", "poll", "epoll"] {
            let name = format!("sockperf --tcp {} -F {wait}", kind.name());
            let run = move |trial: &Trial| run(trial, kind, wait, "T", None);
            cases.push(Case::new(name, Expected::Bytes, run));
        }
    }
    cases
}

/// Runs one test over two sockets, because sockperf waits by select(2), poll(2) or epoll(7) only
/// if it has several. With recvfrom(2), which blocks, a stream and a load have one socket.
fn run(
    trial: &Trial,
    kind: Kind,
    wait: &str,
    protocol: &str,
    group: Option<&str>,
) -> Result<Outcome> {
    let own = trial.server();
    let address = group.unwrap_or(&own);
    let blocks = wait == "recvfrom" && (protocol == "T" || kind == Kind::UnderLoad);
    let sockets = if blocks { 1 } else { 2 };
    let is_loaded_stream = kind == Kind::UnderLoad && protocol == "T";
    let lines: String =
        (0..sockets).map(|at| format!("{protocol}:{address}:{}\n", PORT + at)).collect();
    let feed = trial.write("feed", lines)?;
    let common = ["-f", &feed, "-F", wait];
    let interface = own.as_str();
    let mut server = vec!["sockperf", "server"];
    server.extend(common);
    let client_address = trial.address(crate::interop::Side::Client).to_string();
    let mut client = vec!["sockperf", kind.name()];
    client.extend(common);
    let seconds = if is_loaded_stream { LONG } else { SECONDS };
    client.extend(["-m", "64", "-t", seconds, kind.rate()]);
    if is_loaded_stream {
        // By default the server answers every hundredth message: all answers through one of the
        // two connections. A connection of one direction is not taken over.
        client.push("--reply-every=3");
    }
    if group.is_some() {
        server.extend(["--mc-rx-if", interface, "--mc-tx-if", interface]);
        client.extend(["--mc-rx-if", &client_address, "--mc-tx-if", &client_address]);
    }
    let server = if protocol == "T" {
        trial.serve(&server, PORT)?
    } else {
        trial.serve_udp(&server, PORT)?
    };
    let text = trial.run(&client, LIMIT)?;
    await_counters();
    server.stop("INT")?;
    let mut outcome = read(&text, kind)?;
    if is_loaded_stream && sockets > 1 {
        // Answers of two connections have no common order.
        let order = outcome.result.find(";  out-of-order").context("no counts")?;
        outcome.result.truncate(order);
    }
    Ok(outcome)
}

fn read(text: &str, kind: Kind) -> Result<Outcome> {
    if kind == Kind::Throughput {
        let rate = number_after(text, "Message Rate is")?;
        ensure!(rate > 0.0, "no messages: {text}");
        return Ok(Outcome::with_speed("sent", rate, "messages/s"));
    }
    let counts = text.lines().find_map(|line| line.split_once("# dropped"));
    let (_, counts) = counts.with_context(|| format!("no counts in {text}"))?;
    let result = format!("dropped{}", counts.replace('#', ""));
    if kind == Kind::UnderLoad {
        return Ok(Outcome::new(result));
    }
    let received = number_after(text, "ReceivedMessages=")?;
    let seconds = number_after(text, "RunTime=")?;
    Ok(Outcome::with_speed(result, received / seconds, "messages/s"))
}
