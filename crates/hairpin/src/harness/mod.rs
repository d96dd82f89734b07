//! What benchmarks and commands share: hosts, child processes, signals, datapath, counters, output.

pub(crate) mod args;
pub(crate) mod child_process;
pub(crate) mod child_protocol;
pub(crate) mod cores;
pub(crate) mod counter_publisher;
pub(crate) mod datapath;
pub(crate) mod host_checks;
pub(crate) mod host_pair;
pub(crate) mod multicast_groups;
pub(crate) mod output;
pub(crate) mod preload;
pub(crate) mod progress;
pub(crate) mod raw_port;
pub(crate) mod run_loop;
pub(crate) mod secret_key;
pub(crate) mod signals;
pub(crate) mod sockperf;
pub(crate) mod stdout;
pub(crate) mod t2t_setup;
pub(crate) mod transport;
pub(crate) mod two_numbers;
pub(crate) mod usage;
