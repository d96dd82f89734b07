//! Optional trace output, with one line per event.

use std::cell::Cell;

thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(false) };
}

/// Enables or disables the trace output of this thread.
pub fn set(is_on: bool) {
    IS_ON.with(|cell| cell.set(is_on));
}

/// Returns `true` if the trace output of this thread is enabled.
#[must_use]
pub fn is_on() -> bool {
    IS_ON.with(Cell::get)
}

/// Prints a line with the time in microseconds since the start, if trace output is enabled.
#[macro_export]
macro_rules! trace {
    ($now:expr, $($words:tt)*) => {
        if $crate::trace::is_on() {
            let nanos = $now.monotonic.as_nanos() - 1_000_000_000;
            println!("{:>12}.{:03} {}", nanos / 1_000, nanos % 1_000, format_args!($($words)*));
        }
    };
}
