//! Hosts with a socket each, the links between them, and the events that the plan draws.

use core::num::NonZeroU32;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hairpin_netsim::{Census, Clock, Faults, Link, Random, Timeline, trace};
use hairpin_rds::packet::{Flags, HEADER, Header, Kind, reject};
use hairpin_rds::{Counters, Delivery, Event, SendError, Socket};
use hairpin_time::{Duration, Instant, Utc};

use super::judge::{Judge, NUMBER, write_content};
use super::plan::{Interval, Plan};

/// The RDS port of every socket.
const PORT: u16 = 4_000;
/// The time within which everything pending completes after the faults.
const SETTLE: Duration = Duration::from_secs(60);
/// The packets that this may take.
const SETTLE_PACKETS: u64 = 400_000;

/// Runs a seed.
pub(super) fn run(seed: u64) -> Census {
    let mut random = Random::new(seed);
    let plan = Plan::new(seed, &mut random);
    if trace::is_on() {
        println!("{plan:#?}");
    }
    let mut world = World::new(plan, random);
    world.judge.census.count(world.plan.kind.class());
    for period in 0..world.plan.periods {
        world.period = period;
        let idle = if period == 0 { world.plan.idle } else { Duration::from_secs(61) };
        world.run_until(world.now() + idle);
        world.schedule_all();
        let end = world.now() + world.plan.active;
        world.run_until(end);
        world.settle();
    }
    world.send_to_all();
    world.settle();
    world.finish()
}

/// A random event of a host.
#[derive(Debug, Clone, Copy)]
enum Action {
    Send(usize),
    Cancel(usize),
    Restart(usize),
    Unbind(usize),
    Bind(usize),
    Stall(usize),
    Pause(usize),
    Resume(usize),
    Cut(usize),
    Forge(usize),
    Mend(usize, usize),
    /// The owners run again although no packet and no deadline is due.
    Wake,
}

/// An ICMP error on its path back.
#[derive(Debug)]
struct IcmpError {
    to: usize,
    from: usize,
    quote: Vec<u8>,
}

struct Host {
    ip: IpAddr,
    socket: Option<Socket>,
    incarnation: u32,
    stalled_until: Instant,
    is_reading: bool,
}

struct World {
    plan: Plan,
    random: Random,
    clock: Clock,
    hosts: Vec<Host>,
    /// By sender and receiver.
    links: Vec<Link>,
    actions: Timeline<Action>,
    errors: Timeline<IcmpError>,
    judge: Judge,
    packets: u64,
    period: usize,
    is_active: bool,
}

impl World {
    fn new(plan: Plan, mut random: Random) -> Self {
        let count = plan.hosts;
        let mut clock = Clock::new(Utc::EPOCH);
        // Timestamps wrap during some runs.
        clock.advance(Duration::from_nanos(random.below(600_000_000_000)));
        let links = (0..count * count).map(|_| Link::new(random.split(), plan.faults)).collect();
        let judge = Judge::new(count, plan.evicts);
        let is_v6 = plan.is_v6;
        let mut world = Self {
            plan,
            random,
            clock,
            hosts: Vec::new(),
            links,
            actions: Timeline::new(),
            errors: Timeline::new(),
            judge,
            packets: 0,
            period: 0,
            is_active: false,
        };
        for number in 0..count {
            let ip = match is_v6 {
                true => IpAddr::from(Ipv6Addr::new(0xFD00, 0, 0, 0, 0, 0, 0, number as u16 + 1)),
                false => IpAddr::from(Ipv4Addr::new(10, 0, 0, number as u8 + 1)),
            };
            world.hosts.push(Host {
                ip,
                socket: None,
                incarnation: 0,
                stalled_until: Instant::ZERO,
                is_reading: true,
            });
            world.bind(number);
        }
        world
    }

    fn now(&self) -> Instant {
        self.clock.now().monotonic
    }

    fn address(&self, host: usize) -> SocketAddr {
        SocketAddr::new(self.hosts[host].ip, PORT)
    }

    fn host_of(&self, address: SocketAddr) -> usize {
        assert_eq!(address.port(), PORT);
        self.hosts.iter().position(|host| host.ip == address.ip()).unwrap()
    }

    fn bind(&mut self, host: usize) {
        let (now, address) = (self.now(), self.address(host));
        let incarnation = self.random.any() as u32 | 1;
        let mut socket = Socket::new(self.plan.config, now);
        socket.bind(now, address, NonZeroU32::new(incarnation).unwrap()).unwrap();
        let at = &mut self.hosts[host];
        at.socket = Some(socket);
        at.incarnation = incarnation;
        self.judge.on_bound(host);
        trace!(self.clock.now(), "{host} binds, incarnation {incarnation:08x}");
    }

    fn close(&mut self, host: usize) {
        let Some(mut socket) = self.hosts[host].socket.take() else { return };
        while socket.receive(|message| {
            let from = self.hosts.iter().position(|host| host.ip == message.source.ip()).unwrap();
            self.judge.on_message(from, host, message.bytes);
        }) {}
        add_counters(&mut self.judge.census, socket.counters());
        self.judge.on_closed(host);
        trace!(self.clock.now(), "{host} closes");
    }

    fn schedule_all(&mut self) {
        self.is_active = true;
        for host in 0..self.plan.hosts {
            self.schedule(Some(self.plan.send), Action::Send(host));
            self.schedule(self.plan.cancel, Action::Cancel(host));
            self.schedule(self.plan.restart, Action::Restart(host));
            self.schedule(self.plan.unbind, Action::Unbind(host));
            self.schedule(self.plan.stall, Action::Stall(host));
            self.schedule(self.plan.pause, Action::Pause(host));
            self.schedule(self.plan.cut, Action::Cut(host));
            self.schedule(self.plan.forge, Action::Forge(host));
        }
    }

    fn schedule(&mut self, interval: Interval, action: Action) {
        let Some(mean) = interval else { return };
        let after = self.random.span(Duration::from_nanos(1), mean * 2);
        self.actions.push(self.now() + after, action);
    }

    fn run_until(&mut self, end: Instant) {
        while let Some(next) = self.next_event().filter(|&next| next <= end) {
            self.clock.advance_to(next);
            self.step();
        }
        self.clock.advance_to(end);
    }

    fn next_event(&self) -> Option<Instant> {
        let links = self.links.iter().enumerate().filter_map(|(at, link)| {
            let to = &self.hosts[at % self.plan.hosts];
            Some(link.poll_timeout()?.max(to.stalled_until))
        });
        let sockets = self
            .hosts
            .iter()
            .filter_map(|host| Some(host.socket.as_ref()?.poll_timeout()?.max(host.stalled_until)));
        let others = [self.actions.next_at(), self.errors.next_at()].into_iter().flatten();
        links.chain(sockets).chain(others).min()
    }

    fn step(&mut self) {
        let now = self.now();
        while let Some((_, action)) = self.actions.pop(now) {
            self.act(action);
        }
        while let Some((_, error)) = self.errors.pop(now) {
            self.deliver_error(&error);
        }
        for host in 0..self.plan.hosts {
            if self.hosts[host].stalled_until <= now {
                self.run_host(host);
            }
        }
    }

    fn act(&mut self, action: Action) {
        let now = self.now();
        let span = self.random.span(Duration::from_micros(100), self.plan.span);
        match action {
            Action::Send(host) if self.is_active => {
                self.send(host);
                self.schedule(Some(self.plan.send), action);
            }
            Action::Cancel(host) if self.is_active => {
                self.cancel(host);
                self.schedule(self.plan.cancel, action);
            }
            Action::Restart(host) if self.is_active => {
                self.judge.census.count("restarts of the sender");
                self.judge.census.count("restarts of the receiver");
                self.close(host);
                self.bind(host);
                self.schedule(self.plan.restart, action);
            }
            Action::Unbind(host) if self.is_active => {
                self.judge.census.count("ports unbound");
                self.close(host);
                self.actions.push(now + span, Action::Bind(host));
                self.schedule(self.plan.unbind, action);
            }
            Action::Stall(host) if self.is_active => {
                let span = span.max(Duration::from_millis(4));
                self.judge.census.count("stalls of 4 ms or more");
                self.hosts[host].stalled_until = now + span;
                self.schedule(self.plan.stall, action);
            }
            Action::Pause(host) if self.is_active => {
                self.judge.census.count("receivers that stop reading");
                self.hosts[host].is_reading = false;
                self.actions.push(now + span, Action::Resume(host));
                self.schedule(self.plan.pause, action);
            }
            Action::Cut(host) if self.is_active => {
                let to = self.random.below(self.plan.hosts as u64) as usize;
                self.judge.census.count("one-way partitions");
                self.links[host * self.plan.hosts + to].set_cut(true);
                trace!(self.clock.now(), "{host} to {to} is cut");
                self.actions.push(now + span, Action::Mend(host, to));
                self.schedule(self.plan.cut, action);
            }
            Action::Forge(host) if self.is_active => {
                self.forge(host);
                self.schedule(self.plan.forge, action);
            }
            Action::Bind(host) if self.hosts[host].socket.is_none() => self.bind(host),
            Action::Wake => {}
            Action::Resume(host) => self.hosts[host].is_reading = true,
            Action::Mend(from, to) => self.links[from * self.plan.hosts + to].set_cut(false),
            _ => {}
        }
    }

    fn send(&mut self, host: usize) {
        let others = self.plan.hosts as u64 - 1;
        let to = match () {
            () if self.plan.in_pairs => self.partner(host),
            () if self.plan.to_one && host == 0 => return,
            () if self.plan.to_one => 0,
            () => (host + 1 + self.random.below(others) as usize) % self.plan.hosts,
        };
        for _ in 0..1 + self.random.below(4) {
            let longest = self.plan.longest as u64 + 1;
            let length = match self.random.below(8) {
                0 => self.random.below(12),
                1..=4 => NUMBER as u64 + self.random.below(64),
                _ => self.random.below(longest),
            };
            self.send_one(host, to, (length as usize).min(self.plan.longest));
        }
    }

    /// Returns the only peer of a host in this period.
    fn partner(&self, host: usize) -> usize {
        host ^ (1 + self.period % 2)
    }

    fn send_one(&mut self, host: usize, to: usize, length: usize) -> bool {
        let (now, address) = (self.now(), self.address(to));
        let is_tracked = self.random.below(2) == 0;
        let Some(socket) = self.hosts[host].socket.as_mut() else { return false };
        let number = self.judge.next_number();
        let fill = |bytes: &mut [u8]| write_content(number, bytes);
        let is_writable = socket.is_writable(address);
        let result = match is_tracked {
            true => socket.send_tracked(now, address, length, fill),
            false => socket.send(now, address, length, fill),
        };
        match result {
            Ok(id) => {
                trace!(self.clock.now(), "{host} to {to}: sends {number}, {length} bytes");
                let tracked = is_tracked.then_some(id);
                self.judge.on_accepted((host, to), number, length, tracked);
            }
            Err(SendError::Congested) => assert!(!is_writable, "writable and congested"),
            Err(SendError::WouldBlock) => assert!(!is_writable || is_tracked, "writable and full"),
            Err(SendError::TooManyPeers) => assert!(self.plan.evicts, "too many peers"),
            Err(error) => panic!("{error}"),
        }
        result.is_ok()
    }

    fn cancel(&mut self, host: usize) {
        let now = self.now();
        let all = self.random.below(4) == 0;
        let to = self.random.below(self.plan.hosts as u64) as usize;
        let address = self.address(to);
        let Some(socket) = self.hosts[host].socket.as_mut() else { return };
        let count = if all { socket.cancel_all(now) } else { socket.cancel(now, address) };
        self.judge.census.add("cancels of messages in flight", count as u64);
        let targets = if all { 0..self.plan.hosts } else { to..to + 1 };
        targets.for_each(|to| self.judge.on_cancelled(host, to));
        trace!(self.clock.now(), "{host} cancels {count} to {to}, all: {all}");
    }

    /// Runs the owner of a socket once: packets, timeouts, messages, events, transmission.
    fn run_host(&mut self, host: usize) {
        let now = self.now();
        for from in 0..self.plan.hosts {
            let mut arrived = Vec::new();
            let link = &mut self.links[from * self.plan.hosts + host];
            link.receive(now, |_, packet| arrived.push(packet.to_vec()));
            for packet in arrived {
                self.handle_packet(from, host, &packet);
                if self.random.below(4) == 0 {
                    self.transmit(host);
                }
            }
        }
        if let Some(socket) = self.hosts[host].socket.as_mut() {
            socket.handle_timeout(now);
        }
        if self.hosts[host].is_reading {
            self.read(host);
        }
        self.poll_events(host);
        self.transmit(host);
    }

    fn handle_packet(&mut self, from: usize, host: usize, packet: &[u8]) {
        let (now, ip) = (self.now(), self.hosts[from].ip);
        let Self { hosts, random, judge, .. } = self;
        let Host { socket: Some(socket), is_reading, .. } = &mut hosts[host] else {
            return self.refuse(from, host, packet);
        };
        let is_in_place = *is_reading && random.below(2) == 0;
        if trace::is_on()
            && let Ok((header, _)) = Header::decode(packet, self.plan.config.crc32c)
        {
            trace!(
                self.clock.now(),
                "{from} to {host}: {:?} {} of time {} arrives",
                header.kind,
                header.sequence,
                header.timestamp
            );
        }
        let delivery = if is_in_place { Delivery::InPlace } else { Delivery::Queue };
        if let Some(message) = socket.handle_packet(now, ip, packet, delivery) {
            assert_eq!(message.source, SocketAddr::new(ip, PORT));
            judge.census.count("messages delivered in place");
            trace!(self.clock.now(), "{host}: {} bytes in place", message.bytes.len());
            judge.on_message(from, host, message.bytes);
        }
    }

    /// Answers a packet to a port without a socket.
    fn refuse(&mut self, from: usize, host: usize, packet: &[u8]) {
        let now = self.now();
        if self.plan.icmp {
            let length = if self.random.below(4) == 0 { 20 } else { HEADER + 8 };
            let quote = packet[..packet.len().min(length)].to_vec();
            let after = self.random.span(Duration::from_micros(10), Duration::from_micros(200));
            self.errors.push(now + after, IcmpError { to: from, from: host, quote });
            return;
        }
        let mut answer = [0; HEADER];
        if let Some(length) = reject(packet, &mut answer, self.plan.config.crc32c) {
            self.judge.census.count("answered without a socket");
            self.links[host * self.plan.hosts + from].send(now, &answer[..length]);
        }
    }

    fn deliver_error(&mut self, error: &IcmpError) {
        let ip = self.hosts[error.from].ip;
        let Some(socket) = self.hosts[error.to].socket.as_mut() else { return };
        self.judge.census.count("answered with an ICMP error");
        socket.handle_undeliverable(ip, PORT, &error.quote);
    }

    /// Delivers a packet or an ICMP error of a host that sees no traffic: it knows addresses and
    /// ports, but no incarnation.
    fn forge(&mut self, host: usize) {
        let now = self.now();
        let from =
            (host + 1 + self.random.below(self.plan.hosts as u64 - 1) as usize) % self.plan.hosts;
        let (ip, local) = (self.hosts[from].ip, self.address(host));
        let kinds = [Kind::Data, Kind::Ack, Kind::Probe, Kind::Challenge, Kind::Reject];
        let random = &mut self.random;
        let header = Header {
            kind: *random.pick(&kinds),
            flags: Flags::default(),
            source_port: PORT,
            destination_port: local.port(),
            source_incarnation: random.any() as u32 | 1,
            destination_incarnation: if random.below(2) == 0 { 0 } else { random.any() as u32 },
            sequence: random.below(100) as u32,
            floor: random.below(100) as u32,
            acknowledgment: random.below(100) as u32,
            timestamp: (now.as_nanos() / 64) as u32,
            echo: ((now.as_nanos() - random.below(1_000_000)) / 64) as u32,
        };
        let mut packet = vec![0; if header.kind == Kind::Ack { HEADER + 8 } else { HEADER }];
        header.encode(&mut packet, self.plan.config.crc32c);
        let Some(socket) = self.hosts[host].socket.as_mut() else { return };
        match random.below(4) {
            0 => {
                // The quote of a packet that this host may have sent.
                let quoted = Header { kind: Kind::Data, timestamp: header.echo, ..header };
                quoted.encode(&mut packet, self.plan.config.crc32c);
                packet.truncate(random.below(HEADER as u64 + 9) as usize);
                socket.handle_undeliverable(ip, PORT, &packet);
                self.judge.census.count("forged ICMP errors");
            }
            1 => {
                socket.handle_unreachable(ip, PORT);
                self.judge.census.count("forged ICMP errors");
            }
            _ => {
                assert!(socket.handle_packet(now, ip, &packet, Delivery::InPlace).is_none());
                self.judge.census.count("forged packets");
            }
        }
        self.poll_events(host);
        self.transmit(host);
    }

    fn read(&mut self, host: usize) {
        let now = self.clock.now();
        let Self { hosts, judge, plan, .. } = self;
        let ips: Vec<_> = hosts.iter().map(|host| host.ip).collect();
        let Some(socket) = hosts[host].socket.as_mut() else { return };
        let payload = plan.config.packet_max - HEADER;
        while socket.receive(|message| {
            let from = ips.iter().position(|&ip| ip == message.source.ip()).unwrap();
            let fragments = message.bytes.len().div_ceil(payload);
            judge.census.add("messages of several packets delivered", u64::from(fragments > 1));
            trace!(now, "{host}: {} bytes from {from}", message.bytes.len());
            let is_long = u64::from(fragments > 64);
            judge.census.add("messages of more than 64 packets delivered", is_long);
            judge.on_message(from, host, message.bytes);
        }) {}
    }

    fn poll_events(&mut self, host: usize) {
        while let Some(event) = self.hosts[host].socket.as_mut().and_then(Socket::poll_event) {
            trace!(self.clock.now(), "{host}: {event:?}");
            let to = match event {
                Event::PeerRestarted(peer)
                | Event::Undeliverable(peer)
                | Event::Unreachable(peer)
                | Event::Writable(peer) => Some(self.host_of(peer)),
                _ => None,
            };
            self.judge.on_event(host, to, event);
        }
    }

    fn transmit(&mut self, host: usize) {
        let now = self.now();
        let Self { hosts, links, random, plan, packets, .. } = self;
        let ips: Vec<_> = hosts.iter().map(|host| host.ip).collect();
        let Some(socket) = hosts[host].socket.as_mut() else { return };
        for _ in 0..1_000 {
            let Some(transmit) = socket.poll_transmit(now) else { return };
            let to = ips.iter().position(|&ip| ip == transmit.to.ip()).unwrap();
            if random.happens(plan.no_room) {
                self.judge.census.count("carriers without room");
                socket.retry_last();
                self.actions.push(now + Duration::from_micros(20), Action::Wake);
                return;
            }
            trace!(
                self.clock.now(),
                "{host} to {to}: {}",
                describe(transmit.packet, plan.config.crc32c)
            );
            *packets += 1;
            links[host * plan.hosts + to].send(now, transmit.packet);
        }
        panic!("{host} transmits without end");
    }

    /// Ends all faults and runs until nothing is pending.
    fn settle(&mut self) {
        self.is_active = false;
        for host in 0..self.plan.hosts {
            if self.hosts[host].socket.is_none() {
                self.bind(host);
            }
            self.hosts[host].is_reading = true;
            self.hosts[host].stalled_until = Instant::ZERO;
        }
        for link in &mut self.links {
            link.set_cut(false);
            link.set_faults(Faults::LAN);
        }
        self.plan.no_room = hairpin_netsim::Chance::NEVER;
        let (end, packets) = (self.now() + SETTLE, self.packets + SETTLE_PACKETS);
        self.step();
        while let Some(next) = self.next_event() {
            assert!(next <= end && self.packets < packets, "pending work does not complete");
            self.clock.advance_to(next);
            self.step();
        }
        assert!(self.judge.has_all_outcomes(), "nothing is pending, but an outcome is missing");
        for link in &mut self.links {
            link.set_faults(self.plan.faults);
        }
    }

    /// Sends one message from each host to each other one: no pair is stuck.
    fn send_to_all(&mut self) {
        for host in 0..self.plan.hosts {
            for to in (0..self.plan.hosts).filter(|&to| to != host) {
                if !self.plan.in_pairs || to == self.partner(host) {
                    self.send_one(host, to, NUMBER);
                }
            }
        }
    }

    fn finish(mut self) -> Census {
        self.judge.check_end();
        for host in &self.hosts {
            if let Some(socket) = &host.socket {
                add_counters(&mut self.judge.census, socket.counters());
            }
        }
        self.links.iter().for_each(|link| link.report(&mut self.judge.census));
        self.judge.census
    }
}

fn describe(packet: &[u8], crc32c: hairpin_rds::Crc32c) -> String {
    if !trace::is_on() {
        return String::new();
    }
    match hairpin_rds::packet::Header::decode(packet, crc32c) {
        Ok((header, payload)) => format!("{header:?} {} bytes", payload.len()),
        Err(error) => format!("{error:?}"),
    }
}

fn add_counters(census: &mut Census, counters: &Counters) {
    let c = counters;
    for (class, times) in [
        ("gaps seen", c.out_of_order),
        ("gaps reported", c.naks_sent),
        ("gap reports received", c.naks_received),
        ("gaps skipped", c.gaps_skipped),
        ("retransmissions", c.retransmitted),
        ("probes", c.probes_sent),
        ("acknowledgments without data", c.acks_sent),
        ("windows halved", c.windows_halved),
        ("duplicates dropped", c.duplicates),
        ("corrupted packets dropped", c.dropped_checksum),
        ("packets of another incarnation dropped", c.dropped_incarnation),
        ("stale packets dropped", c.dropped_stale),
        ("packets without a buffer dropped", c.dropped_no_buffer),
        ("packets outside the window dropped", c.dropped_window),
        ("challenges", c.challenges_sent),
        ("peers restarted", c.peers_restarted),
        ("peers evicted", c.peers_evicted),
        ("peers without a socket", c.peers_undeliverable),
        ("peers unreachable", c.peers_unreachable),
        ("ICMP errors accepted", c.icmp_accepted),
        ("ICMP errors ignored", c.icmp_ignored),
        ("sends refused: congested", c.send_congested),
        ("sends refused: no room", c.send_would_block),
        ("receivers congested", c.congestions),
    ] {
        census.add(class, times);
    }
    assert_eq!(c.events_dropped, 0, "events were dropped");
}
