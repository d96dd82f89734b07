//! Integration tests of the market data channel through its public API.

mod arbitration;
mod books;
mod bounds;
mod captures;
mod definitions;
mod deletions;
mod epochs;
mod errors;
mod event_parts;
mod feed_skew;
mod feeds;
mod filter;
mod implied_books;
mod late_join;
mod lifecycle;
mod message_times;
mod message_views;
mod messages;
mod natural_refresh;
mod order_model;
mod orders;
mod recovery;
mod resets;
mod silence;
mod simulation;
mod slot_reuse;
mod status;
#[path = "../support/mod.rs"]
mod support;
mod suspect_packets;
mod tcp_replay;
