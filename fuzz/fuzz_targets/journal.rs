//! See [`hairpin_fuzz::journal`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::journal::run(bytes));
