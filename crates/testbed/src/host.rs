//! A host: one end of a testbed.

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

/// 5 s in all: the kernel updates the state of a link within milliseconds, or a second under load.
const UP_POLLS: u32 = 1000;
const UP_POLL_INTERVAL: Duration = Duration::from_millis(5);

/// A host, which is one end of a [`Testbed`](crate::Testbed): a network namespace of its own, or
/// this machine's loopback.
///
/// A host owns its child processes. Dropping the host kills them; the namespace disappears with the
/// last of them.
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

/// The relay's end of a host's veth.
#[derive(Debug)]
struct RelayEnd {
    namespace: Arc<OwnedFd>,
    interface: &'static str,
}

impl Host {
    /// Creates a host in a new network namespace without any setup.
    pub(crate) fn in_new_namespace(address: Ipv4Addr, interface: &'static str) -> io::Result<Self> {
        let (spawner, namespace) = Spawner::start(|| {
            namespace::unshare(libc::CLONE_NEWNET)?;
            namespace::current()
        })?;
        let (interface_index, namespace, relay_end) = (0, Some(namespace), None);
        let address_v6 = None;
        Ok(Self { address, address_v6, interface, interface_index, spawner, namespace, relay_end })
    }

    /// Returns a host that is this machine, with its loopback interface.
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

    /// Waits until packets pass in both directions between this host and the other end of its wire.
    ///
    /// The two ends of a veth come up independently. Packets sent before that are lost.
    ///
    /// # Errors
    /// The kernel's; `TimedOut` if an end stays down.
    pub fn wait_until_up(&self) -> io::Result<()> {
        self.run(|| wait_until_up(self.interface)).flatten()?;
        let Some(RelayEnd { namespace, interface }) = &self.relay_end else { return Ok(()) };
        run_in(Some(namespace.as_fd()), || wait_until_up(interface)).flatten()
    }

    /// Waits until the kernel delivers packets for the IPv6 address, if this host has one: it adds
    /// the local route some time after the interface is up.
    pub(crate) fn wait_until_local_v6(&self) -> io::Result<()> {
        let Some(address) = self.address_v6 else { return Ok(()) };
        // A route to one address starts with its 32 hexadecimal digits and its prefix length, 0x80.
        let route = format!("{:032x} 80 ", address.to_bits());
        let routes = || std::fs::read_to_string("/proc/thread-self/net/ipv6_route");
        self.run(|| poll(|| Ok(routes()?.contains(&route)))).flatten()
    }

    /// Returns the address of this host.
    #[must_use]
    pub fn address(&self) -> Ipv4Addr {
        self.address
    }

    /// Returns the IPv6 address of this host, if IPv6 was [enabled](crate::TestbedBuilder::ipv6).
    #[must_use]
    pub fn address_v6(&self) -> Option<Ipv6Addr> {
        self.address_v6
    }

    /// Returns the name of the interface with that address, inside this host.
    #[must_use]
    pub fn interface(&self) -> &str {
        self.interface
    }

    /// Returns the index of that interface, inside this host.
    #[must_use]
    pub fn interface_index(&self) -> u32 {
        self.interface_index
    }

    /// Returns the host's network namespace; `None` over loopback.
    #[must_use]
    pub fn namespace(&self) -> Option<BorrowedFd<'_>> {
        self.namespace.as_ref().map(AsFd::as_fd)
    }

    /// Returns the number of real queues of the interface.
    ///
    /// # Errors
    /// The kernel's; over loopback always, because `lo` has no channels.
    pub fn queues(&self) -> io::Result<Queues> {
        self.run(|| ethtool::queues(self.interface)).flatten().map(|(real, _)| real)
    }

    /// Returns the maximum number of queues of the interface.
    ///
    /// # Errors
    /// The same as [`queues`](Self::queues).
    pub fn queues_max(&self) -> io::Result<Queues> {
        self.run(|| ethtool::queues(self.interface)).flatten().map(|(_, max)| max)
    }

    /// Changes the number of real queues while the interface is in use.
    ///
    /// A frame arrives on the receive queue with the number of the transmit queue of the other end.
    /// If this host has no queue with that number, the frame bypasses all queues, and with them any
    /// XDP program. So without a relay, change the other host as well. A relay's end is changed to
    /// match.
    ///
    /// # Errors
    /// The kernel's: zero queues, more than [`queues_max`](Self::queues_max), fewer than an XDP
    /// program needs, or loopback.
    pub fn set_queues(&self, queues: Queues) -> io::Result<()> {
        self.run(|| ethtool::set_queues(self.interface, queues)).flatten()?;
        let Some(RelayEnd { namespace, interface }) = &self.relay_end else { return Ok(()) };
        let set = || ethtool::set_queues(interface, queues.matching());
        run_in(Some(namespace.as_fd()), set).flatten()
    }

    /// Returns the active offloads of the interface.
    ///
    /// # Errors
    /// The kernel's.
    pub fn offloads(&self) -> io::Result<Offloads> {
        self.run(|| ethtool::offloads(self.interface)).flatten()
    }

    /// Turns offloads of the interface on and off.
    ///
    /// # Errors
    /// The kernel's; an error if the active offloads then differ from `offloads`, because one needs
    /// another that is off; `Unsupported` over loopback, where the change would affect the whole
    /// machine.
    pub fn set_offloads(&self, offloads: Offloads) -> io::Result<()> {
        if self.namespace.is_none() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.run(|| ethtool::set_offloads(self.interface, offloads)).flatten()
    }

    /// Opens an rtnetlink socket with which to change the networking of this host.
    ///
    /// # Errors
    /// The kernel's; `Unsupported` over loopback, where a change would affect the whole machine.
    pub fn rtnetlink(&self) -> io::Result<Rtnetlink> {
        if self.namespace.is_none() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.run(Rtnetlink::open).flatten()
    }

    /// Returns the MTU of the interface: the longest packet in bytes without the Ethernet header.
    ///
    /// # Errors
    /// The kernel's.
    pub fn mtu(&self) -> io::Result<u32> {
        self.run(|| Ok(Rtnetlink::open()?.link(self.interface)?.mtu)).flatten()
    }

    /// Starts `command` on this host.
    ///
    /// The child inherits each descriptor of `inherit` under the same number. In this process the
    /// descriptors keep their close-on-exec flags. The child is killed (`SIGKILL`) when the host is
    /// dropped and when this process ends, however it ends; the child's own children are not. The
    /// owner of the [`Child`] waits for it.
    ///
    /// The host's own thread starts the command, so the calling thread may end before the child.
    ///
    /// # Errors
    /// The same as [`Command::spawn`]; `InvalidInput` if a descriptor of `inherit` is standard
    /// input, output or error, which the command itself sets.
    pub fn spawn(&self, command: Command, inherit: &[BorrowedFd<'_>]) -> io::Result<Child> {
        self.spawner.spawn(command, inherit)
    }

    /// Runs `body` on this host, on a thread of its own, and returns its result.
    ///
    /// A socket created in `body` belongs to this host for its whole life. A child started there
    /// with [`Command::spawn`] belongs to the host too, but is not killed with the host.
    ///
    /// # Errors
    /// The kernel's, if the thread cannot be started or cannot enter the namespace.
    ///
    /// # Panics
    /// If `body` panics.
    pub fn run<R: Send>(&self, body: impl FnOnce() -> R + Send) -> io::Result<R> {
        run_in(self.namespace(), body)
    }
}

/// Runs `body` on a thread of its own, in `namespace` or in the caller's namespace.
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
    poll(|| Ok(rtnetlink.link(interface)?.up))
}

/// Polls a condition until it holds.
fn poll(mut condition: impl FnMut() -> io::Result<bool>) -> io::Result<()> {
    for _ in 0..UP_POLLS {
        if condition()? {
            return Ok(());
        }
        std::thread::sleep(UP_POLL_INTERVAL);
    }
    Err(io::ErrorKind::TimedOut.into())
}
