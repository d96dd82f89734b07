//! PostgreSQL with pgbench. The server forks for each connection.

use std::time::Duration;

use anyhow::{Context, Result};

use crate::interop::Side;
use crate::interop::case::{Case, Expected, Outcome, await_counters};
use crate::interop::trial::{Trial, number_after};

const PORT: u16 = 5_432;
const LIMIT: u64 = 120;
/// The server refuses to run as root.
const AS_USER: [&str; 5] =
    ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"];

pub(super) fn cases() -> Vec<Case> {
    let reason = "the server forks for each connection";
    vec![
        Case::new("PostgreSQL + pgbench", Expected::Kernel(reason), run)
            .flags(&["--user", "postgres"])
            .goal(0.95, false),
    ]
}

fn run(trial: &Trial) -> Result<Outcome> {
    let (data, address) = (trial.path("data"), trial.server());
    let programs = std::fs::read_dir("/usr/lib/postgresql")?.filter_map(Result::ok);
    let programs = programs.map(|entry| entry.path().join("bin")).max();
    let programs = programs.context("PostgreSQL is not installed")?;
    let program = |name: &str| programs.join(name).to_string_lossy().into_owned();
    let folder = trial.path("");
    trial.run_plain(Side::Server, &["chown", "postgres", &folder], LIMIT)?;
    let create = program("initdb");
    let create = [&AS_USER[..], &[&create, "-D", &data, "-A", "trust", "--no-sync"]].concat();
    trial.run_plain(Side::Server, &create, LIMIT)?;
    std::fs::write(format!("{data}/pg_hba.conf"), "host all all all trust\n")?;
    let listen = format!("listen_addresses={address}");
    let directory = format!("unix_socket_directories={folder}");
    let server = program("postgres");
    let server = [&server, "-D", &data, "-c", &listen, "-c", &directory, "-c", "fsync=off"];
    let server = trial.serve(&[&AS_USER[..], &server].concat(), PORT)?;
    let benchmark = program("pgbench");
    let to = ["-h", &address, "-U", "postgres", "postgres"];
    let fill = [&[benchmark.as_str(), "-i", "-q", "-s", "2"][..], &to].concat();
    trial.run(&fill, LIMIT)?;
    let load = [&[benchmark.as_str(), "-c", "4", "-j", "1", "-t", "1000"][..], &to].concat();
    let text = trial.run(&load, LIMIT)?;
    await_counters();
    let balances = "select (select sum(abalance) from pgbench_accounts) = \
                    (select sum(delta) from pgbench_history), count(*) from pgbench_history";
    let query = program("psql");
    let query = [&[query.as_str(), "-At", "-c", balances][..], &to].concat();
    let state = trial.run_plain(Side::Client, &query, LIMIT)?;
    server.stop("INT")?;
    std::thread::sleep(Duration::from_millis(100));
    let speed = number_after(&text, "tps =")?;
    Ok(Outcome::with_speed(format!("balances agree, rows: {}", state.trim()), speed, "tps"))
}
