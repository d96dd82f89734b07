//! What happens, a line each, if it is asked for.

use std::cell::Cell;

thread_local! {
    static IS_ON: Cell<bool> = const { Cell::new(false) };
}

/// From now on what happens on this thread is printed, or no longer.
pub(crate) fn set(is_on: bool) {
    IS_ON.with(|cell| cell.set(is_on));
}

pub(crate) fn is_on() -> bool {
    IS_ON.with(Cell::get)
}

/// Prints a line with the time in microseconds since the start, if lines are asked for.
macro_rules! trace {
    ($now:expr, $($words:tt)*) => {
        if crate::trace::is_on() {
            let nanos = $now.monotonic.as_nanos() - 1_000_000_000;
            println!("{:>12}.{:03} {}", nanos / 1_000, nanos % 1_000, format_args!($($words)*));
        }
    };
}

pub(crate) use trace;
