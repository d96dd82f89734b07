//! The event loop: one of five waits, deadlines, and named pinned threads.
//!
//! Layer L2. A [`Reactor`] says which endpoints are ready; the loop around it, which owns the
//! endpoints and the protocols, reads the clock once per wake and calls them. In steady state a
//! turn makes the wait's own system call and the reads and writes of the ready sockets, and no
//! other. Under io_uring the reads are part of the wait; writes are calls of their own even there,
//! for when `send` returns the kernel has the bytes. What goes past the kernel needs no call to be
//! read: under io_uring too it is only waited for.
//!
//! | wait | system call | a deadline is met |
//! |---|---|---|
//! | block | the first source's own receive, then all others are tried | within two ticks |
//! | poll | ppoll(2) | within the thread's timer slack |
//! | epoll | epoll_pwait2(2) | within the thread's timer slack |
//! | spin | none | at the next turn |
//! | io_uring | io_uring_enter(2), which reads the sockets too | within the thread's timer slack |
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

mod block;
mod calls;
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

pub use block::BLOCK_TICKS;
pub use calls::{CallError, Caller, Calls, calls};
pub use reactor::Reactor;
pub use ready::{Interest, Ready, Token};
pub use sources::CAPACITY;
pub use thread::{Panic, SpawnError, SpinError, Thread, check_spinning, spawn};
pub use timers::{TimerId, Timers};
pub use wait::{ParseWaitError, Wait};
