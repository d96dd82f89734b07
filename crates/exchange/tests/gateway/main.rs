//! The gateway driven by a scripted client, in bytes and in fake time.

#![allow(clippy::unwrap_used, reason = "this is all tests")]

mod any_bytes;
mod backlog;
mod bench;
#[path = "../client/mod.rs"]
mod client;
mod counters;
mod cross;
mod disconnect;
mod failover;
mod faults;
mod keep_alive;
mod kinds;
mod limits;
mod logon;
mod mass_action;
mod numbers;
mod one_sided_quotes;
mod orders;
mod parties;
mod ports;
mod quote_request;
mod quotes;
mod random_quotes;
#[path = "../matching/reference.rs"]
mod reference;
mod replace;
mod retransmission;
mod session;
mod several;
mod split;
mod status;
mod stops;
mod terminate;
mod trades;
mod week;
