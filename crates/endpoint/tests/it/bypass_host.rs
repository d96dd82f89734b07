//! Two hosts: the first uses kernel bypass, the second the kernel.

use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket as StdSocket};
use std::time::Duration;

use hairpin_endpoint::xdp::{PathEvent, Stack, StackSettings};
use hairpin_endpoint::{Meta, Receive, Transmit, Transport};
use hairpin_testbed::{Host, Offloads, Queues, Testbed};

pub(crate) use crate::loopback::eventually;

pub(crate) const PORT: u16 = 7_000;
pub(crate) const GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(239, 192, 9, 1), 7_100);
/// Long enough for an unexpected datagram to arrive.
const QUIET_TIME: Duration = Duration::from_millis(50);

/// The environment of a test on the first host.
pub(crate) struct BypassHost<'a> {
    pub(crate) stack: Stack,
    pub(crate) transport: Transport,
    /// The first host's address.
    pub(crate) here: Ipv4Addr,
    /// The second host.
    pub(crate) peer: &'a Host,
}

/// Runs a test on the first of two hosts, with a stack on its interface.
pub(crate) fn with_stack(settings: &StackSettings, test: impl FnOnce(&BypassHost<'_>) + Send) {
    let one = Queues::pairs(1);
    let testbed = Testbed::builder().queues(one).offloads(Offloads::OFF).build().unwrap();
    let [host, peer] = testbed.hosts();
    host.run(|| {
        let stack = Stack::open(host.interface(), settings).unwrap();
        let transport = Transport::Xdp(stack.clone());
        test(&BypassHost { stack, transport, here: host.address(), peer });
    })
    .unwrap();
}

/// Runs a test with a strict stack, which returns an error instead of falling back.
pub(crate) fn with_strict_stack(test: impl FnOnce(&BypassHost<'_>) + Send) {
    with_stack(&StackSettings { strict: true, ..StackSettings::default() }, test);
}

impl BypassHost<'_> {
    pub(crate) fn at(&self, port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(self.here, port)
    }

    pub(crate) fn peer_at(&self, port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(self.peer.address(), port)
    }

    /// Calls `make` on the second host.
    pub(crate) fn on_peer<R: Send>(&self, make: impl FnOnce() -> std::io::Result<R> + Send) -> R {
        self.peer.run(make).unwrap().unwrap()
    }

    /// Creates a standard socket on the second host.
    pub(crate) fn plain(&self, port: u16) -> StdSocket {
        let socket = self.on_peer(|| StdSocket::bind((self.peer.address(), port)));
        socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        socket
    }

    /// Returns the events that the stack has reported since the last call.
    pub(crate) fn events(&self) -> Vec<String> {
        std::iter::from_fn(|| self.stack.next_event())
            .map(|event: PathEvent| event.to_string())
            .collect()
    }
}

pub(crate) fn send(endpoint: &mut impl Transmit, bytes: &[u8]) {
    endpoint.transmit(bytes.len(), |buffer| buffer.copy_from_slice(bytes)).unwrap();
}

/// Receives until `count` datagrams have arrived. Fails on a timeout.
pub(crate) fn receive(endpoint: &mut impl Receive, count: usize) -> Vec<(Meta, Vec<u8>)> {
    let mut all = Vec::new();
    eventually("something to receive", || {
        endpoint.receive(64, |meta, bytes| all.push((meta, bytes.to_vec()))).unwrap();
        all.len() >= count
    });
    assert_eq!(all.len(), count, "more datagrams have arrived");
    all
}

/// Receives one datagram.
pub(crate) fn one(endpoint: &mut impl Receive) -> (Meta, Vec<u8>) {
    receive(endpoint, 1).remove(0)
}

/// Fails if a datagram arrives.
pub(crate) fn nothing(endpoint: &mut impl Receive) {
    std::thread::sleep(QUIET_TIME);
    let received =
        endpoint.receive(64, |_, bytes| panic!("unexpected datagram: {bytes:?}")).unwrap();
    assert_eq!((received.count, received.drained), (0, true));
}
