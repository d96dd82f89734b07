//! See [`hairpin_fuzz::stack_long_frames`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::stack_long_frames::run(bytes));
