//! What the kernel says of addresses, routes, neighbours and groups, and what follows from it for
//! the sockets of a stack.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hairpin_netstack::{Address, Route, SocketId};
use hairpin_wire::MacAddress;
use hairpin_xdp::ETHERNET_HEADER;

use crate::addresses::{Bound, is_multicast};
use crate::core::Core;
use crate::destination::{Direct, Way, of_engine};
use crate::entries::Entries;
use crate::groups::{Found, Groups};
use crate::netlink::{Change, InterfaceAddress, Netlink, RouteKind};
use crate::readiness::Readiness;
use crate::stack::Shared;
use crate::{FallbackReason, PathEvent, StackError};

/// Notices that nobody asks for are forgotten from here on, the oldest first.
const MOST_NOTICES: usize = 256;

/// The stack's outer part, under a lock of its own, which is taken before the core's.
#[derive(Debug)]
pub(crate) struct Control {
    netlink: Netlink,
    pub(crate) groups: Groups,
    pub(crate) entries: Entries,
    addresses: Vec<IpAddr>,
    sockets: HashMap<SocketId, Bound>,
    /// For the stack's thread, by the token that it waits with.
    pub(crate) awaited: HashMap<u64, Arc<Readiness>>,
    neighbours: HashMap<IpAddr, Neighbour>,
    mac: [u8; 6],
    mtu: u32,
    is_up: bool,
    notices: VecDeque<PathEvent>,
    /// The last of them by which something goes through the kernel.
    fallback: Option<PathEvent>,
}

/// A next hop that is sent to.
#[derive(Debug)]
struct Neighbour {
    mac: Option<[u8; 6]>,
    is_used: Arc<AtomicBool>,
}

impl Control {
    /// # Errors
    /// `Netlink`, `Memberships`.
    pub(crate) fn new(interface: u32) -> Result<Self, StackError> {
        let mut netlink = Netlink::open().map_err(StackError::Netlink)?;
        let link = netlink.link(interface).map_err(StackError::Netlink)?;
        Ok(Self {
            netlink,
            groups: Groups::new().map_err(StackError::Memberships)?,
            entries: Entries::default(),
            addresses: Vec::new(),
            sockets: HashMap::new(),
            awaited: HashMap::new(),
            neighbours: HashMap::new(),
            mac: link.mac,
            mtu: link.mtu,
            is_up: link.is_running,
            notices: VecDeque::new(),
            fallback: None,
        })
    }

    pub(crate) fn mac(&self) -> [u8; 6] {
        self.mac
    }

    pub(crate) fn has_address(&self, address: IpAddr) -> bool {
        self.addresses.contains(&address)
    }

    pub(crate) fn tell(&mut self, notice: PathEvent) {
        if notice.is_fallback() {
            self.fallback = Some(notice.clone());
        }
        if self.notices.len() == MOST_NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back(notice);
    }

    /// The last thing that was said to go through the kernel.
    pub(crate) fn fallback(&self) -> Option<&PathEvent> {
        self.fallback.as_ref()
    }

    pub(crate) fn notice(&mut self) -> Option<PathEvent> {
        self.notices.pop_front()
    }

    /// A socket is there: what comes to it is sent here. Whether anything can be.
    pub(crate) fn add(&mut self, core: &Core, id: SocketId, local: SocketAddr) -> io::Result<bool> {
        let mut bound = Bound::new(local);
        bound.enter(&core.interface, &mut self.entries, &self.addresses).map_err(full)?;
        let is_direct = bound.is_direct();
        self.sockets.insert(id, bound);
        Ok(is_direct)
    }

    /// A socket talks to one peer only from now on.
    pub(crate) fn connect(
        &mut self,
        core: &Core,
        id: SocketId,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> io::Result<bool> {
        let Some(bound) = self.sockets.get_mut(&id) else { return Ok(false) };
        (bound.local, bound.remote) = (local, Some(remote));
        bound.enter(&core.interface, &mut self.entries, &self.addresses).map_err(full)?;
        Ok(bound.is_direct())
    }

    /// Whether what comes to a socket comes past the kernel.
    pub(crate) fn is_direct(&self, id: SocketId) -> bool {
        self.sockets.get(&id).is_some_and(Bound::is_direct)
    }

    pub(crate) fn remove(&mut self, core: &Core, id: SocketId) {
        self.groups.remove_sender(id);
        if let Some(mut bound) = self.sockets.remove(&id) {
            bound.withdraw(&core.interface, &mut self.entries);
        }
    }

    /// The way from a socket to a destination, as the kernel would go.
    ///
    /// # Errors
    /// The kernel's: `NetworkUnreachable`, `HostUnreachable`, `PermissionDenied`; `InvalidInput` of
    /// an address that cannot be sent to from there.
    pub(crate) fn way(
        &mut self,
        shared: &Shared,
        id: SocketId,
        to: SocketAddr,
        multicast_loop: bool,
    ) -> io::Result<Way> {
        let Some(bound) = self.sockets.get(&id) else { return Err(io::ErrorKind::NotFound.into()) };
        let local = bound.local.ip();
        let is_bound = !local.is_unspecified() && !is_multicast(local);
        if is_bound && !self.addresses.contains(&local) {
            return Ok(Way::Kernel(FallbackReason::OtherInterface));
        }
        if bound.remote.is_some_and(|remote| remote != to) {
            return Ok(Way::Kernel(FallbackReason::OtherPeer));
        }
        let source = is_bound.then_some(local);
        if is_multicast(to.ip()) {
            return self.way_to_group(shared, id, to, source, multicast_loop);
        }
        let interface = shared.interface;
        let is_on_link = crate::destination::is_local_to_link(to.ip());
        let route = self.netlink.route(to.ip(), source, is_on_link.then_some(interface))?;
        match route.kind {
            RouteKind::Local => return Ok(Way::Kernel(FallbackReason::ThisHost)),
            RouteKind::Broadcast => return Ok(Way::Kernel(FallbackReason::Broadcast)),
            RouteKind::Multicast | RouteKind::Unicast => {}
        }
        if route.interface != interface || !self.is_up {
            return Ok(Way::Kernel(FallbackReason::OtherInterface));
        }
        let hop = route.gateway.unwrap_or(to.ip());
        let Some((mac, is_used)) = self.neighbour(shared, hop)? else {
            return Ok(Way::Kernel(FallbackReason::NoNeighbour));
        };
        let mtu = route.mtu.map_or(self.mtu, |mtu| mtu.min(self.mtu));
        direct(shared, id, route.source, to, mac, mtu, is_used)
    }

    fn way_to_group(
        &mut self,
        shared: &Shared,
        id: SocketId,
        to: SocketAddr,
        source: Option<IpAddr>,
        multicast_loop: bool,
    ) -> io::Result<Way> {
        let interface = shared.interface;
        let is_alike = |address: &&IpAddr| address.is_ipv4() == to.is_ipv4();
        let by_route = |netlink: &mut Netlink| {
            let route = netlink.route(to.ip(), None, Some(interface)).ok();
            route.map(|route| route.source).filter(|source| !source.is_unspecified())
        };
        let source = source.or_else(|| by_route(&mut self.netlink));
        let source = source.or_else(|| self.addresses.iter().find(is_alike).copied());
        let Some(source) = source else { return Ok(Way::Kernel(FallbackReason::OtherInterface)) };
        if !self.is_up {
            return Ok(Way::Kernel(FallbackReason::OtherInterface));
        }
        if !multicast_loop {
            return direct(shared, id, source, to, [0; 6], self.mtu, Arc::default());
        }
        let Found { is_used, changes_ways } = self.groups.find_way(interface, to, id)?;
        if changes_ways {
            shared.renew_ways();
        }
        match is_used {
            Some(is_used) => direct(shared, id, source, to, [0; 6], self.mtu, is_used),
            None => Ok(Way::Kernel(FallbackReason::LocalMembers)),
        }
    }

    /// The Ethernet address of a next hop, once the kernel knows it; it is asked to find it.
    fn neighbour(
        &mut self,
        shared: &Shared,
        hop: IpAddr,
    ) -> io::Result<Option<([u8; 6], Arc<AtomicBool>)>> {
        let mac = self.netlink.neighbour(shared.interface, hop)?.map(|neighbour| neighbour.mac);
        let known = self
            .neighbours
            .entry(hop)
            .or_insert_with(|| Neighbour { mac, is_used: Arc::default() });
        if std::mem::replace(&mut known.mac, mac) != mac {
            // Others know a way by it already; when the kernel says so, it will be no news.
            shared.renew_ways();
        }
        if mac.is_none() {
            // Without the right to that, what is sent by the kernel meanwhile does it too.
            let _ = self.netlink.use_neighbour(shared.interface, hop);
        }
        Ok(mac.map(|mac| (mac, Arc::clone(&known.is_used))))
    }

    /// Has the kernel check again whether the next hops that were sent to are there.
    pub(crate) fn keep_fresh(&mut self, interface: u32) {
        for (&hop, neighbour) in &self.neighbours {
            if neighbour.is_used.swap(false, Ordering::Relaxed) {
                // Refused, the next sender hears of it.
                let _ = self.netlink.use_neighbour(interface, hop);
            }
        }
    }

    /// Brings everything in line with something that has changed in the kernel; true if ways may
    /// have.
    pub(crate) fn apply(&mut self, shared: &Shared, change: &Change) -> io::Result<bool> {
        let interface = shared.interface;
        match *change {
            Change::Link(index) if index == interface => self.read_link(shared),
            Change::Addresses(index) if index == interface => {
                self.read_addresses(shared)?;
                Ok(true)
            }
            Change::Routes => Ok(true),
            Change::Neighbour { interface: index, address, mac } if index == interface => {
                let Some(known) = self.neighbours.get_mut(&address) else { return Ok(false) };
                Ok(std::mem::replace(&mut known.mac, mac) != mac)
            }
            Change::Overrun => {
                self.read_link(shared)?;
                self.read_addresses(shared)?;
                Ok(true)
            }
            Change::Link(_) | Change::Addresses(_) | Change::Neighbour { .. } => Ok(false),
        }
    }

    fn read_link(&mut self, shared: &Shared) -> io::Result<bool> {
        let link = match self.netlink.link(shared.interface) {
            Ok(link) => link,
            Err(error) if crate::core::is_down(&error) => {
                if shared.check_gone().is_ok() {
                    self.tell(PathEvent::Gone);
                    shared.set_gone();
                }
                self.is_up = false;
                return Ok(true);
            }
            Err(error) => return Err(error),
        };
        let is_new = (link.mac, link.mtu, link.is_running) != (self.mac, self.mtu, self.is_up);
        if link.is_running != self.is_up {
            self.tell(if link.is_running { PathEvent::Up } else { PathEvent::Down });
        }
        if link.mac != self.mac {
            self.tell(PathEvent::MacAddress(link.mac));
        }
        (self.mac, self.mtu, self.is_up) = (link.mac, link.mtu, link.is_running);
        if is_new {
            let limit = packet_limit(self.mtu);
            shared.core().set_device(self.mac, limit);
        }
        Ok(is_new)
    }

    fn read_addresses(&mut self, shared: &Shared) -> io::Result<()> {
        let found = self.addresses(shared.interface)?;
        let notices = self.set_addresses(&mut shared.core(), &found);
        notices.into_iter().for_each(|notice| shared.tell(self, notice));
        Ok(())
    }

    /// The interface's addresses, as the kernel has them now.
    pub(crate) fn addresses(&mut self, interface: u32) -> io::Result<Vec<InterfaceAddress>> {
        self.netlink.addresses(interface)
    }

    /// How many addresses the engine knows; those beyond its room are left to the kernel.
    pub(crate) fn address_count(&self) -> usize {
        self.addresses.len()
    }

    /// Has the filter and the engine know the interface's addresses; what is to be said of that.
    pub(crate) fn set_addresses(
        &mut self,
        core: &mut Core,
        found: &[InterfaceAddress],
    ) -> Vec<PathEvent> {
        let device = core.device;
        let engine = core.engine.edit();
        self.addresses.retain(|&old| {
            let is_here = found.iter().any(|found| found.address == old);
            if !is_here {
                engine.remove_address(device, Address::from(old));
            }
            is_here
        });
        for new in found {
            let (address, broadcast) =
                (Address::from(new.address), new.broadcast.map(Address::from));
            if !self.addresses.contains(&new.address)
                && engine.add_address(device, address, broadcast).is_ok()
            {
                self.addresses.push(new.address);
            }
        }
        let mut changed = Vec::new();
        for bound in self.sockets.values_mut() {
            let was_direct = bound.is_direct();
            let entered = bound.enter(&core.interface, &mut self.entries, &self.addresses);
            let address = bound.local;
            match entered {
                Err(_) => changed
                    .push(PathEvent::RxFallback { address, reason: FallbackReason::FilterFull }),
                Ok(()) if was_direct && !bound.is_direct() => changed.push(PathEvent::RxFallback {
                    address,
                    reason: FallbackReason::OtherInterface,
                }),
                Ok(()) if !was_direct && bound.is_direct() => {
                    changed.push(PathEvent::RxRestored { address });
                }
                Ok(()) => {}
            }
        }
        changed
    }
}

/// What fits into one packet of IP, of which 16 bits say how long it is.
pub(crate) fn packet_limit(mtu: u32) -> u16 {
    mtu.try_into().unwrap_or(u16::MAX)
}

fn direct(
    shared: &Shared,
    id: SocketId,
    source: IpAddr,
    to: SocketAddr,
    mac: [u8; 6],
    mtu: u32,
    is_used: Arc<AtomicBool>,
) -> io::Result<Way> {
    let core = shared.core();
    let route = Route {
        device: core.device,
        source: Address::from(source),
        destination: of_engine(to),
        next_hop: MacAddress(mac),
        is_broadcast: false,
    };
    let header = core.engine.get().prepare(id, &route).map_err(invalid)?;
    // A frame of ours may be shorter than what the interface carries now.
    let frame = (shared.umem.settings().longest_frame() - ETHERNET_HEADER) as usize;
    // What the headers of IP and UDP take.
    let headers = if to.is_ipv4() { 28 } else { 48 };
    let limit = header.limit().min((mtu as usize).min(frame).saturating_sub(headers));
    Ok(Way::Direct(Box::new(Direct { header, limit, is_used })))
}

pub(crate) fn invalid(error: hairpin_netstack::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

fn full(error: hairpin_xdp::EntryError) -> io::Error {
    io::Error::other(error)
}
