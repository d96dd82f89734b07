//! `hairpin doctor`: reports what Hairpin will do on this host, and what stands in the way.

use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use hairpin_doctor::PongHost;
use hairpin_measure::Style;

use hairpin_cli_harness::stdout;

/// Report what Hairpin will do on this host, and what stands in the way; change nothing
///
/// For an interface: the mode, queues, copies, MTU and offloads that `hairpin run` and
/// `--transport xdp` will use. Then findings about driver, queues, interrupts, cores, clock,
/// memory, settings, firewall, privileges and containers: what was found, what it costs, and the
/// command that changes it. As an ordinary user it lists what it could not read. Exit status: 0, 1
/// if something important is wrong, 2 for wrong arguments.
#[derive(clap::Args, Debug, Clone)]
pub(crate) struct DoctorArgs {
    /// The interface [default: all that are up, except loopback]
    #[arg(value_name = "IF")]
    interface: Option<String>,

    /// Print one JSON document
    #[arg(long, conflicts_with = "bundle")]
    json: bool,

    /// Write a JSON file for others: the report, and pings of each protocol over each transport,
    /// without addresses and names
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,

    /// Ping the pongs of this host over IF: udp and tcp at port 9200, rds at 9201, multicast at
    /// 239.255.92.0:9202, raw [default: two hosts made for it]
    #[arg(long, value_name = "ADDR", requires = "bundle", requires = "interface")]
    pong: Option<Ipv4Addr>,
}

/// Examines the host and prints the report.
///
/// # Errors
/// No such interface; standard output or the bundle cannot be written.
pub(crate) fn run(arguments: &DoctorArgs) -> Result<ExitCode> {
    let report = hairpin_doctor::examine(arguments.interface.as_deref())?;
    if let Some(path) = &arguments.bundle {
        let program = std::env::current_exe().context("cannot find this program")?;
        let interface = arguments.interface.as_deref();
        let pong = arguments.pong.zip(interface);
        let pong = pong.map(|(address, interface)| PongHost { address, interface });
        hairpin_doctor::write_bundle(path, &report, &program, pong, |transport, protocol| {
            let _ = writeln!(io::stderr(), "ping: {protocol} over {transport}");
        })?;
    }
    let text = match arguments.json {
        true => serde_json::to_string_pretty(&report)? + "\n",
        false => Style::for_stdout().wrap(&report.to_string()),
    };
    let mut out = stdout::lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())?;
    Ok(if report.has_important() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
