//! Waiting for a condition in a test.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// Polls until the condition is `true`. Returns `false` after five minutes.
///
/// A defect fails instead of hanging, and a busy machine still passes.
pub fn eventually(mut condition: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(300);
    while !condition() {
        if Instant::now() > end {
            return false;
        }
        sleep(Duration::from_micros(500));
    }
    true
}
