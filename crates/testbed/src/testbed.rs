//! Two hosts and the wire between them.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::ethtool::{self, Offloads, Queues};
use crate::host::Host;
use crate::relay::{INTERFACES, Relay, RelaySettings};
use crate::rtnetlink::{Link, Route, Rtnetlink, Veth};
use crate::user_namespace::{enter_user_namespace, in_user_namespace};

/// The veth is called the same in both namespaces: nothing else but `lo` is there.
const INTERFACE: &str = "veth0";
const ADDRESSES: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 0, 1), Ipv4Addr::new(10, 77, 0, 2)];
const PREFIX_LENGTH: u8 = 24;
const ADDRESSES_V6: [Ipv6Addr; 2] =
    [Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1), Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2)];
const PREFIX_LENGTH_V6: u8 = 64;
/// All of 224.0.0.0/4: without a route a join or a send that names no interface has nowhere to go.
const MULTICAST: (Ipv4Addr, u8) = (Ipv4Addr::new(224, 0, 0, 0), 4);

/// Why there are no two namespaces: the step that failed, and the kernel's reason.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {reason}")]
pub struct TestbedError {
    step: &'static str,
    reason: io::Error,
}

/// Two hosts with a wire between them; all of it is gone when it is dropped or the process ends.
#[derive(Debug)]
pub struct Testbed {
    hosts: [Host; 2],
    relay: Option<Relay>,
    description: String,
    /// How it was made, where it was.
    builder: Option<TestbedBuilder>,
}

/// What two hosts in namespaces and the wire between them are to be like; see [`Testbed::builder`].
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct TestbedBuilder {
    queues: Option<Queues>,
    queues_max: Option<Queues>,
    offloads: Option<Offloads>,
    mtu: Option<u32>,
    ipv6: bool,
    relay: Option<RelaySettings>,
}

impl Testbed {
    /// Two hosts, each a network namespace of its own, joined by a veth.
    ///
    /// In each, `lo` and `veth0` are up when this returns. `veth0` has 10.77.0.1/24 in the first
    /// and 10.77.0.2/24 in the second, and the route to 224.0.0.0/4. IPv6 is off. Any number of
    /// beds can exist at once, with the same names and addresses: they do not meet.
    ///
    /// # Errors
    /// The step that the kernel refused: an ordinary user is refused the namespace, unless
    /// [`enter_user_namespace`] was called before.
    pub fn namespaces() -> Result<Self, TestbedError> {
        Self::builder().build()
    }

    /// The same with queues, offloads and an MTU of one's choice, and a relay between the hosts.
    ///
    /// ```no_run
    /// use hairpin_testbed::{Testbed, Chance, Direction, Faults, Offloads, Queues, RelaySettings};
    ///
    /// let faults = Faults { loss: Chance::percent(1), ..Faults::NONE };
    /// let relay = RelaySettings::seeded(7).with(Direction::FirstToSecond, faults);
    /// let bed = Testbed::builder()
    ///     .queues(Queues::pairs(2))
    ///     .offloads(Offloads::OFF)
    ///     .mtu(9_000)
    ///     .relay(relay)
    ///     .build()?;
    /// let relay = bed.relay().expect("asked for");
    /// println!("{:?}", relay.tally(Direction::FirstToSecond));
    /// # Ok::<(), hairpin_testbed::TestbedError>(())
    /// ```
    #[must_use]
    pub fn builder() -> TestbedBuilder {
        TestbedBuilder::default()
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
        let description = format!("loopback ({reason})");
        Ok(Self { hosts, relay: None, description, builder: None })
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

    /// The relay between the hosts, if there is one.
    #[must_use]
    pub fn relay(&self) -> Option<&Relay> {
        self.relay.as_ref()
    }

    /// Takes the wire away: neither host has its interface any more, nor the address and the routes
    /// that went with it.
    ///
    /// # Errors
    /// The kernel's; `Unsupported` over loopback and where there is a relay.
    pub fn cut(&self) -> io::Result<()> {
        if self.builder.is_none() || self.relay.is_some() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        self.hosts[0].run(|| Rtnetlink::open()?.remove_link(INTERFACE)).flatten()
    }

    /// Lays a new wire where one was cut, like the one that was: the interfaces have the same names
    /// and addresses, and other numbers unless the kernel gives them the same.
    ///
    /// # Errors
    /// The step that the kernel refused.
    pub fn mend(&mut self) -> Result<(), TestbedError> {
        match &self.builder {
            Some(builder) if self.relay.is_none() => builder.lay(&mut self.hosts).map(drop),
            _ => {
                let reason = io::ErrorKind::Unsupported.into();
                Err(TestbedError { step: "there is no wire to mend", reason })
            }
        }
    }

    /// What this is, for a person: "two network namespaces joined by a veth" or "by a relay
    /// (seed 7)", with "(in a user namespace)" behind it if so, or "loopback" and the reason.
    #[must_use]
    pub fn describe(&self) -> &str {
        &self.description
    }
}

impl TestbedBuilder {
    /// So many real queues at each host's interface. The kernel's own choice is one of each kind.
    #[must_use]
    pub fn queues(self, queues: Queues) -> Self {
        Self { queues: Some(queues), ..self }
    }

    /// Room for so many queues, to be used by [`Host::set_queues`]. The kernel's own choice is as
    /// many as there are processors.
    #[must_use]
    pub fn queues_max(self, most: Queues) -> Self {
        Self { queues_max: Some(most), ..self }
    }

    /// These offloads at each host's interface. The kernel's own choice is all but `gro`.
    #[must_use]
    pub fn offloads(self, offloads: Offloads) -> Self {
        Self { offloads: Some(offloads), ..self }
    }

    /// The longest packet in bytes without the Ethernet header, 68 to 65,535, at every interface.
    /// The kernel's own choice is 1,500.
    #[must_use]
    pub fn mtu(self, mtu: u32) -> Self {
        Self { mtu: Some(mtu), ..self }
    }

    /// IPv6 as well: fd77::1/64 at the first host's interface and fd77::2/64 at the second's,
    /// beside their link-local addresses. All are there at once, without duplicate address
    /// detection; no router is solicited. What cannot be had off the wire are the reports of
    /// groups, and the solicitations of neighbours when something is sent.
    #[must_use]
    pub fn ipv6(self) -> Self {
        Self { ipv6: true, ..self }
    }

    /// A relay between the hosts instead of one veth.
    #[must_use]
    pub fn relay(self, settings: RelaySettings) -> Self {
        Self { relay: Some(settings), ..self }
    }

    /// Makes hosts and wire; see [`Testbed::namespaces`].
    ///
    /// # Errors
    /// The step that the kernel refused. An ordinary user is refused the namespace, unless
    /// [`enter_user_namespace`] was called before.
    pub fn build(&self) -> Result<Testbed, TestbedError> {
        let [first, second] = ADDRESSES;
        let mut hosts = [new_host(first)?, new_host(second)?];
        if self.ipv6 {
            for (host, address) in hosts.iter_mut().zip(ADDRESSES_V6) {
                host.set_address_v6(address);
            }
        }
        let relay = self.lay(&mut hosts)?;
        let wire = relay
            .as_ref()
            .map_or("a veth".into(), |relay| format!("a relay (seed {})", relay.seed()));
        let how = if in_user_namespace() { " (in a user namespace)" } else { "" };
        let description = format!("two network namespaces joined by {wire}{how}");
        Ok(Testbed { hosts, relay, description, builder: Some(self.clone()) })
    }

    /// Joins the hosts, and waits until packets pass.
    fn lay(&self, hosts: &mut [Host; 2]) -> Result<Option<Relay>, TestbedError> {
        let relay = self.join(hosts)?;
        for host in &mut *hosts {
            let queues = self.queues.or(self.queues_max.map(|_| Queues::pairs(1)));
            queues
                .map_or(Ok(()), |queues| host.set_queues(queues))
                .map_err(|reason| TestbedError { step: "the queues cannot be had", reason })?;
            run(host, "the offloads cannot be had", || self.set_offloads())?;
            let index = run(host, "the interfaces cannot be set up", || set_up(host))?;
            host.set_interface_index(index);
        }
        for host in hosts {
            host.wait_until_up()
                .map_err(|reason| TestbedError { step: "the veth does not come up", reason })?;
        }
        Ok(relay)
    }

    /// Lays a veth from host to host, or from each to a relay.
    fn join(&self, hosts: &mut [Host; 2]) -> Result<Option<Relay>, TestbedError> {
        let veth = Veth { queues: self.queues_made(), mtu: self.mtu };
        let Some(settings) = &self.relay else {
            let [first, second] = hosts;
            return run(first, "a veth is refused", || {
                let peer = second.namespace().ok_or(io::ErrorKind::NotFound)?;
                Rtnetlink::open()?.add_veth([veth; 2], [INTERFACE; 2], peer)
            })
            .map(|()| None);
        };
        let refused = |reason| TestbedError { step: "a relay is refused", reason };
        let relay = start_relay(settings, veth, hosts).map_err(refused)?;
        for (host, interface) in hosts.iter_mut().zip(INTERFACES) {
            host.set_relay_end(relay.namespace().clone(), interface);
        }
        Ok(Some(relay))
    }

    /// How many queues an interface is made with; all are real at first.
    fn queues_made(&self) -> Option<Queues> {
        let either = self.queues.or(self.queues_max)?;
        let most = self.queues_max.unwrap_or(either);
        Some(Queues { rx: either.rx.max(most.rx), tx: either.tx.max(most.tx) })
    }

    fn set_offloads(&self) -> io::Result<()> {
        self.offloads.map_or(Ok(()), |offloads| ethtool::set_offloads(INTERFACE, offloads))
    }
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
        .map_err(|reason| TestbedError { step: "a network namespace is refused", reason })
}

/// Sets up the namespace of the calling thread, which is the host's; the number of the veth in it.
fn set_up(host: &Host) -> io::Result<u32> {
    let address_v6 = host.address_v6();
    match address_v6 {
        Some(_) => quieten_ipv6()?,
        None => switch_ipv6_off(),
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

/// Keeps router solicitations and duplicate address detection off the wire.
fn quieten_ipv6() -> io::Result<()> {
    for which in ["all", "default", INTERFACE] {
        for what in ["accept_dad", "accept_ra", "router_solicitations"] {
            std::fs::write(format!("/proc/sys/net/ipv6/conf/{which}/{what}"), "0")?;
        }
    }
    Ok(())
}

/// Keeps all of IPv6 off the wire.
///
/// Where it is not allowed, or the kernel has no IPv6, it stays, and does no harm.
pub(crate) fn switch_ipv6_off() {
    for which in ["all", "default"] {
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{which}/disable_ipv6"), "1");
    }
}

/// Runs a step of the setting up inside a host.
fn run<R: Send>(
    host: &Host,
    step: &'static str,
    body: impl FnOnce() -> io::Result<R> + Send,
) -> Result<R, TestbedError> {
    host.run(body).flatten().map_err(|reason| TestbedError { step, reason })
}
