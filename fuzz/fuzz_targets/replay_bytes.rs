//! See [`hairpin_fuzz::replay_bytes`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::replay_bytes::run(bytes));
