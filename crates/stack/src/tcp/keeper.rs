//! The keeper: a process that ends the connections of a program that was killed.
//!
//! A program that dies while a connection is taken over leaves a kernel socket whose numbers are
//! old: the peer would wait without limit. So a second process, the keeper, holds a descriptor of
//! each connection taken over, and of the interfaces. The program keeps the numbers and the send
//! ring of its connections in a memory file. After its death the keeper moves them into the
//! kernel's sockets and closes these: the peer receives what was sent, then FIN or RST.
//!
//! ```text
//!  hairpin run ── fork ── fork ─▶ keeper: start, serve             server.rs
//!      │ exec                       ▲ │ memory file
//!      ▼          own socket pair   │ ▼
//!   program ──────────────────▶ KeeperClient                      client.rs
//!      │ takeover: the connection's descriptor      message.rs
//!      │ before each frame: numbers                 record.rs
//!      ╳ killed
//!                keeper: reads and checks the record, hands back   record.rs, orphan.rs
//! ```
//!
//! The order of stores makes the record valid at every moment:
//!
//! - Bytes are in the ring before `send_end` includes them, and `send_end` before `send_next`.
//! - `send_next` and `receive_next` are stored before the frame that contains them is sent.
//! - `send_unacknowledged` is stored before the bytes before it are overwritten.
//! - A takeover stores its phase before the kernel's socket enters repair mode. A handback stores
//!   its phase after the socket has left repair mode.
//!
//! While the keeper works, it holds the AF_XDP sockets of the dead program, so that frames of its
//! connections are dropped. The kernel would answer them with RST.

mod client;
mod confine;
mod entry;
mod message;
mod open;
mod orphan;
mod process;
mod record;
mod server;
mod vault;

pub use client::KeeperClient;
pub(super) use client::Kept;
pub use process::{inheritable, start_keeper};
