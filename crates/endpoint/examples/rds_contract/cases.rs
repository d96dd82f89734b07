//! The cases of the contract.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use crate::hosts::{Host, Hosts};
use crate::rds::{Buffers, Implementation, Outcome, Rds};

/// A case: what it does, and why its outcomes differ, if they do.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&mut World<'_>) -> String,
    pub(crate) difference: &'static str,
}

const fn same(name: &'static str, run: fn(&mut World<'_>) -> String) -> Case {
    Case { name, run, difference: "" }
}

pub(crate) const CASES: &[Case] = &[
    same("bind to the unspecified address", |it| it.bind_to(Ipv4Addr::UNSPECIFIED.into())),
    same("bind to a multicast address", |it| it.bind_to(Ipv4Addr::new(224, 0, 0, 9).into())),
    same("bind to an address of the other host", |it| it.bind_to(it.hosts.0[1].address)),
    same("bind to port 0", |it| {
        let socket = it.open(0);
        shown(
            it.bind(socket, 0, 0)
                .map(|at| if at.port() > 1 { "a free port" } else { "a reserved port" }),
        )
    }),
    same("bind to port 1", |it| {
        let socket = it.open(0);
        shown(it.bind(socket, 0, 1).map(|_| "bound"))
    }),
    same("bind twice", |it| {
        let socket = it.bound(0, 0);
        shown(it.bind(socket, 0, it.port(1)).map(|_| "bound"))
    }),
    same("bind to a port of another socket", |it| {
        let _first = it.bound(0, 0);
        let second = it.open(0);
        shown(it.bind(second, 0, it.port(0)).map(|_| "bound"))
    }),
    Case {
        name: "bind to a port of a UDP socket",
        run: |it| {
            it.hosts.0[0].enter();
            let at = SocketAddr::new(it.hosts.0[0].address, it.port(0));
            let _udp = UdpSocket::bind(at).expect("a free port");
            let socket = it.open(0);
            shown(it.bind(socket, 0, it.port(0)).map(|_| "bound"))
        },
        difference: "the RDS port is a UDP port, plus an offset",
    },
    same("send before bind", |it| {
        let socket = it.open(0);
        shown(it.send(socket, it.at(1, 0), b"x"))
    }),
    same("send to the unspecified address", |it| it.send_to(Ipv4Addr::UNSPECIFIED.into())),
    same("send to a multicast address", |it| it.send_to(Ipv4Addr::new(224, 0, 0, 9).into())),
    same("send to the broadcast address", |it| it.send_to(Ipv4Addr::BROADCAST.into())),
    same("send no bytes", |it| it.round_of(0)),
    same("send 1 MiB", |it| it.round_of(1 << 20)),
    same("send 1 MiB and a byte", |it| {
        let (socket, to) = (it.bound(0, 0), it.at(1, 0));
        shown(it.send(socket, to, &vec![1; (1 << 20) + 1]))
    }),
    Case {
        name: "send 64 KiB with a send buffer of 32 KiB",
        run: |it| {
            let buffers = Buffers { send: 32 << 10, ..Buffers::default() };
            let (sender, receiver) = (it.bound_with(0, 0, buffers), it.bound(1, 0));
            match it.send(sender, it.at(1, 0), &[1; 64 << 10]) {
                Ok(()) => shown(it.receive(receiver).map(|it| format!("{} bytes", it.1.len()))),
                Err(error) => error,
            }
        },
        difference: "the send buffer has room for a whole message beyond its limit",
    },
    same("send until the buffer is full", |it| {
        let absent = SocketAddr::new(it.absent(), it.port(0));
        let sender = it.bound_with(0, 0, Buffers { send: 64 << 10, ..Buffers::default() });
        let full = (0..1_000).find_map(|_| it.send(sender, absent, &[1; 1_024]).err());
        full.unwrap_or("never full".to_owned())
    }),
    same("receive with no message", |it| {
        let socket = it.bound(0, 0);
        shown(it.sockets[socket].receive(&mut [0; 8]).map(|_| "a message"))
    }),
    same("receive 100 bytes into 8", |it| {
        let (sender, receiver) = (it.bound(0, 0), it.bound(1, 0));
        let to = it.at(1, 0);
        it.send(sender, to, &[1; 100]).and_then(|()| it.send(sender, to, &[2; 8])).unwrap();
        let mut buffer = [0; 8];
        let (_, length) = it.wait(|it| it.sockets[receiver].receive(&mut buffer)).unwrap();
        let next = it.receive(receiver).unwrap().1;
        format!("{buffer:?} of {length} bytes, then {} of {}", next[0], next.len())
    }),
    same("peek twice, then receive", |it| {
        let (sender, receiver) = (it.bound(0, 0), it.bound(1, 0));
        it.send(sender, it.at(1, 0), &[1; 100]).unwrap();
        let peeked = [0; 2].map(|_| it.wait(|it| it.sockets[receiver].peek()).unwrap());
        format!("{peeked:?}, {} bytes", it.receive(receiver).unwrap().1.len())
    }),
    same("the sender of a message", |it| {
        let (sender, receiver) = (it.bound(0, 3), it.bound(1, 0));
        it.send(sender, it.at(1, 0), b"x").unwrap();
        let from = it.receive(receiver).unwrap().0;
        if from == it.at(0, 3) { "its address and port".to_owned() } else { from.to_string() }
    }),
    same("2,000 messages of 0 to 3,000 bytes", |it| it.many(&[0])),
    same("2,000 messages of each of three sockets", |it| it.many(&[0, 1, 2])),
    same("a message to another socket of the host", |it| {
        let (sender, receiver) = (it.bound(0, 0), it.bound(0, 1));
        it.send(sender, it.at(0, 1), b"four").unwrap();
        shown(it.receive(receiver).map(|it| format!("{} bytes", it.1.len())))
    }),
    same("a message to a port without a socket, which is bound later", |it| {
        let (sender, other) = (it.bound(0, 0), it.bound(1, 1));
        it.send(sender, it.at(1, 0), b"early").unwrap();
        it.send(sender, it.at(1, 1), b"other").unwrap();
        it.receive(other).unwrap();
        it.settle();
        let late = it.bound(1, 0);
        it.arrivals(sender, late, it.at(1, 0))
    }),
    same("unread messages of a socket that closes, and a new one at its port", |it| {
        let (sender, receiver) = (it.bound(0, 0), it.bound(1, 0));
        it.send(sender, it.at(1, 0), b"early").unwrap();
        it.wait(|it| it.sockets[receiver].peek()).unwrap();
        it.settle();
        it.close(receiver);
        let second = it.bound(1, 0);
        it.arrivals(sender, second, it.at(1, 0))
    }),
    same("a receiver that reads nothing", |it| it.congest(false)),
    same("another socket of its host meanwhile", |it| it.congest(true)),
    same("messages to a host that appears later", |it| it.appears_later(false)),
    same("the same, canceled before", |it| it.appears_later(true)),
    same("counters of 10 messages", |it| {
        let (sender, receiver) = (it.bound(0, 0), it.bound(1, 0));
        let before = (it.counts(sender), it.counts(receiver));
        for _ in 0..10 {
            it.send(sender, it.at(1, 0), b"x").unwrap();
            it.receive(receiver).unwrap();
        }
        let (sent, received) = (it.counts(sender)[0], it.counts(receiver)[1]);
        format!("{} sent, {} received", sent - before.0[0], received - before.1[1])
    }),
];

fn shown<T: Shown>(outcome: Outcome<T>) -> String {
    outcome.map_or_else(|error| error, Shown::shown)
}

/// What a successful call is called in the table.
trait Shown {
    fn shown(self) -> String;
}

impl Shown for () {
    fn shown(self) -> String {
        "sent".to_owned()
    }
}

impl Shown for &str {
    fn shown(self) -> String {
        self.to_owned()
    }
}

impl Shown for String {
    fn shown(self) -> String {
        self
    }
}

/// The bound of every wait. A case never fails because a machine is slow.
const LIMIT: Duration = Duration::from_secs(120);

/// The sockets of a case.
pub(crate) struct World<'a> {
    hosts: &'a Hosts,
    implementation: &'a dyn Implementation,
    index: usize,
    sockets: Vec<Box<dyn Rds>>,
}

impl<'a> World<'a> {
    pub(crate) fn new(
        hosts: &'a Hosts,
        implementation: &'a dyn Implementation,
        index: usize,
    ) -> Self {
        Self { hosts, implementation, index, sockets: Vec::new() }
    }

    /// Returns a port of this case.
    fn port(&self, number: u16) -> u16 {
        9_300 + 8 * self.index as u16 + number
    }

    /// Returns a host's address with a port of this case.
    fn at(&self, host: usize, number: u16) -> SocketAddr {
        SocketAddr::new(self.hosts.0[host].address, self.port(number))
    }

    /// Returns an address of the second host's network that no host has, another one for each case
    /// and implementation.
    fn absent(&self) -> IpAddr {
        let IpAddr::V4(address) = self.hosts.0[1].address else { panic!("the hosts have IPv4") };
        let [a, b, c, _] = address.octets();
        let last = 100 + 2 * self.index as u8 + self.implementation.number();
        Ipv4Addr::new(a, b, c, last).into()
    }

    fn host(&self, host: usize) -> &'a Host {
        &self.hosts.0[host]
    }

    fn open(&mut self, host: usize) -> usize {
        self.open_with(host, Buffers::default())
    }

    fn open_with(&mut self, host: usize, buffers: Buffers) -> usize {
        self.sockets.push(self.implementation.open(self.host(host), buffers));
        self.sockets.len() - 1
    }

    fn bind(&mut self, socket: usize, host: usize, port: u16) -> Outcome<SocketAddr> {
        let host = self.host(host);
        self.sockets[socket].bind(host, SocketAddr::new(host.address, port))
    }

    fn bound(&mut self, host: usize, number: u16) -> usize {
        self.bound_with(host, number, Buffers::default())
    }

    fn bound_with(&mut self, host: usize, number: u16, buffers: Buffers) -> usize {
        let socket = self.open_with(host, buffers);
        self.bind(socket, host, self.port(number)).unwrap();
        socket
    }

    fn bind_to(&mut self, address: IpAddr) -> String {
        let socket = self.open(0);
        let (host, at) = (self.host(0), SocketAddr::new(address, self.port(0)));
        shown(self.sockets[socket].bind(host, at).map(|_| "bound"))
    }

    fn send_to(&mut self, address: IpAddr) -> String {
        let socket = self.bound(0, 0);
        shown(self.send(socket, SocketAddr::new(address, self.port(0)), b"x"))
    }

    fn send(&mut self, socket: usize, to: SocketAddr, bytes: &[u8]) -> Outcome<()> {
        self.sockets[socket].send(to, bytes)
    }

    fn close(&mut self, socket: usize) {
        drop(self.sockets.remove(socket));
    }

    fn counts(&self, socket: usize) -> [u64; 2] {
        self.sockets[socket].counts().unwrap()
    }

    /// Repeats a call until it has another error than EAGAIN. All sockets work meanwhile.
    fn wait<T>(&mut self, mut call: impl FnMut(&mut Self) -> Outcome<T>) -> Outcome<T> {
        let start = Instant::now();
        loop {
            match call(self) {
                Err(error) if error == "EAGAIN" => {}
                outcome => return outcome,
            }
            if start.elapsed() > LIMIT {
                return Err(format!("nothing for {} s", LIMIT.as_secs()));
            }
            self.sockets.iter_mut().for_each(|it| it.work());
            std::thread::sleep(Duration::from_micros(100));
        }
    }

    fn receive(&mut self, socket: usize) -> Outcome<(SocketAddr, Vec<u8>)> {
        let mut buffer = vec![0; 1 << 20];
        let (from, length) = self.wait(|it| it.sockets[socket].receive(&mut buffer))?;
        buffer.truncate(length);
        Ok((from, buffer))
    }

    /// Waits until nothing is in flight.
    fn settle(&mut self) {
        let is_settled = |it: &mut Self| match it.sockets.iter().all(|it| it.is_settled()) {
            true => Ok(()),
            false => Err("EAGAIN".to_owned()),
        };
        self.wait(is_settled).unwrap();
    }

    /// Sends a message of this length to the other host, and compares what arrives.
    fn round_of(&mut self, length: usize) -> String {
        let (sender, receiver) = (self.bound(0, 0), self.bound(1, 0));
        let bytes: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
        if let Err(error) = self.send(sender, self.at(1, 0), &bytes) {
            return error;
        }
        match self.receive(receiver) {
            Ok((_, found)) if found == bytes => format!("{length} bytes"),
            Ok((_, found)) => format!("{} other bytes", found.len()),
            Err(error) => error,
        }
    }

    /// Sends 2,000 messages from each of some sockets to one, and checks their order and bytes.
    fn many(&mut self, numbers: &[u16]) -> String {
        const COUNT: u32 = 2_000;
        let receiver = self.bound(1, 0);
        let senders: Vec<usize> = numbers.iter().map(|it| self.bound(0, *it)).collect();
        let message = |number: u32| {
            let mut bytes = number.to_le_bytes().repeat(1 + number as usize % 750);
            bytes.truncate(if number.is_multiple_of(17) { 4 } else { bytes.len() });
            bytes
        };
        let mut next = HashMap::new();
        let to = self.at(1, 0);
        let mut check = |from: SocketAddr, bytes: &[u8]| {
            let expected: &mut u32 = next.entry(from).or_default();
            *expected += 1;
            bytes == message(*expected - 1)
        };
        let mut buffer = vec![0; 4_096];
        let mut received = 0;
        for number in 0..COUNT {
            for &sender in &senders {
                let sent = self.wait(|it| {
                    while let Ok((from, length)) = it.sockets[receiver].receive(&mut buffer) {
                        assert!(check(from, &buffer[..length]), "another message");
                        received += 1;
                    }
                    it.send(sender, to, &message(number))
                });
                sent.unwrap();
            }
        }
        while received < COUNT * senders.len() as u32 {
            match self.receive(receiver) {
                Ok((from, bytes)) => assert!(check(from, &bytes), "another message"),
                Err(error) => return format!("{received} messages, then {error}"),
            }
            received += 1;
        }
        "each once, whole, in order".to_owned()
    }

    /// Sends a last message. Returns what the receiver gets until then.
    fn arrivals(&mut self, sender: usize, receiver: usize, to: SocketAddr) -> String {
        // A closed socket has moved the numbers of the later ones.
        let sender = sender.min(self.sockets.len() - 1);
        let receiver = receiver.min(self.sockets.len() - 1);
        self.send(sender, to, b"last").unwrap();
        let mut earlier = 0;
        let mut buffer = [0; 8];
        let outcome = self.wait(|it| {
            if it.sockets[sender].has_peer_restarted() {
                it.send(sender, to, b"last")?;
            }
            let (_, length) = it.sockets[receiver].receive(&mut buffer)?;
            let is_last = buffer[..length] == *b"last";
            earlier += u32::from(!is_last);
            if is_last { Ok(()) } else { Err("EAGAIN".to_owned()) }
        });
        match (outcome, earlier) {
            (Err(error), _) => error,
            (_, 0) => "only messages sent afterwards".to_owned(),
            (_, count) => format!("{count} earlier messages too"),
        }
    }

    /// Fills a receiver's buffer. Afterwards sends to another socket of its host, or empties the
    /// buffer.
    fn congest(&mut self, has_other: bool) -> String {
        let buffers = Buffers { receive: 32 << 10, ..Buffers::default() };
        let (sender, receiver) = (self.bound(0, 0), self.bound_with(1, 0, buffers));
        let (other, to) = (self.bound(1, 1), self.at(1, 0));
        let mut sent = 0;
        let error = self.wait(|it| match it.send(sender, to, &[1; 1_024]) {
            Ok(()) if sent < 4_096 => {
                sent += 1;
                Err::<(), _>("EAGAIN".to_owned())
            }
            outcome => outcome,
        });
        let Err(error) = error else { return "never congested".to_owned() };
        if has_other {
            let outcome = self.send(sender, self.at(1, 1), b"other");
            let outcome = outcome.and_then(|()| self.receive(other)).map(|_| "arrives");
            return format!("{error}; a message to the other one: {}", shown(outcome));
        }
        for _ in 0..sent {
            if let Err(error) = self.receive(receiver) {
                return format!("of {sent} messages one is lost: {error}");
            }
        }
        let again = self.wait(|it| match it.send(sender, to, b"last") {
            Err(error) if error == "ENOBUFS" => Err("EAGAIN".to_owned()),
            outcome => outcome,
        });
        let again = again.and_then(|()| self.receive(receiver)).map(|_| "sends again");
        format!("{error}; when all is read: {}", shown(again))
    }

    /// Sends to an address that a host gets later.
    fn appears_later(&mut self, cancels: bool) -> String {
        let sender = self.bound(0, 0);
        let address = self.absent();
        let to = SocketAddr::new(address, self.port(0));
        for _ in 0..5 {
            self.send(sender, to, b"early").unwrap();
        }
        if cancels && let Err(error) = self.sockets[sender].cancel(to) {
            return error;
        }
        let host = self.host(1);
        host.add_address(address);
        let receiver = self.open(1);
        self.sockets[receiver].bind(host, to).unwrap();
        self.arrivals(sender, receiver, to)
    }
}
