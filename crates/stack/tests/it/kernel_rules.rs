//! Odd frames to sockets of the stack and of the kernel: both deliver the same.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket as KernelSocket};

use hairpin_netsim::Census;
use hairpin_stack::{DropCause, FallbackReason, Mode, PathEvent, SocketOptions, Stack, UdpSocket};
use hairpin_testbed::Host;

use crate::odd_frames::{
    Batch, CLASSES, Ends, GROUP, OddFrames, PORTS, Record, Records, SOURCE_PORT, Side, compare,
    destinations, without_scope,
};
use crate::support::{MODES, bind_with, eventually, next, stack, testbed};

const SEED: u64 = 0x0DD;
const BATCHES: u32 = 40;
const FRAMES: u32 = 60;
/// Returns the address that each socket is bound to, and its peer.
fn ends_of(ends: &Ends) -> [(SocketAddr, Option<SocketAddr>); 6] {
    let at = |ip: IpAddr, index: usize| SocketAddr::new(ip, PORTS[index]);
    let any = IpAddr::from(Ipv4Addr::UNSPECIFIED);
    let peer = |ip: IpAddr| Some(SocketAddr::new(ip, SOURCE_PORT));
    [
        (at(any, 0), None),
        (at(ends.to.into(), 1), None),
        (at(Ipv6Addr::UNSPECIFIED.into(), 2), None),
        (at(ends.to.into(), 3), peer(ends.from.into())),
        (at(ends.to_v6.into(), 4), peer(ends.from_v6.into())),
        (at(any, 5), None),
    ]
}

/// Records datagrams until the markers of a batch have arrived.
fn until_marked(batch: u32, mut receive: impl FnMut(&mut Vec<Record>)) -> Records {
    let (mut records, mut found) = (Vec::new(), Batch::new(batch));
    let complete = eventually(|| {
        receive(&mut records);
        records.drain(..).for_each(|record| found.add(record));
        found.is_complete()
    });
    assert!(complete, "{found:?}");
    found.records
}

fn kernel_sockets(host: &Host, ends: &Ends) -> Vec<KernelSocket> {
    let all = ends_of(ends).map(|(local, peer)| {
        let socket = host.run(|| KernelSocket::bind(local)).unwrap().unwrap();
        if let Some(peer) = peer {
            host.run(|| socket.connect(peer)).unwrap().unwrap();
        }
        socket.set_nonblocking(true).unwrap();
        socket
    });
    all[5].join_multicast_v4(&GROUP, &ends.to).unwrap();
    all.into()
}

fn receive_kernel(sockets: &[KernelSocket], records: &mut Vec<Record>) {
    let mut buffer = [0; 2_048];
    for (at, socket) in sockets.iter().enumerate() {
        // An error is an ICMP message about nothing that was sent.
        while let Ok((length, source)) = socket.recv_from(&mut buffer) {
            records.push((at, without_scope(source), buffer[..length].to_vec()));
        }
    }
}

fn receive_stack(sockets: &mut [UdpSocket], records: &mut Vec<Record>) {
    for (at, socket) in sockets.iter_mut().enumerate() {
        let receive = socket.receive(64, |meta, bytes| {
            records.push((at, without_scope(meta.source), bytes.to_vec()));
        });
        receive.unwrap();
    }
}

/// Sends thousands of odd frames to both hosts.
fn run(mode: Mode) -> Census {
    let [kernel_side, stack_side] = [(); 2].map(|()| Side::new(testbed(1)));
    let ends = kernel_side.ends();
    let kernel = kernel_sockets(&kernel_side.testbed.hosts()[1], &ends);
    let host = &stack_side.testbed.hosts()[1];
    let stack = stack(host, mode);
    let mut sockets: Vec<_> = ends_of(&ends)
        .into_iter()
        .map(|(local, peer)| {
            let mut socket = bind_with(host, &stack, local, &SocketOptions::default());
            if let Some(peer) = peer {
                host.run(|| socket.connect(peer)).unwrap().unwrap();
            }
            socket
        })
        .collect();
    sockets[5].join(GROUP.into(), &[]).unwrap();
    let is_redirected = eventually(|| sockets[5].receives_group_over_xdp(GROUP.into()));
    assert!(is_redirected && sockets[..5].iter().all(UdpSocket::receives_over_xdp));
    let mut frames = OddFrames::new(SEED, ends, &destinations());
    let mut census = Census::default();
    for batch in 0..BATCHES {
        let mut sent = frames.good();
        sent.extend((0..FRAMES).map(|_| frames.next()));
        let markers = frames.markers(batch);
        for side in [&kernel_side, &stack_side] {
            sent.iter().chain(&markers).for_each(|frame| side.send(frame));
        }
        sent.iter().for_each(|frame| census.count(frame.class));
        let by_kernel = until_marked(batch, |records| receive_kernel(&kernel, records));
        let by_stack = until_marked(batch, |records| receive_stack(&mut sockets, records));
        compare(&sent, &by_kernel, &by_stack, &mut census);
    }
    let fallback = std::iter::from_fn(|| stack.next_event()).find(PathEvent::is_fallback);
    assert_eq!(fallback, None);
    let dropped = stack.drop_counters();
    for (name, count) in [
        ("malformed", dropped.malformed),
        ("wrong_checksum", dropped.wrong_checksum),
        ("martian", dropped.martian),
        ("other_mac", dropped.other_mac),
    ] {
        assert!(count > 0, "{name}: {dropped:?}");
    }
    assert_eq!(dropped.queue_full + dropped.receive_ring_full + dropped.fill_ring_empty, 0);
    census
}

#[test]
#[ignore = "needs root"]
fn sockets_receive_the_odd_frames_that_the_kernel_accepts() {
    for mode in MODES {
        let census = run(mode);
        println!("{mode}:");
        census.iter().for_each(|(class, count)| println!("{count:6} {class}"));
        census.require(&CLASSES).unwrap();
        census.require(&["delivered by both", "kernel only", "stack only"]).unwrap();
    }
}

/// Sends damaged frames to a socket until it falls back. Returns the events.
fn lose(side: &Side, stack: &Stack, frames: &mut OddFrames, port: u16) -> Vec<PathEvent> {
    let mut sent = 0;
    while sent < 8 {
        let frame = frames.next();
        if frame.class == "UDP checksum damaged" && frame.port() == port {
            side.send(&frame);
            sent += 1;
        }
    }
    let mut events = Vec::new();
    let is_reported = eventually(|| {
        stack.poll().unwrap();
        events.extend(std::iter::from_fn(|| stack.next_event()));
        events.iter().any(PathEvent::is_fallback)
    });
    assert!(is_reported, "{events:?}");
    events
}

#[test]
#[ignore = "needs root"]
fn socket_whose_frames_are_all_dropped_falls_back_with_the_cause() {
    let side = Side::new(testbed(1));
    let (ends, host) = (side.ends(), &side.testbed.hosts()[1]);
    let stack = stack(host, Mode::Generic);
    let mut frames = OddFrames::new(SEED, ends, &destinations());
    let any = IpAddr::from(Ipv4Addr::UNSPECIFIED);
    let bind = |port| bind_with(host, &stack, (any, port), &SocketOptions::default());
    let [mut unicast, mut member] = [bind(PORTS[0]), bind(PORTS[5])];
    member.join(GROUP.into(), &[]).unwrap();
    assert!(eventually(|| member.receives_group_over_xdp(GROUP.into())));
    for (at, socket, ip) in
        [(0, &mut unicast, IpAddr::from(ends.to)), (5, &mut member, GROUP.into())]
    {
        let address = SocketAddr::new(ip, PORTS[at]);
        let cause = DropCause::Checksum;
        let reason = FallbackReason::Dropped(cause);
        let expected =
            [PathEvent::RxDropped { address, cause }, PathEvent::RxFallback { address, reason }];
        assert_eq!(lose(&side, &stack, &mut frames, PORTS[at]), expected);
        // The kernel delivers from now on.
        let good = frames.good();
        let good = good.iter().find(|frame| frame.port() == PORTS[at]).unwrap();
        side.send(good);
        let (meta, _) = next(socket).unwrap();
        assert!(meta.via_kernel, "{address}");
    }
    assert!(!unicast.receives_over_xdp());
    assert!(!member.receives_group_over_xdp(GROUP.into()));
    assert_eq!(stack.drop_counters().wrong_checksum, 16);
}

#[test]
#[ignore = "needs root"]
fn damaged_frames_after_the_first_datagram_are_counted_only() {
    let side = Side::new(testbed(1));
    let (ends, host) = (side.ends(), &side.testbed.hosts()[1]);
    let stack = stack(host, Mode::Generic);
    let mut frames = OddFrames::new(SEED, ends, &destinations());
    let mut socket = bind_with(host, &stack, (ends.to, PORTS[1]), &SocketOptions::default());
    let mut deliver = |frames: &mut OddFrames| {
        let good = frames.good();
        side.send(good.iter().find(|frame| frame.port() == PORTS[1]).unwrap());
        let (meta, _) = next(&mut socket).unwrap();
        assert!(!meta.via_kernel);
    };
    deliver(&mut frames);
    let mut sent = 0;
    while sent < 20 {
        let frame = frames.next();
        if frame.class == "payload damaged" && frame.port() == PORTS[1] {
            side.send(&frame);
            sent += 1;
        }
    }
    deliver(&mut frames);
    assert_eq!(stack.drop_counters().wrong_checksum, 20);
    assert_eq!(stack.next_event(), None);
}

#[test]
#[ignore = "needs root"]
fn addresses_of_other_interfaces_and_unrouted_sources_are_dropped() {
    for (setting, value, expected) in [
        ("rp_filter", "0", [false, true]),
        ("rp_filter", "1", [false, false]),
        ("accept_local", "1", [true, true]),
    ] {
        let side = Side::new(testbed(1));
        let (mut ends, host) = (side.ends(), &side.testbed.hosts()[1]);
        let other = Ipv4Addr::new(10, 99, 0, 1);
        host.rtnetlink().unwrap().add_address(1, other.into(), 32).unwrap();
        let path = format!("/proc/sys/net/ipv4/conf/{}/{setting}", host.interface());
        host.run(|| std::fs::write(path, value)).unwrap().unwrap();
        let stack = stack(host, Mode::Generic);
        let mut socket = bind_with(host, &stack, (ends.to, PORTS[1]), &SocketOptions::default());
        for (source, is_accepted) in
            [other, Ipv4Addr::new(203, 0, 113, 9)].into_iter().zip(expected)
        {
            for (from, is_delivered) in [(source, is_accepted), (side.ends().from, true)] {
                ends.from = from;
                let mut frames = OddFrames::new(SEED, ends, &destinations());
                let good = frames.good();
                side.send(good.iter().find(|frame| frame.port() == PORTS[1]).unwrap());
                if is_delivered {
                    let (meta, _) = next(&mut socket).unwrap();
                    assert_eq!(meta.source.ip(), from, "{setting} {value}");
                }
            }
        }
        let counters = stack.drop_counters();
        let dropped = [counters.martian, counters.no_reverse_path];
        let not_accepted = expected.map(|is_accepted| u64::from(!is_accepted));
        assert_eq!(dropped, not_accepted, "{setting} {value}");
    }
}
