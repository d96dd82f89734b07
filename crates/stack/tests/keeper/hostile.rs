//! The steps of hostile programs, and the answers that the model allows.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use hairpin_netsim::Census;
use hairpin_testkit::Random;
use socket2::SockRef;

use crate::client::{self, Client, DESCRIPTORS_MAX, LONGEST, message};
use crate::packet;
use crate::passable::{GROUP, Passable, Wire};

/// The numbers of the requests (`Request` in src/tcp/keeper/message.rs).
const TAKE_OVER: u32 = 1;
const GIVE_BACK: u32 = 2;
const UNDO: u32 = 3;
const RELEASE: u32 = 4;
const GROW_SEND_BUFFER: u32 = 5;
const END_REPAIR: u32 = 6;
const INJECT: u32 = 7;
const INJECT_UDP: u32 = 8;
const OPEN_INTERFACE: u32 = 9;
const BIND_INTERFACE: u32 = 10;
const USE_NEIGHBOR: u32 = 11;
const LEAVE: u32 = 12;
const ADD_BYTES: u32 = 14;
const REDIRECT: u32 = 15;
const END_REDIRECT: u32 = 16;
/// Those that are not answered.
const SILENT: [u32; 4] = [INJECT, INJECT_UDP, USE_NEIGHBOR, ADD_BYTES];
/// The slots of a client.
const CONNECTIONS: u32 = 1_024;
const CLIENTS_MAX: usize = 6;

/// What the hostile programs know of others.
pub(crate) struct Targets {
    /// The names of the interfaces of the run: of the honest program, and of these.
    pub(crate) names: [String; 2],
    /// The index of the honest program's.
    pub(crate) honest_index: u32,
    /// The addresses where victims receive datagrams, and listen.
    pub(crate) datagrams: Vec<SocketAddr>,
    pub(crate) listening: Vec<SocketAddr>,
    /// The connections of victims.
    pub(crate) connections: Vec<[SocketAddr; 2]>,
}

/// A registered client, and what it may have.
struct Member {
    client: Client,
    has_interface: bool,
    /// Its entries, as [`Keeper::entries`](crate::process::Keeper::entries) has them.
    entries: BTreeSet<String>,
    slots: BTreeMap<u32, [SocketAddr; 2]>,
}

/// The hostile programs of a run.
pub(crate) struct Hostile<'t> {
    wire: &'t Wire<'t>,
    run: BorrowedFd<'t>,
    targets: Targets,
    rng: Random,
    members: Vec<Member>,
    passables: Vec<Passable>,
    texts: Vec<String>,
    /// Packets that reset the connections of victims.
    pub(crate) resets: Vec<Vec<u8>>,
    /// Sockets of processes that have ended.
    pub(crate) left: Vec<OwnedFd>,
    pub(crate) census: Census,
}

/// Returns an entry as the model writes it; `None` for any other text.
fn normal(text: &str) -> Option<String> {
    let end = |text: &str| {
        let end: SocketAddr = text.parse().ok()?;
        Some(SocketAddr::new(end.ip().to_canonical(), end.port()))
    };
    match text.split_once(' ') {
        Some((local, remote)) => Some(format!("{} {}", end(local)?, end(remote)?)),
        None => Some(end(text)?.to_string()),
    }
}

impl<'t> Hostile<'t> {
    pub(crate) fn new(wire: &'t Wire<'t>, run: &'t OwnedFd, targets: Targets, seed: u64) -> Self {
        let passables = wire.passables();
        let own: Vec<_> = passables.iter().flat_map(|it| it.entries.iter().cloned()).collect();
        let ports = own.iter().filter_map(|text| Some(text.split_once(' ')?.0.to_owned()));
        let ports: Vec<_> = ports.collect();
        let flows = targets.connections.iter().map(|[local, remote]| format!("{local} {remote}"));
        let port = targets.datagrams[0].port();
        let others = [
            format!("239.1.1.2:{port}"),
            format!("{GROUP}:{port}"),
            format!("0.0.0.0:{port}"),
            format!("[::]:{port}"),
            format!("203.0.113.7:{port}"),
            String::new(),
            "\0".to_owned(),
            "10.99.0.1:0".to_owned(),
        ];
        let victims = targets.datagrams.iter().map(ToString::to_string).chain(flows);
        let texts = victims.chain(others).chain(ports).chain(own).collect();
        let (run, rng) = (run.as_fd(), Random::new(seed));
        let (members, left, resets, census) = (Vec::new(), Vec::new(), Vec::new(), Census::new());
        Self { wire, run, targets, rng, members, passables, texts, resets, left, census }
    }

    /// Returns the entries that the filters may have.
    pub(crate) fn allowed(&self) -> BTreeSet<String> {
        let flow = |[local, remote]: &[SocketAddr; 2]| format!("tcp {local} {remote}");
        let flows = self.members.iter().flat_map(|it| it.slots.values().map(flow));
        self.members.iter().flat_map(|it| it.entries.iter().cloned()).chain(flows).collect()
    }

    /// Returns the first descriptor in repair mode.
    pub(crate) fn repairing(&self) -> Option<&'static str> {
        self.passables.iter().find(|it| it.is_repairing()).map(|it| it.kind)
    }

    /// Ends all clients.
    pub(crate) fn end_clients(&mut self) {
        self.members.clear();
    }

    /// Makes one step. Returns `true` if a client has ended, which the keeper notices later.
    pub(crate) fn step(&mut self) -> bool {
        let count = self.members.len();
        if count == 0 {
            self.register();
        }
        if !self.members.iter().any(|it| it.has_interface) && self.rng.one_in(3) {
            self.open_interface();
        }
        match self.rng.below(18) {
            0..=3 => self.redirect(),
            4 => self.end_redirect(),
            5 | 6 => self.take_over(),
            7 => (0..4).for_each(|_| self.take_over_and_bind()),
            8 => self.give_up_connection(),
            9 => self.change_connection(),
            10 => return self.send_malformed(),
            11 => self.inject(),
            12 => self.open_interface(),
            13 => self.register_wrongly(),
            14 if self.members.len() < CLIENTS_MAX => self.register(),
            14 | 15 => return self.end_client(),
            16 => self.pass_wrong_descriptors(),
            _ => self.end_process(),
        }
        false
    }

    fn member(&mut self) -> usize {
        // Most often the one that has the interface.
        let owner = self.members.iter().position(|it| it.has_interface);
        owner.filter(|_| !self.rng.one_in(4)).unwrap_or(self.rng.index(self.members.len()))
    }

    fn interface_index(&mut self) -> u32 {
        let wrong = self.rng.pick(&[self.targets.honest_index, 1, 0, u32::MAX]);
        if self.rng.one_in(4) { wrong } else { self.wire.index }
    }

    fn register(&mut self) {
        let client = Client::new(&self.run.try_clone_to_owned().unwrap());
        let (entries, slots) = (BTreeSet::new(), BTreeMap::new());
        self.members.push(Member { client, has_interface: false, entries, slots });
        self.census.count("client: registered");
    }

    /// Redirects what a socket receives, or what another one does.
    fn redirect(&mut self) {
        let (at, index) = (self.member(), self.interface_index());
        let passable = &self.passables[self.rng.index(self.passables.len())];
        let mut text = self.texts[self.rng.index(self.texts.len())].clone();
        if self.rng.one_in(2)
            && let Some(own) =
                passable.entries.iter().nth(self.rng.index(passable.entries.len().max(1)))
        {
            text.clone_from(own);
        }
        if self.rng.one_in(8) && !text.is_empty() {
            let place = self.rng.index(text.len());
            let digit = char::from(b'0' + self.rng.below(10) as u8).to_string();
            text.replace_range(place..=place, &digit);
        }
        if self.rng.one_in(4)
            && let Some(port) = passable.port()
        {
            // Another address, also of the other family.
            let address = self.wire.all[self.rng.index(self.wire.all.len())];
            text = SocketAddr::new(address, port).to_string();
        }
        let entry = normal(&text);
        let is_own = entry.as_ref().is_some_and(|entry| passable.entries.contains(entry));
        let member = &mut self.members[at];
        let allowed = is_own && member.has_interface && index == self.wire.index;
        let all = [passable.fd.as_fd(), passable.fd.as_fd()];
        let all = &all[..self.rng.pick(&[1, 1, 1, 2])];
        let answer = member.client.ask([REDIRECT, index, 0, 0], text.as_bytes(), all);
        assert_eq!(answer == 0, allowed, "{}: {text} on {index}: {answer}", passable.kind);
        if answer == 0 {
            member.entries.extend(entry.map(|entry| format!("udp {entry}")));
        }
        self.census.count(match (answer, index == self.targets.honest_index) {
            (0, _) => "entry: allowed",
            (_, true) => "entry: refused on an interface of another program",
            (_, false) => "entry: refused",
        });
    }

    fn end_redirect(&mut self) {
        let (at, index) = (self.member(), self.interface_index());
        let member = &mut self.members[at];
        let own = member.entries.iter().nth(self.rng.index(8));
        let own = own.and_then(|entry| entry.strip_prefix("udp ")).map(str::to_owned);
        let text = own.unwrap_or_else(|| self.texts[self.rng.index(self.texts.len())].clone());
        let answer = member.client.ask([END_REDIRECT, index, 0, 0], text.as_bytes(), &[]);
        let is_own = member.has_interface && index == self.wire.index;
        assert!(answer != 0 || is_own, "the end of {text} on {index}");
        if answer == 0
            && let Some(entry) = normal(&text)
            && member.entries.remove(&format!("udp {entry}"))
        {
            self.census.count("entry: ended");
        }
    }

    /// Returns a slot and a descriptor that is no connection in use; its socket has just received.
    fn candidate(&mut self) -> (u32, usize) {
        let slot = self.rng.pick(&[0, 1, 2, CONNECTIONS - 1, CONNECTIONS, u32::MAX]);
        let connections = self.passables.iter().enumerate();
        let connections = connections.filter(|(_, it)| it.connection.is_some());
        let connections: Vec<_> = connections.map(|(at, _)| at).collect();
        let mut at = self.rng.pick(&connections);
        if self.rng.one_in(4) {
            at = self.rng.index(self.passables.len());
        }
        let ends = self.passables[at].connection;
        let is_held = |member: &Member| member.slots.values().any(|it| Some(*it) == ends);
        if ends.is_some() && (self.members.iter().any(is_held) || !self.passables[at].receive()) {
            self.replace(at);
            self.passables[at].receive();
        }
        (slot, at)
    }

    /// Replaces a connection.
    fn replace(&mut self, at: usize) {
        let family = self.rng.index(2);
        self.passables[at] = self.wire.connection(family);
    }

    fn take_over(&mut self) {
        let (member, index) = (self.member(), self.interface_index());
        let (slot, at) = self.candidate();
        let (member, passable) = (&mut self.members[member], &self.passables[at]);
        let numbers = [TAKE_OVER, slot, self.rng.pick(&[0, 0, 0, 9]), index];
        let answer = member.client.ask(numbers, &[], &[passable.fd.as_fd()]);
        let is_free = slot < CONNECTIONS && !member.slots.contains_key(&slot);
        let is_own = member.has_interface && index == self.wire.index;
        let context = format!("{} in slot {slot} on {index}: {answer}", passable.kind);
        assert!(answer != 0 || is_free && is_own && passable.connection.is_some(), "{context}");
        if answer == 0 {
            member.slots.extend(passable.connection.map(|ends| (slot, ends)));
            self.census.count("takeover: allowed");
        } else {
            self.census.count("takeover: refused");
        }
    }

    /// Binds a socket to a victim's port while the keeper has it in repair mode, and listens.
    fn take_over_and_bind(&mut self) {
        let Some(member) = self.members.iter().position(|it| it.has_interface) else { return };
        let family = self.rng.index(2);
        let mut passable = self.wire.connection(family);
        passable.receive();
        let address = self.rng.pick(&self.targets.listening);
        let (client, reference) = (&self.members[member].client, SockRef::from(&passable.fd));
        let slot = (0..CONNECTIONS).find(|it| !self.members[member].slots.contains_key(it));
        let numbers = [TAKE_OVER, slot.unwrap(), 0, self.wire.index];
        client.send(numbers, &[], &[passable.fd.as_fd()]);
        while !passable.is_repairing() && !client.is_answered() {}
        disconnect(&passable.fd);
        let bound = reference.bind(&address.into()).is_ok();
        let _ = reference.listen(8);
        let answer = client.answer();
        let is_there = reference.local_addr().is_ok_and(|it| it.as_socket() == Some(address));
        assert!(!(reference.listen(8).is_ok() && is_there), "a stolen port: {address}");
        assert!(!passable.is_repairing(), "{answer}");
        let numbers = [RELEASE, slot.unwrap(), 0, 0];
        assert_eq!(client.ask(numbers, &[], &[]), 0);
        self.census.add("takeover: bound meanwhile", bound.into());
    }

    /// Ends a takeover.
    fn give_up_connection(&mut self) {
        let at = self.member();
        let member = &mut self.members[at];
        let held = member.slots.keys().next().copied().filter(|_| !self.rng.one_in(4));
        let slot = held.unwrap_or_else(|| self.rng.below(4) as u32);
        let ends = member.slots.get(&slot).copied();
        let undo = self.rng.one_in(2);
        if undo {
            let answer = member.client.ask([UNDO, slot, 0, 0], &[], &[]);
            assert!(answer != 0 || ends.is_some(), "nothing to undo in slot {slot}");
            self.census.add("takeover: undone", u64::from(answer == 0));
        }
        assert_eq!(member.client.ask([RELEASE, slot, 0, 0], &[], &[]), 0);
        member.slots.remove(&slot);
        let at = self.passables.iter().position(|it| it.connection == ends && ends.is_some());
        if let Some(at) = at.filter(|_| !undo) {
            self.replace(at);
        }
    }

    /// Gives numbers back that no connection has, with any socket.
    fn change_connection(&mut self) {
        let at = self.member();
        let (slot, passable) = self.candidate();
        let (member, passable) = (&self.members[at], &self.passables[passable]);
        let fd = passable.fd.as_fd();
        let bytes: Vec<u8> =
            (0..self.rng.pick(&[0, 4, 64, 4_096])).map(|_| self.rng.any() as u8).collect();
        match self.rng.below(4) {
            0 => {
                for _ in 0..self.rng.below(5) {
                    member.client.send([ADD_BYTES, slot, 0, 0], &[7; 60_000], &[]);
                }
                member.client.ask([GIVE_BACK, slot, 0, 0], &bytes, &[fd]);
            }
            1 => drop(member.client.ask([GROW_SEND_BUFFER, slot, 0, 0], &bytes, &[fd])),
            _ => {
                let is_started = passable.start_repair();
                let answer = member.client.ask([END_REPAIR, slot, 0, 0], &bytes, &[fd]);
                assert!(answer == 0 || !is_started, "{}: {answer}", passable.kind);
                self.census.add("repair: ended", is_started.into());
            }
        }
    }

    /// Sends a message that no library sends. Returns `true` if the client has ended.
    fn send_malformed(&mut self) -> bool {
        let at = self.rng.index(self.members.len());
        let client = &self.members[at].client;
        let random = [0; 4].map(|_: u32| self.rng.any() as u32);
        match self.rng.below(5) {
            0 => {
                let length = 1 + self.rng.index(15);
                client::send(client.socket.as_fd(), &vec![1; length], &[]).unwrap();
                self.census.count("message: truncated");
            }
            1 => {
                let bytes = vec![self.rng.below(17) as u8; LONGEST + 1 + self.rng.index(999)];
                client::send(client.socket.as_fd(), &bytes, &[]).unwrap();
                self.census.count("message: oversized");
            }
            2 => {
                let number = self.rng.pick(&[0, 17, u32::MAX, random[0] | 32]);
                client.send([number, random[1], random[2], random[3]], &[1; 9], &[]);
                self.census.count("message: no request");
            }
            3 => {
                let fd = self.passables[self.rng.index(self.passables.len())].fd.as_fd();
                let number = self.rng.pick(&[UNDO, END_REDIRECT, 99]);
                client.send([number, u32::MAX, 0, 0], &[], &[fd; DESCRIPTORS_MAX]);
                self.census.count("descriptor: too many");
            }
            _ => {
                client::send(client.socket.as_fd(), &[], &[]).unwrap();
                assert!(client::receive(client.socket.as_fd()).is_none(), "an answer to nothing");
                self.members.swap_remove(at);
                self.census.count("client: ended by an empty message");
                return true;
            }
        }
        let answer = client.answer();
        assert_ne!(answer, 0, "an answer to no request");
        false
    }

    /// Presents packets of others to the kernel.
    fn inject(&mut self) {
        let at = self.member();
        let [_, remote] = self.rng.pick(&self.targets.connections);
        let to = self.rng.pick(&self.targets.datagrams);
        let datagrams = [packet::datagram(remote, to), packet::datagram(to, to)];
        let packets = datagrams.into_iter().flatten().chain(self.resets.iter().cloned());
        let passable = &self.passables[self.rng.index(self.passables.len())];
        for packet in packets {
            let client = &self.members[at].client;
            client.send([INJECT, 0, 0, 0], &packet, &[]);
            client.send([INJECT_UDP, 0, 0, 0], &packet, &[passable.fd.as_fd()]);
            client.send([INJECT_UDP, 0, 0, 0], &packet[..self.rng.index(packet.len())], &[]);
            self.census.count("inject: forged");
        }
        self.synchronize(at);
    }

    /// Waits until all requests of a client were served.
    fn synchronize(&self, at: usize) {
        assert_ne!(self.members[at].client.ask([0; 4], &[], &[]), 0);
    }

    /// Opens an interface, most often one that it may not have.
    fn open_interface(&mut self) {
        let at = self.member();
        let [honest, own] = self.targets.names.clone();
        let name =
            self.rng.pick(&[&own, &own, &honest, &"lo".to_owned(), &"\0".to_owned()]).clone();
        let has_owner = self.members.iter().any(|it| it.has_interface);
        let locals = self.rng.pick(&[64, 64, 0, u32::MAX]).max(64);
        let member = &mut self.members[at];
        if name == own && member.has_interface {
            return;
        }
        let bound = member.client.ask([BIND_INTERFACE, 0, 0, 0], name.as_bytes(), &[]);
        assert_ne!(bound, 0, "{name} was not opened");
        let numbers = [OPEN_INTERFACE, self.rng.any() as u32 & !2, locals.min(1 << 16), 0];
        let opened = member.client.ask(numbers, name.as_bytes(), &[]);
        assert!(opened != 0 || name == own && !has_owner, "{name} was opened");
        if opened == 0 {
            let bound = member.client.ask([BIND_INTERFACE, 0, 0, 0], name.as_bytes(), &[]);
            member.has_interface = bound == 0;
            self.census.count("interface: opened");
        } else {
            self.census.count("interface: refused");
        }
    }

    /// Registers with descriptors that are no end of a pair for messages.
    fn register_wrongly(&mut self) {
        let fd = self.passables[self.rng.index(self.passables.len())].fd.as_fd();
        let [closed, other] = client::pair(libc::SOCK_SEQPACKET);
        drop(other);
        let choices: [&[BorrowedFd<'_>]; 5] =
            [&[fd], &[], &[closed.as_fd()], &[self.run], &[fd; DESCRIPTORS_MAX]];
        let bytes = vec![9; self.rng.pick(&[1, 16, 600])];
        client::send(self.run, &bytes, self.rng.pick(&choices)).unwrap();
        self.census.count("client: refused for its descriptor");
        self.register();
        self.members.pop();
    }

    fn end_client(&mut self) -> bool {
        let at = self.rng.index(self.members.len());
        let Member { client, slots, .. } = self.members.swap_remove(at);
        match self.rng.below(3) {
            0 => {
                assert_eq!(client.ask([LEAVE, 0, 0, 0], &[], &[]), 0);
                self.census.count("client: left");
            }
            1 => {
                // Answers that are not read.
                let bytes = message([UNDO, 9, 0, 0], &[1; 900]);
                let send = || {
                    let to = client.socket.as_fd();
                    client::send_with(to, &bytes, &[], libc::MSG_DONTWAIT)
                };
                while send().is_ok() {}
                self.census.count("message: not read");
            }
            _ => self.census.count("client: socket closed"),
        }
        drop(client);
        for ends in slots.into_values() {
            let at = self.passables.iter().position(|it| it.connection == Some(ends));
            if let Some(at) = at {
                self.replace(at);
            }
        }
        true
    }

    /// Passes any descriptors with any request that leaves no trace.
    fn pass_wrong_descriptors(&mut self) {
        let at = self.member();
        let no_sockets: Vec<_> =
            self.passables.iter().filter(|it| it.connection.is_none()).collect();
        for number in [TAKE_OVER, GROW_SEND_BUFFER, END_REPAIR, USE_NEIGHBOR, INJECT, 13] {
            let count = 1 + self.rng.index(3);
            let all: Vec<_> =
                (0..count).map(|_| no_sockets[self.rng.index(no_sockets.len())]).collect();
            let all: Vec<_> = all.iter().map(|it| it.fd.as_fd()).collect();
            let (client, numbers) = (&self.members[at].client, [number, 77, 0, self.wire.index]);
            client.send(numbers, b"10.99.0.2", &all);
            if !SILENT.contains(&number) {
                let answer = client.answer();
                assert!(answer != 0 || number != TAKE_OVER, "a connection of no kind");
            }
        }
        self.census.count("request: with a wrong descriptor");
    }

    /// Registers a process that ends, after it has passed its socket on or registered both ends.
    fn end_process(&mut self) {
        let [kept, passed] = client::pair(libc::SOCK_SEQPACKET);
        let both = self.rng.one_in(2);
        // SAFETY: the child makes only system calls.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let [ours, theirs] = client::pair(libc::SOCK_SEQPACKET);
            let _ = client::send(self.run, &[0; 16], &[theirs.as_fd()]);
            if both {
                let _ = client::send(self.run, &[0; 16], &[ours.as_fd()]);
            }
            let _ = client::send(passed.as_fd(), &[0; 16], &[ours.as_fd()]);
            // SAFETY: ends the child without the exit handlers of its parent.
            unsafe { libc::_exit(0) };
        }
        // SAFETY: no status is requested.
        assert_eq!(unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) }, child);
        self.left.extend(client::receive(kept.as_fd()).unwrap().descriptors);
        self.census.count("client: process ended, socket passed on");
    }
}

/// Dissolves a connection (connect(2) to `AF_UNSPEC`).
fn disconnect(socket: &OwnedFd) {
    use std::os::fd::AsRawFd;
    let to = libc::sockaddr { sa_family: libc::AF_UNSPEC as libc::sa_family_t, sa_data: [0; 14] };
    let length = size_of_val(&to) as libc::socklen_t;
    // SAFETY: the kernel reads the address.
    unsafe { libc::connect(socket.as_raw_fd(), &raw const to, length) };
}
