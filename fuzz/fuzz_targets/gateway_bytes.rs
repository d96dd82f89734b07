//! See [`hairpin_fuzz::gateway_bytes`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::gateway_bytes::run(bytes));
