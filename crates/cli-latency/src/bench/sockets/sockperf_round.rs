//! A round of sockperf.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use hairpin_cli_harness::host_pair::Role;
use hairpin_cli_harness::preload::accelerated;
use hairpin_cli_harness::sockperf::{self, PingPong, Server};
use hairpin_measure::Recorder;
use hairpin_reactor::Wait;
use hairpin_time::Duration;

use super::Counts;
use super::sockets_case::{Protocol, SocketsCase};
use crate::bench::bench_context::BenchContext;

/// Runs a server and a client, each accelerated or not, and returns the client's round trips.
///
/// # Errors
/// Those of either program; a log that cannot be read or parsed.
pub(super) fn round(
    context: &BenchContext<'_>,
    case: &SocketsCase,
    sides: [bool; 2],
) -> Result<(Recorder, Counts)> {
    let log = RoundLog::new()?;
    let ping_pong = PingPong {
        address: context.hosts.address(Role::Pong),
        size: case.size,
        is_tcp: case.protocol == Protocol::Tcp,
        is_nonblocked: case.wait == Wait::Spin,
        seconds: case.seconds,
    };
    let mut client = ping_pong.client();
    client.extend(["--full-log".to_owned(), log.0.display().to_string()]);
    let command = |role, core, words: &[String], is_accelerated| {
        let pinned = sockperf::pinned(core, words);
        match is_accelerated {
            true => accelerated(&pinned, context.hosts.interface(role), &[]),
            false => Ok(pinned),
        }
    };
    let server = command(Role::Pong, context.cores.exchange, &ping_pong.server(), sides[0])?;
    let client = command(Role::Ping, context.cores.trader, &client, sides[1])?;
    let _server = Server::start(context.hosts, server)?;
    let output = sockperf::output(context.hosts, client)?;
    Ok((log.round_trips()?, counts(&output).context("no counts in sockperf's output")?))
}

/// The client's log, a file with a line for each round trip in a temporary folder of this user: in
/// a shared folder, sockperf would follow another user's link.
struct RoundLog(PathBuf);

impl RoundLog {
    fn new() -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("hairpin-sockperf-{}", std::process::id()));
        let created = DirBuilder::new().mode(0o700).create(&folder);
        created.with_context(|| format!("cannot create {}", folder.display()))?;
        Ok(Self(folder.join("round.log")))
    }

    fn round_trips(&self) -> Result<Recorder> {
        let text = std::fs::read_to_string(&self.0)
            .with_context(|| format!("cannot read {}", self.0.display()))?;
        round_trips(&text).with_context(|| format!("cannot parse {}", self.0.display()))
    }
}

impl Drop for RoundLog {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
        let _ = self.0.parent().map(std::fs::remove_dir);
    }
}

/// Returns the round trips of a log: lines of number, send time and receive time in seconds with
/// nine decimals.
fn round_trips(log: &str) -> Result<Recorder> {
    let heading = log.find("packet, txTime(sec)").context("the heading is missing")?;
    let lines = log[heading..].lines().skip(1).take_while(|line| !line.starts_with('-'));
    let samples = lines.map(|line| {
        let mut fields = line.split(", ").skip(1);
        let [sent, received] = [nanos(fields.next()), nanos(fields.next())];
        sent.zip(received)
            .and_then(|(sent, received)| received.checked_sub(sent))
            .with_context(|| format!("invalid line {line:?}"))
    });
    let samples: Vec<u64> = samples.collect::<Result<_>>()?;
    if samples.is_empty() {
        bail!("there are no round trips");
    }
    let mut recorder = Recorder::with_capacity(samples.len());
    samples.into_iter().for_each(|nanos| recorder.record(Duration::from_nanos(nanos)));
    Ok(recorder)
}

/// Parses seconds with nine decimals.
fn nanos(field: Option<&str>) -> Option<u64> {
    let (seconds, decimals) = field?.trim().split_once('.')?;
    if decimals.len() != 9 {
        return None;
    }
    seconds.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(decimals.parse().ok()?)
}

/// Returns the counts that sockperf's client prints.
fn counts(output: &str) -> Option<Counts> {
    let line = output.lines().find(|line| line.contains("# dropped messages = "))?;
    let mut numbers = line.split("= ").skip(1).map(|part| {
        let digits: String = part.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    });
    let mut next = || numbers.next().flatten();
    Some(Counts { dropped: next()?, duplicated: next()?, out_of_order: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "sockperf: ---> <MIN> observation =    8.547\n\
        ------------------------------\n\
        packet, txTime(sec), rxTime(sec), latency(usec)\n\
        0, 2.481159162, 2.481211080, 25.959\n\
        1, 2.999999990, 3.000000010, 0.010\n\
        ------------------------------\n";

    #[test]
    fn reads_round_trips_from_the_times_of_a_log() {
        assert_eq!(round_trips(LOG).unwrap().samples(), [51_918, 20]);
    }

    #[test]
    fn rejects_a_log_without_round_trips_or_with_invalid_lines() {
        let heading = &LOG[..LOG.find("0, 2").unwrap()];
        for log in ["", heading, &LOG.replace("2.481211080", "2.48"), &LOG.replace("3.0", "2.0")] {
            assert!(round_trips(log).is_err(), "{log}");
        }
    }

    #[test]
    fn reads_counts_of_dropped_duplicated_and_reordered_messages() {
        let output = "sockperf: # dropped messages = 3; # duplicated messages = 1; \
                      # out-of-order messages = 20\n";
        let expected = Counts { dropped: 3, duplicated: 1, out_of_order: 20 };
        assert_eq!(counts(output), Some(expected));
        assert_eq!(counts("sockperf: Summary\n"), None);
    }
}
