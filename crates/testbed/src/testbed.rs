//! A testbed: two hosts and the wire between them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::ethtool::{self, Offloads, Queues};
use crate::host::Host;
use crate::relay::{INTERFACES, Relay, RelaySettings};
use crate::rtnetlink::{Link, Macvlan, Route, Rtnetlink, Veth};
use crate::user_namespace::{enter_user_namespace, in_user_namespace};

/// The name of the veth below another interface, and of the ports of a bridge.
const LOWER: &str = "lower0";

/// The name of the veth in both namespaces, which contain no other interface than `lo`.
const INTERFACE: &str = "veth0";
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];
const PREFIX_LENGTH: u8 = 24;
const ADDRESSES_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2)];
const PREFIX_LENGTH_V6: u8 = 64;
/// All IPv4 multicast groups (224.0.0.0/4). Without this route, a join or send that names no
/// interface fails.
const MULTICAST: (Ipv4Addr, u8) = (Ipv4Addr::new(224, 0, 0, 0), 4);

/// The step of building a testbed that failed, and the kernel's error.
#[derive(Debug, thiserror::Error)]
#[error("cannot {step}: {reason}")]
pub struct TestbedError {
    step: &'static str,
    reason: io::Error,
}

/// Two hosts with a wire between them. Both disappear when the value is dropped or the process
/// ends.
#[derive(Debug)]
pub struct Testbed {
    hosts: [Host; 2],
    relay: Option<Relay>,
    /// The namespace of a bridge between the hosts.
    _bridge: Option<Host>,
    description: String,
    /// The settings; `None` over loopback.
    builder: Option<TestbedBuilder>,
}

/// The kind of the interfaces that join two hosts.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum Wire {
    /// The ends of a veth pair.
    #[default]
    Veth,
    /// A macvlan in each host, on the ends of a veth pair.
    Macvlan(Macvlan),
    /// A veth in the first host. The second host's interface is a bridge, and the other end is its
    /// port.
    BridgeDevice,
    /// A veth in each host. The other ends are ports of a bridge in a namespace of its own.
    Bridge,
}

/// The settings of two hosts in namespaces and the wire between them; see [`Testbed::builder`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct TestbedBuilder {
    queues: Option<Queues>,
    queues_max: Option<Queues>,
    offloads: Option<Offloads>,
    mtu: Option<u32>,
    ipv6: bool,
    relay: Option<RelaySettings>,
    wire: Wire,
}

impl Testbed {
    /// Builds two hosts, each a network namespace of its own, joined by a veth pair.
    ///
    /// In each, `lo` and `veth0` are up when this returns. `veth0` has the address 10.77.0.1/24 in
    /// the first host and 10.77.0.2/24 in the second, and the route to 224.0.0.0/4. IPv6 is off.
    /// Any number of testbeds can exist at once, with the same names and addresses: they are
    /// isolated from each other.
    ///
    /// # Errors
    /// The step that failed. An ordinary user must call [`enter_user_namespace`] first, otherwise
    /// the kernel rejects the namespace.
    pub fn namespaces() -> Result<Self, TestbedError> {
        Self::builder().build()
    }

    /// Returns a builder with which to set queues, offloads, the MTU and a relay between the hosts.
    ///
    /// ```no_run
    /// use hairpin_testbed::{Testbed, Chance, Direction, Faults, Offloads, Queues, RelaySettings};
    ///
    /// let faults = Faults { loss: Chance::percent(1), ..Faults::NONE };
    /// let relay = RelaySettings::seeded(7).with(Direction::FirstToSecond, faults);
    /// let testbed = Testbed::builder()
    ///     .queues(Queues::pairs(2))
    ///     .offloads(Offloads::OFF)
    ///     .mtu(9_000)
    ///     .relay(relay)
    ///     .build()?;
    /// let relay = testbed.relay().expect("built with a relay");
    /// println!("{:?}", relay.counters(Direction::FirstToSecond));
    /// # Ok::<(), hairpin_testbed::TestbedError>(())
    /// ```
    #[must_use]
    pub fn builder() -> TestbedBuilder {
        TestbedBuilder::default()
    }

    /// Returns two hosts that are both this machine, at 127.0.0.1. [`describe`] contains `reason`.
    ///
    /// They share every port and multicast group with each other and with all other processes.
    ///
    /// [`describe`]: Self::describe
    ///
    /// # Errors
    /// The kernel's, if a thread cannot be started or the interface `lo` does not exist.
    pub fn loopback(reason: impl std::fmt::Display) -> io::Result<Self> {
        let Link { index, .. } = Rtnetlink::open()?.link("lo")?;
        let hosts = [Host::on_loopback(index)?, Host::on_loopback(index)?];
        let description = format!("loopback ({reason})");
        Ok(Self { hosts, relay: None, _bridge: None, description, builder: None })
    }

    /// Builds two hosts in namespaces if the kernel allows them, otherwise over loopback.
    ///
    /// Calls [`enter_user_namespace`] first, which requires a single-threaded process of an
    /// ordinary user.
    ///
    /// # Errors
    /// The same as [`loopback`](Self::loopback).
    pub fn available() -> io::Result<Self> {
        match enter_user_namespace() {
            Ok(()) => Self::namespaces().or_else(Self::loopback),
            Err(refused) => Self::loopback(refused),
        }
    }

    /// Returns both hosts.
    #[must_use]
    pub fn hosts(&self) -> &[Host; 2] {
        &self.hosts
    }

    /// Returns the relay between the hosts, if the testbed has one.
    #[must_use]
    pub fn relay(&self) -> Option<&Relay> {
        self.relay.as_ref()
    }

    /// Removes the veth pair, and with it the addresses and routes of both interfaces.
    ///
    /// # Errors
    /// The kernel's; `Unsupported` over loopback and with a relay.
    pub fn disconnect(&self) -> io::Result<()> {
        if self.builder.is_none() || self.relay.is_some() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.hosts[0].run(|| Rtnetlink::open()?.remove_link(INTERFACE)).flatten()
    }

    /// Adds a new veth pair after [`disconnect`](Self::disconnect). The interfaces have the same
    /// names and addresses; their indexes may differ.
    ///
    /// # Errors
    /// The step that failed.
    pub fn reconnect(&mut self) -> Result<(), TestbedError> {
        match &self.builder {
            Some(builder) if self.relay.is_none() && builder.wire == Wire::Veth => {
                builder.connect(&mut self.hosts, None).map(drop)
            }
            _ => {
                let reason = io::ErrorKind::Unsupported.into();
                Err(TestbedError { step: "reconnect the hosts", reason })
            }
        }
    }

    /// Returns a description: "two network namespaces joined by a veth" or "by a relay (seed 7)",
    /// followed by "(in a user namespace)" where it applies, or "loopback" with the reason.
    #[must_use]
    pub fn describe(&self) -> &str {
        &self.description
    }
}

impl TestbedBuilder {
    /// Sets the number of real queues of each host's interface. The kernel's default is one queue
    /// in each direction.
    #[must_use]
    pub fn queues(self, queues: Queues) -> Self {
        Self { queues: Some(queues), ..self }
    }

    /// Sets the maximum number of queues for [`Host::set_queues`]. The kernel's default is the
    /// number of processors.
    #[must_use]
    pub fn queues_max(self, queues: Queues) -> Self {
        Self { queues_max: Some(queues), ..self }
    }

    /// Sets the offloads of each host's interface. The kernel's default is all except `gro`.
    #[must_use]
    pub fn offloads(self, offloads: Offloads) -> Self {
        Self { offloads: Some(offloads), ..self }
    }

    /// Sets the MTU of every interface: the longest packet in bytes without the Ethernet header, 68
    /// to 65,535. The kernel's default is 1,500.
    #[must_use]
    pub fn mtu(self, mtu: u32) -> Self {
        Self { mtu: Some(mtu), ..self }
    }

    /// Enables IPv6, with fd77::1/64 at the first host's interface and fd77::2/64 at the second's
    /// in addition to the link-local addresses.
    ///
    /// All addresses are usable at once, without duplicate address detection. No router
    /// solicitations are sent. MLD reports and neighbor solicitations stay on the wire: the kernel
    /// cannot turn them off.
    #[must_use]
    pub fn ipv6(self) -> Self {
        Self { ipv6: true, ..self }
    }

    /// Inserts a relay between the hosts.
    #[must_use]
    pub fn relay(self, settings: RelaySettings) -> Self {
        Self { relay: Some(settings), ..self }
    }

    /// Joins the hosts by other interfaces than the ends of a veth. Both still have the name
    /// `veth0`. Queues, offloads and a relay require [`Wire::Veth`].
    #[must_use]
    pub fn wire(self, wire: Wire) -> Self {
        Self { wire, ..self }
    }

    /// Builds the hosts and the wire; see [`Testbed::namespaces`].
    ///
    /// # Errors
    /// The step that failed. An ordinary user must call [`enter_user_namespace`] first, otherwise
    /// the kernel rejects the namespace.
    pub fn build(&self) -> Result<Testbed, TestbedError> {
        let [first, second] = ADDRESSES;
        let mut hosts = [new_host(first)?, new_host(second)?];
        if self.ipv6 {
            for (host, address) in hosts.iter_mut().zip(ADDRESSES_V6) {
                host.set_address_v6(address);
            }
        }
        let bridge = match self.wire {
            Wire::Bridge => Some(new_host(first)?),
            _ => None,
        };
        let relay = self.connect(&mut hosts, bridge.as_ref())?;
        let wire = relay
            .as_ref()
            .map_or("a veth".into(), |relay| format!("a relay (seed {})", relay.seed()));
        let suffix = if in_user_namespace() { " (in a user namespace)" } else { "" };
        let description = format!("two network namespaces joined by {wire}{suffix}");
        Ok(Testbed { hosts, relay, _bridge: bridge, description, builder: Some(self.clone()) })
    }

    /// Joins the hosts and waits until packets pass.
    fn connect(
        &self,
        hosts: &mut [Host; 2],
        bridge: Option<&Host>,
    ) -> Result<Option<Relay>, TestbedError> {
        let relay = match self.wire {
            Wire::Veth => self.join(hosts)?,
            wire => {
                self.join_by(wire, hosts, bridge)?;
                None
            }
        };
        for host in &mut *hosts {
            let queues = self.queues.or(self.queues_max.map(|_| Queues::pairs(1)));
            queues
                .map_or(Ok(()), |queues| host.set_queues(queues))
                .map_err(|reason| TestbedError { step: "set the queues", reason })?;
            run(host, "set the offloads", || self.set_offloads())?;
            let index = run(host, "set up the interfaces", || set_up(host))?;
            host.set_interface_index(index);
        }
        for host in hosts {
            host.wait_until_up()
                .and_then(|()| host.wait_until_local_v6())
                .map_err(|reason| TestbedError { step: "wait for the veth to come up", reason })?;
        }
        Ok(relay)
    }

    /// Adds the interfaces of a wire that is no veth.
    fn join_by(
        &self,
        wire: Wire,
        hosts: &[Host; 2],
        bridge: Option<&Host>,
    ) -> Result<(), TestbedError> {
        let veth = || Veth { queues: None, mtu: self.mtu };
        let add = |host: &Host, names: [&str; 2], peer: &Host| {
            run(host, "add a veth pair", || {
                let peer = peer.namespace().ok_or(io::ErrorKind::NotFound)?;
                Rtnetlink::open()?.add_veth([veth(), veth()], names, peer)
            })
        };
        let [first, second] = hosts;
        match (wire, bridge) {
            (Wire::Bridge, Some(middle)) => {
                run(middle, "add a bridge", || Rtnetlink::open()?.add_bridge(INTERFACE))?;
                for (host, port) in [(first, "port0"), (second, "port1")] {
                    add(middle, [port, INTERFACE], host)?;
                    run(middle, "add a port", || add_port(port))?;
                }
                run(middle, "set up the bridge", || up(INTERFACE))
            }
            (Wire::BridgeDevice, _) => {
                add(first, [INTERFACE, LOWER], second)?;
                run(second, "add a bridge", || Rtnetlink::open()?.add_bridge(INTERFACE))?;
                run(second, "add a port", || add_port(LOWER))
            }
            (Wire::Macvlan(mode), _) => {
                add(first, [LOWER, LOWER], second)?;
                hosts.iter().try_for_each(|host| run(host, "add a macvlan", || add_macvlan(mode)))
            }
            _ => Ok(()),
        }
    }

    /// Adds a veth pair between the hosts, or between each host and a relay.
    fn join(&self, hosts: &mut [Host; 2]) -> Result<Option<Relay>, TestbedError> {
        let veth = Veth { queues: self.created_queues(), mtu: self.mtu };
        let Some(settings) = &self.relay else {
            let [first, second] = hosts;
            return run(first, "add a veth pair", || {
                let peer = second.namespace().ok_or(io::ErrorKind::NotFound)?;
                Rtnetlink::open()?.add_veth([veth; 2], [INTERFACE; 2], peer)
            })
            .map(|()| None);
        };
        let error = |reason| TestbedError { step: "start a relay", reason };
        let relay = start_relay(settings, veth, hosts).map_err(error)?;
        for (host, interface) in hosts.iter_mut().zip(INTERFACES) {
            host.set_relay_end(relay.namespace().clone(), interface);
        }
        Ok(Some(relay))
    }

    /// Returns the number of queues with which an interface is created. All of them are real at
    /// first.
    fn created_queues(&self) -> Option<Queues> {
        let either = self.queues.or(self.queues_max)?;
        let most = self.queues_max.unwrap_or(either);
        Some(Queues { rx: either.rx.max(most.rx), tx: either.tx.max(most.tx) })
    }

    fn set_offloads(&self) -> io::Result<()> {
        self.offloads.map_or(Ok(()), |offloads| ethtool::set_offloads(INTERFACE, offloads))
    }
}

fn up(name: &str) -> io::Result<()> {
    let mut rtnetlink = Rtnetlink::open()?;
    let index = rtnetlink.link(name)?.index;
    rtnetlink.set_up(index)
}

/// Makes an interface a port of the bridge in the namespace of the calling thread.
fn add_port(name: &str) -> io::Result<()> {
    let mut rtnetlink = Rtnetlink::open()?;
    let [port, bridge] = [rtnetlink.link(name)?.index, rtnetlink.link(INTERFACE)?.index];
    rtnetlink.set_bridge(port, bridge)?;
    rtnetlink.set_up(port)
}

/// Adds the macvlan on the veth in the namespace of the calling thread.
fn add_macvlan(mode: Macvlan) -> io::Result<()> {
    let mut rtnetlink = Rtnetlink::open()?;
    let lower = rtnetlink.link(LOWER)?.index;
    rtnetlink.add_macvlan(INTERFACE, lower, mode)?;
    // Otherwise the veth may answer ARP requests for the macvlan's address.
    std::fs::write(format!("/proc/sys/net/ipv4/conf/{LOWER}/arp_ignore"), "1")?;
    rtnetlink.set_up(lower)
}

fn start_relay(settings: &RelaySettings, veth: Veth, hosts: &[Host; 2]) -> io::Result<Relay> {
    let namespace = |host: &Host| {
        let fd = host.namespace().ok_or(io::ErrorKind::NotFound)?;
        fd.try_clone_to_owned()
    };
    let [first, second] = hosts;
    Relay::start(settings, veth, [namespace(first)?, namespace(second)?], INTERFACE)
}

fn new_host(address: Ipv4Addr) -> Result<Host, TestbedError> {
    Host::in_new_namespace(address, INTERFACE)
        .map_err(|reason| TestbedError { step: "create a network namespace", reason })
}

/// Sets up the namespace of the calling thread, which is the host's. Returns the index of the veth.
fn set_up(host: &Host) -> io::Result<u32> {
    let address_v6 = host.address_v6();
    match address_v6 {
        Some(_) => disable_ipv6_discovery()?,
        None => disable_ipv6(),
    }
    let mut rtnetlink = Rtnetlink::open()?;
    let lo = rtnetlink.link("lo")?;
    rtnetlink.set_up(lo.index)?;
    let veth = rtnetlink.link(INTERFACE)?;
    rtnetlink.add_address(veth.index, host.address().into(), PREFIX_LENGTH)?;
    if let Some(address) = address_v6 {
        rtnetlink.add_address(veth.index, address.into(), PREFIX_LENGTH_V6)?;
    }
    rtnetlink.set_up(veth.index)?;
    let (network, prefix_length) = MULTICAST;
    let multicast = Route::to(IpAddr::V4(network), prefix_length);
    rtnetlink.add_route(&Route { interface: Some(veth.index), ..multicast })?;
    Ok(veth.index)
}

/// Disables router solicitations and duplicate address detection.
fn disable_ipv6_discovery() -> io::Result<()> {
    for interface in ["all", "default", INTERFACE] {
        for setting in ["accept_dad", "accept_ra", "router_solicitations"] {
            std::fs::write(format!("/proc/sys/net/ipv6/conf/{interface}/{setting}"), "0")?;
        }
    }
    Ok(())
}

/// Disables IPv6 in the namespace of the calling thread.
///
/// Errors are ignored: without the permission, or without IPv6 in the kernel, tests still work.
pub(crate) fn disable_ipv6() {
    for interface in ["all", "default"] {
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{interface}/disable_ipv6"), "1");
    }
}

/// Runs a step of the setup inside a host.
fn run<R: Send>(
    host: &Host,
    step: &'static str,
    body: impl FnOnce() -> io::Result<R> + Send,
) -> Result<R, TestbedError> {
    host.run(body).flatten().map_err(|reason| TestbedError { step, reason })
}
