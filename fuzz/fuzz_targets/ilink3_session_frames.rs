//! See [`hairpin_fuzz::ilink3_session_frames`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::ilink3_session_frames::run(bytes));
