//! Integration tests of the exchange.
//!
//! | module | tests |
//! |---|---|
//! | `gateway` | the gateway, driven by a scripted client with a fake clock |
//! | `matching` | the matching engine: traces by rule, and random commands against a reference |
//! | `publisher` | the publisher against `receiver`, which implements CME's rules |
//! | `groups` | all kinds of groups against `follower`, which decodes bytes by offset |
//! | `sockets`, `tcp_feed`, `replay_and_faults` | the exchange on loopback sockets |
//! | `independent_client` | a session of `handwritten_client` over a socket |
//! | `default_market` | the recorded hash of the default market's packets |
//! | `gateway_docs` | the test names in `docs/reference/simulated-gateway.md` |
//!
//! `client` builds frames with the codecs. `handwritten_client` shares no code with the workspace.

#![allow(clippy::unwrap_used, reason = "tests")]

mod client;
mod default_market;
mod follower;
mod gateway;
mod gateway_docs;
mod groups;
mod handwritten_client;
mod independent_client;
mod matching;
mod publisher;
mod receiver;
mod replay_and_faults;
mod sockets;
mod tcp_feed;
