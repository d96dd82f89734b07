//! Runs the `hairpin` command, and tests order entry clients against the simulated exchange.
//!
//! Tests that need a process of their own are separate programs: `allocation` (it counts
//! allocations), `stat` (it reads every Hairpin process of the host), `order_deaths` (it starts
//! itself as a child) and the three simulations (`cargo xtask sim` runs them by name).
#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod bench;
mod bench_compare;
mod bench_feed;
mod bench_order;
mod bench_sockets;
mod callbacks;
mod captures;
mod certification;
mod churn;
mod cli_reference;
mod client_and_gateway;
mod completion;
mod data_program;
mod decode;
mod descriptors;
mod doctor;
mod download;
mod error_messages;
mod exchange_and_trader;
mod exchange_events;
mod feed;
mod gateway_rules;
mod host_rules;
mod instrument_groups;
mod jitter;
mod keeper;
mod lab;
mod order;
mod order_audit_trail;
mod order_journal;
mod order_prompt;
mod order_tracker;
mod ping;
mod ping_raw;
mod preload;
mod rds;
mod rds_hosts;
mod recorded_captures;
mod report;
mod secrets;
mod t2t;
mod throughput;
mod traded_session;
mod two_hosts;
mod wire;
mod wires;
mod xdp;
mod xdp_tcp;

#[path = "../../../exchange/tests/it/handwritten_client.rs"]
mod by_hand;
#[path = "../../../mdp3/tests/support/mod.rs"]
mod market_data;
#[path = "../support/request.rs"]
mod request;
#[path = "../support/processes.rs"]
mod support;
