//! See [`hairpin_fuzz::rds_packet`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::rds_packet::run(bytes));
