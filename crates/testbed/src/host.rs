//! One end of a bed.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::Duration;

use crate::ethtool::{self, Offloads, Queues};
use crate::namespace;
use crate::rtnetlink::Rtnetlink;
use crate::spawner::Spawner;

/// The kernel sees to a link's state within milliseconds, or a second when it is busy.
const UP_POLLS: u32 = 1000;
const UP_POLL_PAUSE: Duration = Duration::from_millis(5);

/// One end of a [`Testbed`](crate::Testbed): a network namespace of its own, or this machine's
/// loopback.
///
/// It owns what runs in it: when it is dropped, its children are killed, and when they are gone
/// so is the namespace.
#[derive(Debug)]
pub struct Host {
    address: Ipv4Addr,
    address_v6: Option<Ipv6Addr>,
    interface: &'static str,
    interface_index: u32,
    spawner: Spawner,
    namespace: Option<OwnedFd>,
    relay_end: Option<RelayEnd>,
}

/// The other end of a host's veth, where that is a relay's.
#[derive(Debug)]
struct RelayEnd {
    namespace: Arc<OwnedFd>,
    interface: &'static str,
}

impl Host {
    /// A host in a new network namespace, in which nothing is set up yet.
    pub(crate) fn in_new_namespace(address: Ipv4Addr, interface: &'static str) -> io::Result<Self> {
        let (spawner, namespace) = Spawner::start(|| {
            namespace::unshare(libc::CLONE_NEWNET)?;
            namespace::current()
        })?;
        let (interface_index, namespace, relay_end) = (0, Some(namespace), None);
        let address_v6 = None;
        Ok(Self { address, address_v6, interface, interface_index, spawner, namespace, relay_end })
    }

    /// A host that is this machine, seen through its loopback interface.
    pub(crate) fn on_loopback(interface_index: u32) -> io::Result<Self> {
        let (spawner, ()) = Spawner::start(|| Ok(()))?;
        let address = Ipv4Addr::LOCALHOST;
        let (address_v6, interface, namespace, relay_end) = (None, "lo", None, None);
        Ok(Self { address, address_v6, interface, interface_index, spawner, namespace, relay_end })
    }

    pub(crate) fn set_interface_index(&mut self, index: u32) {
        self.interface_index = index;
    }

    pub(crate) fn set_address_v6(&mut self, address: Ipv6Addr) {
        self.address_v6 = Some(address);
    }

    pub(crate) fn set_relay_end(&mut self, namespace: Arc<OwnedFd>, interface: &'static str) {
        self.relay_end = Some(RelayEnd { namespace, interface });
    }

    /// Waits until packets pass both ways between this host and what is at the other end.
    ///
    /// The two ends of a veth come up each in its own time, and what is sent before is lost.
    ///
    /// # Errors
    /// The kernel's; `TimedOut` if an end stays switched off.
    pub fn wait_until_up(&self) -> io::Result<()> {
        self.run(|| wait_until_up(self.interface)).flatten()?;
        let Some(RelayEnd { namespace, interface }) = &self.relay_end else { return Ok(()) };
        run_in(Some(namespace.as_fd()), || wait_until_up(interface)).flatten()
    }

    /// The address that the other host reaches this one at.
    #[must_use]
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// The IPv6 address that the other host reaches this one at; there is one if it was
    /// [asked for](crate::TestbedBuilder::ipv6).
    #[must_use]
    pub fn address_v6(&self) -> Option<Ipv6Addr> {
        self.address_v6
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

    /// The queues that the interface really has.
    ///
    /// # Errors
    /// The kernel's: over loopback there is nothing to ask.
    pub fn queues(&self) -> io::Result<Queues> {
        self.run(|| ethtool::queues(self.interface)).flatten().map(|(real, _)| real)
    }

    /// As many queues as the interface can have.
    ///
    /// # Errors
    /// As [`queues`](Self::queues).
    pub fn queues_max(&self) -> io::Result<Queues> {
        self.run(|| ethtool::queues(self.interface)).flatten().map(|(_, most)| most)
    }

    /// Changes the number of real queues while all goes on.
    ///
    /// A frame comes in by the queue whose number it went out by at the other end; where there is
    /// none, it passes by all queues, and so by any XDP program. So without a relay, set the other
    /// host's as well; a relay's end is set to match this one.
    ///
    /// # Errors
    /// The kernel's: none, or more than [`queues_max`](Self::queues_max); fewer than an XDP program
    /// needs; over loopback.
    pub fn set_queues(&self, queues: Queues) -> io::Result<()> {
        self.run(|| ethtool::set_queues(self.interface, queues)).flatten()?;
        let Some(RelayEnd { namespace, interface }) = &self.relay_end else { return Ok(()) };
        let set = || ethtool::set_queues(interface, queues.matching());
        run_in(Some(namespace.as_fd()), set).flatten()
    }

    /// The offloads of the interface that are in force.
    ///
    /// # Errors
    /// The kernel's.
    pub fn offloads(&self) -> io::Result<Offloads> {
        self.run(|| ethtool::offloads(self.interface)).flatten()
    }

    /// Switches offloads of the interface on and off.
    ///
    /// # Errors
    /// The kernel's; and if after all they are not as asked, because one needs another that is off.
    /// Over loopback they would be those of this whole machine, which is refused (`Unsupported`).
    pub fn set_offloads(&self, offloads: Offloads) -> io::Result<()> {
        if self.namespace.is_none() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.run(|| ethtool::set_offloads(self.interface, offloads)).flatten()
    }

    /// A conversation with the kernel about this host's network namespace, to change it.
    ///
    /// # Errors
    /// Those of making a socket. Over loopback it would be this whole machine's networking, which
    /// is refused (`Unsupported`).
    pub fn rtnetlink(&self) -> io::Result<Rtnetlink> {
        if self.namespace.is_none() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.run(Rtnetlink::open).flatten()
    }

    /// The longest packet that the interface carries, in bytes without the Ethernet header.
    ///
    /// # Errors
    /// The kernel's.
    pub fn mtu(&self) -> io::Result<u32> {
        self.run(|| Ok(Rtnetlink::open()?.link(self.interface)?.mtu)).flatten()
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
        run_in(self.namespace(), body)
    }
}

/// Runs `body` on a thread of its own, in a namespace or where the caller is.
fn run_in<R: Send>(
    namespace: Option<BorrowedFd<'_>>,
    body: impl FnOnce() -> R + Send,
) -> io::Result<R> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, move || {
            namespace.map_or(Ok(()), namespace::enter)?;
            Ok(body())
        })?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

fn wait_until_up(interface: &str) -> io::Result<()> {
    let mut rtnetlink = Rtnetlink::open()?;
    for _ in 0..UP_POLLS {
        if rtnetlink.link(interface)?.is_up {
            return Ok(());
        }
        std::thread::sleep(UP_POLL_PAUSE);
    }
    Err(io::ErrorKind::TimedOut.into())
}
