//! See [`hairpin_fuzz::journal_payloads`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::journal_payloads::run(bytes));
