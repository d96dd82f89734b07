//! See [`hairpin_fuzz::icmp_errors`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::icmp_errors::run(bytes));
