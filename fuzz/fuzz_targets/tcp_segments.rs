//! See [`hairpin_fuzz::tcp_segments`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::tcp_segments::run(bytes));
