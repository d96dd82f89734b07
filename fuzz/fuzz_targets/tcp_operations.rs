//! See [`hairpin_fuzz::tcp_operations`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::tcp_operations::run(bytes));
