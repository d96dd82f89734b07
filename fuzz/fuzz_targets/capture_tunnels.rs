//! See [`hairpin_fuzz::capture_tunnels`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::capture_tunnels::run(bytes));
