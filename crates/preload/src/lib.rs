//! The library that `hairpin run` preloads into an unmodified program: its UDP sockets and TCP
//! connections send and receive over AF_XDP, bypassing the kernel.
//!
//! Layer L3, built on `stack`. It exports the C library's functions for sockets, waiting,
//! descriptors and signals. A program's descriptor stays its own kernel socket. When the program
//! binds or connects a UDP socket, and its address is on a configured interface, a stack of this
//! process receives its frames ([`AdoptedSocket`](hairpin_stack::AdoptedSocket)). When the program
//! asks for something that the stack lacks, the socket is returned to the kernel with a log line;
//! datagrams that have arrived are kept.
//!
//! A TCP connection is taken over ([`AdoptedTcp`](hairpin_stack::AdoptedTcp)) after some messages
//! each way, and handed back when the program or the peer needs the kernel.
//!
//! ```text
//!  program ─▶ recvfrom, sendto, poll, epoll_wait, bind, close, …      exports/
//!              │ descriptor in the table?  no ─▶ the C library         slots.rs, real.rs
//!              ▼ yes
//!             Socket: kept datagrams, AdoptedSocket, kernel socket     socket.rs
//!              │ nothing pending
//!              ▼
//!             Wait: busy-poll, then ppoll on rings and descriptors     sleep.rs
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `exports/` | the exported functions: receive, send, sockets, polling, descriptors, system |
//! | `process.rs` | stacks, adoption and return of sockets, forks |
//! | `socket.rs`, `options.rs`, `membership.rs` | an accelerated socket; its options and groups |
//! | `unseen.rs` | epoll instances that the library does not see |
//! | `nonblocking.rs` | `O_NONBLOCK`, which a program may change unseen |
//! | `targets.rs` | the destinations of a socket, and the interface that each is sent over |
//! | `kept.rs` | datagrams kept for a later call or moved into the kernel socket |
//! | `stream.rs`, `stream_io.rs` | TCP connections: takeover and handback; receives and sends |
//! | `stream_options.rs`, `stream_counters.rs` | their options; their counters and causes |
//! | `slots.rs`, `epoll.rs` | the table of descriptors; members of epoll instances |
//! | `sleep.rs`, `clock.rs` | waiting |
//! | `guard.rs`, `signals.rs` | calls of the library itself; the program's signal handlers |
//! | `messages.rs`, `addresses.rs`, `memory.rs`, `errno.rs` | the program's buffers |
//! | `real.rs`, `settings.rs` | the C library; settings |
//! | `log.rs`, `counters.rs`, `summary.rs`, `socket_table.rs` | output |
//!
//! The library's own calls never enter its functions: a thread-local mark, set while a thread is
//! inside, passes them to the C library. The exported functions may be unwound, because a thread of
//! the program may be canceled where it waits. But no panic crosses into the program: it ends the
//! process.
//!
//! `unsafe` is allowed in this crate, for the program's pointers. Each block is documented.

mod addresses;
mod clock;
mod counters;
mod epoll;
mod errno;
mod exports;
mod guard;
mod kept;
mod log;
mod membership;
mod memory;
mod messages;
mod nonblocking;
mod options;
mod process;
mod real;
mod settings;
mod signals;
mod sleep;
mod slots;
mod socket;
mod socket_table;
mod stream;
mod stream_counters;
mod stream_io;
mod stream_options;
mod summary;
mod targets;
mod unseen;
