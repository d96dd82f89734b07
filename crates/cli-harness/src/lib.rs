//! What the subcommands of `hairpin` share: arguments, hosts, child processes, run loop, output.
//!
//! Layer L3. The crate contains no subcommand and no protocol: those are in `hairpin-cli-market`
//! and `hairpin-cli-latency`, which do not depend on each other, so that cargo compiles them side
//! by side. What both need is here.
//!
//! | Module | Contents |
//! |---|---|
//! | [`args`], [`usage`], [`two_numbers`] | shared arguments and limits; errors in arguments |
//! | [`readiness`] | readiness for a service manager |
//! | [`transport`], [`datapath`], [`raw_port`] | the datapath: kernel, AF_XDP or `hairpin run` |
//! | [`preload`] | a command under `hairpin run` |
//! | [`cores`], [`host_checks`] | cores of threads; checks of the host around a run |
//! | [`host_pair`], [`multicast_groups`], [`sockperf`] | two hosts, and what runs between them |
//! | [`child_process`], [`child_protocol`] | child processes, and their messages to the parent |
//! | [`t2t_setup`] | the messages of a `t2t` row's exchange and trader |
//! | [`answer_timeout`] | the time after which a message is lost |
//! | [`refused_gateway`] | the advice for a gateway at which no program listens |
//! | [`run_loop`], [`signals`], [`counter_publisher`] | the loop of a command; stops; counters |
//! | [`secret_key`] | the source of the iLink secret key |
//! | [`output`], [`stdout`], [`progress`] | results, standard output, progress bar |
//!
//! Start with [`run_loop`] for a command that serves sockets, and with [`child_process`] for one
//! that measures two hosts.
//!
//! ```
//! use hairpin_cli_harness::signals::Signals;
//! use hairpin_cli_harness::{output, usage};
//!
//! fn run(name: &str) -> anyhow::Result<()> {
//!     let signals = Signals::take()?;
//!     if signals.stop_requested() || name == "udp" {
//!         return Ok(output::print("stopped\n")?);
//!     }
//!     usage::usage_error!("unknown name {name}: use udp");
//! }
//! assert!(run("tcp").is_err_and(|error| error.is::<usage::UsageError>()));
//! ```
#![forbid(unsafe_code)]

pub mod answer_timeout;
pub mod args;
pub mod child_process;
pub mod child_protocol;
pub mod completion;
pub mod cores;
pub mod counter_publisher;
pub mod datapath;
pub mod host_checks;
pub mod host_pair;
pub mod multicast_groups;
pub mod output;
pub mod preload;
pub mod progress;
pub mod raw_port;
pub mod readiness;
pub mod refused_gateway;
pub mod run_loop;
pub mod secret_key;
pub mod signals;
pub mod sockperf;
pub mod stdout;
pub mod t2t_setup;
pub mod transport;
pub mod two_numbers;
pub mod usage;
