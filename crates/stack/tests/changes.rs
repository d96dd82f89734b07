//! What changes in the kernel while datagrams come and go. As root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

mod hosts;

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket as KernelSocket};

use hairpin_stack::{FallbackReason, PathEvent, Poller, StackSettings, UdpSocket};
use hairpin_testbed::{NudState, Route};

use hosts::{
    MS, addresses, bed, bind, direct, each_way, eventually, is_said, kernel, next, open, settings,
    stack,
};

const PORT: u16 = 5_000;

/// Whether a datagram comes past the kernel, tried again until it does.
fn comes(peer: &KernelSocket, socket: &mut UdpSocket, to: IpAddr) -> bool {
    eventually(|| {
        let _ = peer.send_to(b"there", (to, PORT));
        let mut is_direct = false;
        let on = |meta: hairpin_stack::Meta, _: &[u8]| is_direct |= !meta.by_kernel;
        socket.receive(64, on).unwrap();
        is_direct
    })
}

/// Whether a datagram goes past the kernel, tried again until it does.
fn goes(socket: &mut UdpSocket, peer: &KernelSocket) -> bool {
    let to = peer.local_addr().unwrap();
    peer.set_read_timeout(Some(MS * 20)).unwrap();
    let mut destination = None;
    let is_back = eventually(|| {
        destination = destination.take().or_else(|| socket.destination(to).ok());
        let Some(destination) = &mut destination else { return false };
        let is_sent = socket.transmit_to(destination, 4, |bytes| bytes.copy_from_slice(b"back"));
        is_sent.is_ok() && destination.by_kernel().is_none() && peer.recv(&mut [0; 8]).is_ok()
    });
    while peer.recv(&mut [0; 8]).is_ok() {}
    peer.set_read_timeout(Some(hosts::PATIENCE)).unwrap();
    is_back
}

#[test]
#[ignore = "needs root"]
fn an_interface_that_goes_down_and_up_is_told_and_goes_on() {
    each_way(|bed, mode| {
        let [ours, theirs] = bed.hosts();
        let stack = stack(ours, mode);
        let here = addresses(ours)[0];
        let mut socket = bind(ours, &stack, (here, PORT));
        let peer = kernel(theirs, (theirs.address(), 6_000));
        // Each end in its turn.
        for host in [ours, theirs] {
            assert!(comes(&peer, &mut socket, here) && goes(&mut socket, &peer), "{mode}");
            let (mut rtnetlink, index) = (host.rtnetlink().unwrap(), host.interface_index());
            rtnetlink.set_down(index).unwrap();
            let down = is_said(&stack, |notice| *notice == PathEvent::Down);
            assert!(down, "{mode}: nobody says that it is down");
            // Whatever this says, it neither waits nor panics.
            for _ in 0..3_000 {
                let _ = socket.send_to(b"nowhere", peer.local_addr().unwrap());
                socket.receive(8, |_, _| ()).unwrap();
            }
            assert!(!socket.wait(Some(MS)).unwrap());
            rtnetlink.set_up(index).unwrap();
            assert!(is_said(&stack, |notice| *notice == PathEvent::Up), "{mode}");
        }
        assert!(comes(&peer, &mut socket, here) && goes(&mut socket, &peer), "{mode}");
    });
}

#[test]
#[ignore = "needs root"]
fn an_address_that_comes_or_goes_changes_what_comes_past_the_kernel() {
    each_way(|bed, mode| {
        let [ours, theirs] = bed.hosts();
        let new = [IpAddr::from([10, 77, 0, 9]), "fd77::9".parse().unwrap()];
        let any = [IpAddr::from([0, 0, 0, 0]), "::".parse().unwrap()];
        let (mut rtnetlink, index) = (ours.rtnetlink().unwrap(), ours.interface_index());
        for family in 0..2 {
            let stack = stack(ours, mode);
            let bits = [24, 64][family];
            rtnetlink.add_address(index, new[family], bits).unwrap();
            let mut special = {
                assert!(eventually(|| stack.has_address(new[family])));
                bind(ours, &stack, (new[family], PORT + 1))
            };
            rtnetlink.remove_address(index, new[family], bits).unwrap();
            let gone = PathEvent::RxFallback {
                address: special.local_address(),
                reason: FallbackReason::OtherInterface,
            };
            assert!(is_said(&stack, |notice| *notice == gone), "{mode}");
            assert!(!special.is_direct());
            let mut socket = bind(ours, &stack, (any[family], PORT));
            let peer = kernel(theirs, (addresses(theirs)[family], 0));
            assert!(comes(&peer, &mut socket, addresses(ours)[family]));
            rtnetlink.add_address(index, new[family], bits).unwrap();
            assert!(comes(&peer, &mut socket, new[family]), "{mode}, family {family}");
            let address = special.local_address();
            let back = PathEvent::RxRestored { address };
            assert!(is_said(&stack, |notice| *notice == back), "{mode}");
            peer.send_to(b"special", address).unwrap();
            assert!(!next(&mut special).unwrap().0.by_kernel);
        }
    });
}

/// The filter's entry goes with the address, or what comes would be for nobody.
#[test]
#[ignore = "needs root"]
fn an_address_that_goes_to_another_interface_comes_by_the_kernel() {
    const LOOPBACK: u32 = 1;
    each_way(|bed, mode| {
        let [ours, theirs] = bed.hosts();
        let (mut rtnetlink, index) = (ours.rtnetlink().unwrap(), ours.interface_index());
        let (mut there, mac) = (theirs.rtnetlink().unwrap(), rtnetlink.link("veth0").unwrap().mac);
        let new = [IpAddr::from([10, 77, 0, 9]), "fd77::9".parse().unwrap()];
        for (family, (new, [net, all])) in new.into_iter().zip([[24, 32], [64, 128]]).enumerate() {
            let stack = stack(ours, mode);
            rtnetlink.add_address(index, new, net).unwrap();
            assert!(eventually(|| stack.has_address(new)));
            let mut socket = bind(ours, &stack, (new, PORT));
            let peer = kernel(theirs, (addresses(theirs)[family], 0));
            there.set_neighbor(theirs.interface_index(), new, mac, NudState::Permanent).unwrap();
            assert!(comes(&peer, &mut socket, new), "{mode}");
            while socket.receive(64, |_, _| ()).unwrap().count > 0 {}
            rtnetlink.remove_address(index, new, net).unwrap();
            assert!(eventually(|| !stack.has_address(new)));
            rtnetlink.add_address(LOOPBACK, new, all).unwrap();
            // Such as the kernel has dropped, while it had no such address, are sent again.
            assert!(
                eventually(|| {
                    peer.send_to(b"moved", (new, PORT)).unwrap();
                    let mut is_by_kernel = false;
                    let on = |meta: hairpin_stack::Meta, payload: &[u8]| {
                        is_by_kernel |= meta.by_kernel && payload == b"moved";
                    };
                    socket.receive(64, on).unwrap();
                    is_by_kernel
                }),
                "{mode}, family {family}: what comes is lost"
            );
            rtnetlink.remove_address(LOOPBACK, new, all).unwrap();
        }
    });
}

#[test]
#[ignore = "needs root"]
fn a_strict_stack_ends_when_an_address_goes() {
    let bed = bed(1);
    let [ours, _] = bed.hosts();
    let stack = open(ours, &StackSettings { strict: true, ..settings(hosts::MODES[0]) });
    let mut socket = bind(ours, &stack, (ours.address(), PORT));
    socket.receive(1, |_, _| ()).unwrap();
    let mut rtnetlink = ours.rtnetlink().unwrap();
    rtnetlink.remove_address(ours.interface_index(), ours.address().into(), 24).unwrap();
    let mut error = None;
    assert!(eventually(|| {
        error = socket.receive(1, |_, _| ()).err();
        error.is_some()
    }));
    // And says so as often as it is asked.
    for error in [error.unwrap(), socket.receive(1, |_, _| ()).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("10.77.0.1:5000"), "{error}");
    }
}

#[test]
#[ignore = "needs root"]
fn a_route_that_comes_and_goes_is_followed() {
    each_way(|bed, mode| {
        let [ours, theirs] = bed.hosts();
        let far = IpAddr::from([10, 88, 0, 1]);
        let mut there = theirs.rtnetlink().unwrap();
        there.add_address(theirs.interface_index(), far, 24).unwrap();
        let stack = stack(ours, mode);
        let mut socket = bind(ours, &stack, (ours.address(), PORT));
        let peer = kernel(theirs, (far, 6_000));
        let route = Route {
            gateway: Some(theirs.address().into()),
            interface: Some(ours.interface_index()),
            ..Route::to(IpAddr::from([10, 88, 0, 0]), 24)
        };
        let mut rtnetlink = ours.rtnetlink().unwrap();
        let error = socket.send_to(b"nowhere", peer.local_addr().unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NetworkUnreachable);
        rtnetlink.add_route(&route).unwrap();
        let mut destination = direct(&socket, peer.local_addr().unwrap());
        assert!(goes(&mut socket, &peer), "{mode}");
        rtnetlink.remove_route(&route).unwrap();
        let mut send = || socket.transmit_to(&mut destination, 0, |_| ());
        assert!(eventually(|| send().is_err()), "{mode}");
        // It stays unreachable, however often it is tried.
        for _ in 0..10 {
            assert_eq!(send().unwrap_err().kind(), ErrorKind::NetworkUnreachable, "{mode}");
        }
        // A narrower path takes shorter packets.
        rtnetlink.add_route(&Route { mtu: Some(600), ..route }).unwrap();
        assert!(eventually(|| direct(&socket, peer.local_addr().unwrap()).limit() == 572));
    });
}

#[test]
#[ignore = "needs root"]
fn a_next_hop_with_another_ethernet_address_is_followed() {
    each_way(|bed, mode| {
        let [ours, theirs] = bed.hosts();
        let stack = stack(ours, mode);
        let mut socket = bind(ours, &stack, (ours.address(), PORT));
        let peer = kernel(theirs, (theirs.address(), 6_000));
        assert!(goes(&mut socket, &peer));
        let mac = [2, 0x77, 0, 0, 0, 9];
        theirs.rtnetlink().unwrap().set_mac(theirs.interface_index(), mac).unwrap();
        let (mut rtnetlink, index) = (ours.rtnetlink().unwrap(), ours.interface_index());
        let hop = IpAddr::from(theirs.address());
        rtnetlink.set_neighbor(index, hop, mac, NudState::Reachable).unwrap();
        assert!(goes(&mut socket, &peer), "{mode}");
        // And our own.
        let own = [2, 0x77, 0, 0, 0, 8];
        rtnetlink.set_mac(index, own).unwrap();
        assert!(is_said(&stack, |notice| *notice == PathEvent::MacAddress(own)));
        assert_eq!(stack.mac(), own);
        let mut there = theirs.rtnetlink().unwrap();
        let here = IpAddr::from(ours.address());
        there.set_neighbor(theirs.interface_index(), here, own, NudState::Permanent).unwrap();
        assert!(comes(&peer, &mut socket, here) && goes(&mut socket, &peer), "{mode}");
    });
}

#[test]
#[ignore = "needs root"]
fn the_first_datagram_to_a_next_hop_that_nobody_knows_arrives() {
    each_way(|bed, mode| {
        let [ours, theirs] = bed.hosts();
        let stack = stack(ours, mode);
        let mut by_kernel = 0;
        for round in 0..10_u8 {
            for family in 0..2 {
                let (here, there) = (addresses(ours)[family], addresses(theirs)[family]);
                let _ = ours.rtnetlink().unwrap().remove_neighbor(ours.interface_index(), there);
                let mut socket = bind(ours, &stack, (here, PORT));
                let peer = kernel(theirs, (there, 6_000));
                let mut to = socket.destination(peer.local_addr().unwrap()).unwrap();
                by_kernel += u32::from(to.by_kernel() == Some(FallbackReason::NoNeighbour));
                socket.transmit_to(&mut to, 1, |payload| payload[0] = round).unwrap();
                let mut came = [0; 8];
                assert_eq!(peer.recv(&mut came).unwrap(), 1);
                assert_eq!(came[0], round, "{mode}");
                direct(&socket, peer.local_addr().unwrap());
            }
        }
        assert!(by_kernel > 10, "{by_kernel}");
    });
}

#[test]
#[ignore = "needs root"]
fn an_interface_that_is_gone_ends_all_waits_with_an_error() {
    each_way(|bed, mode| {
        let [ours, theirs] = bed.hosts();
        let stack = stack(ours, mode);
        let mut socket = bind(ours, &stack, (Ipv4Addr::UNSPECIFIED, PORT));
        let mut raw = stack.raw_frames(0x88b5).unwrap();
        let mut other = bind(ours, &stack, (ours.address(), PORT + 1));
        let polled = bind(ours, &stack, (ours.address(), PORT + 2));
        let mut poller = Poller::new().unwrap();
        poller.add(&polled, 0).unwrap();
        let there = SocketAddr::new(theirs.address().into(), 6_000);
        let _ = direct(&other, there);
        let is_gone = |error: std::io::Error| {
            assert_eq!(error.raw_os_error(), Some(libc::ENODEV), "{mode}: {error}");
        };
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| {
                loop {
                    if let Err(error) = socket.wait(None) {
                        return error;
                    }
                    if let Err(error) = socket.receive(8, |_, _| ()) {
                        return error;
                    }
                }
            });
            let raw_waits = scope.spawn(|| {
                loop {
                    if let Err(error) = raw.wait(None) {
                        return error;
                    }
                }
            });
            let polls = scope.spawn(|| {
                loop {
                    if let Err(error) = poller.wait(None) {
                        return error;
                    }
                }
            });
            std::thread::sleep(MS * 20);
            bed.disconnect().unwrap();
            is_gone(waits.join().unwrap());
            is_gone(raw_waits.join().unwrap());
            is_gone(polls.join().unwrap());
        });
        assert!(is_said(&stack, |notice| *notice == PathEvent::Gone));
        is_gone(other.receive(8, |_, _| ()).unwrap_err());
        assert!(eventually(|| other.send_to(b"nowhere", there).is_err()));
        is_gone(other.destination(there).unwrap_err());
    });
}
