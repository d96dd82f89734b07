//! Polls many sockets with one call.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use hairpin_netstack::SocketId;

use crate::UdpSocket;
use crate::data_plane::Reader;
use crate::readiness::{Epoll, Readiness, ReadyList, Wakeup};
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
    /// The sockets by place; `None` after a removal.
    members: Vec<Option<Member>>,
    free_places: Vec<usize>,
    /// The places of the sockets that may have datagrams. A poll checks only these.
    list: Arc<ReadyList>,
    candidates: Vec<usize>,
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
        Ok(Self {
            stacks: Vec::new(),
            members: Vec::new(),
            free_places: Vec::new(),
            list: Arc::default(),
            candidates: Vec::new(),
            ready: Vec::new(),
            epoll: Epoll::new()?,
        })
    }

    /// Adds a socket of any stack, identified by `token`. A socket belongs to the poller that it
    /// was last added to. A dropped socket is never ready.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add(&mut self, socket: &UdpSocket, token: usize) -> io::Result<()> {
        let place = self.free_places.last().copied().unwrap_or(self.members.len());
        self.epoll.add(socket.as_fd(), libc::EPOLLIN, place as u64)?;
        let shared = socket.shared();
        let known = self.stacks.iter().position(|stack| Arc::ptr_eq(stack, shared));
        let stack = known.unwrap_or_else(|| {
            self.stacks.push(Arc::clone(shared));
            self.stacks.len() - 1
        });
        let readiness = Arc::clone(socket.readiness());
        readiness.set_list(Some((Arc::clone(&self.list), place)));
        let member = Some(Member { stack, socket: socket.id(), readiness, token });
        if self.free_places.pop().is_some() {
            self.members[place] = member;
        } else {
            self.members.push(member);
        }
        self.candidates.reserve(self.members.len());
        self.ready.reserve(self.members.len());
        Ok(())
    }

    /// Removes the socket with this token.
    pub fn remove(&mut self, socket: &UdpSocket, token: usize) {
        self.epoll.remove(socket.as_fd());
        let matches =
            |m: &Member| m.token == token && Arc::ptr_eq(&m.readiness, socket.readiness());
        for (place, member) in self.members.iter_mut().enumerate() {
            if let Some(removed) = member.take_if(|member| matches(member)) {
                removed.readiness.set_list(None);
                self.free_places.push(place);
            }
        }
    }

    /// Returns the tokens of the sockets that have datagrams, without waiting. The cost depends on
    /// how many are ready, not on how many were added.
    ///
    /// # Errors
    /// The kernel's.
    pub fn poll(&mut self) -> io::Result<&[usize]> {
        self.ready.clear();
        for stack in &self.stacks {
            stack.check()?;
            stack.poll_rings(&mut stack.data_plane(), Reader::Any)?;
        }
        self.list.take(&mut self.candidates);
        for place in self.candidates.drain(..) {
            let Some(member) = &self.members[place] else { continue };
            member.readiness.unlist();
            let mut data_plane = self.stacks[member.stack].data_plane();
            let is_open = data_plane
                .queue(member.socket)
                .is_some_and(|queue| Arc::ptr_eq(&queue.readiness, &member.readiness));
            let has_frames = data_plane.queue(member.socket).is_some_and(|queue| queue.len() > 0);
            if is_open && (has_frames || member.readiness.is_kernel_pending()) {
                self.ready.push(member.token);
                // It stays ready until it is read.
                member.readiness.enlist();
            }
        }
        Ok(&self.ready)
    }

    /// Waits until a socket may have datagrams, `timeout` has passed, or a signal arrives. Then
    /// does the same as [`poll`](Self::poll).
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&mut self, timeout: Option<Duration>) -> io::Result<&[usize]> {
        let until = timeout.map(|timeout| Instant::now() + timeout);
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 16];
        let mut is_interrupted = false;
        while self.poll()?.is_empty() && !is_interrupted {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left == Some(Duration::ZERO) {
                break;
            }
            match self.epoll.wait(&mut events, left)? {
                Wakeup::Interrupted => is_interrupted = true,
                Wakeup::TimedOut => {}
                Wakeup::Ready(events) => {
                    if self.poll()?.is_empty() {
                        // The rings have nothing, so a backing socket may have something.
                        self.mark_kernel_pending(events);
                    }
                }
            }
        }
        Ok(&self.ready)
    }

    /// Marks the backing sockets of these events as pending, before the watcher thread does.
    fn mark_kernel_pending(&self, events: &[libc::epoll_event]) {
        for event in events {
            if let Some(Some(member)) = self.members.get(event.u64 as usize) {
                member.readiness.set_kernel_pending();
            }
        }
    }
}

/// Readable when a socket may have datagrams.
impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }
}
