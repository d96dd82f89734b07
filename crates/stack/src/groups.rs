//! Groups: which of them come past the kernel.
//!
//! A group is redirected only while all its members on this host are sockets of the stack, for
//! what is redirected nobody else gets. The kernel counts its members, and the stack's thread looks
//! every [`LOOK`]: until then, somebody else who joins gets nothing. Nor is a port of it redirected
//! while others that need not be members may hear it (`IP_MULTICAST_ALL`); to find these takes the
//! kernel longer, so it is done every [`LISTENERS`].

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use hairpin_xdp::{Entry, Interface};

use crate::kernel_socket::is_ours;
use crate::memberships::Memberships;
use crate::stack::Shared;
use crate::{Notice, Reason};

/// How often the kernel's members are looked at while there are groups.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

/// How often sockets are looked for that hear a group without being members.
const LISTENERS: Duration = Duration::from_secs(1);

/// Groups that sockets of the stack are members of, or send to.
#[derive(Debug)]
pub(crate) struct Groups {
    memberships: Memberships,
    joined: HashMap<IpAddr, Group>,
    /// Groups and ports that are sent to, and whether they had members on this host when last
    /// looked at.
    sent_to: HashMap<SocketAddr, bool>,
}

/// A group that sockets are members of.
#[derive(Debug, Default)]
struct Group {
    /// Sockets that are members, by their port.
    ports: HashMap<u16, Port>,
    /// Why it comes by the kernel, by what was found last.
    reason: Option<Reason>,
}

#[derive(Debug, Default)]
struct Port {
    sockets: u32,
    is_redirected: bool,
    /// What was said last.
    told: Option<Reason>,
    /// Whether others hear it who are no members, and when that was looked at.
    has_listeners: bool,
    looked_at: Option<Instant>,
}

/// What a look has found.
#[derive(Debug, Default)]
pub(crate) struct Look {
    pub(crate) notices: Vec<Notice>,
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
    pub(crate) fn by_kernel(&self, group: IpAddr, port: u16) -> Option<Reason> {
        let at_port = self.joined.get(&group)?.ports.get(&port)?;
        if at_port.is_redirected { None } else { at_port.told.or(Some(Reason::OtherMembers)) }
    }

    /// Whether what is sent to a group has members to hear it on this host; it is looked after from
    /// now on. Sockets of the stack at other ports are none.
    pub(crate) fn has_members(&mut self, interface: u32, to: SocketAddr) -> io::Result<bool> {
        let members = self.memberships.count(interface, to.ip())?;
        let has_members = hears(&self.joined, members, to);
        self.sent_to.insert(to, has_members);
        Ok(has_members)
    }

    /// Looks at the kernel's members, and redirects what may be.
    ///
    /// # Errors
    /// The kernel's: the members cannot be read. Nothing has changed.
    pub(crate) fn look(&mut self, shared: &Shared) -> io::Result<Look> {
        for (&group, state) in &mut self.joined {
            let members = self.memberships.count(shared.interface, group)?;
            state.reason = (members != state.sockets()).then_some(Reason::OtherMembers);
            for (&port, at_port) in &mut state.ports {
                at_port.look(&mut self.memberships, shared.interface, group, port);
            }
        }
        let mut look = Look::default();
        for (&to, had_members) in &mut self.sent_to {
            let members = self.memberships.count(shared.interface, to.ip())?;
            let has_members = hears(&self.joined, members, to);
            look.changes_ways |= has_members != *had_members;
            *had_members = has_members;
        }
        for (&group, state) in &mut self.joined {
            for (&port, at_port) in &mut state.ports {
                let listeners = at_port.has_listeners.then_some(Reason::OtherListeners);
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
        mut reason: Option<Reason>,
        notices: &mut Vec<Notice>,
    ) {
        let address = SocketAddr::new(group, port);
        if reason.is_none() && !self.is_redirected {
            match interface.enter(&entry(group, port)) {
                Ok(()) => self.is_redirected = true,
                Err(_) => reason = Some(Reason::FilterFull),
            }
            if self.is_redirected && self.told.take().is_some() {
                notices.push(Notice::ReceivesDirectly { address });
            }
        }
        let Some(reason) = reason else { return };
        if self.is_redirected {
            let _ = interface.remove(&entry(group, port));
            self.is_redirected = false;
        }
        if self.told.replace(reason) != Some(reason) {
            notices.push(Notice::ReceivesByKernel { address, reason });
        }
    }
}

fn entry(group: IpAddr, port: u16) -> Entry {
    Entry::Group { vlan: None, group, port: Some(port) }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
