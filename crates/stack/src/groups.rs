//! Multicast groups: which of them bypass the kernel.
//!
//! A group is redirected only while all its members on this host are sockets of the stack, because
//! redirected frames reach no other socket. The watcher thread compares the kernel's member count
//! every [`POLL_INTERVAL`]; until then a new foreign member receives nothing. A port of a group is
//! also not redirected while other sockets may receive it without being members
//! (`IP_MULTICAST_ALL`). That check is more expensive and runs every [`LISTENER_INTERVAL`].
//!
//! A group that sockets send to is polled while a path to it is in use: until the socket is closed,
//! or, without members on this host, until no destination holds an AF_XDP path. Then it is removed,
//! and the next sender finds the path again.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hairpin_netstack::SocketId;
use hairpin_xdp::Entry;

use crate::backing_socket::is_backing_socket;
use crate::data_plane::DataPlane;
use crate::memberships::Memberships;
use crate::stack::SharedState;
use crate::{FallbackReason, PathEvent};

/// The interval of polling the kernel's member counts, while there are groups.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The interval of checking for sockets that receive a group without being members.
const LISTENER_INTERVAL: Duration = Duration::from_secs(1);

/// The groups that sockets of the stack are members of or send to.
#[derive(Debug)]
pub(crate) struct Groups {
    memberships: Memberships,
    joined: HashMap<IpAddr, Group>,
    /// The groups and ports that sockets send to.
    sent_to: HashMap<SocketAddr, SentTo>,
}

/// A group and port that sockets send to.
#[derive(Debug, Default)]
struct SentTo {
    /// `true` if the group had members on this host at the last poll.
    has_members: bool,
    /// The sockets that found a path to the group.
    senders: HashSet<SocketId>,
    /// Cloned into each AF_XDP path, so the reference count shows whether one is in use.
    used: Arc<AtomicBool>,
}

/// The result of finding the path to a group.
#[derive(Debug)]
pub(crate) struct GroupPath {
    /// The flag of the AF_XDP path; `None` if members on this host must receive the datagrams too.
    pub(crate) used: Option<Arc<AtomicBool>>,
    /// `true` if other sockets hold an outdated path.
    pub(crate) paths_changed: bool,
}

/// A group that sockets of the stack are members of.
#[derive(Debug, Default)]
struct Group {
    /// The memberships, by port.
    ports: HashMap<u16, GroupPort>,
    /// The fallback reason at the last poll.
    reason: Option<FallbackReason>,
}

#[derive(Debug, Default)]
struct GroupPort {
    /// The kernel's sockets that are members.
    sockets: Vec<RawFd>,
    /// The member with which the group is redirected.
    redirected: Option<RawFd>,
    /// The fallback reason reported last.
    reported_reason: Option<FallbackReason>,
    /// Set if all frames were dropped, until the last member leaves.
    given_up: Option<FallbackReason>,
    /// `true` if other sockets receive the group without being members, as of `checked_at`.
    has_listeners: bool,
    checked_at: Option<Instant>,
}

/// The result of a poll.
#[derive(Debug, Default)]
pub(crate) struct GroupUpdate {
    pub(crate) events: Vec<PathEvent>,
    /// `true` if a path to a group has changed.
    pub(crate) paths_changed: bool,
}

impl Groups {
    pub(crate) fn new() -> io::Result<Self> {
        let memberships = Memberships::open()?;
        Ok(Self { memberships, joined: HashMap::new(), sent_to: HashMap::new() })
    }

    /// Returns `true` if there is nothing to poll.
    pub(crate) fn is_empty(&self) -> bool {
        self.joined.is_empty() && self.sent_to.is_empty()
    }

    /// Records that a socket joined a group, in the kernel too.
    pub(crate) fn add(&mut self, group: IpAddr, port: u16, socket: RawFd) {
        let state = self.joined.entry(group).or_default();
        state.ports.entry(port).or_default().sockets.push(socket);
    }

    /// Records that a socket left a group.
    pub(crate) fn remove(
        &mut self,
        data_plane: &DataPlane,
        group: IpAddr,
        port: u16,
        socket: RawFd,
    ) {
        let Some(state) = self.joined.get_mut(&group) else { return };
        let Some(at_port) = state.ports.get_mut(&port) else { return };
        at_port.sockets.retain(|member| *member != socket);
        if at_port.redirected == Some(socket) {
            let entry = entry(group, port);
            // Before the end, so that the kernel receives nothing meanwhile.
            let next = at_port.sockets.first().copied();
            at_port.redirected = next.filter(|it| data_plane.redirect(&entry, *it).is_ok());
            let _ = data_plane.end_redirect(&entry, socket, at_port.redirected.is_none());
        }
        if at_port.sockets.is_empty() {
            state.ports.remove(&port);
        }
        if state.ports.is_empty() {
            self.joined.remove(&group);
        }
    }

    /// Returns why a group falls back to the kernel; `None` if it bypasses the kernel or the socket
    /// is not a member.
    pub(crate) fn fallback_reason(&self, group: IpAddr, port: u16) -> Option<FallbackReason> {
        let at_port = self.joined.get(&group)?.ports.get(&port)?;
        if at_port.redirected.is_some() {
            None
        } else {
            at_port.reported_reason.or(Some(FallbackReason::OtherMembers))
        }
    }

    /// Makes the kernel receive a group, with the next poll.
    pub(crate) fn give_up(&mut self, group: IpAddr, port: u16, reason: FallbackReason) {
        let at_port = self.joined.get_mut(&group).and_then(|state| state.ports.get_mut(&port));
        if let Some(at_port) = at_port {
            at_port.given_up = Some(reason);
        }
    }

    /// Makes the kernel receive all groups of these families: the sum of 1 for IPv4 and 2 for IPv6.
    pub(crate) fn give_up_families(&mut self, families: u32, reason: FallbackReason) {
        for (group, state) in &mut self.joined {
            if families & family_bit(*group) != 0 {
                state.ports.values_mut().for_each(|at_port| at_port.given_up = Some(reason));
            }
        }
    }

    /// Finds the path to a group: AF_XDP unless the group has members on this host that must
    /// receive the datagram. Sockets of the stack at other ports do not count. The group is polled
    /// from now on.
    ///
    /// # Errors
    /// The kernel's, if the members cannot be read. Nothing has changed then.
    pub(crate) fn find_path(
        &mut self,
        interface: u32,
        to: SocketAddr,
        sender: SocketId,
    ) -> io::Result<GroupPath> {
        let members = self.memberships.count(interface, to.ip())?;
        let has_members = reaches_members(&self.joined, members, to);
        let sent = self.sent_to.entry(to).or_default();
        // The next poll will not see this change. The first sender has no path yet.
        let paths_changed = !sent.senders.is_empty() && sent.has_members != has_members;
        sent.has_members = has_members;
        sent.senders.insert(sender);
        let used = (!has_members).then(|| Arc::clone(&sent.used));
        Ok(GroupPath { used, paths_changed })
    }

    /// Removes a closed socket from the senders.
    pub(crate) fn remove_sender(&mut self, sender: SocketId) {
        for sent in self.sent_to.values_mut() {
            sent.senders.remove(&sender);
        }
    }

    /// Polls the groups that sockets send to and removes those without a path in use. Returns
    /// `true` if a path has changed. A group whose members cannot be read stays unchanged until the
    /// next poll.
    fn poll_senders(&mut self, interface: u32) -> bool {
        let mut paths_changed = false;
        for (&to, sent) in &mut self.sent_to {
            let Ok(members) = self.memberships.count(interface, to.ip()) else { continue };
            let has_members = reaches_members(&self.joined, members, to);
            paths_changed |= std::mem::replace(&mut sent.has_members, has_members) != has_members;
        }
        self.sent_to.retain(|_, sent| sent.is_in_use());
        paths_changed
    }

    /// Polls the kernel's members and updates the redirections.
    ///
    /// # Errors
    /// The kernel's, if the members cannot be read. Nothing has changed then.
    pub(crate) fn poll(&mut self, shared: &SharedState) -> io::Result<GroupUpdate> {
        for (&group, state) in &mut self.joined {
            let members = self.memberships.count(shared.interface, group)?;
            state.reason = (members != state.sockets()).then_some(FallbackReason::OtherMembers);
            for (&port, at_port) in &mut state.ports {
                at_port.check_listeners(&mut self.memberships, shared.interface, group, port);
            }
        }
        let paths_changed = self.poll_senders(shared.interface);
        let mut update = GroupUpdate { paths_changed, ..GroupUpdate::default() };
        for (&group, state) in &mut self.joined {
            for (&port, at_port) in &mut state.ports {
                let listeners = at_port.has_listeners.then_some(FallbackReason::OtherListeners);
                let reason = state.reason.or(listeners).or(at_port.given_up);
                // The data plane is locked only for changes, so that sockets do not wait.
                if at_port.redirected.is_some() == reason.is_some()
                    || at_port.reported_reason != reason
                {
                    let data_plane = shared.data_plane();
                    at_port.update_redirection(
                        &data_plane,
                        group,
                        port,
                        reason,
                        &mut update.events,
                    );
                }
            }
        }
        Ok(update)
    }
}

impl SentTo {
    /// Returns `true` if a socket may hold a path that must be invalidated on a change. With
    /// members on this host, paths hold no flag, so any sender may hold one.
    fn is_in_use(&self) -> bool {
        let is_held = self.has_members || Arc::strong_count(&self.used) > 1;
        is_held && !self.senders.is_empty()
    }
}

impl Group {
    /// Returns the number of the stack's sockets that are members, at any port.
    fn sockets(&self) -> u32 {
        self.ports.values().map(|port| port.sockets.len() as u32).sum()
    }
}

/// Returns `true` if one of `members` on this host receives datagrams to the address. The ports of
/// foreign members are unknown, so they count.
fn reaches_members(joined: &HashMap<IpAddr, Group>, members: u32, to: SocketAddr) -> bool {
    let ours = joined.get(&to.ip());
    members > ours.map_or(0, Group::sockets)
        || ours.is_some_and(|group| group.ports.contains_key(&to.port()))
}

impl GroupPort {
    /// Checks for sockets that receive the group without being members, once per interval. If the
    /// kernel does not list sockets, only members count.
    fn check_listeners(
        &mut self,
        memberships: &mut Memberships,
        interface: u32,
        group: IpAddr,
        port: u16,
    ) {
        if self.checked_at.is_some_and(|at| at.elapsed() < LISTENER_INTERVAL) {
            return;
        }
        self.checked_at = Some(Instant::now());
        let listeners = memberships.listeners(interface, SocketAddr::new(group, port));
        self.has_listeners = listeners.unwrap_or_default().iter().any(|&it| !is_backing_socket(it));
    }

    /// Redirects the group, or passes it to the kernel for the given reason.
    fn update_redirection(
        &mut self,
        data_plane: &DataPlane,
        group: IpAddr,
        port: u16,
        mut reason: Option<FallbackReason>,
        events: &mut Vec<PathEvent>,
    ) {
        let address = SocketAddr::new(group, port);
        if reason.is_none()
            && self.redirected.is_none()
            && let Some(&member) = self.sockets.first()
        {
            match data_plane.redirect(&entry(group, port), member) {
                Ok(()) => self.redirected = Some(member),
                Err(error) => reason = Some((&error).into()),
            }
            if self.redirected.is_some() && self.reported_reason.take().is_some() {
                events.push(PathEvent::RxRestored { address });
            }
        }
        let Some(reason) = reason else { return };
        if let Some(member) = self.redirected.take() {
            let _ = data_plane.end_redirect(&entry(group, port), member, true);
        }
        if self.reported_reason.replace(reason) != Some(reason) {
            events.push(PathEvent::RxFallback { address, reason });
        }
    }
}

fn entry(group: IpAddr, port: u16) -> Entry {
    Entry::Group { vlan: None, group, port: Some(port) }
}

/// Returns 1 for an IPv4 address and 2 for IPv6.
pub(crate) fn family_bit(address: IpAddr) -> u32 {
    if address.to_canonical().is_ipv4() { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use hairpin_netstack::{Engine, Settings, SocketOptions};

    use super::*;
    #[test]
    fn group_reaches_foreign_members_and_own_ones_at_the_port() {
        let group: IpAddr = [239, 1, 1, 1].into();
        let at = |port| SocketAddr::new(group, port);
        let mut joined = HashMap::new();
        assert!(!reaches_members(&joined, 0, at(7)) && reaches_members(&joined, 1, at(7)));
        let ours: &mut Group = joined.entry(group).or_default();
        ours.ports.insert(7, GroupPort { sockets: vec![3, 4], ..GroupPort::default() });
        assert!(reaches_members(&joined, 2, at(7)) && !reaches_members(&joined, 2, at(8)));
        assert!(reaches_members(&joined, 3, at(8)), "a foreign member");
    }

    /// An interface that does not exist, so only the stack's own sockets are members.
    const NO_INTERFACE: u32 = u32::MAX;

    fn sent_to() -> (Groups, SocketAddr, [SocketId; 2]) {
        let settings =
            Settings { devices: 1, addresses: 1, sockets: 2, memberships: 1, sources: 1, seed: 7 };
        let mut engine = Engine::new(&settings);
        let ids = [(); 2].map(|()| engine.open_socket(&SocketOptions::default()).unwrap());
        (Groups::new().unwrap(), SocketAddr::from(([239, 1, 1, 1], 7)), ids)
    }

    #[test]
    fn group_is_polled_while_a_destination_holds_an_xdp_path() {
        let (mut groups, to, [socket, _]) = sent_to();
        let first = groups.find_path(NO_INTERFACE, to, socket).unwrap().used.unwrap();
        let second = groups.find_path(NO_INTERFACE, to, socket).unwrap().used.unwrap();
        for path in [first, second] {
            assert!(!groups.poll_senders(NO_INTERFACE) && !groups.is_empty());
            drop(path);
        }
        assert!(!groups.poll_senders(NO_INTERFACE) && groups.is_empty());
        // A destination that holds a path is invalidated by a new member, even though the group was
        // removed before.
        let path = groups.find_path(NO_INTERFACE, to, socket).unwrap().used;
        groups.add(to.ip(), to.port(), -1);
        assert!(path.is_some() && groups.poll_senders(NO_INTERFACE));
    }

    #[test]
    fn group_with_members_is_polled_while_its_senders_exist() {
        let (mut groups, to, ids) = sent_to();
        groups.add(to.ip(), to.port(), -1);
        for id in ids {
            assert!(groups.find_path(NO_INTERFACE, to, id).unwrap().used.is_none());
        }
        for id in ids {
            assert!(!groups.poll_senders(NO_INTERFACE) && !groups.sent_to.is_empty());
            groups.remove_sender(id);
        }
        assert!(!groups.poll_senders(NO_INTERFACE) && groups.sent_to.is_empty());
    }

    /// The senders use the kernel path, and no later poll would update them.
    #[test]
    fn senders_are_invalidated_before_a_group_is_removed() {
        let (mut groups, to, [socket, _]) = sent_to();
        groups.add(to.ip(), to.port(), -1);
        assert!(groups.find_path(NO_INTERFACE, to, socket).unwrap().used.is_none());
        groups.joined.clear();
        assert!(groups.poll_senders(NO_INTERFACE) && groups.is_empty());
    }

    #[test]
    fn first_sender_to_see_members_invalidates_the_others() {
        let (mut groups, to, [first, second]) = sent_to();
        let found = groups.find_path(NO_INTERFACE, to, first).unwrap();
        assert!(found.used.is_some() && !found.paths_changed);
        groups.add(to.ip(), to.port(), -1);
        let found = groups.find_path(NO_INTERFACE, to, second).unwrap();
        assert!(found.used.is_none() && found.paths_changed);
        assert!(!groups.find_path(NO_INTERFACE, to, second).unwrap().paths_changed);
    }
}
