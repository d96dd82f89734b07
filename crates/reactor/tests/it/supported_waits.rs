//! The waits that the kernel has and allows: io_uring may be forbidden.

use hairpin_reactor::Wait;

/// Of these waits those that are there; says which are not.
pub(crate) fn available(waits: impl IntoIterator<Item = Wait>) -> impl Iterator<Item = Wait> {
    waits.into_iter().filter(|wait| match wait.probe() {
        Ok(()) => true,
        Err(reason) => {
            println!("skipped {wait}: {reason}");
            false
        }
    })
}
