//! Instants, durations and UTC in nanoseconds.
//!
//! Layer L0: plain values, `no_std`, no `unsafe`, and no clock. The owner of a loop reads the clock
//! once per wakeup, builds a [`Now`] and passes it down. All other code takes time as a parameter,
//! so that tests can use any time.
//!
//! | file | content |
//! |---|---|
//! | `instant.rs` | `Instant`, a point on the monotonic clock |
//! | `utc.rs` | `Utc`, a point on the wall clock |
//! | `duration.rs` | `Duration`, a span of time |
//!
//! ```
//! use hairpin_time::{Duration, Instant, Now, Utc};
//!
//! let utc = Utc::from_nanos(1_700_000_000_000_000_000);
//! let now = Now { monotonic: Instant::from_nanos(5_000), utc };
//! let deadline = now.monotonic + Duration::from_millis(10);
//! assert_eq!(deadline - now.monotonic, Duration::from_micros(10_000));
//! assert_eq!(now.utc.to_string(), "2023-11-14T22:13:20.000000000Z");
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod duration;
mod instant;
mod utc;

pub use duration::Duration;
pub use instant::Instant;
pub use utc::Utc;

/// A reading of both clocks, taken once per wakeup by the owner of the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Now {
    /// The monotonic time, for deadlines and durations.
    pub monotonic: Instant,
    /// The wall-clock time, for messages and journals.
    pub utc: Utc,
}
