//! See [`hairpin_fuzz::feed_frames`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::feed_frames::run(bytes));
