//! Integration tests of `hairpin-mapped` that open journals and start no processes.
//!
//! A forked child holds its parent's locks until it calls exec. Tests that start processes are
//! therefore programs of their own: `children`, `crashes` and `system_calls`.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

mod full_disk;
mod journal;
