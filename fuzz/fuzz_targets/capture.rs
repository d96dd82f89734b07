//! See [`hairpin_fuzz::capture`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::capture::run(bytes));
