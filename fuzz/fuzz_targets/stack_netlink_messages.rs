//! See [`hairpin_fuzz::stack_netlink_messages`].
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hairpin_fuzz::stack_netlink_messages::run(bytes));
