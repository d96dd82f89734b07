//! See [`hairpin_fuzz::netstack_udp_frames`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::netstack_udp_frames::run(bytes));
