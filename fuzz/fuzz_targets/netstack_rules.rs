//! See [`hairpin_fuzz::netstack_rules`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::netstack_rules::run(bytes));
