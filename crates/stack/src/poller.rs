//! Polls many sockets with one call.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hairpin_netstack::SocketId;

use crate::UdpSocket;
use crate::data_plane::Reader;
use crate::readiness::{Epoll, Readiness};
use crate::stack::Owner;

/// Finds the sockets that have datagrams: one poll of the rings per stack, and no call on backing
/// sockets that have nothing.
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
    /// Creates a poller without sockets.
    ///
    /// # Errors
    /// The kernel's, if no descriptor is left.
    pub fn new() -> io::Result<Self> {
        let epoll = Epoll::new()?;
        Ok(Self { stacks: Vec::new(), members: Vec::new(), ready: Vec::new(), epoll })
    }

    /// Adds a socket of any stack, identified by `token`. A dropped socket is never ready.
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

    /// Removes the socket with this token.
    pub fn remove(&mut self, socket: &UdpSocket, token: usize) {
        self.epoll.remove(socket.as_fd());
        let matches =
            |m: &Member| m.token == token && Arc::ptr_eq(&m.readiness, socket.readiness());
        self.members.retain(|member| !matches(member));
    }

    /// Returns the tokens of the sockets that have datagrams, without waiting.
    ///
    /// # Errors
    /// The kernel's.
    pub fn poll(&mut self) -> io::Result<&[usize]> {
        self.ready.clear();
        for (at, stack) in self.stacks.iter().enumerate() {
            stack.check()?;
            let mut data_plane = stack.data_plane();
            stack.poll_rings(&mut data_plane, Reader::Any, usize::MAX)?;
            for member in self.members.iter().filter(|member| member.stack == at) {
                let has_frames = data_plane.queue(member.socket).is_some_and(|queue| {
                    queue.len() > 0 && Arc::ptr_eq(&queue.readiness, &member.readiness)
                });
                if has_frames || member.readiness.is_kernel_pending() {
                    self.ready.push(member.token);
                }
            }
        }
        Ok(&self.ready)
    }

    /// Waits until a socket may have datagrams or `timeout` has passed, rounded up to milliseconds.
    /// Then does the same as [`poll`](Self::poll).
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
                // The rings have nothing, so a backing socket may have something.
                self.mark_kernel_pending(ready);
            }
        }
        Ok(&self.ready)
    }

    /// Marks the backing sockets of these events as pending, before the watcher thread does.
    fn mark_kernel_pending(&self, events: &[libc::epoll_event]) {
        for event in events {
            let token = event.u64;
            let woken = self.members.iter().filter(|member| member.token as u64 == token);
            woken.for_each(|member| member.readiness.set_kernel_pending());
        }
    }
}

/// Readable when a socket may have datagrams.
impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
