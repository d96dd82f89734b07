//! The options of a TCP socket that matter to a takeover.

use std::ffi::c_int;

use libc::{IPPROTO_TCP, SOL_SOCKET};

use crate::addresses::option;
use crate::nonblocking::Nonblocking;
use crate::options::has_filter;
use crate::real;

/// Options of linux/tcp.h and asm/socket.h that the `libc` crate does not define for all targets.
const TCP_INQ: c_int = 36;
const SO_PEEK_OFF: c_int = 42;

/// The state that a receive or send needs, cached from the kernel's socket.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StreamState {
    pub(crate) nonblocking: Nonblocking,
    /// `TCP_CORK`. The kernel's socket learns of a change at the handback.
    pub(crate) corked: bool,
}

/// Options that only the kernel implements, if they are not zero.
const KERNEL_ONLY: &[(c_int, c_int, &str)] = &[
    (IPPROTO_TCP, TCP_INQ, "TCP_INQ"),
    (SOL_SOCKET, libc::SO_TIMESTAMP, "SO_TIMESTAMP"),
    (SOL_SOCKET, libc::SO_TIMESTAMPNS, "SO_TIMESTAMPNS"),
    (SOL_SOCKET, libc::SO_TIMESTAMPING, "SO_TIMESTAMPING"),
    (SOL_SOCKET, libc::SO_MARK, "SO_MARK"),
];

/// The effect of an option that the program sets on a connection that is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The option is for the kernel's socket only, or applied to both.
    None,
    /// The connection is handed back, and taken over again with the option.
    Retake,
    /// The connection stays with the kernel while the option is set.
    Unsupported(&'static str),
}

impl Effect {
    /// Returns the effect of setting an option to a value.
    pub(crate) fn new(level: c_int, name: c_int, value: Option<c_int>) -> Self {
        let find = |&&(known, number, _): &&(c_int, c_int, _)| (known, number) == (level, name);
        if let Some(&(_, _, text)) = KERNEL_ONLY.iter().find(find) {
            return if value == Some(0) { Self::None } else { Self::Unsupported(text) };
        }
        match (level, name) {
            (IPPROTO_TCP, libc::TCP_NODELAY | libc::TCP_QUICKACK | libc::TCP_CORK)
            | (
                SOL_SOCKET,
                libc::SO_RCVTIMEO
                | libc::SO_SNDTIMEO
                | libc::SO_RCVBUF
                | libc::SO_SNDBUF
                | libc::SO_LINGER
                | libc::SO_REUSEADDR,
            ) => Self::None,
            (SOL_SOCKET, libc::SO_RCVLOWAT) if value != Some(1) => Self::Unsupported("SO_RCVLOWAT"),
            (SOL_SOCKET, libc::SO_ATTACH_FILTER | libc::SO_ATTACH_BPF) => {
                Self::Unsupported("a socket filter")
            }
            (SOL_SOCKET, libc::SO_BINDTODEVICE) => Self::Unsupported("SO_BINDTODEVICE"),
            (IPPROTO_TCP, libc::TCP_ULP) => Self::Unsupported("TCP_ULP"),
            (IPPROTO_TCP, libc::TCP_MD5SIG) => Self::Unsupported("TCP_MD5SIG"),
            _ => Self::Retake,
        }
    }
}

/// Reads `TCP_CORK` from the kernel's socket.
fn is_corked(fd: c_int) -> bool {
    option(fd, IPPROTO_TCP, libc::TCP_CORK).is_some_and(|value| value != 0)
}

impl StreamState {
    /// Reads the options from the kernel's socket.
    ///
    /// # Errors
    /// The option that only the kernel implements.
    pub(crate) fn read(fd: c_int) -> Result<Self, &'static str> {
        for &(level, name, text) in KERNEL_ONLY {
            if option(fd, level, name).is_some_and(|value| value != 0) {
                return Err(text);
            }
        }
        if option(fd, SOL_SOCKET, libc::SO_RCVLOWAT).is_some_and(|bytes| bytes > 1) {
            return Err("SO_RCVLOWAT");
        }
        if option(fd, SOL_SOCKET, SO_PEEK_OFF).is_some_and(|offset| offset >= 0) {
            return Err("SO_PEEK_OFF");
        }
        if has_filter(fd) {
            return Err("a socket filter");
        }
        // SAFETY: the call takes integers.
        let flags = unsafe { real::fcntl(fd, libc::F_GETFL, 0) };
        if flags & libc::O_ASYNC != 0 {
            return Err("O_ASYNC");
        }
        Ok(Self { nonblocking: Nonblocking::read(fd), corked: is_corked(fd) })
    }
}
