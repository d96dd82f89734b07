//! Changes in the kernel during traffic.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket as KernelSocket};

use hairpin_stack::{FallbackReason, PathEvent, Poller, StackSettings, UdpSocket};
use hairpin_testbed::{NudState, Route};

use crate::support::{
    MS, addresses, bind, each_configuration, eventually, is_reported, kernel, next, open, settings,
    stack, testbed, xdp_destination,
};

const PORT: u16 = 5_000;

/// Returns `true` if a datagram arrives over AF_XDP; retries.
fn comes(peer: &KernelSocket, socket: &mut UdpSocket, to: IpAddr) -> bool {
    eventually(|| {
        let _ = peer.send_to(b"there", (to, PORT));
        let mut receives_over_xdp = false;
        let on = |meta: hairpin_stack::Meta, _: &[u8]| receives_over_xdp |= !meta.via_kernel;
        socket.receive(64, on).unwrap();
        receives_over_xdp
    })
}

/// Returns `true` if a datagram leaves over AF_XDP; retries.
fn goes(socket: &mut UdpSocket, peer: &KernelSocket) -> bool {
    let to = peer.local_addr().unwrap();
    peer.set_read_timeout(Some(MS * 20)).unwrap();
    let mut destination = None;
    let is_back = eventually(|| {
        destination = destination.take().or_else(|| socket.destination(to).ok());
        let Some(destination) = &mut destination else { return false };
        let is_sent = socket.transmit_to(destination, 4, |bytes| bytes.copy_from_slice(b"back"));
        is_sent.is_ok() && destination.fallback_reason().is_none() && peer.recv(&mut [0; 8]).is_ok()
    });
    while peer.recv(&mut [0; 8]).is_ok() {}
    peer.set_read_timeout(Some(crate::support::TIMEOUT)).unwrap();
    is_back
}

#[test]
#[ignore = "needs root"]
fn interface_down_and_up_is_reported_and_survived() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let here = addresses(ours)[0];
        let mut socket = bind(ours, &stack, (here, PORT));
        let peer = kernel(theirs, (theirs.address(), 6_000));
        // Each end in turn.
        for host in [ours, theirs] {
            assert!(comes(&peer, &mut socket, here) && goes(&mut socket, &peer), "{mode}");
            let (mut rtnetlink, index) = (host.rtnetlink().unwrap(), host.interface_index());
            rtnetlink.set_down(index).unwrap();
            let down = is_reported(&stack, |event| *event == PathEvent::Down);
            assert!(down, "{mode}: no event that the interface is down");
            // The calls may fail but must neither wait nor panic.
            for _ in 0..3_000 {
                let _ = socket.send_to(b"nowhere", peer.local_addr().unwrap());
                socket.receive(8, |_, _| ()).unwrap();
            }
            assert!(!socket.wait(Some(MS)).unwrap());
            rtnetlink.set_up(index).unwrap();
            assert!(is_reported(&stack, |event| *event == PathEvent::Up), "{mode}");
        }
        assert!(comes(&peer, &mut socket, here) && goes(&mut socket, &peer), "{mode}");
    });
}

/// As after a driver has reset the link for the filter and not restored it.
#[test]
#[ignore = "needs root"]
fn interface_that_is_down_is_reported_when_it_is_opened() {
    each_configuration(|testbed, mode| {
        let [ours, _] = testbed.hosts();
        let (mut rtnetlink, index) = (ours.rtnetlink().unwrap(), ours.interface_index());
        rtnetlink.set_down(index).unwrap();
        let stack = stack(ours, mode);
        assert_eq!(stack.next_event(), Some(PathEvent::Down), "{mode}");
        rtnetlink.set_up(index).unwrap();
        assert!(is_reported(&stack, |event| *event == PathEvent::Up), "{mode}");
    });
}

#[test]
#[ignore = "needs root"]
fn address_changes_update_the_bypass() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
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
            let removed = PathEvent::RxFallback {
                address: special.local_address(),
                reason: FallbackReason::OtherInterface,
            };
            assert!(is_reported(&stack, |event| *event == removed), "{mode}");
            assert!(!special.receives_over_xdp());
            let mut socket = bind(ours, &stack, (any[family], PORT));
            let peer = kernel(theirs, (addresses(theirs)[family], 0));
            assert!(comes(&peer, &mut socket, addresses(ours)[family]));
            rtnetlink.add_address(index, new[family], bits).unwrap();
            assert!(comes(&peer, &mut socket, new[family]), "{mode}, family {family}");
            let address = special.local_address();
            let back = PathEvent::RxRestored { address };
            assert!(is_reported(&stack, |event| *event == back), "{mode}");
            peer.send_to(b"special", address).unwrap();
            assert!(!next(&mut special).unwrap().0.via_kernel);
        }
    });
}

/// The filter entry must be removed with the address; otherwise datagrams reach no socket.
#[test]
#[ignore = "needs root"]
fn address_moved_to_another_interface_falls_back() {
    const LOOPBACK: u32 = 1;
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
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
            // Datagrams that the kernel dropped while it had no such address are sent again.
            assert!(
                eventually(|| {
                    peer.send_to(b"moved", (new, PORT)).unwrap();
                    let mut is_by_kernel = false;
                    let on = |meta: hairpin_stack::Meta, payload: &[u8]| {
                        is_by_kernel |= meta.via_kernel && payload == b"moved";
                    };
                    socket.receive(64, on).unwrap();
                    is_by_kernel
                }),
                "{mode}, family {family}: datagrams are lost"
            );
            rtnetlink.remove_address(LOOPBACK, new, all).unwrap();
        }
    });
}

#[test]
#[ignore = "needs root"]
fn strict_stack_ends_when_an_address_is_removed() {
    let testbed = testbed(1);
    let [ours, _] = testbed.hosts();
    let stack = open(ours, &StackSettings { strict: true, ..settings(crate::support::MODES[0]) });
    let mut socket = bind(ours, &stack, (ours.address(), PORT));
    socket.receive(1, |_, _| ()).unwrap();
    let mut rtnetlink = ours.rtnetlink().unwrap();
    rtnetlink.remove_address(ours.interface_index(), ours.address().into(), 24).unwrap();
    let mut error = None;
    assert!(eventually(|| {
        error = socket.receive(1, |_, _| ()).err();
        error.is_some()
    }));
    // The error is returned by every further call.
    for error in [error.unwrap(), socket.receive(1, |_, _| ()).unwrap_err()] {
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.to_string().contains("10.77.0.1:5000"), "{error}");
    }
}

#[test]
#[ignore = "needs root"]
fn route_changes_are_followed() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
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
        let mut destination = xdp_destination(&socket, peer.local_addr().unwrap());
        assert!(goes(&mut socket, &peer), "{mode}");
        rtnetlink.remove_route(&route).unwrap();
        let mut send = || socket.transmit_to(&mut destination, 0, |_| ());
        assert!(eventually(|| send().is_err()), "{mode}");
        // The destination stays unreachable.
        for _ in 0..10 {
            assert_eq!(send().unwrap_err().kind(), ErrorKind::NetworkUnreachable, "{mode}");
        }
        // A path with a smaller MTU accepts shorter packets.
        rtnetlink.add_route(&Route { mtu: Some(600), ..route }).unwrap();
        assert!(eventually(|| xdp_destination(&socket, peer.local_addr().unwrap()).limit() == 572));
    });
}

#[test]
#[ignore = "needs root"]
fn next_hop_address_changes_are_followed() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
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
        // The local Ethernet address changes too.
        let own = [2, 0x77, 0, 0, 0, 8];
        rtnetlink.set_mac(index, own).unwrap();
        assert!(is_reported(&stack, |event| *event == PathEvent::MacAddress(own)));
        assert_eq!(stack.mac(), own);
        let mut there = theirs.rtnetlink().unwrap();
        let here = IpAddr::from(ours.address());
        there.set_neighbor(theirs.interface_index(), here, own, NudState::Permanent).unwrap();
        assert!(comes(&peer, &mut socket, here) && goes(&mut socket, &peer), "{mode}");
    });
}

#[test]
#[ignore = "needs root"]
fn first_datagram_to_an_unresolved_next_hop_arrives() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let mut via_kernel = 0;
        for round in 0..10_u8 {
            for family in 0..2 {
                let (here, there) = (addresses(ours)[family], addresses(theirs)[family]);
                let _ = ours.rtnetlink().unwrap().remove_neighbor(ours.interface_index(), there);
                let mut socket = bind(ours, &stack, (here, PORT));
                let peer = kernel(theirs, (there, 6_000));
                let mut to = socket.destination(peer.local_addr().unwrap()).unwrap();
                via_kernel += u32::from(to.fallback_reason() == Some(FallbackReason::NoNeighbor));
                socket.transmit_to(&mut to, 1, |payload| payload[0] = round).unwrap();
                let mut received = [0; 8];
                assert_eq!(peer.recv(&mut received).unwrap(), 1);
                assert_eq!(received[0], round, "{mode}");
                xdp_destination(&socket, peer.local_addr().unwrap());
            }
        }
        assert!(via_kernel > 10, "{via_kernel}");
    });
}

#[test]
#[ignore = "needs root"]
fn removed_interface_ends_all_waits_with_an_error() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let mut socket = bind(ours, &stack, (Ipv4Addr::UNSPECIFIED, PORT));
        let mut raw = stack.raw_frames(0x88b5).unwrap();
        let mut other = bind(ours, &stack, (ours.address(), PORT + 1));
        let polled = bind(ours, &stack, (ours.address(), PORT + 2));
        let mut poller = Poller::new().unwrap();
        poller.add(&polled, 0).unwrap();
        let there = SocketAddr::new(theirs.address().into(), 6_000);
        let _ = xdp_destination(&other, there);
        let is_removed = |error: std::io::Error| {
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
            testbed.disconnect().unwrap();
            is_removed(waits.join().unwrap());
            is_removed(raw_waits.join().unwrap());
            is_removed(polls.join().unwrap());
        });
        assert!(is_reported(&stack, |event| *event == PathEvent::Removed));
        is_removed(other.receive(8, |_, _| ()).unwrap_err());
        assert!(eventually(|| other.send_to(b"nowhere", there).is_err()));
        is_removed(other.destination(there).unwrap_err());
    });
}
