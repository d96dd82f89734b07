//! See [`hairpin_fuzz::matching`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::matching::run(bytes));
