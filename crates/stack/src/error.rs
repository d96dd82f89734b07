//! Why there is no stack.

use std::io;

use hairpin_xdp::{EntryError, InterfaceError};

/// Why a stack could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StackError {
    /// The interface, its filter, memory or sockets; what this process may not do.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    /// The kernel's routes, addresses or neighbours cannot be read.
    #[error("routes and addresses cannot be read: {0}")]
    Netlink(io::Error),
    /// The kernel's members of groups cannot be read.
    #[error("the members of groups cannot be read: {0}")]
    Memberships(io::Error),
    /// A descriptor or the thread that keeps the kernel's facts current.
    #[error("the stack's thread: {0}")]
    Thread(io::Error),
    /// A descriptor for those who sleep.
    #[error("an epoll instance: {0}")]
    Epoll(io::Error),
    /// An EtherType that is the kernel's.
    #[error(transparent)]
    Entry(EntryError),
    /// The interface has more addresses than there is room for.
    #[error("{0} has too many addresses")]
    Addresses(String),
}
