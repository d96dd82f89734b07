//! A session with kernel bypass, against a gateway on another host. Needs root.

use std::net::{SocketAddrV4, TcpListener};
use std::thread;

use crate::loopback::{EndedBy, converse, run, serve};
use crate::mock_exchange;
use hairpin_endpoint::Transport;
use hairpin_endpoint::xdp::{InterfaceSettings, Mode, Stack, StackSettings};
use hairpin_mapped::Journal;
use hairpin_order_entry::*;
use hairpin_reactor::Wait;
use hairpin_testbed::{Host, Offloads, Queues, Testbed};

/// Runs a session over `transport`. Returns its events and the templates that the gateway received.
fn converse_over(
    transport: &Transport,
    [trader, gateway]: &[Host; 2],
    (wait, ended_by, bytewise): (Wait, EndedBy, bool),
) -> (Vec<String>, Vec<u16>) {
    let listener = gateway.run(|| TcpListener::bind((gateway.address(), 0)).unwrap()).unwrap();
    let port = listener.local_addr().unwrap().port();
    let served = thread::spawn(move || serve(&listener, ended_by, bytewise));
    let address = SocketAddrV4::new(gateway.address(), port);
    let events = trader.run(|| {
        let settings = Settings { gateway: address, ..mock_exchange::settings(port) };
        let connect = TcpConnect { transport: transport.clone(), ..TcpConnect::default() };
        let journal = Journal::anonymous(1 << 16).unwrap();
        let mut session = Session::with_connect(settings, journal, connect).unwrap();
        run(&mut session, wait, ended_by)
    });
    (events.unwrap(), served.join().unwrap())
}

#[test]
#[ignore = "needs root"]
fn session_over_xdp_has_the_events_of_a_session_over_the_kernel() {
    let one = Queues::pairs(1);
    let testbed = Testbed::builder().queues(one).offloads(Offloads::OFF).build().unwrap();
    let hosts = testbed.hosts();
    for mode in [Mode::Native, Mode::Generic] {
        let interface = InterfaceSettings { mode, ..InterfaceSettings::default() };
        let settings = StackSettings { interface, strict: true, ..StackSettings::default() };
        let open = || Stack::open(hosts[0].interface(), &settings).unwrap();
        let stack = hosts[0].run(open).unwrap();
        let transport = Transport::Xdp(stack.clone());
        let mut sessions = 0;
        for wait in Wait::ALL.into_iter().filter(|wait| wait.probe().is_ok()) {
            for ended_by in [EndedBy::Client, EndedBy::Gateway, EndedBy::GatewayWithoutTerminate] {
                for bytewise in [false, true] {
                    let over_xdp = converse_over(&transport, hosts, (wait, ended_by, bytewise));
                    let (_, events, received) = converse(wait, ended_by, bytewise);
                    assert_eq!(over_xdp, (events, received), "{wait}, {ended_by:?}, {bytewise}");
                    sessions += 1;
                }
            }
        }
        let counters = stack.tcp_counters();
        assert!(counters.taken_over >= sessions, "{counters:?}");
        assert_eq!(counters.bypassing, 0, "{counters:?}");
    }
}
