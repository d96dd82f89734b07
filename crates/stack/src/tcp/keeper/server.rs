//! The keeper: serves the programs of a run, and ends the connections of those that have died.

mod passed;
mod peer;
mod privileges;
mod requests;
mod stopped;
mod udp;

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use std::time::{Duration, Instant};

use super::message::{self, Message};
use super::orphan::{InFlight, Orphan, Rest};
use super::vault::{Unclaimed, Vault};
use crate::tcp::injector::Injector;
pub(super) use passed::close_aside;
use passed::is_full;
use privileges::Privileges;
use requests::{Client, HeldInterface};
use stopped::Look;

/// The most processes of a run that register.
const CLIENTS_MAX: usize = 4_096;
/// The longest time to wait for acknowledgments before an RST.
const PATIENCE: Duration = Duration::from_millis(500);
/// The longest time to wait until a process that has closed its socket has ended.
const ENDED: Duration = Duration::from_millis(300);
/// The time until the first repetition of a probe.
const PROBE_INTERVAL: Duration = Duration::from_millis(10);
/// The interval of checking for both. At other times the keeper sleeps.
const INTERVAL: Duration = Duration::from_millis(2);

/// A process that has closed its socket and has not ended. Until the kernel has closed all its
/// descriptors, frames are redirected to its AF_XDP sockets, and the answers of the peers would be
/// lost.
#[derive(Debug)]
struct Ending {
    client: Client,
    until: Instant,
}

/// A connection that is closed once the peer has acknowledged all.
#[derive(Debug)]
struct Pending {
    orphan: Orphan,
    until: Instant,
    /// A segment that makes the peer acknowledge.
    probe: Option<Vec<u8>>,
    /// The time of the next probe.
    probe_at: Instant,
    /// The time from that probe to the one after it, doubled with each.
    interval: Duration,
}

impl Pending {
    fn new(orphan: Orphan, in_flight: Option<InFlight>, now: Instant) -> Self {
        let probe = in_flight.and_then(|it| it.probe);
        Self { orphan, until: now + PATIENCE, probe, probe_at: now, interval: PROBE_INTERVAL }
    }

    /// Sends the probe if it is due: an answer may have been redirected to the dead process.
    fn poll(&mut self, injector: &Injector, now: Instant) {
        if now >= self.probe_at
            && let Some(probe) = &mut self.probe
        {
            let _ = injector.inject(probe);
            self.probe_at = now + self.interval;
            self.interval *= 2;
        }
    }
}

#[derive(Debug)]
pub(super) struct Server {
    /// `None` once no process of the run has its other end.
    registration: Option<OwnedFd>,
    clients: Vec<Client>,
    ending: Vec<Ending>,
    pending: Vec<Pending>,
    /// Interfaces of processes that have not registered at this process yet.
    unclaimed: Vec<Unclaimed>,
    injector: Injector,
    privileges: Privileges,
    look: Look,
}

impl Server {
    pub(super) fn new(
        registration: OwnedFd,
        injector: Injector,
        interfaces: Vec<String>,
        users: Vec<u32>,
        vault: Vault,
    ) -> Self {
        let registration = Some(registration);
        let unclaimed = vault.all();
        let mut privileges = Privileges::new(interfaces, users, vault);
        privileges.open.extend(unclaimed.iter().map(|it| it.name.clone()));
        let (clients, ending, pending) = (Vec::new(), Vec::new(), Vec::new());
        let look = Look::new();
        Self { registration, clients, ending, pending, unclaimed, injector, privileges, look }
    }

    /// Serves until the last process of the run has ended.
    pub(super) fn run(&mut self) {
        while self.registration.is_some()
            || !self.clients.is_empty()
            || !self.ending.is_empty()
            || !self.pending.is_empty()
            || !self.unclaimed.is_empty()
        {
            let Ok(ready) = self.wait() else {
                // The kernel lacks memory.
                std::thread::sleep(INTERVAL);
                continue;
            };
            for client in &self.clients {
                if ready.contains(&client.process.as_raw_fd()) {
                    client.end_requests();
                }
            }
            // From the end, because a client that ends is removed.
            for index in (0..self.clients.len()).rev() {
                if ready.contains(&self.clients[index].socket.as_raw_fd())
                    && self.clients[index].serve(&mut self.privileges, &self.injector).is_none()
                {
                    let client = self.clients.swap_remove(index);
                    self.end(client);
                }
            }
            let registration = self.registration.as_ref().map(AsRawFd::as_raw_fd);
            if registration.is_some_and(|fd| ready.contains(&fd)) {
                self.register();
            }
            let is_free = |it: &mut Unclaimed| ready.contains(&it.process.as_raw_fd());
            for Unclaimed { name, .. } in self.unclaimed.extract_if(.., is_free) {
                self.privileges.close_one(&name);
            }
            let now = Instant::now();
            let is_over = |client: &Client| ready.contains(&client.process.as_raw_fd());
            let has_ended = |it: &mut Ending| it.until <= now || is_over(&it.client);
            let ended: Vec<_> = self.ending.extract_if(.., has_ended).collect();
            for Ending { client, .. } in ended {
                let is_alive = !is_over(&client);
                self.finish(client, is_alive);
            }
            self.pending.retain_mut(|it| {
                it.poll(&self.injector, now);
                it.until > now && !it.orphan.is_acknowledged()
            });
            self.look.look(&mut self.clients, &self.injector);
        }
    }

    /// Waits for requests. Returns the descriptors that have one or have ended.
    fn wait(&self) -> io::Result<Vec<RawFd>> {
        let clients = self.clients.iter().flat_map(|client| [&client.socket, &client.process]);
        let fds = self.registration.iter().chain(clients);
        let fds = fds.chain(self.ending.iter().map(|ending| &ending.client.process));
        let fds = fds.chain(self.unclaimed.iter().map(|unclaimed| &unclaimed.process));
        let mut fds: Vec<_> = fds
            .map(|fd| libc::pollfd { fd: fd.as_raw_fd(), events: libc::POLLIN, revents: 0 })
            .collect();
        let is_idle = self.pending.is_empty() && self.ending.is_empty();
        let look = self.look.due_in(&self.clients);
        let timeout = match look.map(|time| time.as_millis() as i32 + 1) {
            _ if !is_idle => INTERVAL.as_millis() as i32,
            look => look.unwrap_or(-1),
        };
        // SAFETY: the array has that many elements.
        let count = unsafe { libc::poll(fds.as_mut_ptr(), fds.len() as libc::nfds_t, timeout) };
        if count < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
            return Err(io::Error::last_os_error());
        }
        Ok(fds.iter().filter(|fd| fd.revents != 0).map(|fd| fd.fd).collect())
    }

    /// Accepts a process: it has sent one end of a pair of sockets.
    fn register(&mut self) {
        let Some(registration) = &self.registration else { return };
        match message::receive(registration.as_fd(), libc::MSG_DONTWAIT) {
            Ok(Some(Message { descriptors, .. })) => {
                let mut descriptors = descriptors.into_iter();
                // Without a descriptor the process runs without a keeper.
                if let Some(socket) = descriptors.next()
                    && let Some(client) = self.accept(socket)
                {
                    self.clients.push(client);
                }
                descriptors.for_each(close_aside);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Ok(None) | Err(_) => self.registration = None,
        }
    }

    /// Accepts a process, unless it has another user than the run.
    fn accept(&mut self, socket: OwnedFd) -> Option<Client> {
        let Ok(peer) = peer::credentials(&socket) else {
            close_aside(socket);
            return None;
        };
        let reason = if !self.privileges.users.contains(&peer.uid) {
            let uid = peer.uid;
            format!("the keeper of this run does not serve the user {uid} (hairpin run --user)")
        } else if self.clients.len() >= CLIENTS_MAX || is_full(&socket) {
            "the keeper of this run has no descriptor left".to_string()
        } else {
            match peer::process(&socket, peer.pid) {
                Ok(process) => return self.admit(socket, peer.pid, process),
                // It has ended, or is one of another PID namespace.
                Err(error) => format!("the keeper of this run cannot open the process: {error}"),
            }
        };
        let _ = message::send(socket.as_fd(), [0; 4], reason.as_bytes(), &[], libc::MSG_DONTWAIT);
        close_aside(socket);
        None
    }

    /// Returns the client of a process, with the interfaces that it has opened before.
    fn admit(
        &mut self,
        socket: OwnedFd,
        process_id: libc::pid_t,
        process: OwnedFd,
    ) -> Option<Client> {
        let mut client = Client::new(socket, process_id, process)?;
        let is_own = |it: &mut Unclaimed| it.process_id == process_id;
        let own = self.unclaimed.extract_if(.., is_own);
        client.interfaces.extend(own.map(|it| (it.name, HeldInterface::Bound(it.interface))));
        Some(client)
    }

    /// Ends a client, at the latest when its process has ended.
    fn end(&mut self, mut client: Client) {
        // Another program may bind the ports at once.
        client.end_redirects();
        match client.orphans.is_empty() {
            true => self.finish(client, false),
            false => self.ending.push(Ending { client, until: Instant::now() + ENDED }),
        }
    }

    /// Hands the connections of a dead process back to the kernel and closes them. A living process
    /// has executed a program without the library: its connections are its own afterwards.
    fn finish(&mut self, client: Client, is_alive: bool) {
        let Client { socket, state, orphans, interfaces, .. } = client;
        // Messages that were not received have descriptors, which close with it.
        close_aside(socket);
        self.privileges.close(&interfaces);
        let rests: Vec<_> = orphans
            .into_iter()
            .map(|(slot, mut orphan)| (orphan.restore(&state, slot), orphan))
            .collect();
        // From now on the kernel receives the frames.
        drop(interfaces);
        for (rest, orphan) in rests {
            match rest {
                Rest::Close { resets, mut in_flight } => {
                    let has_probe = in_flight.is_some();
                    if let Some(packet) =
                        in_flight.as_mut().and_then(|it| it.acknowledgment.as_mut())
                    {
                        let _ = self.injector.inject(packet);
                    }
                    if is_alive {
                        // A byte stands for those that the library had received.
                        match resets {
                            true => orphan.reset(None, &self.injector),
                            false => orphan.close(),
                        }
                        continue;
                    }
                    let mut pending = Pending::new(orphan, in_flight, Instant::now());
                    pending.poll(&self.injector, Instant::now());
                    pending.orphan.end(!resets);
                    if resets || has_probe {
                        self.pending.push(pending);
                    }
                }
                Rest::Reset { sequence } => orphan.reset(sequence, &self.injector),
            }
        }
    }
}

#[cfg(test)]
mod tests;
