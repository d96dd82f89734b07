//! The event loop: one of five waits, deadlines, and named pinned threads.
//!
//! Layer L2. A [`Reactor`] reports which endpoints are ready. The caller's loop owns the endpoints
//! and the protocols, reads the clock once per wakeup, and calls them. This crate does not own
//! endpoints, call handlers or read the clock.
//!
//! ```text
//!          ┌────────────── one iteration of the loop ──────────────┐
//!  Reactor::wait(now, deadline) → clock.now() → receive from ready endpoints
//!          ↑                                     → expired timers  │
//!          └──────── Timers::next() ───────────────────────────────┘
//! ```
//!
//! In steady state an iteration makes the wait's own system call, and the reads and writes of the
//! ready sockets. Under io_uring the wait also reads the sockets. Writes are always separate calls:
//! when `send` returns, the kernel has the bytes. Kernel-bypass sockets are read without a system
//! call, and io_uring only waits for them.
//!
//! | wait | system call | deadline precision |
//! |---|---|---|
//! | block | the first source's own receive, then all others are tried | two ticks |
//! | poll | ppoll(2) | the thread's timer slack |
//! | epoll | epoll_pwait2(2) | the thread's timer slack |
//! | spin | none | the next iteration |
//! | io_uring | io_uring_enter(2), which also reads the sockets | the thread's timer slack |
//!
//! A source can have a deadline of its own, such as a socket of reliable datagrams, which must
//! repeat what was lost. When it has passed, the source is reported as ready under every wait.
//!
//! Start with `reactor.rs`.
//!
//! | file | content |
//! |---|---|
//! | `reactor.rs`, `wait.rs`, `ready.rs` | the reactor; kinds of wait; tokens and results |
//! | `sources.rs` | the table of sources, in groups of 64 |
//! | `blocking.rs`, `poll.rs`, `epoll.rs`, `uring.rs` | one wait each |
//! | `deadlines.rs` | deadlines of sources |
//! | `timers.rs`, `timespec.rs` | deadlines of the loop |
//! | `acceptor.rs` | a listening socket that pauses when the kernel cannot accept |
//! | `calls.rs` | calls to a reactor thread from other threads |
//! | `thread.rs` | named, pinned threads |
//!
//! ```no_run
//! use std::net::{Ipv4Addr, SocketAddrV4};
//! use hairpin_endpoint::{Receive, UdpOptions, UdpReceiver};
//! use hairpin_host::Clock;
//! use hairpin_reactor::{Interest, Reactor, Timers, Wait};
//! use hairpin_time::Duration;
//!
//! let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 5_000);
//! let mut socket = UdpReceiver::bind(address, UdpOptions::default())?;
//! let mut reactor = Reactor::new(Wait::Epoll)?;
//! let token = reactor.add(&mut socket, Interest::READABLE)?;
//!
//! let mut clock = Clock::new();
//! let mut now = clock.now();
//! let mut timers = Timers::new();
//! let heartbeat = timers.add();
//! timers.arm(heartbeat, now.monotonic + Duration::from_secs(1));
//! loop {
//!     let ready = reactor.wait(now.monotonic, timers.next())?;
//!     now = clock.now();
//!     if ready.is_readable(token) {
//!         socket.receive(64, |meta, datagram| {
//!             println!("{} bytes from {}", datagram.len(), meta.source);
//!         })?;
//!     }
//!     while let Some(_timer) = timers.expired(now.monotonic) {
//!         timers.arm(heartbeat, now.monotonic + Duration::from_secs(1));
//!     }
//!     clock.recalibrate_if_due(now.monotonic);
//! }
//! # #[allow(unreachable_code)]
//! # Ok::<(), std::io::Error>(())
//! ```

mod acceptor;
mod blocking;
mod calls;
mod deadlines;
mod epoll;
mod poll;
mod reactor;
mod ready;
mod sources;
mod thread;
mod timers;
mod timespec;
mod uring;
mod wait;

pub use acceptor::{Accepted, Acceptor, CHECK_INTERVAL};
pub use blocking::BLOCK_TICKS;
pub use calls::{CallError, Caller, Calls, calls};
pub use reactor::Reactor;
pub use ready::{Interest, Ready, Token};
pub use sources::CAPACITY;
pub use thread::{Panic, SpawnError, SpinError, Thread, check_spinning, spawn};
pub use timers::{TimerId, Timers};
pub use wait::{ParseWaitError, Wait};
