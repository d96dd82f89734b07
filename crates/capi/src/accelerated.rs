//! Whether a socket of the program bypasses the kernel.

/// Returns 1 if the messages of a socket bypass the kernel now, because `hairpin run` started this
/// process; otherwise 0, also for a number that is no socket. A UDP socket is accelerated from
/// bind(2) or connect(2) on, a TCP connection after some messages until it is handed back. Can be
/// called from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_is_accelerated(fd: i32) -> i32 {
    hairpin::is_accelerated(&fd).into()
}
