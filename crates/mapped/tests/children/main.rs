//! Integration tests of `hairpin-mapped` that start child processes and open no journals.
#![expect(clippy::unwrap_used, reason = "all of this program is tests")]

mod counter_pages;
