//! One end of a bed.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command};

use crate::namespace;
use crate::spawner::Spawner;

/// One end of a [`Bed`](crate::Bed): a network namespace of its own, or this machine's loopback.
///
/// It owns what runs in it: when it is dropped, its children are killed, and when they are gone
/// so is the namespace.
#[derive(Debug)]
pub struct Host {
    address: Ipv4Addr,
    interface: &'static str,
    interface_index: u32,
    spawner: Spawner,
    namespace: Option<OwnedFd>,
}

impl Host {
    /// A host in a new network namespace, in which nothing is set up yet.
    pub(crate) fn in_new_namespace(address: Ipv4Addr, interface: &'static str) -> io::Result<Self> {
        let (spawner, namespace) = Spawner::start(|| {
            namespace::unshare(libc::CLONE_NEWNET)?;
            namespace::current()
        })?;
        Ok(Self { address, interface, interface_index: 0, spawner, namespace: Some(namespace) })
    }

    /// A host that is this machine, seen through its loopback interface.
    pub(crate) fn on_loopback(interface_index: u32) -> io::Result<Self> {
        let (spawner, ()) = Spawner::start(|| Ok(()))?;
        let address = Ipv4Addr::LOCALHOST;
        Ok(Self { address, interface: "lo", interface_index, spawner, namespace: None })
    }

    pub(crate) fn set_interface_index(&mut self, index: u32) {
        self.interface_index = index;
    }

    /// The address that the other host reaches this one at.
    #[must_use]
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// The name, inside this host, of the interface that has the address.
    #[must_use]
    pub fn interface(&self) -> &str {
        self.interface
    }

    /// The kernel's number, inside this host, of that interface.
    #[must_use]
    pub fn interface_index(&self) -> u32 {
        self.interface_index
    }

    /// The host's network namespace, for one who wants to enter it; `None` over loopback.
    #[must_use]
    pub fn namespace(&self) -> Option<BorrowedFd<'_>> {
        self.namespace.as_ref().map(AsFd::as_fd)
    }

    /// Starts `command` on this host.
    ///
    /// The child finds each descriptor of `inherit` open under the same number; in this process
    /// they stay as they are, close-on-exec or not. It is killed (`SIGKILL`) when the host is
    /// dropped and when this process ends, however it ends; its own children are not. Whoever
    /// keeps the [`Child`] waits for it.
    ///
    /// The command is taken whole, because it is started from the host's own thread; the thread
    /// that calls may end without harm to the child.
    ///
    /// # Errors
    /// Those of [`Command::spawn`]; `InvalidInput` if a descriptor to inherit is standard input,
    /// output or error, which the command itself sets.
    pub fn spawn(&self, command: Command, inherit: &[BorrowedFd<'_>]) -> io::Result<Child> {
        self.spawner.spawn(command, inherit)
    }

    /// Runs `body` on this host and returns what it returns.
    ///
    /// It runs on a thread of its own that ends with it. A socket belongs to the host it was made
    /// on, wherever it goes; a child started with [`Command::spawn`] in there belongs to the host
    /// too, but does not die with it.
    ///
    /// # Errors
    /// Those of starting a thread and of entering the namespace.
    ///
    /// # Panics
    /// If `body` does.
    pub fn run<R: Send>(&self, body: impl FnOnce() -> R + Send) -> io::Result<R> {
        let namespace = self.namespace();
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().spawn_scoped(scope, move || {
                namespace.map_or(Ok(()), namespace::enter)?;
                Ok(body())
            })?;
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}
