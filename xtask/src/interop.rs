//! `cargo xtask interop`: runs programs of others between two hosts, without acceleration and with
//! `hairpin run` on the server, on the client and on both, and compares the results.
//!
//! | module | contents |
//! |---|---|
//! | `case` | a server and a client, and the checks of their result and of `hairpin stat` |
//! | `speed` | the speeds of cases that have a goal, in interleaved rounds |
//! | `trial` | one run of a case: two hosts of the testbed |
//! | `process` | programs with a time limit |
//! | `counters` | the counters of accelerated programs |
//! | `packages` | Debian's packages of the programs |
//! | `programs` | the programs |

mod case;
mod counters;
mod packages;
mod process;
mod programs;
mod speed;
mod trial;

use std::fmt;
use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::shell::{cargo, run as shell};
use crate::workspace::Workspace;

/// The arguments of `interop`.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Only cases whose names contain one of these
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Do not install packages
    #[arg(long)]
    no_install: bool,
    /// Measure the speeds of the cases that have a goal, each side pinned to a core, instead of
    /// comparing results
    #[arg(long)]
    speeds: bool,
    /// The interleaved rounds of a speed
    #[arg(long, value_name = "N", default_value_t = 5)]
    rounds: usize,
    /// Use this `hairpin`, with the library next to it, instead of building one
    #[arg(long, value_name = "FILE")]
    hairpin: Option<PathBuf>,
}

/// A side of a case. The server's programs run on the first host of the testbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Server,
    Client,
}

/// Formats the side.
impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if *self == Self::Server { "server" } else { "client" })
    }
}

/// What all cases use.
struct Settings {
    /// The command, next to which the library is.
    hairpin: PathBuf,
    /// A folder for programs that are built from source, once.
    folder: PathBuf,
}

/// Runs the selected cases. Fails if a result differs, or if too little bypasses the kernel.
pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    if !arguments.no_install {
        packages::install()?;
    }
    let hairpin = match &arguments.hairpin {
        Some(path) => path.canonicalize()?,
        None => {
            let build = ["build", "--release", "-p", "hairpin-cli", "-p", "hairpin-preload"];
            shell(&mut cargo(&workspace.root, build))?;
            workspace.root.join("target/release/hairpin")
        }
    };
    let settings = Settings { hairpin, folder: workspace.root.join("target/interop") };
    let is_selected = |name: &str| {
        arguments.names.is_empty() || arguments.names.iter().any(|part| name.contains(part))
    };
    if arguments.speeds {
        let missed = speed::measure(&settings, programs::cases(), is_selected, arguments.rounds)?;
        ensure!(missed == 0, "{missed} goals above are missed");
        return Ok(());
    }
    let failures = programs::check(&settings, is_selected)?;
    ensure!(failures == 0, "{failures} lines above report a failure");
    println!("all equal");
    Ok(())
}

/// Prints the line of a case.
fn print_line(name: &str, accelerated: &str, text: &str) {
    println!("{name:44} {accelerated:6} {text}");
}
