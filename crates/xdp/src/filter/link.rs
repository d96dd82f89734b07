//! The attachment of a program to an interface.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::bpf;
use super::link_owner::LinkOwner;
use crate::fork_guard::ForkGuardedFd;

/// `XDP_FLAGS_SKB_MODE` and `XDP_FLAGS_DRV_MODE` of linux/if_link.h.
const SKB_MODE: u32 = 1 << 1;
const DRIVER_MODE: u32 = 1 << 2;

/// The place in the kernel where the program runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Native: in the driver, before the kernel allocates a packet buffer.
    Native,
    /// Generic: after the driver, on any interface. Frames are copied. On a veth with several
    /// queues, frames
    /// arrive on the queue before the one that they were sent on, because the kernel counts queues
    /// from one there.
    Generic,
    /// Native if the driver supports it, otherwise generic; [`Link::mode`] reports which. An
    /// [`Interface`](crate::Interface) on a veth uses generic mode, which is faster there.
    #[default]
    Auto,
}

/// The reason why a program cannot be attached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// Another program is attached; an interface can have one. Contains the process that has
    /// attached it, if that can be found.
    #[error("{}", describe_busy(.0.as_ref()))]
    Busy(Option<LinkOwner>),
    /// The kernel refused. In native mode: the driver has no XDP support, or not with this MTU or
    /// number of queues.
    #[error("{mode} mode: {reason}")]
    Refused {
        /// The mode that was tried last.
        mode: Mode,
        /// The kernel's error.
        reason: io::Error,
    },
}

/// A program attached to an interface until this value is dropped or the process ends. A copy of
/// the descriptor in another process keeps the program attached; a forked child inherits none.
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
                    Some(libc::EBUSY | libc::EEXIST) => LinkError::Busy(LinkOwner::find(interface)),
                    _ => LinkError::Refused { mode, reason },
                })
        };
        match mode {
            Mode::Native => attach(Mode::Native, DRIVER_MODE),
            Mode::Generic => attach(Mode::Generic, SKB_MODE),
            Mode::Auto => match attach(Mode::Native, DRIVER_MODE) {
                Err(LinkError::Refused { .. }) => attach(Mode::Generic, SKB_MODE),
                other => other,
            },
        }
    }

    /// Takes over the attachment of another process, in its actual mode.
    pub(crate) fn from_fd(descriptor: OwnedFd, mode: Mode) -> io::Result<Self> {
        Ok(Self { descriptor: ForkGuardedFd::from_fn(|| Ok(descriptor))?, mode })
    }

    /// Returns the actual mode: [`Mode::Native`] or [`Mode::Generic`].
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }
}

/// Describes who has attached another program, and the way out.
fn describe_busy(owner: Option<&LinkOwner>) -> String {
    match owner {
        Some(owner) => format!(
            "{owner} has attached its XDP program, and an interface has only one: end that \
             process, or run one of the two over kernel sockets"
        ),
        None => {
            "another XDP program is attached, and an interface has only one: `sudo grep -l xdp \
                 /proc/[0-9]*/fdinfo/*` lists the processes that hold one, and `ip link set dev IF \
                 xdp off` detaches that of `ip link`"
                .to_owned()
        }
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
