//! TCP connections: taken over from the kernel, and handed back to the same descriptor.
//!
//! The kernel connects, listens, accepts and closes. [`TcpSocket::take_over`] moves an established
//! connection into the engine of `hairpin-tcp`. Its segments then bypass the kernel, whose socket
//! stays ESTABLISHED and silent. Handback moves the state back with `TCP_REPAIR`.
//!
//! | file | contents |
//! |---|---|
//! | `socket.rs`, `socket/` | [`TcpSocket`]: receive, send, wait, over AF_XDP or the kernel |
//! | `takeover.rs`, `handback.rs` | the two transitions |
//! | `bypass.rs` | a connection taken over: frames in and out |
//! | `kernel_socket.rs` | `TCP_REPAIR` and the other options of the kernel's socket |
//! | `totals.rs` | what `TCP_INFO` of the kernel's socket lacks |
//! | `injector.rs` | frames presented to the kernel |
//! | `flow_table.rs` | the flows of the data plane |
//! | `counters.rs` | counters of takeovers, handbacks and their reasons |
//! | `next_hops.rs` | the next hops of connections, cached |
//! | `ring.rs` | the memory of a connection's bytes |
//! | `table.rs` | all connections of a stack; progress without their owners |
//! | `keeper.rs`, `keeper/` | the process that ends the connections of a killed program |

mod bypass;
mod counters;
mod flow_table;
mod handback;
mod injector;
mod keeper;
mod kernel_socket;
mod next_hops;
mod ring;
mod socket;
mod table;
mod takeover;
mod totals;
mod transfer;

pub use counters::TcpCounters;
pub(crate) use flow_table::{FlowKey, FlowTable};
pub use keeper::{KeeperClient, inheritable, start_keeper};
pub use socket::{AdoptedTcp, TcpReceived, TcpSocket, TcpStatus};
pub(crate) use socket::{Attendance, SocketState};
pub(crate) use table::TcpTable;
pub use takeover::TakeoverError;
pub use totals::TcpTotals;

use hairpin_time::{Duration, Instant};

/// Returns the kernel's monotonic time, which its TCP timestamps use too.
pub(crate) fn now() -> Instant {
    read_clock(libc::CLOCK_MONOTONIC)
}

/// Returns the same time as of the last tick of the kernel, at most [`TICK_MAX`] ago on a core that
/// is not idle. It costs a fraction: the processor's counter is not read.
#[inline]
pub(crate) fn tick() -> Instant {
    read_clock(libc::CLOCK_MONOTONIC_COARSE)
}

/// The longest tick: `CONFIG_HZ` is at least 100.
pub(crate) const TICK_MAX: Duration = Duration::from_millis(10);

/// Returns the age that [`tick`] may have.
pub(crate) fn tick_length() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes to a local variable; this clock always exists.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut time) };
    Duration::from_nanos(time.tv_nsec as u64)
}

#[inline]
fn read_clock(clock: libc::clockid_t) -> Instant {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes to a local variable; these clocks always exist.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    Instant::from_nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}
