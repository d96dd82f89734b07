//! Polls many sockets with one call.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use hairpin_netstack::SocketId;

use crate::data_plane::Reader;
use crate::readiness::{Epoll, Readiness, ReadyList, Wakeup};
use crate::stack::Owner;
use crate::tcp::{Attendance, SocketState};
use crate::{TcpSocket, UdpSocket};

/// Finds the sockets that have datagrams or bytes: one poll of the rings per stack, and no call on
/// backing sockets that have nothing.
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
    attendance: Arc<Attendance>,
}

#[derive(Debug)]
struct Member {
    stack: usize,
    source: Source,
    readiness: Arc<Readiness>,
    token: usize,
}

#[derive(Debug)]
enum Source {
    Udp(SocketId),
    /// Weak, so that the socket can be dropped.
    Tcp(Weak<SocketState>),
}

impl Source {
    /// Returns `true` if the socket is open and may have something.
    fn is_ready(&self, stack: &Owner, readiness: &Arc<Readiness>) -> bool {
        match self {
            Self::Udp(id) => stack.data_plane().queue(*id).is_some_and(|queue| {
                let is_open = Arc::ptr_eq(&queue.readiness, readiness);
                is_open && (queue.len() > 0 || readiness.is_kernel_pending())
            }),
            Self::Tcp(state) => state.upgrade().is_some_and(|state| state.is_ready()),
        }
    }
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
            attendance: Arc::default(),
        })
    }

    /// Adds a socket of any stack, identified by `token`. A socket belongs to the poller that it
    /// was last added to. A dropped socket is never ready.
    ///
    /// # Errors
    /// The kernel's.
    pub fn add(&mut self, socket: &UdpSocket, token: usize) -> io::Result<()> {
        let source = Source::Udp(socket.id());
        self.insert(socket.as_fd(), socket.shared(), source, socket.readiness(), token)
    }

    /// Adds a TCP socket of any stack, as [`add`](Self::add) does. A poll of the poller counts as a
    /// poll of the socket: its connection stays taken over while nothing arrives. For
    /// [`wait`](Self::wait), first disable its [spinning](TcpSocket::set_spinning).
    ///
    /// # Errors
    /// The kernel's.
    pub fn add_tcp(&mut self, socket: &TcpSocket, token: usize) -> io::Result<()> {
        let state = socket.state();
        let source = Source::Tcp(Arc::downgrade(state));
        self.insert(socket.as_fd(), socket.owner(), source, state.readiness(), token)?;
        state.attend(Some(&self.attendance));
        Ok(())
    }

    fn insert(
        &mut self,
        descriptor: BorrowedFd<'_>,
        shared: &Arc<Owner>,
        source: Source,
        readiness: &Arc<Readiness>,
        token: usize,
    ) -> io::Result<()> {
        let place = self.free_places.last().copied().unwrap_or(self.members.len());
        self.epoll.add(descriptor, libc::EPOLLIN, place as u64)?;
        let known = self.stacks.iter().position(|stack| Arc::ptr_eq(stack, shared));
        let stack = known.unwrap_or_else(|| {
            self.stacks.push(Arc::clone(shared));
            self.stacks.len() - 1
        });
        let readiness = Arc::clone(readiness);
        readiness.set_list(Some((Arc::clone(&self.list), place)));
        let member = Some(Member { stack, source, readiness, token });
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
        self.take_member(socket.readiness(), token);
    }

    /// Removes the TCP socket with this token.
    pub fn remove_tcp(&mut self, socket: &TcpSocket, token: usize) {
        self.epoll.remove(socket.as_fd());
        self.take_member(socket.state().readiness(), token);
        socket.state().attend(None);
    }

    fn take_member(&mut self, readiness: &Arc<Readiness>, token: usize) {
        let matches = |m: &Member| m.token == token && Arc::ptr_eq(&m.readiness, readiness);
        for (place, member) in self.members.iter_mut().enumerate() {
            if let Some(removed) = member.take_if(|member| matches(member)) {
                removed.readiness.set_list(None);
                self.free_places.push(place);
            }
        }
    }

    /// Returns the tokens of the sockets that have datagrams or bytes, without waiting. The cost
    /// depends on how many are ready, not on how many were added. While a TCP connection is the
    /// kernel's, it includes a call of the kernel.
    ///
    /// # Errors
    /// The kernel's.
    pub fn poll(&mut self) -> io::Result<&[usize]> {
        self.ready.clear();
        for stack in &self.stacks {
            stack.check()?;
            stack.poll_rings(&mut stack.data_plane(), Reader::Any)?;
        }
        self.attendance.record_poll();
        self.list.take(&mut self.candidates);
        for place in self.candidates.drain(..) {
            let Some(member) = &self.members[place] else { continue };
            member.readiness.unlist();
            if member.source.is_ready(&self.stacks[member.stack], &member.readiness) {
                self.ready.push(member.token);
                // It stays ready until it is read.
                member.readiness.enlist();
            }
        }
        if self.attendance.has_kernel_sockets() {
            self.poll_kernel()?;
        }
        Ok(&self.ready)
    }

    /// Adds the TCP sockets whose connections are the kernel's and have something.
    #[cold]
    fn poll_kernel(&mut self) -> io::Result<()> {
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        let Wakeup::Ready(events) = self.epoll.wait(&mut events, Some(Duration::ZERO))? else {
            return Ok(());
        };
        for event in events {
            let Some(Some(member)) = self.members.get(event.u64 as usize) else { continue };
            if let Source::Tcp(state) = &member.source
                && state.upgrade().is_some_and(|state| !state.is_bypassing())
                && !self.ready.contains(&member.token)
            {
                self.ready.push(member.token);
            }
        }
        Ok(())
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
