//! See [`hairpin_fuzz::results_file`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::results_file::run(bytes));
