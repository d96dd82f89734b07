//! Many sockets looked at by one call.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hairpin_netstack::SocketId;

use crate::UdpSocket;
use crate::core::Reader;
use crate::readiness::{Epoll, Readiness};
use crate::stack::Owner;

/// Says which of many sockets have something to receive: one look at the rings of each stack, and
/// none at a socket of the kernel that has nothing.
///
/// ```no_run
/// # use hairpin_stack::{Poller, UdpSocket};
/// # fn f(sockets: &mut [UdpSocket]) -> std::io::Result<()> {
/// let mut poller = Poller::new()?;
/// for (token, socket) in sockets.iter().enumerate() {
///     poller.add(socket, token)?;
/// }
/// loop {
///     for &token in poller.poll()? {
///         sockets[token].receive(32, |meta, payload| println!("{meta:?} {payload:?}"))?;
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct Poller {
    stacks: Vec<Arc<Owner>>,
    members: Vec<Member>,
    ready: Vec<usize>,
    epoll: Epoll,
}

#[derive(Debug)]
struct Member {
    stack: usize,
    socket: SocketId,
    readiness: Arc<Readiness>,
    token: usize,
}

impl Poller {
    /// One without sockets.
    ///
    /// # Errors
    /// The kernel's: no descriptor is left.
    pub fn new() -> io::Result<Self> {
        let epoll = Epoll::new()?;
        Ok(Self { stacks: Vec::new(), members: Vec::new(), ready: Vec::new(), epoll })
    }

    /// Looks at a socket too, of whatever stack, and calls it by this token. One that is dropped
    /// has nothing any more.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add(&mut self, socket: &UdpSocket, token: usize) -> io::Result<()> {
        self.epoll.add(socket.as_fd(), libc::EPOLLIN, token as u64)?;
        let shared = socket.shared();
        let known = self.stacks.iter().position(|stack| Arc::ptr_eq(stack, shared));
        let stack = known.unwrap_or_else(|| {
            self.stacks.push(Arc::clone(shared));
            self.stacks.len() - 1
        });
        let readiness = Arc::clone(socket.readiness());
        self.members.push(Member { stack, socket: socket.id(), readiness, token });
        self.ready.reserve(self.members.len());
        Ok(())
    }

    /// Does not look at the socket of this token any more.
    pub fn remove(&mut self, socket: &UdpSocket, token: usize) {
        self.epoll.remove(socket.as_fd());
        let is_it = |m: &Member| m.token == token && Arc::ptr_eq(&m.readiness, socket.readiness());
        self.members.retain(|member| !is_it(member));
    }

    /// The tokens of the sockets that have something to receive. Never waits.
    ///
    /// # Errors
    /// The kernel's.
    pub fn poll(&mut self) -> io::Result<&[usize]> {
        self.ready.clear();
        for (at, stack) in self.stacks.iter().enumerate() {
            stack.check()?;
            let mut core = stack.core();
            stack.pump(&mut core, Reader::Everyone, usize::MAX)?;
            for member in self.members.iter().filter(|member| member.stack == at) {
                let has_frames = core.seat(member.socket).is_some_and(|seat| {
                    seat.len() > 0 && Arc::ptr_eq(&seat.readiness, &member.readiness)
                });
                if has_frames || member.readiness.is_by_kernel() {
                    self.ready.push(member.token);
                }
            }
        }
        Ok(&self.ready)
    }

    /// Sleeps until a socket may have something, or `timeout` has passed, rounded up to
    /// milliseconds; then as [`poll`](Self::poll).
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<&[usize]> {
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 16];
        while self.poll()?.is_empty() {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            let ready = self.epoll.wait(&mut events, left)?;
            let was_interrupted = ready.is_empty() && left.is_none();
            if left == Some(Duration::ZERO) || was_interrupted {
                break;
            }
            if self.poll()?.is_empty() {
                // Not by the rings; so the kernel may have brought something.
                self.mark(ready);
            }
        }
        Ok(&self.ready)
    }

    /// Has the kernel's sockets of these looked at, before the stack's thread says so.
    fn mark(&self, events: &[libc::epoll_event]) {
        for event in events {
            let token = event.u64;
            let woken = self.members.iter().filter(|member| member.token as u64 == token);
            woken.for_each(|member| member.readiness.set_by_kernel());
        }
    }
}

/// Readable when a socket may have something.
impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
