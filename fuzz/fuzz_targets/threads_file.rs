//! See [`hairpin_fuzz::threads_file`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::threads_file::run(bytes));
