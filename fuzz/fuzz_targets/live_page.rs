//! See [`hairpin_fuzz::live_page`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::live_page::run(bytes));
