//! Batches on a path with CME's MTU: no message spans two TCP segments (CME, page 46175517).

use std::io::Read;
use std::net::{SocketAddrV4, TcpListener};
use std::sync::mpsc;
use std::thread;

use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::{Reactor, Ready, Wait};
use hairpin_testbed::{Host, Offloads, Testbed};
use socket2::{Domain, Protocol, Socket, Type};

use crate::loopback::{EndedBy, clock, serve};
use crate::mock_exchange::{self, template_id};

const ORDERS: u32 = 10;
/// Ethernet, and IPv4 without options.
const ETHERNET: usize = 14;
const IPV4: usize = 20;
const ETHERTYPE_IPV4: u16 = 0x0800;

/// Sends all orders in one batch when established, and terminates after their reports.
struct BatchTrader {
    reports: u32,
}

impl Listener for BatchTrader {
    fn on_established(&mut self, sender: &mut Sender<'_>, _: &Established) {
        let batched = sender.batch(|sender| {
            (1..=ORDERS).for_each(|id| {
                let (price, id) = (Decimal(4_500_250_000_000), ClOrdId::from(u64::from(id)));
                sender.send(&NewOrder::limit(42, SideReq::SELL, price, 3, id)).unwrap();
            });
        });
        assert_eq!(batched.delivery, Delivery::Written);
    }
    fn on_execution_report_new(
        &mut self,
        sender: &mut Sender<'_>,
        _: ExecutionReportNew522<'_>,
        _: &Message<'_>,
    ) {
        self.reports += 1;
        if self.reports == ORDERS {
            sender.terminate();
        }
    }
}

/// Returns the TCP payloads to `port` among the IPv4 frames of `host`, until one has a Terminate.
fn payloads(host: &Host, port: u16) -> mpsc::Receiver<Vec<Vec<u8>>> {
    let kind = Protocol::from(i32::from(ETHERTYPE_IPV4.to_be()));
    let socket = host.run(|| Socket::new(Domain::PACKET, Type::RAW, Some(kind)).unwrap()).unwrap();
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut socket = socket;
        let mut payloads = Vec::new();
        let mut frame = [0; 2_048];
        while payloads.last().is_none_or(|last: &Vec<u8>| template_id(last) != 507) {
            let length = socket.read(&mut frame).unwrap();
            let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
            let tcp = ETHERNET + IPV4;
            let is_to_port = frame[ETHERNET + 9] == 6 && word(tcp + 2) == port;
            let end = ETHERNET + usize::from(word(ETHERNET + 2));
            let start = tcp + usize::from(frame[tcp + 12] >> 4) * 4;
            if is_to_port && start < end && end <= length {
                payloads.push(frame[start..end].to_vec());
            }
        }
        sender.send(payloads).unwrap();
    });
    receiver
}

/// Returns the number of whole messages in a segment, or `None` if one is cut.
fn whole_messages(segment: &[u8]) -> Option<usize> {
    let (mut rest, mut count) = (segment, 0);
    while let Some(length) = rest.first_chunk() {
        rest = rest.get(usize::from(u16::from_le_bytes(*length))..)?;
        count += 1;
    }
    rest.is_empty().then_some(count)
}

#[test]
#[ignore = "needs root"]
fn no_order_of_a_batch_spans_segments_at_mtu_1420() {
    let testbed = Testbed::builder().mtu(1_420).offloads(Offloads::OFF).build().unwrap();
    let [trader, gateway] = testbed.hosts();
    let listener = gateway.run(|| TcpListener::bind((gateway.address(), 0)).unwrap()).unwrap();
    let port = listener.local_addr().unwrap().port();
    let segments = payloads(gateway, port);
    let served = thread::spawn(move || serve(&listener, EndedBy::Client, false));
    let address = SocketAddrV4::new(gateway.address(), port);
    let run = || {
        // A limit far above the segment size: the connection's segment size decides.
        let settings =
            Settings { gateway: address, batch_bytes: 1 << 20, ..mock_exchange::settings(port) };
        let mut session = Session::new(settings, Journal::anonymous(1 << 16).unwrap()).unwrap();
        let (mut reactor, start) = (Reactor::new(Wait::Poll).unwrap(), std::time::Instant::now());
        let mut orders = BatchTrader { reports: 0 };
        session.connect(clock(start), Binding::New).unwrap();
        session.process(clock(start), Ready::EMPTY, &mut reactor, &mut orders).unwrap();
        while session.state() != State::Disconnected {
            let deadline = session.next_deadline();
            let ready = reactor.wait(clock(start).monotonic, deadline).unwrap();
            session.process(clock(start), ready, &mut reactor, &mut orders).unwrap();
        }
        orders.reports
    };
    assert_eq!(trader.run(run).unwrap(), ORDERS);
    served.join().unwrap();
    let segments = segments.recv().unwrap();
    let counts: Vec<_> = segments.iter().map(|segment| whole_messages(segment)).collect();
    // Negotiate, Establish, nine orders, the tenth, Terminate.
    assert_eq!(counts, [1, 1, 9, 1, 1].map(Some));
    let largest = segments.iter().map(Vec::len).max().unwrap();
    // 1,420 bytes without the headers of IPv4 and of TCP with timestamps.
    assert!(largest <= 1_420 - 20 - 32, "{largest}");
}
