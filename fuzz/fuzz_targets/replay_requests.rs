//! See [`hairpin_fuzz::replay_requests`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::replay_requests::run(bytes));
