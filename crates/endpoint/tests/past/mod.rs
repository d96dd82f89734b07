//! Two hosts, of which the first goes past the kernel and the second does not.

#![allow(dead_code, reason = "each test binary uses a part")]

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket as StdSocket};
use std::time::Duration;

use hairpin_endpoint::xdp::{PathEvent, Stack, StackSettings};
use hairpin_endpoint::{Meta, Receive, Transmit, Transport};
use hairpin_testbed::{Host, Offloads, Queues, Testbed};

pub(crate) const PORT: u16 = 7_000;
pub(crate) const GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(239, 192, 9, 1), 7_100);
/// Long enough that a lost datagram is lost, and not late.
const PATIENCE_MS: u32 = 10_000;
/// Long enough that what ought not to come would have.
const A_WHILE: Duration = Duration::from_millis(50);

/// The first host's side of a test.
pub(crate) struct Past<'a> {
    pub(crate) stack: Stack,
    pub(crate) transport: Transport,
    /// The first host's address.
    pub(crate) here: Ipv4Addr,
    /// The second host.
    pub(crate) peer: &'a Host,
}

/// Runs a test on the first of two hosts, with a stack on its interface.
pub(crate) fn past(settings: &StackSettings, test: impl FnOnce(&Past<'_>) + Send) {
    let one = Queues::pairs(1);
    let bed = Testbed::builder().queues(one).offloads(Offloads::OFF).build().unwrap();
    let [host, peer] = bed.hosts();
    host.run(|| {
        let stack = Stack::open(host.interface(), settings).unwrap();
        let transport = Transport::Xdp(stack.clone());
        test(&Past { stack, transport, here: host.address(), peer });
    })
    .unwrap();
}

/// The same by a stack that refuses whatever does not go past the kernel.
pub(crate) fn strictly(test: impl FnOnce(&Past<'_>) + Send) {
    past(&StackSettings { strict: true, ..StackSettings::default() }, test);
}

impl Past<'_> {
    pub(crate) fn at(&self, port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(self.here, port)
    }

    pub(crate) fn peer_at(&self, port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(self.peer.address(), port)
    }

    /// Makes something of the kernel's on the second host.
    pub(crate) fn on_peer<R: Send>(&self, make: impl FnOnce() -> std::io::Result<R> + Send) -> R {
        self.peer.run(make).unwrap().unwrap()
    }

    /// A plain socket on the second host.
    pub(crate) fn plain(&self, port: u16) -> StdSocket {
        let socket = self.on_peer(|| StdSocket::bind((self.peer.address(), port)));
        socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        socket
    }

    /// What the stack has said since it was asked last.
    pub(crate) fn notices(&self) -> Vec<String> {
        std::iter::from_fn(|| self.stack.next_event())
            .map(|notice: PathEvent| notice.to_string())
            .collect()
    }
}

pub(crate) fn send(endpoint: &mut impl Transmit, bytes: &[u8]) {
    endpoint.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
}

/// Receives until `count` datagrams have come; fails when they do not.
pub(crate) fn receive(endpoint: &mut impl Receive, count: usize) -> Vec<(Meta, Vec<u8>)> {
    let mut all = Vec::new();
    eventually("something to receive", || {
        endpoint.receive(64, |meta, bytes| all.push((meta, bytes.to_vec()))).unwrap();
        all.len() >= count
    });
    assert_eq!(all.len(), count, "more has come");
    all
}

/// The one datagram that comes.
pub(crate) fn one(endpoint: &mut impl Receive) -> (Meta, Vec<u8>) {
    receive(endpoint, 1).remove(0)
}

/// Fails if anything comes.
pub(crate) fn nothing(endpoint: &mut impl Receive) {
    std::thread::sleep(A_WHILE);
    let received = endpoint.receive(64, |_, bytes| panic!("{bytes:?} came")).unwrap();
    assert_eq!((received.count, received.drained), (0, true));
}

/// Tries until it is so, within bounds.
pub(crate) fn eventually(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..PATIENCE_MS {
        if is_so() {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("waited in vain for {what}");
}
