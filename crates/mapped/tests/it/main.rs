//! Integration tests of `hairpin-mapped`.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

mod arena;
mod counter_pages;
mod crashes;
mod full_disk;
mod journal;
