//! Errors of opening a stack.

use std::io;

use hairpin_xdp::{EntryError, InterfaceError};

/// The reason why a stack cannot be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StackError {
    /// The interface, its filter, memory or sockets, or a missing capability.
    #[error(transparent)]
    Interface(#[from] InterfaceError),
    /// The kernel's routes, addresses or neighbors cannot be read.
    #[error("cannot read routes and addresses: {0}")]
    Netlink(io::Error),
    /// The kernel's group memberships cannot be read.
    #[error("cannot read group memberships: {0}")]
    Memberships(io::Error),
    /// The watcher thread or its descriptors cannot be created.
    #[error("cannot start the watcher thread: {0}")]
    Thread(io::Error),
    /// The epoll instance for waits cannot be created.
    #[error("cannot create an epoll instance: {0}")]
    Epoll(io::Error),
    /// The EtherType is reserved for the kernel.
    #[error(transparent)]
    Entry(EntryError),
    /// The keeper cannot open the interface.
    #[error("{0}")]
    Keeper(String),
    /// The interface has more addresses than the stack supports.
    #[error("cannot open {0}: too many addresses")]
    Addresses(String),
}
