//! See [`hairpin_fuzz::feed_config`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::feed_config::run(bytes));
