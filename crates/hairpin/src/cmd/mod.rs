//! The subcommands: one module each.

pub(crate) mod check;
pub(crate) mod data_program;
pub(crate) mod doctor;

pub(crate) use hairpin_cli_latency::{
    bench, bench_compare, jitter, lab, ping, pong, rds_stress, report, run, stat, t2t, trader,
};
pub(crate) use hairpin_cli_market::{decode, exchange, feed, generate, order, wire};
