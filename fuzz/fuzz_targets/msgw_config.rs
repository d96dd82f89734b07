//! See [`hairpin_fuzz::msgw_config`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::msgw_config::run(bytes));
