//! This host's clocks, cores and interfaces, the facts that a measurement must report, and probes
//! of the host's measurement quality ([`ClockCost`], [`Drift`], [`watch_core`], [`steal_time`]).
//!
//! Layer L2. This crate contains no sockets and no protocols. `unsafe` is limited to reading the
//! time stamp counter and to plain system calls, and every block is justified.
//!
//! ```text
//!  TSC ──────────► Counter ──► Clock::now() ──► Now { monotonic, utc }
//!                    ▲
//!  CLOCK_MONOTONIC ──┘  recalibrated every 10 ms at first, later every second
//! ```
//!
//! Start with `clock.rs`.
//!
//! | file | content |
//! |---|---|
//! | `clock.rs`, `calibration.rs`, `tsc.rs`, `kernel_clock.rs` | the clock and its sources |
//! | `clock_cost.rs`, `drift.rs`, `clock_sync.rs` | cost, drift and synchronization of the clock |
//! | `affinity.rs`, `thread.rs` | CPU affinity; thread names and timer slack |
//! | `accelerated.rs` | whether `hairpin run` accelerates a socket |
//! | `stop_signal.rs` | signals that ask the process to stop |
//! | `core_watch.rs`, `core_counters.rs` | interruptions of a core; steal time and backlog drops |
//! | `core_events.rs`, `core_list.rs` | the causes of interruptions; lists such as `0-3,8` |
//! | `host_facts.rs` | CPU, kernel and governor for results files |
//! | `interface.rs`, `interface_drops.rs`, `interface_driver.rs` | network interfaces |
//!
//! ```
//! use hairpin_host::{Clock, HostFacts};
//!
//! let mut clock = Clock::new();
//! let now = clock.now();
//! assert!(clock.instant() >= now.monotonic);
//! clock.recalibrate_if_due(now.monotonic);
//!
//! let facts = HostFacts::read(&clock);
//! println!("{} cores of {}, Linux {}", facts.cores, facts.cpu, facts.kernel);
//! ```

mod accelerated;
mod affinity;
mod calibration;
mod clock;
mod clock_cost;
mod clock_sync;
mod core_counters;
mod core_events;
mod core_list;
mod core_watch;
mod drift;
mod host_facts;
mod interface;
mod interface_driver;
mod interface_drops;
mod kernel_clock;
mod stop_signal;
mod thread;
pub mod tsc;

pub use accelerated::is_accelerated;
pub use affinity::{PinError, allowed_cores, pin};
pub use clock::{Clock, ClockSource};
pub use clock_cost::ClockCost;
pub use clock_sync::{ClockSync, clock_sync};
pub use core_counters::{backlog_drops, busy_time, process_time, steal_time};
pub use core_events::{CoreEvent, CoreEvents, displacements};
pub use core_list::{format_cores, parse_cores};
pub use core_watch::{CoreWatch, watch_core, watch_this_core};
pub use drift::Drift;
pub use host_facts::HostFacts;
pub use interface::{Interface, address_interface, interface_address};
pub use interface_driver::interface_driver;
pub use interface_drops::interface_drops;
pub use kernel_clock::kernel_tick;
pub use stop_signal::{handle_stop_signal, set_on_stop_signal, stop_signal};
pub use thread::{name_thread, set_timer_slack};
