//! redis-server with redis-benchmark, with snapshots meanwhile.

use anyhow::{Context, Result, ensure};

use crate::interop::Side;
use crate::interop::case::{Case, Expected, Outcome, await_counters};
use crate::interop::trial::Trial;

const PORT: u16 = 6_379;
const LIMIT: u64 = 120;

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for clients in ["1", "50"] {
        for test in ["get", "set"] {
            let name = format!("redis-benchmark {test}, {clients} connections");
            let run = move |trial: &Trial| run(trial, test, clients, false);
            let case = Case::new(name, Expected::Bytes, run);
            cases.push(match (test, clients) {
                ("get", "1") => case.goal(1.5, false),
                ("get", _) => case.goal(1.3, false),
                _ => case.goal(0.95, false),
            });
        }
    }
    let snapshots = |trial: &Trial| run(trial, "set", "50", true);
    cases.push(
        Case::new("redis BGSAVE under load, --fork parent", Expected::Bytes, snapshots)
            .flags(&["--fork", "parent"]),
    );
    let reason = "the fork of BGSAVE returns all connections to the kernel";
    cases.push(Case::new("redis BGSAVE under load", Expected::Kernel(reason), snapshots));
    cases
}

fn run(trial: &Trial, test: &str, clients: &str, saves: bool) -> Result<Outcome> {
    let (address, folder) = (trial.server(), trial.path(""));
    let server = [
        "redis-server",
        "--bind",
        &address,
        "--protected-mode",
        "no",
        "--save",
        "",
        "--dir",
        &folder,
        "--port",
        "6379",
        "--enable-debug-command",
        "yes",
    ];
    let server = trial.serve(&server, PORT)?;
    let command = |words: &[&str]| {
        let cli = [&["redis-cli", "-h", address.as_str()][..], words].concat();
        trial.run_plain(Side::Client, &cli, LIMIT).map(|text| text.trim().to_owned())
    };
    // A known value for each key, so that the data are the same after any number of writes.
    // So many requests that the client publishes its counters, which it does once a second.
    let requests = if clients == "1" { "400000" } else { "1000000" };
    let benchmark = [
        "redis-benchmark",
        "-h",
        &address,
        "-t",
        test,
        "-c",
        clients,
        "-n",
        requests,
        "-r",
        "1000",
        "-d",
        "100",
        "--csv",
    ];
    let mut client = trial.start(Side::Client, &benchmark)?;
    let mut saved = 0;
    while saves && client.is_running() {
        if command(&["BGSAVE"])?.contains("Background saving started") {
            saved += 1;
        }
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    ensure!(!saves || saved > 2, "only {saved} snapshots began");
    let text = client.wait(std::time::Duration::from_secs(LIMIT))?.out;
    await_counters();
    let rate = text.lines().last().and_then(|line| line.split('"').nth(3));
    let rate =
        rate.and_then(|rate| rate.parse().ok()).with_context(|| format!("no rate: {text}"))?;
    let state = state(&command, saves)?;
    server.stop("TERM")?;
    Ok(Outcome::with_speed(state, rate, "requests/s"))
}

/// Returns what the server stores, and the state of the last snapshot.
fn state(command: &dyn Fn(&[&str]) -> Result<String>, saves: bool) -> Result<String> {
    let digest = command(&["--raw", "DEBUG", "DIGEST"])?;
    if !saves {
        return Ok(format!("digest {digest}"));
    }
    command(&["DEBUG", "RELOAD"])?;
    let info = command(&["INFO", "persistence"])?;
    let status = info.lines().find(|line| line.starts_with("rdb_last_bgsave_status"));
    let status = status.with_context(|| format!("no status: {info}"))?.trim();
    let reloaded = command(&["--raw", "DEBUG", "DIGEST"])?;
    Ok(format!("digest {digest}, from the file {reloaded}, {status}"))
}
