//! Two hosts and the wire between them.

use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use crate::host::Host;
use crate::rtnetlink::{Link, Rtnetlink};
use crate::user_namespace::{enter_user_namespace, in_user_namespace};

/// The veth is called the same in both namespaces: nothing else but `lo` is there.
const INTERFACE: &str = "veth0";
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];
const PREFIX_LENGTH: u8 = 24;
/// All of 224.0.0.0/4: without a route a join or a send that names no interface has nowhere to go.
const MULTICAST: (Ipv4Addr, u8) = (Ipv4Addr::new(224, 0, 0, 0), 4);
/// The kernel sees to a link's state within milliseconds, or a second when it is busy.
const UP_POLLS: u32 = 1000;
const UP_POLL_PAUSE: Duration = Duration::from_millis(5);

/// Why there are no two namespaces: the step that failed, and the kernel's reason.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {reason}")]
pub struct BedError {
    step: &'static str,
    reason: io::Error,
}

/// Two hosts with a wire between them; all of it is gone when it is dropped or the process ends.
#[derive(Debug)]
pub struct Bed {
    hosts: [Host; 2],
    description: String,
}

impl Bed {
    /// Two hosts, each a network namespace of its own, joined by a veth.
    ///
    /// In each, `lo` and `veth0` are up when this returns. `veth0` has 10.77.0.1/24 in the first
    /// and 10.77.0.2/24 in the second, and the route to 224.0.0.0/4. IPv6 is off. Any number of
    /// beds can exist at once, with the same names and addresses: they do not meet.
    ///
    /// # Errors
    /// The step that the kernel refused: an ordinary user is refused the namespace, unless
    /// [`enter_user_namespace`] was called before.
    pub fn namespaces() -> Result<Self, BedError> {
        let [first, second] = ADDRESSES;
        let mut hosts = [new_host(first)?, new_host(second)?];
        join(&hosts)?;
        for host in &mut hosts {
            let index = run(host, "the interfaces cannot be set up", || set_up(host.address()))?;
            host.set_interface_index(index);
        }
        for host in &hosts {
            run(host, "the veth does not come up", wait_until_up)?;
        }
        let how = if in_user_namespace() { " (in a user namespace)" } else { "" };
        let description = format!("two network namespaces joined by a veth{how}");
        Ok(Self { hosts, description })
    }

    /// Two hosts that are both this machine, at 127.0.0.1; `reason` is for [`describe`].
    ///
    /// They share every port and group with each other and with whatever else runs here.
    ///
    /// [`describe`]: Self::describe
    ///
    /// # Errors
    /// Those of starting a thread, or if there is no interface `lo`.
    pub fn loopback(reason: impl std::fmt::Display) -> io::Result<Self> {
        let Link { index, .. } = Rtnetlink::open()?.link("lo")?;
        let hosts = [Host::on_loopback(index)?, Host::on_loopback(index)?];
        Ok(Self { hosts, description: format!("loopback ({reason})") })
    }

    /// Namespaces where they can be had, as an ordinary user in a user namespace, else loopback.
    ///
    /// An ordinary user gets namespaces only from a process that is still single-threaded: see
    /// [`enter_user_namespace`], which this calls.
    ///
    /// # Errors
    /// Those of [`loopback`](Self::loopback).
    pub fn available() -> io::Result<Self> {
        match enter_user_namespace() {
            Ok(()) => Self::namespaces().or_else(Self::loopback),
            Err(refused) => Self::loopback(refused),
        }
    }

    /// Both hosts.
    #[must_use]
    pub fn hosts(&self) -> &[Host; 2] {
        &self.hosts
    }

    /// What this is, for a person: "two network namespaces joined by a veth", with "(in a user
    /// namespace)" behind it if so, or "loopback" and the reason.
    #[must_use]
    pub fn describe(&self) -> &str {
        &self.description
    }
}

fn new_host(address: Ipv4Addr) -> Result<Host, BedError> {
    Host::in_new_namespace(address, INTERFACE)
        .map_err(|reason| BedError { step: "a network namespace is refused", reason })
}

/// Lays a veth between two hosts.
fn join([first, second]: &[Host; 2]) -> Result<(), BedError> {
    run(first, "a veth is refused", || {
        let peer = second.namespace().ok_or(io::ErrorKind::NotFound)?;
        Rtnetlink::open()?.add_veth(INTERFACE, peer)
    })
}

/// Sets up the namespace of the calling thread; the number of the veth in it.
fn set_up(address: Ipv4Addr) -> io::Result<u32> {
    switch_ipv6_off();
    let mut rtnetlink = Rtnetlink::open()?;
    let lo = rtnetlink.link("lo")?;
    rtnetlink.set_up(lo.index)?;
    let veth = rtnetlink.link(INTERFACE)?;
    rtnetlink.add_address(veth.index, address, PREFIX_LENGTH)?;
    rtnetlink.set_up(veth.index)?;
    rtnetlink.add_route(veth.index, MULTICAST.0, MULTICAST.1)?;
    Ok(veth.index)
}

/// Waits until packets pass between the namespace of the calling thread and the other one.
fn wait_until_up() -> io::Result<()> {
    let mut rtnetlink = Rtnetlink::open()?;
    for _ in 0..UP_POLLS {
        if rtnetlink.link(INTERFACE)?.is_up {
            return Ok(());
        }
        std::thread::sleep(UP_POLL_PAUSE);
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// Keeps router solicitations and duplicate address detection off the wire.
///
/// Where it is not allowed, or the kernel has no IPv6, they stay, and do no harm.
fn switch_ipv6_off() {
    for which in ["all", "default"] {
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "1");
    }
}

/// Runs a step of the setting up inside a host.
fn run<R: Send>(
    host: &Host,
    step: &'static str,
    body: impl FnOnce() -> io::Result<R> + Send,
) -> Result<R, BedError> {
    host.run(body).flatten().map_err(|reason| BedError { step, reason })
}
