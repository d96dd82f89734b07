//! The subcommands: one module each.

pub(crate) mod bench;
pub(crate) mod bench_compare;
pub(crate) mod check;
pub(crate) mod decode;
pub(crate) mod doctor;
pub(crate) mod exchange;
pub(crate) mod feed;
pub(crate) mod generate;
pub(crate) mod lab;
pub(crate) mod order;
pub(crate) mod ping;
pub(crate) mod pong;
pub(crate) mod rds_stress;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod stat;
pub(crate) mod t2t;
pub(crate) mod trader;
