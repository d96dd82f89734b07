//! This host: its clocks, its cores, and the facts a measurement must state about it.
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
mod cores;
mod facts;
mod interface;
mod kernel_clock;
mod thread;
pub mod tsc;

pub use clock::{Clock, ClockSource};
pub use cores::{PinError, allowed_cores, pin};
pub use facts::HostFacts;
pub use interface::{address_interface, interface_address};
pub use kernel_clock::kernel_tick;
pub use thread::{name_thread, set_timer_slack};
