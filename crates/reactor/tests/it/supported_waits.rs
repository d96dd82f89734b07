//! The waits that the kernel supports and permits: io_uring may be forbidden.

use hairpin_reactor::Wait;

/// Filters the supported waits, and prints those that are skipped.
pub(crate) fn supported(waits: impl IntoIterator<Item = Wait>) -> impl Iterator<Item = Wait> {
    waits.into_iter().filter(|wait| match wait.probe() {
        Ok(()) => true,
        Err(reason) => {
            println!("skipped {wait}: {reason}");
            false
        }
    })
}
