//! This host: its clocks, its cores, the facts a measurement must state about it, and probes of how
//! far it can be believed ([`ClockCost`], [`Drift`], [`watch_core`], [`steal_time`]).
//!
//! Layer L2. Nothing here knows a socket or a protocol. `unsafe` is confined to reading the time
//! stamp counter and to plain system calls, each block with its reason.
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

mod calibration;
mod clock;
mod clock_cost;
mod core_watch;
mod cores;
mod drift;
mod facts;
mod interface;
mod interface_drops;
mod kernel_clock;
mod nic;
mod processor_time;
mod thread;
pub mod tsc;

pub use clock::{Clock, ClockSource};
pub use clock_cost::ClockCost;
pub use core_watch::{CoreWatch, watch_core};
pub use cores::{PinError, allowed_cores, pin};
pub use drift::Drift;
pub use facts::HostFacts;
pub use interface::{Interface, address_interface, interface_address};
pub use interface_drops::interface_drops;
pub use kernel_clock::kernel_tick;
pub use nic::interface_driver;
pub use processor_time::{backlog_drops, steal_time};
pub use thread::{name_thread, set_timer_slack};
