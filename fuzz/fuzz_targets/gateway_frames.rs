//! See [`hairpin_fuzz::gateway_frames`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::gateway_frames::run(bytes));
