//! See [`hairpin_fuzz::definition_cache`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::definition_cache::run(bytes));
