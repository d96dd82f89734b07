//! A program on an interface.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::bpf;
use crate::forked::ForkGuardedFd;

/// `XDP_FLAGS_SKB_MODE` and `XDP_FLAGS_DRV_MODE` of linux/if_link.h.
const GENERIC: u32 = 1 << 1;
const NATIVE: u32 = 1 << 2;

/// Where in the kernel the program is to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// In the driver, before the kernel has made anything of a frame.
    Native,
    /// Behind the driver, at any interface. Frames are copied. Over a veth of several queues they
    /// come in by the queue before that which they were sent by, as the kernel counts there.
    Generic,
    /// In the driver if it can, else behind it; which of the two is told. An
    /// [`Interface`](crate::Interface) that is a veth has its filter behind the driver, which is
    /// quicker there.
    #[default]
    Auto,
}

/// Why a program is not on an interface.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// Somebody else's is; there can be one.
    #[error("another XDP program is on the interface")]
    Busy,
    /// The kernel refused. Of the native mode: the driver has none, or not with this MTU, or not
    /// with so few queues.
    #[error("the program cannot be attached in {mode} mode: {reason}")]
    Refused {
        /// The mode that was tried last.
        mode: Mode,
        /// The kernel's answer.
        reason: io::Error,
    },
}

/// A program on an interface, until this is dropped or the process ends, however that happens. A
/// descriptor that was handed to another process keeps it there; a forked child has none.
#[derive(Debug)]
pub struct Link {
    descriptor: ForkGuardedFd,
    mode: Mode,
}

impl Link {
    pub(super) fn create(
        program: BorrowedFd<'_>,
        interface: u32,
        mode: Mode,
    ) -> Result<Self, LinkError> {
        let attach = |mode, flags| {
            bpf::create_link(program, interface, flags)
                .map(|descriptor| Self { descriptor, mode })
                .map_err(|reason| match reason.raw_os_error() {
                    Some(libc::EBUSY | libc::EEXIST) => LinkError::Busy,
                    _ => LinkError::Refused { mode, reason },
                })
        };
        match mode {
            Mode::Native => attach(Mode::Native, NATIVE),
            Mode::Generic => attach(Mode::Generic, GENERIC),
            Mode::Auto => match attach(Mode::Native, NATIVE) {
                Err(LinkError::Refused { .. }) => attach(Mode::Generic, GENERIC),
                other => other,
            },
        }
    }

    /// [`Mode::Native`] or [`Mode::Generic`], as it is.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }
}

impl AsFd for Link {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Native => "native",
            Self::Generic => "generic",
            Self::Auto => "auto",
        })
    }
}
