//! The destinations of a socket, and the interface that each is sent over.

use std::net::SocketAddr;

use hairpin_stack::Destination;

use crate::addresses::canonical;
use crate::options::SocketState;
use crate::socket::Path;

/// The destinations cached for sendto(2).
const RECENT: usize = 16;

/// A destination over one of a socket's paths.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) path: usize,
    pub(crate) destination: Destination,
}

/// The destinations that a socket has sent to.
#[derive(Debug, Default)]
pub(crate) struct Targets {
    peer: Option<Target>,
    /// The last used is last.
    recent: Vec<Target>,
}

impl Targets {
    /// Returns a destination, or that of the peer; `None` if the kernel must send.
    #[inline]
    pub(crate) fn find(
        &mut self,
        paths: &[Path],
        state: &SocketState,
        local: SocketAddr,
        remote: Option<SocketAddr>,
        to: Option<SocketAddr>,
    ) -> Option<&mut Target> {
        let target = match to {
            None => {
                if self.peer.is_none() {
                    self.peer = Some(Target::new(paths, state, local, remote?)?);
                }
                self.peer.as_mut()?
            }
            Some(to) => {
                let known = self.recent.iter().rposition(|it| it.destination.address() == to);
                match known {
                    Some(at) if at + 1 < self.recent.len() => {
                        let used = self.recent.remove(at);
                        self.recent.push(used);
                    }
                    Some(_) => {}
                    None => {
                        let new = Target::new(paths, state, local, to)?;
                        if self.recent.len() == RECENT {
                            self.recent.remove(0);
                        }
                        self.recent.push(new);
                    }
                }
                self.recent.last_mut()?
            }
        };
        // The kernel's routes may have changed since the path was selected.
        if paths[target.path].adopted.is_current(&target.destination)
            || target.select_again(paths, state, local)
        {
            Some(target)
        } else {
            None
        }
    }
}

impl Target {
    #[cold]
    fn new(paths: &[Path], state: &SocketState, local: SocketAddr, to: SocketAddr) -> Option<Self> {
        let path = select(paths, state, local, to)?;
        let destination = paths[path].adopted.destination(to).ok()?;
        Some(Self { path, destination })
    }

    /// Selects the path again. Returns `false` if the kernel must send.
    #[cold]
    fn select_again(&mut self, paths: &[Path], state: &SocketState, local: SocketAddr) -> bool {
        let to = self.destination.address();
        match select(paths, state, local, to) {
            Some(path) if path == self.path => true,
            Some(path) => match paths[path].adopted.destination(to) {
                Ok(destination) => {
                    *self = Self { path, destination };
                    true
                }
                Err(_) => false,
            },
            None => false,
        }
    }
}

/// Selects the path that the kernel would: by the interface for groups, the scope, or the route.
fn select(paths: &[Path], state: &SocketState, local: SocketAddr, to: SocketAddr) -> Option<usize> {
    let ip = canonical(to).ip();
    if ip.is_ipv4() && !state.sends_ipv4 {
        return None;
    }
    let by_index = |index| paths.iter().position(|path| path.interface == index);
    let by_route = || paths.iter().position(|path| path.stack.routes_to(ip));
    let scope = if let SocketAddr::V6(v6) = to { v6.scope_id() } else { 0 };
    if scope != 0 {
        return by_index(scope);
    }
    if !ip.is_multicast() {
        let only = (paths.len() == 1).then_some(0);
        return only.or_else(by_route).or(Some(0).filter(|_| !paths.is_empty()));
    }
    match state.multicast_interface(ip.is_ipv4()) {
        // In IPv4 a bound address selects its interface (udp(7), ip_route_output_key_hash_rcu).
        0 if ip.is_ipv4() && !local.ip().to_canonical().is_unspecified() => Some(0),
        0 => by_route(),
        index => by_index(index),
    }
}
