//! An ordinary user with only the required capabilities.

use std::net::{IpAddr, Ipv4Addr};

use hairpin_stack::{Poller, SocketOptions, Stack};
use hairpin_testbed::{Capability, become_ordinary_user};

use crate::support::{MODES, kernel, next, settings, testbed, xdp_destination};

const NEEDED: [Capability; 3] = [Capability::NetAdmin, Capability::NetRaw, Capability::Bpf];

#[test]
#[ignore = "needs root"]
fn three_capabilities_are_sufficient() {
    for mode in MODES {
        let testbed = testbed(2);
        let [ours, theirs] = testbed.hosts();
        let peer = kernel(theirs, (theirs.address(), 6_000));
        let group = IpAddr::from([239, 1, 1, 1]);
        let work = || {
            become_ordinary_user(&NEEDED).unwrap();
            let stack = Stack::open(ours.interface(), &settings(mode)).unwrap();
            let any = (Ipv4Addr::UNSPECIFIED, 5_000).into();
            let mut socket = stack.bind(any, &SocketOptions::default()).unwrap();
            socket.join(group, &[]).unwrap();
            assert!(socket.receives_over_xdp() && socket.receives_group_over_xdp(group));
            let mut to = xdp_destination(&socket, peer.local_addr().unwrap());
            socket.transmit_to(&mut to, 5, |payload| payload.copy_from_slice(b"there")).unwrap();
            let (_, from) = peer.recv_from(&mut [0; 8]).unwrap();
            let mut poller = Poller::new().unwrap();
            poller.add(&socket, 0).unwrap();
            for to in [from.ip(), group] {
                peer.send_to(b"back", (to, 5_000)).unwrap();
                let (meta, _) = next(&mut socket).unwrap();
                assert!(!meta.via_kernel && meta.destination == Some(to));
            }
            let mut raw = stack.raw_frames(0x88b5).unwrap();
            let mut packet = raw.frame(60).unwrap();
            raw.bytes_mut(&mut packet).fill(0xb5);
            assert!(raw.transmit(packet).unwrap().is_ok());
            socket.leave(group).unwrap();
        };
        ours.run(work).unwrap();
    }
}

#[test]
#[ignore = "needs root"]
fn missing_capability_is_named() {
    let testbed = testbed(1);
    let [ours, _] = testbed.hosts();
    let names = ["CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_BPF"];
    for (without, name) in names.into_iter().enumerate() {
        let mut has = NEEDED.to_vec();
        has.remove(without);
        let open = || {
            become_ordinary_user(&has).unwrap();
            Stack::open(ours.interface(), &settings(MODES[0])).map(drop)
        };
        let error = ours.run(open).unwrap().unwrap_err().to_string();
        for other in names {
            assert_eq!(error.contains(other), other == name, "without {name}: {error}");
        }
    }
}
