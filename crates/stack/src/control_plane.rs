//! The control plane: the kernel's addresses, routes, neighbors and groups, and their effect on the
//! stack's sockets.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hairpin_netstack::{Address, Route, SocketId};
use hairpin_wire::MacAddress;
use hairpin_xdp::ETHERNET_HEADER;

use crate::bound_address::{BoundAddress, is_multicast};
use crate::data_plane::DataPlane;
use crate::destination::{Path, XdpPath, to_engine_address};
use crate::drops::DropReport;
use crate::family::Family;
use crate::filter_entries::FilterEntries;
use crate::groups::{GroupPath, Groups, family_bit};
use crate::netlink::{Change, InterfaceAddress, Netlink, RouteKind};
use crate::readiness::Readiness;
use crate::source_policy::SourceRules;
use crate::stack::SharedState;
use crate::{FallbackReason, PathEvent, StackError};

/// The most events kept until they are read; older ones are discarded.
const MAX_EVENTS: usize = 256;
/// The most next hops; datagrams to others go through the kernel.
const MAX_NEIGHBORS: usize = 4_096;

/// The stack's control plane, under its own lock. That lock is taken before the data plane's.
#[derive(Debug)]
pub(crate) struct ControlPlane {
    netlink: Netlink,
    pub(crate) groups: Groups,
    pub(crate) entries: FilterEntries,
    addresses: Vec<IpAddr>,
    sockets: HashMap<SocketId, BoundAddress>,
    /// The readiness of each socket, by the token that the watcher thread waits with.
    pub(crate) readiness_by_token: HashMap<u64, Arc<Readiness>>,
    neighbors: HashMap<IpAddr, Neighbor>,
    mac: [u8; 6],
    /// The interface's MTU, at most `max_mtu`.
    mtu: u32,
    /// The longest packet that fits a frame of the UMEM. The kernel sends longer ones.
    max_mtu: u32,
    up: bool,
    /// `true` if the driver loses the frames that AF_XDP sends.
    is_layer3: bool,
    /// The families whose UDP packets rules of the host apply to: the sum of 1 for IPv4 and 2 for
    /// IPv6.
    ruled: u32,
    events: VecDeque<PathEvent>,
    /// The last event that reports a fallback.
    fallback: Option<PathEvent>,
}

/// A next hop in use.
#[derive(Debug)]
struct Neighbor {
    mac: Option<[u8; 6]>,
    used: Arc<AtomicBool>,
}

/// The Ethernet address of a next hop, and its flag in [`Neighbor`].
type UsedAddress = ([u8; 6], Arc<AtomicBool>);

/// The next hop of a TCP connection.
#[derive(Debug, Clone)]
pub(crate) struct NextHop {
    pub(crate) source_mac: [u8; 6],
    pub(crate) mac: [u8; 6],
    /// The longest packet on the path, in bytes.
    pub(crate) mtu: u32,
    /// Set on each send, so that the neighbor entry stays fresh.
    pub(crate) used: Arc<AtomicBool>,
}

impl ControlPlane {
    /// Opens the control plane of an interface.
    ///
    /// # Errors
    /// `Netlink`, `Memberships`.
    pub(crate) fn new(interface: u32, max_mtu: u32) -> Result<Self, StackError> {
        let mut netlink = Netlink::open().map_err(StackError::Netlink)?;
        let link = netlink.link(interface).map_err(StackError::Netlink)?;
        // A driver may have reset the link when the filter was attached, and not restored it.
        let down = (!link.is_running).then_some(PathEvent::Down);
        Ok(Self {
            netlink,
            groups: Groups::new().map_err(StackError::Memberships)?,
            entries: FilterEntries::default(),
            addresses: Vec::new(),
            sockets: HashMap::new(),
            readiness_by_token: HashMap::new(),
            neighbors: HashMap::new(),
            mac: link.mac,
            mtu: link.mtu.min(max_mtu),
            max_mtu,
            up: link.is_running,
            is_layer3: link.is_layer3,
            ruled: 0,
            events: down.into_iter().collect(),
            fallback: None,
        })
    }

    pub(crate) fn mtu(&self) -> u32 {
        self.mtu
    }

    pub(crate) fn mac(&self) -> [u8; 6] {
        self.mac
    }

    pub(crate) fn has_address(&self, address: IpAddr) -> bool {
        self.addresses.contains(&address)
    }

    pub(crate) fn report(&mut self, event: PathEvent) {
        if event.is_fallback() {
            self.fallback = Some(event.clone());
        }
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// Returns the last reported fallback.
    pub(crate) fn fallback(&self) -> Option<&PathEvent> {
        self.fallback.as_ref()
    }

    pub(crate) fn next_event(&mut self) -> Option<PathEvent> {
        self.events.pop_front()
    }

    /// Adds a socket and redirects its traffic, that of one peer only if it is connected. Returns
    /// `true` if any traffic is redirected.
    pub(crate) fn add(
        &mut self,
        data_plane: &DataPlane,
        id: SocketId,
        local: SocketAddr,
        remote: Option<SocketAddr>,
        family: Family,
        socket: RawFd,
    ) -> io::Result<bool> {
        let mut bound = BoundAddress::new(local, remote, family, socket);
        bound
            .update_entries(data_plane, &mut self.entries, &self.addresses)
            .map_err(filter_error)?;
        let receives_over_xdp = bound.receives_over_xdp();
        self.sockets.insert(id, bound);
        Ok(receives_over_xdp)
    }

    /// Restricts a socket to one peer.
    pub(crate) fn connect(
        &mut self,
        data_plane: &DataPlane,
        id: SocketId,
        local: SocketAddr,
        remote: SocketAddr,
    ) -> io::Result<bool> {
        let Some(bound) = self.sockets.get_mut(&id) else { return Ok(false) };
        (bound.local, bound.remote) = (local, Some(remote));
        bound
            .update_entries(data_plane, &mut self.entries, &self.addresses)
            .map_err(filter_error)?;
        Ok(bound.receives_over_xdp())
    }

    /// Returns `true` if the filter redirects traffic for the socket.
    pub(crate) fn receives_over_xdp(&self, id: SocketId) -> bool {
        self.sockets.get(&id).is_some_and(BoundAddress::receives_over_xdp)
    }

    pub(crate) fn remove(&mut self, data_plane: &DataPlane, id: SocketId) {
        self.groups.remove_sender(id);
        if let Some(mut bound) = self.sockets.remove(&id) {
            bound.remove_entries(data_plane, &mut self.entries);
        }
    }

    /// Finds the path from a socket to a destination, as the kernel would route it.
    ///
    /// # Errors
    /// The kernel's: `NetworkUnreachable`, `HostUnreachable`, `PermissionDenied`; `InvalidInput`
    /// for an address that cannot be reached from the socket's address.
    pub(crate) fn path(
        &mut self,
        shared: &SharedState,
        id: SocketId,
        to: SocketAddr,
        multicast_loop: bool,
    ) -> io::Result<Path> {
        let Some(bound) = self.sockets.get(&id) else { return Err(io::ErrorKind::NotFound.into()) };
        let local = bound.local.ip();
        let has_source = !local.is_unspecified() && !is_multicast(local);
        if has_source && !self.addresses.contains(&local) {
            return Ok(Path::Kernel(FallbackReason::OtherInterface));
        }
        if bound.remote.is_some_and(|remote| remote != to) {
            return Ok(Path::Kernel(FallbackReason::OtherPeer));
        }
        if self.ruled & family_bit(to.ip()) != 0 {
            return Ok(Path::Kernel(FallbackReason::HostRule));
        }
        let source = has_source.then_some(local);
        if is_multicast(to.ip()) {
            return self.path_to_group(shared, id, to, source, multicast_loop);
        }
        let interface = shared.interface;
        let is_on_link = crate::destination::is_local_to_link(to.ip());
        let route = self.netlink.route(to.ip(), source, is_on_link.then_some(interface))?;
        match route.kind {
            RouteKind::Local => return Ok(Path::Kernel(FallbackReason::ThisHost)),
            RouteKind::Broadcast => return Ok(Path::Kernel(FallbackReason::Broadcast)),
            RouteKind::Multicast | RouteKind::Unicast => {}
        }
        if route.interface != interface || !self.up {
            return Ok(Path::Kernel(FallbackReason::OtherInterface));
        }
        if self.is_layer3 {
            return Ok(Path::Kernel(FallbackReason::Layer3));
        }
        let hop = route.gateway.unwrap_or(to.ip());
        let (mac, used) = match self.neighbor(shared, hop)? {
            Ok(found) => found,
            Err(reason) => return Ok(Path::Kernel(reason)),
        };
        let mtu = route.mtu.map_or(self.mtu, |mtu| mtu.min(self.mtu));
        xdp_path(shared, id, route.source, to, mac, mtu, used)
    }

    /// Finds the next hop of a connection between two addresses.
    ///
    /// # Errors
    /// The kernel's, as for [`path`](Self::path).
    pub(crate) fn next_hop(
        &mut self,
        shared: &SharedState,
        source: IpAddr,
        to: IpAddr,
    ) -> io::Result<Result<NextHop, FallbackReason>> {
        if !self.addresses.contains(&source) || !self.up {
            return Ok(Err(FallbackReason::OtherInterface));
        }
        if self.is_layer3 {
            return Ok(Err(FallbackReason::Layer3));
        }
        let interface = shared.interface;
        let is_on_link = crate::destination::is_local_to_link(to);
        let route = self.netlink.route(to, Some(source), is_on_link.then_some(interface))?;
        if route.kind == RouteKind::Local {
            return Ok(Err(FallbackReason::ThisHost));
        }
        if route.interface != interface || route.kind != RouteKind::Unicast {
            return Ok(Err(FallbackReason::OtherInterface));
        }
        let (mac, used) = match self.neighbor(shared, route.gateway.unwrap_or(to))? {
            Ok(found) => found,
            Err(reason) => return Ok(Err(reason)),
        };
        let mtu = route.mtu.map_or(self.mtu, |mtu| mtu.min(self.mtu));
        Ok(Ok(NextHop { source_mac: self.mac, mac, mtu, used }))
    }

    /// Returns `true` if the kernel has a route from an address of this host, over any interface.
    pub(crate) fn has_route(&mut self, source: IpAddr, to: IpAddr, interface: u32) -> bool {
        let is_on_link = crate::destination::is_local_to_link(to);
        let route = self.netlink.route(to, Some(source), is_on_link.then_some(interface));
        route.is_ok_and(|route| matches!(route.kind, RouteKind::Unicast | RouteKind::Local))
    }

    fn path_to_group(
        &mut self,
        shared: &SharedState,
        id: SocketId,
        to: SocketAddr,
        source: Option<IpAddr>,
        multicast_loop: bool,
    ) -> io::Result<Path> {
        let interface = shared.interface;
        let same_family = |address: &&IpAddr| address.is_ipv4() == to.is_ipv4();
        let by_route = |netlink: &mut Netlink| {
            let route = netlink.route(to.ip(), None, Some(interface)).ok();
            route.map(|route| route.source).filter(|source| !source.is_unspecified())
        };
        let source = source.or_else(|| by_route(&mut self.netlink));
        let source = source.or_else(|| self.addresses.iter().find(same_family).copied());
        let Some(source) = source else { return Ok(Path::Kernel(FallbackReason::OtherInterface)) };
        if !self.up {
            return Ok(Path::Kernel(FallbackReason::OtherInterface));
        }
        if self.is_layer3 {
            return Ok(Path::Kernel(FallbackReason::Layer3));
        }
        if !multicast_loop {
            return xdp_path(shared, id, source, to, [0; 6], self.mtu, Arc::default());
        }
        let GroupPath { used, paths_changed } = self.groups.find_path(interface, to, id)?;
        if paths_changed {
            shared.invalidate_paths();
        }
        match used {
            Some(used) => xdp_path(shared, id, source, to, [0; 6], self.mtu, used),
            None => Ok(Path::Kernel(FallbackReason::LocalMembers)),
        }
    }

    /// Returns the Ethernet address of a next hop, or the reason why it is unknown. The kernel
    /// resolves it then.
    fn neighbor(
        &mut self,
        shared: &SharedState,
        hop: IpAddr,
    ) -> io::Result<Result<UsedAddress, FallbackReason>> {
        let mac = self.netlink.neighbor(shared.interface, hop)?.map(|neighbor| neighbor.mac);
        if self.neighbors.len() >= MAX_NEIGHBORS && !self.neighbors.contains_key(&hop) {
            // No path holds the flag of a next hop that is no longer in use.
            self.neighbors.retain(|_, neighbor| Arc::strong_count(&neighbor.used) > 1);
            if self.neighbors.len() >= MAX_NEIGHBORS {
                return Ok(Err(FallbackReason::TooManyNeighbors));
            }
        }
        let known =
            self.neighbors.entry(hop).or_insert_with(|| Neighbor { mac, used: Arc::default() });
        let used = Arc::clone(&known.used);
        if std::mem::replace(&mut known.mac, mac) != mac {
            // Other sockets have prepared headers for the old address; the kernel's later
            // notification will not show a change.
            shared.invalidate_paths();
        }
        if mac.is_none() {
            // Without the capability for this, the datagram sent through the kernel triggers the
            // resolution.
            self.use_neighbor(shared, hop);
        }
        Ok(mac.map(|mac| (mac, used)).ok_or(FallbackReason::NoNeighbor))
    }

    /// Asks the kernel to confirm the next hops that were used since the last call.
    pub(crate) fn refresh_neighbors(&mut self, shared: &SharedState) {
        let is_used = |neighbor: &Neighbor| neighbor.used.swap(false, Ordering::Relaxed);
        let used = self.neighbors.iter().filter(|(_, neighbor)| is_used(neighbor));
        let used: Vec<_> = used.map(|(&hop, _)| hop).collect();
        // If this fails, the next sender gets the error.
        used.into_iter().for_each(|hop| self.use_neighbor(shared, hop));
    }

    /// Asks the kernel to resolve or confirm a next hop, if this process or its keeper may.
    fn use_neighbor(&mut self, shared: &SharedState, hop: IpAddr) {
        let _ = match &shared.tcp.keeper {
            Some(keeper) => keeper.use_neighbor(shared.interface, hop),
            None => self.netlink.use_neighbor(shared.interface, hop),
        };
    }

    /// Applies a change in the kernel. Returns `true` if paths may have changed.
    pub(crate) fn apply(&mut self, shared: &SharedState, change: &Change) -> io::Result<bool> {
        let interface = shared.interface;
        match *change {
            Change::Link(index) if index == interface => self.read_link(shared),
            Change::Addresses(index) if index == interface => {
                self.read_addresses(shared)?;
                Ok(true)
            }
            Change::Addresses(_) => {
                self.update_sources(shared)?;
                Ok(false)
            }
            Change::Routes => {
                shared.data_plane().forget_routes();
                Ok(true)
            }
            Change::Neighbor { interface: index, address, mac } if index == interface => {
                let Some(known) = self.neighbors.get_mut(&address) else { return Ok(false) };
                Ok(std::mem::replace(&mut known.mac, mac) != mac)
            }
            Change::Overrun => {
                self.read_link(shared)?;
                self.read_addresses(shared)?;
                Ok(true)
            }
            Change::Link(_) | Change::Neighbor { .. } => Ok(false),
        }
    }

    /// Returns `true` if the kernel routes datagrams to the address over the interface.
    pub(crate) fn routes_to(&mut self, interface: u32, to: IpAddr) -> bool {
        self.netlink.route(to, None, None).is_ok_and(|route| route.interface == interface)
    }

    /// Returns the source address of the route to an address.
    pub(crate) fn source_address(&mut self, to: IpAddr) -> Option<IpAddr> {
        let route = self.netlink.route(to, None, None).ok()?;
        Some(route.source).filter(|source| !source.is_unspecified())
    }

    fn read_link(&mut self, shared: &SharedState) -> io::Result<bool> {
        let link = match self.netlink.link(shared.interface) {
            Ok(link) => link,
            Err(error) if crate::data_plane::is_down(&error) => {
                if shared.check_removed().is_ok() {
                    self.report(PathEvent::Removed);
                    shared.set_removed();
                }
                self.up = false;
                return Ok(true);
            }
            Err(error) => return Err(error),
        };
        let mtu = link.mtu.min(self.max_mtu);
        let changed_link = (link.mac, mtu, link.is_running) != (self.mac, self.mtu, self.up);
        if link.is_running != self.up {
            self.report(if link.is_running { PathEvent::Up } else { PathEvent::Down });
        }
        if link.mac != self.mac {
            self.report(PathEvent::MacAddress(link.mac));
        }
        (self.mac, self.mtu, self.up) = (link.mac, mtu, link.is_running);
        let changed_mode = std::mem::replace(&mut self.is_layer3, link.is_layer3) != link.is_layer3;
        if changed_link {
            let limit = packet_limit(self.mtu);
            shared.data_plane().set_device(self.mac, limit);
        }
        Ok(changed_link || changed_mode)
    }

    fn read_addresses(&mut self, shared: &SharedState) -> io::Result<()> {
        let found = self.addresses(shared.interface)?;
        let events = self.set_addresses(&mut shared.data_plane(), &found);
        events.into_iter().for_each(|event| shared.report(self, event));
        self.update_sources(shared)
    }

    /// Reads the rules for the sources of packets.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn source_rules(&mut self, interface: &str) -> io::Result<SourceRules> {
        Ok(SourceRules::read(interface, &self.netlink.host_addresses()?))
    }

    /// Updates the rules for the sources of packets.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn update_sources(&mut self, shared: &SharedState) -> io::Result<()> {
        let name = shared.data_plane().interface.device().name.clone();
        let rules = self.source_rules(&name)?;
        shared.data_plane().set_source_rules(rules)
    }

    /// Reports dropped frames to an address that has received nothing. If all of them were lost,
    /// the kernel receives its traffic from now on.
    pub(crate) fn report_drops(&mut self, shared: &SharedState, report: DropReport) {
        let DropReport { address, cause, is_first, is_lost } = report;
        if is_first {
            shared.report(self, PathEvent::RxDropped { address, cause });
        }
        // A strict stack has no fallback: frames of a stranger must not end it.
        if !is_lost || shared.strict {
            return;
        }
        let reason = FallbackReason::Dropped(cause);
        if is_multicast(address.ip()) {
            self.groups.give_up(address.ip(), address.port(), reason);
            // On failure the next poll of the watcher updates the group.
            if let Ok(update) = self.groups.poll(shared) {
                shared.apply_group_update(self, update);
            }
            return;
        }
        let data_plane = shared.data_plane();
        let mut given_up = false;
        for bound in self.sockets.values_mut().filter(|bound| bound.has_entry(address)) {
            bound.give_up(&data_plane, &mut self.entries);
            given_up = true;
        }
        drop(data_plane);
        if given_up {
            shared.report(self, PathEvent::RxFallback { address, reason });
        }
    }

    /// Makes the kernel send and receive the datagrams of families that rules of the host apply to:
    /// the sum of 1 for IPv4 and 2 for IPv6.
    pub(crate) fn obey_rules(&mut self, shared: &SharedState, families: u32) {
        let new = families & !self.ruled;
        if std::mem::replace(&mut self.ruled, families) != families {
            shared.invalidate_paths();
        }
        if new == 0 {
            return;
        }
        let reason = FallbackReason::HostRule;
        self.groups.give_up_families(new, reason);
        // On failure the next poll of the watcher updates the groups.
        if let Ok(update) = self.groups.poll(shared) {
            shared.apply_group_update(self, update);
        }
        let data_plane = shared.data_plane();
        let mut addresses = Vec::new();
        for bound in self.sockets.values_mut().filter(|bound| bound.receives_over_xdp()) {
            let is_any = bound.local.ip().is_unspecified();
            if is_any || new & family_bit(bound.local.ip()) != 0 {
                bound.give_up(&data_plane, &mut self.entries);
                addresses.push(bound.local);
            }
        }
        drop(data_plane);
        for address in addresses {
            shared.report(self, PathEvent::RxFallback { address, reason });
        }
    }

    /// Returns `true` if there is a UDP socket.
    pub(crate) fn has_sockets(&self) -> bool {
        !self.sockets.is_empty()
    }

    /// Reads the interface's addresses from the kernel.
    pub(crate) fn addresses(&mut self, interface: u32) -> io::Result<Vec<InterfaceAddress>> {
        self.netlink.addresses(interface)
    }

    /// Returns the number of addresses in the engine; those beyond its capacity are left to the
    /// kernel.
    pub(crate) fn address_count(&self) -> usize {
        self.addresses.len()
    }

    /// Updates the engine and the filter to the interface's addresses. Returns the events to
    /// report.
    pub(crate) fn set_addresses(
        &mut self,
        data_plane: &mut DataPlane,
        found: &[InterfaceAddress],
    ) -> Vec<PathEvent> {
        let device = data_plane.device;
        self.addresses.retain(|&old| {
            let present = found.iter().any(|found| found.address == old);
            if !present {
                data_plane.engine.remove_address(device, Address::from(old));
            }
            present
        });
        for new in found {
            let (address, broadcast) =
                (Address::from(new.address), new.broadcast.map(Address::from));
            if !self.addresses.contains(&new.address)
                && data_plane.engine.add_address(device, address, broadcast).is_ok()
            {
                self.addresses.push(new.address);
            }
        }
        let mut changed = Vec::new();
        for bound in self.sockets.values_mut() {
            let was_redirected = bound.receives_over_xdp();
            let updated = bound.update_entries(data_plane, &mut self.entries, &self.addresses);
            let address = bound.local;
            match updated {
                Err(error) => {
                    changed.push(PathEvent::RxFallback { address, reason: (&error).into() });
                }
                Ok(()) if was_redirected && !bound.receives_over_xdp() => {
                    changed.push(PathEvent::RxFallback {
                        address,
                        reason: FallbackReason::OtherInterface,
                    })
                }
                Ok(()) if !was_redirected && bound.receives_over_xdp() => {
                    changed.push(PathEvent::RxRestored { address });
                }
                Ok(()) => {}
            }
        }
        changed
    }
}

/// Converts the MTU to the longest IP packet, whose length field has 16 bits.
pub(crate) fn packet_limit(mtu: u32) -> u16 {
    mtu.try_into().unwrap_or(u16::MAX)
}

fn xdp_path(
    shared: &SharedState,
    id: SocketId,
    source: IpAddr,
    to: SocketAddr,
    mac: [u8; 6],
    mtu: u32,
    used: Arc<AtomicBool>,
) -> io::Result<Path> {
    let data_plane = shared.data_plane();
    let route = Route {
        device: data_plane.device,
        source: Address::from(source),
        destination: to_engine_address(to),
        next_hop: MacAddress(mac),
        is_broadcast: false,
    };
    let header = data_plane.engine.prepare(id, &route).map_err(engine_error)?;
    // A UMEM frame may be shorter than the interface's MTU.
    let frame = (shared.umem.settings().longest_frame() - ETHERNET_HEADER) as usize;
    // The length of the IP and UDP headers.
    let headers = if to.is_ipv4() { 28 } else { 48 };
    let limit = header.limit().min((mtu as usize).min(frame).saturating_sub(headers));
    Ok(Path::Xdp(Box::new(XdpPath { header, limit, used })))
}

pub(crate) fn engine_error(error: hairpin_netstack::Error) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, error)
}

fn filter_error(error: hairpin_xdp::EntryError) -> io::Error {
    io::Error::other(error)
}
