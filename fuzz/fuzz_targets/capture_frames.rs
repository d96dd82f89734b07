//! See [`hairpin_fuzz::capture_frames`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::capture_frames::run(bytes));
