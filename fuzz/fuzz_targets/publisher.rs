//! See [`hairpin_fuzz::publisher`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::publisher::run(bytes));
