//! Groups: which of them come past the kernel.
//!
//! A group is redirected only while all its members on this host are sockets of the stack, for
//! what is redirected nobody else gets. The kernel counts its members, and the stack's thread looks
//! every [`LOOK`]: until then, somebody else who joins gets nothing. Nor is a port of it redirected
//! while others that need not be members may hear it (`IP_MULTICAST_ALL`); to find these takes the
//! kernel longer, so it is done every [`LISTENERS`].
//!
//! A group that is sent to is looked at as long as a way to it is in use: until the socket is gone,
//! or while nobody here is a member, until no destination holds a way past the kernel. It is
//! forgotten then, and whoever sends there next finds the way anew.

use std::collections::{HashMap, HashSet};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use hairpin_netstack::SocketId;
use hairpin_xdp::{Entry, Interface};

use crate::kernel_socket::is_ours;
use crate::memberships::Memberships;
use crate::stack::Shared;
use crate::{FallbackReason, PathEvent};

/// How often the kernel's members are looked at while there are groups.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// How often sockets are looked for that hear a group without being members.
const LISTENERS: Duration = Duration::from_secs(1);

/// Groups that sockets of the stack are members of, or send to.
#[derive(Debug)]
pub(crate) struct Groups {
    memberships: Memberships,
    joined: HashMap<IpAddr, Group>,
    /// Groups and ports that are sent to.
    sent_to: HashMap<SocketAddr, SentTo>,
}

/// A group and port that sockets send to.
#[derive(Debug, Default)]
struct SentTo {
    /// Whether it had members on this host when last looked at.
    has_members: bool,
    /// Sockets that have found a way there.
    senders: HashSet<SocketId>,
    /// Held by each way past the kernel, besides here.
    is_used: Arc<AtomicBool>,
}

/// What finding the way to a group has found.
#[derive(Debug)]
pub(crate) struct Found {
    /// What the way past the kernel holds; nothing if there are members on this host to hear it.
    pub(crate) is_used: Option<Arc<AtomicBool>>,
    /// Whether others know a way there that is none any more.
    pub(crate) changes_ways: bool,
}

/// A group that sockets are members of.
#[derive(Debug, Default)]
struct Group {
    /// Sockets that are members, by their port.
    ports: HashMap<u16, Port>,
    /// Why it comes by the kernel, by what was found last.
    reason: Option<FallbackReason>,
}

#[derive(Debug, Default)]
struct Port {
    sockets: u32,
    is_redirected: bool,
    /// What was said last.
    told: Option<FallbackReason>,
    /// Whether others hear it who are no members, and when that was looked at.
    has_listeners: bool,
    looked_at: Option<Instant>,
}

/// What a look has found.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) notices: Vec<PathEvent>,
    /// Whether a way to a group has changed.
    pub(crate) changes_ways: bool,
}

impl Groups {
    pub(crate) fn new() -> io::Result<Self> {
        let memberships = Memberships::open()?;
        Ok(Self { memberships, joined: HashMap::new(), sent_to: HashMap::new() })
    }

    /// Whether there is anything to look at.
    pub(crate) fn is_empty(&self) -> bool {
        self.joined.is_empty() && self.sent_to.is_empty()
    }

    /// A socket has become a member, in the kernel too.
    pub(crate) fn add(&mut self, group: IpAddr, port: u16) {
        self.joined.entry(group).or_default().ports.entry(port).or_default().sockets += 1;
    }

    /// A socket is a member no more.
    pub(crate) fn remove(&mut self, interface: &Interface, group: IpAddr, port: u16) {
        let Some(state) = self.joined.get_mut(&group) else { return };
        let Some(at_port) = state.ports.get_mut(&port) else { return };
        at_port.sockets -= 1;
        if at_port.sockets == 0 {
            if at_port.is_redirected {
                let _ = interface.remove(&entry(group, port));
            }
            state.ports.remove(&port);
        }
        if state.ports.is_empty() {
            self.joined.remove(&group);
        }
    }

    /// Why a group comes by the kernel, if it does.
    pub(crate) fn by_kernel(&self, group: IpAddr, port: u16) -> Option<FallbackReason> {
        let at_port = self.joined.get(&group)?.ports.get(&port)?;
        if at_port.is_redirected {
            None
        } else {
            at_port.told.or(Some(FallbackReason::OtherMembers))
        }
    }

    /// Whether what is sent to a group may go past the kernel: not if it has members on this host.
    /// Sockets of the stack at other ports are none. It is looked after from now on.
    ///
    /// # Errors
    /// The kernel's: the members cannot be read. Nothing has changed.
    pub(crate) fn find_way(
        &mut self,
        interface: u32,
        to: SocketAddr,
        sender: SocketId,
    ) -> io::Result<Found> {
        let members = self.memberships.count(interface, to.ip())?;
        let has_members = hears(&self.joined, members, to);
        let sent = self.sent_to.entry(to).or_default();
        // By the next look it will be no news, and of one who is the first it is none.
        let changes_ways = !sent.senders.is_empty() && sent.has_members != has_members;
        sent.has_members = has_members;
        sent.senders.insert(sender);
        let is_used = (!has_members).then(|| Arc::clone(&sent.is_used));
        Ok(Found { is_used, changes_ways })
    }

    /// A socket is gone.
    pub(crate) fn remove_sender(&mut self, sender: SocketId) {
        for sent in self.sent_to.values_mut() {
            sent.senders.remove(&sender);
        }
    }

    /// Looks at the groups that are sent to, and forgets those to which no way is in use; whether
    /// a way has changed. What cannot be read now is as it was until the next look.
    fn look_at_ways(&mut self, interface: u32) -> bool {
        let mut changes_ways = false;
        for (&to, sent) in &mut self.sent_to {
            let Ok(members) = self.memberships.count(interface, to.ip()) else { continue };
            let has_members = hears(&self.joined, members, to);
            changes_ways |= std::mem::replace(&mut sent.has_members, has_members) != has_members;
        }
        self.sent_to.retain(|_, sent| sent.is_in_use());
        changes_ways
    }

    /// Looks at the kernel's members, and redirects what may be.
    ///
    /// # Errors
    /// The kernel's: the members cannot be read. Nothing has changed.
    pub(crate) fn look(&mut self, shared: &Shared) -> io::Result<Look> {
        for (&group, state) in &mut self.joined {
            let members = self.memberships.count(shared.interface, group)?;
            state.reason = (members != state.sockets()).then_some(FallbackReason::OtherMembers);
            for (&port, at_port) in &mut state.ports {
                at_port.look(&mut self.memberships, shared.interface, group, port);
            }
        }
        let changes_ways = self.look_at_ways(shared.interface);
        let mut look = Look { changes_ways, ..Look::default() };
        for (&group, state) in &mut self.joined {
            for (&port, at_port) in &mut state.ports {
                let listeners = at_port.has_listeners.then_some(FallbackReason::OtherListeners);
                let reason = state.reason.or(listeners);
                // Sockets are kept waiting for what changes alone.
                if at_port.is_redirected == reason.is_some() || at_port.told != reason {
                    let core = shared.core();
                    at_port.turn(&core.interface, group, port, reason, &mut look.notices);
                }
            }
        }
        Ok(look)
    }
}

impl SentTo {
    /// Whether somebody knows a way there who is to be told when it changes. While there are
    /// members, ways hold nothing: any socket that has found one may know it still.
    fn is_in_use(&self) -> bool {
        let is_held = self.has_members || Arc::strong_count(&self.is_used) > 1;
        is_held && !self.senders.is_empty()
    }
}

impl Group {
    /// Sockets of the stack that are members, at whatever port.
    fn sockets(&self) -> u32 {
        self.ports.values().map(|port| port.sockets).sum()
    }
}

/// Whether one of so many members on this host hears what is sent there: of others the port is not
/// known.
fn hears(joined: &HashMap<IpAddr, Group>, members: u32, to: SocketAddr) -> bool {
    let ours = joined.get(&to.ip());
    members > ours.map_or(0, Group::sockets)
        || ours.is_some_and(|group| group.ports.contains_key(&to.port()))
}

impl Port {
    /// Looks for others that hear it, now and then. Where the kernel does not list sockets, members
    /// alone count.
    fn look(&mut self, memberships: &mut Memberships, interface: u32, group: IpAddr, port: u16) {
        if self.looked_at.is_some_and(|at| at.elapsed() < LISTENERS) {
            return;
        }
        self.looked_at = Some(Instant::now());
        let listeners = memberships.listeners(interface, SocketAddr::new(group, port));
        self.has_listeners = listeners.unwrap_or_default().iter().any(|&it| !is_ours(it));
    }

    /// Sends a group here or, for a reason, leaves it to the kernel.
    fn turn(
        &mut self,
        interface: &Interface,
        group: IpAddr,
        port: u16,
        mut reason: Option<FallbackReason>,
        notices: &mut Vec<PathEvent>,
    ) {
        let address = SocketAddr::new(group, port);
        if reason.is_none() && !self.is_redirected {
            match interface.enter(&entry(group, port)) {
                Ok(()) => self.is_redirected = true,
                Err(_) => reason = Some(FallbackReason::FilterFull),
            }
            if self.is_redirected && self.told.take().is_some() {
                notices.push(PathEvent::RxRestored { address });
            }
        }
        let Some(reason) = reason else { return };
        if self.is_redirected {
            let _ = interface.remove(&entry(group, port));
            self.is_redirected = false;
        }
        if self.told.replace(reason) != Some(reason) {
            notices.push(PathEvent::RxFallback { address, reason });
        }
    }
}

fn entry(group: IpAddr, port: u16) -> Entry {
    Entry::Group { vlan: None, group, port: Some(port) }
}

#[cfg(test)]
mod tests {
    use hairpin_netstack::{Settings, SocketOptions};

    use super::*;
    use crate::memory::OwnedEngine;

    #[test]
    fn a_group_is_heard_by_others_and_by_our_own_at_that_port() {
        let group: IpAddr = [239, 1, 1, 1].into();
        let at = |port| SocketAddr::new(group, port);
        let mut joined = HashMap::new();
        assert!(!hears(&joined, 0, at(7)) && hears(&joined, 1, at(7)));
        let ours: &mut Group = joined.entry(group).or_default();
        ours.ports.insert(7, Port { sockets: 2, ..Port::default() });
        assert!(hears(&joined, 2, at(7)) && !hears(&joined, 2, at(8)));
        assert!(hears(&joined, 3, at(8)), "somebody else is a member");
    }

    /// An interface that is not there, and so has no members but those of the stack.
    const NOWHERE: u32 = u32::MAX;

    fn sent_to() -> (Groups, SocketAddr, [SocketId; 2]) {
        let settings =
            Settings { devices: 1, addresses: 1, sockets: 2, memberships: 1, sources: 1, seed: 7 };
        let mut engine = OwnedEngine::new(&settings);
        let ids = [(); 2].map(|()| engine.edit().open_socket(&SocketOptions::default()).unwrap());
        (Groups::new().unwrap(), SocketAddr::from(([239, 1, 1, 1], 7)), ids)
    }

    #[test]
    fn a_group_is_looked_at_while_a_destination_holds_a_way_past_the_kernel() {
        let (mut groups, to, [socket, _]) = sent_to();
        let first = groups.find_way(NOWHERE, to, socket).unwrap().is_used.unwrap();
        let second = groups.find_way(NOWHERE, to, socket).unwrap().is_used.unwrap();
        for way in [first, second] {
            assert!(!groups.look_at_ways(NOWHERE) && !groups.is_empty());
            drop(way);
        }
        assert!(!groups.look_at_ways(NOWHERE) && groups.is_empty());
        // And again: who is held is told of members, though it was forgotten before.
        let way = groups.find_way(NOWHERE, to, socket).unwrap().is_used;
        groups.add(to.ip(), to.port());
        assert!(way.is_some() && groups.look_at_ways(NOWHERE));
    }

    #[test]
    fn a_group_with_members_is_looked_at_while_there_is_a_socket_that_sent_there() {
        let (mut groups, to, ids) = sent_to();
        groups.add(to.ip(), to.port());
        for id in ids {
            assert!(groups.find_way(NOWHERE, to, id).unwrap().is_used.is_none());
        }
        for id in ids {
            assert!(!groups.look_at_ways(NOWHERE) && !groups.sent_to.is_empty());
            groups.remove_sender(id);
        }
        assert!(!groups.look_at_ways(NOWHERE) && groups.sent_to.is_empty());
    }

    /// They know the way through the kernel, and nobody would tell them of it later.
    #[test]
    fn when_the_members_of_a_group_have_gone_its_senders_are_told_before_it_is_forgotten() {
        let (mut groups, to, [socket, _]) = sent_to();
        groups.add(to.ip(), to.port());
        assert!(groups.find_way(NOWHERE, to, socket).unwrap().is_used.is_none());
        groups.joined.clear();
        assert!(groups.look_at_ways(NOWHERE) && groups.is_empty());
    }

    #[test]
    fn who_finds_members_first_has_the_others_told() {
        let (mut groups, to, [first, second]) = sent_to();
        let found = groups.find_way(NOWHERE, to, first).unwrap();
        assert!(found.is_used.is_some() && !found.changes_ways);
        groups.add(to.ip(), to.port());
        let found = groups.find_way(NOWHERE, to, second).unwrap();
        assert!(found.is_used.is_none() && found.changes_ways);
        assert!(!groups.find_way(NOWHERE, to, second).unwrap().changes_ways);
    }
}
