//! Groups whose members join and leave during traffic.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hairpin_stack::{FallbackReason, Meta, Mode, PathEvent, Stack, UdpSocket};
use hairpin_testbed::{Host, Testbed};
use hairpin_testkit::Random;
use socket2::{Domain, Socket, Type};

use crate::support::{
    MS, addresses, bind_with, each_configuration, eventually, is_reported, kernel, shared_options,
    stack, testbed,
};

const PORT: u16 = 7_000;
const GROUPS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(239, 1, 1, 1)),
    IpAddr::V6(Ipv6Addr::new(0xff15, 0, 0, 0, 0, 0, 0, 0x1111)),
];
const ANY: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];

/// A kernel socket that may be a member.
struct KernelMember {
    socket: Socket,
    interface: u32,
}

impl KernelMember {
    fn bind(host: &Host, family: usize, port: u16) -> Self {
        let domain = if family == 0 { Domain::IPV4 } else { Domain::IPV6 };
        let socket = host.run(|| Socket::new(domain, Type::DGRAM, None)).unwrap().unwrap();
        socket.set_reuse_address(true).unwrap();
        if family == 0 {
            socket.set_multicast_all_v4(false).unwrap();
        }
        socket.bind(&SocketAddr::new(ANY[family], port).into()).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self { socket, interface: host.interface_index() }
    }

    fn set_member(&self, group: IpAddr, is_member: bool) {
        let interface = socket2::InterfaceIndexOrAddress::Index(self.interface);
        match (group, is_member) {
            (IpAddr::V4(group), true) => self.socket.join_multicast_v4_n(&group, &interface),
            (IpAddr::V4(group), false) => self.socket.leave_multicast_v4_n(&group, &interface),
            (IpAddr::V6(group), true) => self.socket.join_multicast_v6(&group, self.interface),
            (IpAddr::V6(group), false) => self.socket.leave_multicast_v6(&group, self.interface),
        }
        .unwrap();
    }

    fn next(&self) -> Option<u32> {
        let mut bytes = [0; 4];
        let length = std::io::Read::read(&mut &self.socket, &mut bytes).ok()?;
        (length == 4).then(|| u32::from_be_bytes(bytes))
    }
}

/// A socket of the stack that may be a member, and what it received.
struct Member {
    socket: UdpSocket,
    is_member: bool,
    /// Numbers sent while it was a member and not received yet.
    pending: Vec<u32>,
    over_xdp: u32,
    via_kernel: u32,
}

impl Member {
    fn bind(host: &Host, stack: &Stack, family: usize) -> Self {
        let socket = bind_with(host, stack, (ANY[family], PORT), &shared_options());
        Self { socket, is_member: false, pending: Vec::new(), over_xdp: 0, via_kernel: 0 }
    }

    fn set_member(&mut self, host: &Host, group: IpAddr, is_member: bool) {
        let socket = &mut self.socket;
        host.run(|| if is_member { socket.join(group, &[]) } else { socket.leave(group) })
            .unwrap()
            .unwrap();
        self.is_member = is_member;
    }

    fn receive(&mut self) {
        let Self { socket, pending, over_xdp, via_kernel, .. } = self;
        let on = |meta: Meta, payload: &[u8]| {
            let number = u32::from_be_bytes(*payload.first_chunk().unwrap());
            let at = pending.iter().position(|&pending| pending == number);
            pending.swap_remove(
                at.unwrap_or_else(|| panic!("{number} arrived twice or without membership")),
            );
            let count = if meta.via_kernel { &mut *via_kernel } else { &mut *over_xdp };
            *count += 1;
        };
        socket.receive(64, on).unwrap();
    }
}

fn sender(host: &Host, family: usize) -> std::net::UdpSocket {
    let socket = kernel(host, (addresses(host)[family], 0));
    if family == 1 {
        socket2::SockRef::from(&socket).set_multicast_if_v6(host.interface_index()).unwrap();
    }
    socket
}

/// Three sockets of the stack and one of the kernel join and leave at random.
fn change_memberships(testbed: &Testbed, mode: Mode, family: usize) {
    const STEPS: usize = 250;
    let [ours, theirs] = testbed.hosts();
    let (stack, group) = (stack(ours, mode), GROUPS[family]);
    let mut members = [(); 3].map(|()| Member::bind(ours, &stack, family));
    let (mut plain, mut plain_received) = (None, 0);
    let sender = sender(theirs, family);
    let mut random = Random::new(7 + family as u64);
    let mut number = 0;
    for step in 0..STEPS {
        // The stack checks for listeners once a second, so the kernel socket changes rarely.
        match random.below(if plain.is_some() { 20 } else { 60 }) as usize {
            0 if plain.is_some() => plain = None,
            0 => {
                let member = KernelMember::bind(ours, family, PORT);
                member.set_member(group, true);
                plain = Some(member);
            }
            chance => {
                let who = chance % 3;
                let is_member = !members[who].is_member;
                members[who].set_member(ours, group, is_member);
            }
        }
        for _ in 0..random.below(40) {
            for member in members.iter_mut().filter(|member| member.is_member) {
                member.pending.push(number);
            }
            sender.send_to(&u32::to_be_bytes(number), (group, PORT)).unwrap();
            number += 1;
        }
        // Long enough, at times, for a poll of the members.
        std::thread::sleep(MS * random.below(30) as u32);
        let all = eventually(|| {
            members.iter_mut().for_each(Member::receive);
            members.iter().all(|member| member.pending.is_empty())
        });
        let missing: Vec<_> = members.iter().map(|member| member.pending.len()).collect();
        assert!(all, "{mode}, family {family}, step {step}: {missing:?} are lost");
        plain_received += plain.iter().flat_map(|p| std::iter::from_fn(|| p.next())).count();
    }
    let over_xdp: u32 = members.iter().map(|member| member.over_xdp).sum();
    let via_kernel: u32 = members.iter().map(|member| member.via_kernel).sum();
    println!(
        "{mode}, family {family}: {over_xdp} over AF_XDP, {via_kernel} through the kernel, \
         {plain_received}"
    );
    assert!(over_xdp > 200 && via_kernel > 200 && plain_received > 100);
}

#[test]
#[ignore = "needs root"]
fn membership_changes_lose_and_duplicate_nothing() {
    each_configuration(|testbed, mode| change_memberships(testbed, mode, 0));
}

#[test]
#[ignore = "needs root"]
fn ipv6_membership_changes_lose_and_duplicate_nothing() {
    each_configuration(|testbed, mode| change_memberships(testbed, mode, 1));
}

fn numbers(socket: &mut UdpSocket) -> Vec<u8> {
    let mut numbers = Vec::new();
    socket.receive(64, |_, payload| numbers.push(payload[0])).unwrap();
    numbers
}

#[test]
#[ignore = "needs root"]
fn groups_on_one_port_are_separate() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        let groups = [1, 2].map(|last| IpAddr::from([239, 1, 1, last]));
        let mut members = groups.map(|group| {
            let mut member = Member::bind(ours, &stack, 0);
            member.set_member(ours, group, true);
            assert!(member.socket.receives_group_over_xdp(group));
            member.socket
        });
        let sender = sender(theirs, 0);
        for number in 0..50 {
            for (group, at) in groups.into_iter().zip([0, 100]) {
                sender.send_to(&[at + number], (group, PORT)).unwrap();
            }
        }
        for (member, at) in members.iter_mut().zip([0, 100]) {
            let mut received = Vec::new();
            eventually(|| {
                received.extend(numbers(member));
                received.len() >= 50
            });
            assert_eq!(received, (at..at + 50).collect::<Vec<u8>>(), "{mode}");
        }
        assert!(members.iter_mut().all(|member| numbers(member).is_empty()));
    });
}

#[test]
#[ignore = "needs root"]
fn members_receive_from_allowed_sources_only() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let (stack, group) = (stack(ours, mode), GROUPS[0]);
        let other = IpAddr::from([10, 77, 0, 3]);
        let mut rtnetlink = theirs.rtnetlink().unwrap();
        rtnetlink.add_address(theirs.interface_index(), other, 24).unwrap();
        let senders = [theirs.address().into(), other].map(|from| kernel(theirs, (from, 0)));
        for sender in &senders {
            let interface = socket2::SockRef::from(sender);
            interface.set_multicast_if_v4(&theirs.address()).unwrap();
        }
        let mut socket = bind_with(ours, &stack, (ANY[0], PORT), &shared_options());
        ours.run(|| socket.join(group, &[other])).unwrap().unwrap();
        assert!(socket.receives_group_over_xdp(group));
        for number in 0..40 {
            for (sender, at) in senders.iter().zip([0, 100]) {
                sender.send_to(&[at + number], (group, PORT)).unwrap();
            }
        }
        let mut received = Vec::new();
        eventually(|| {
            received.extend(numbers(&mut socket));
            received.len() >= 40
        });
        assert_eq!(received, (100..140).collect::<Vec<u8>>(), "{mode}");
        assert!(numbers(&mut socket).is_empty());
    });
}

/// The other member listens at another port, so only its membership shows it.
#[test]
#[ignore = "needs root"]
fn group_falls_back_while_a_foreign_member_exists() {
    each_configuration(|testbed, mode| {
        let [ours, _] = testbed.hosts();
        let stack = stack(ours, mode);
        for (family, group) in GROUPS.into_iter().enumerate() {
            let address = SocketAddr::new(group, PORT);
            let mut member = Member::bind(ours, &stack, family);
            member.set_member(ours, group, true);
            assert!(member.socket.receives_group_over_xdp(group));
            let other = KernelMember::bind(ours, family, PORT + 1);
            other.set_member(group, true);
            let reason = FallbackReason::OtherMembers;
            let via_kernel = PathEvent::RxFallback { address, reason };
            assert!(is_reported(&stack, |event| *event == via_kernel), "{mode}, {group}");
            assert!(!member.socket.receives_group_over_xdp(group));
            drop(other);
            let directly = PathEvent::RxRestored { address };
            assert!(is_reported(&stack, |event| *event == directly), "{mode}, {group}");
            assert!(member.socket.receives_group_over_xdp(group));
        }
    });
}

#[test]
#[ignore = "needs root"]
fn group_passes_to_the_kernel_after_the_last_leave() {
    each_configuration(|testbed, mode| {
        let [ours, theirs] = testbed.hosts();
        let stack = stack(ours, mode);
        for (family, group) in GROUPS.into_iter().enumerate() {
            for is_closed in [false, true] {
                let mut member = Member::bind(ours, &stack, family);
                member.set_member(ours, group, true);
                assert!(member.socket.receives_group_over_xdp(group));
                // The stack has no member from here on and does not poll.
                let member = if is_closed {
                    drop(member);
                    None
                } else {
                    member.set_member(ours, group, false);
                    Some(member)
                };
                let plain = KernelMember::bind(ours, family, PORT);
                plain.set_member(group, true);
                sender(theirs, family).send_to(&u32::to_be_bytes(7), (group, PORT)).unwrap();
                let mut heard = None;
                eventually(|| {
                    heard = plain.next();
                    heard.is_some()
                });
                assert_eq!(heard, Some(7), "{mode}, {group}, {}", member.is_none());
            }
        }
    });
}

#[test]
#[ignore = "needs root"]
fn sent_multicast_reaches_local_and_remote_members() {
    for mode in crate::support::MODES {
        for (family, group) in GROUPS.into_iter().enumerate() {
            let testbed = testbed(1);
            let [ours, theirs] = testbed.hosts();
            let stack = stack(ours, mode);
            let mut socket = crate::support::bind(ours, &stack, (addresses(ours)[family], 7_001));
            let to = SocketAddr::new(group, PORT);
            let (far, near) =
                (KernelMember::bind(theirs, family, PORT), KernelMember::bind(ours, family, PORT));
            far.set_member(group, true);
            let expect_number = |plain: &KernelMember, number: u32| {
                let mut received = None;
                eventually(|| {
                    received = plain.next();
                    received.is_some()
                });
                assert_eq!(received, Some(number), "{mode}, family {family}");
            };
            let mut destination = ours.run(|| socket.destination(to)).unwrap().unwrap();
            assert_eq!(destination.fallback_reason(), None);
            let mut number = 0_u32;
            for (turn, is_member) in [false, true, false, true].into_iter().enumerate() {
                if turn > 0 {
                    near.set_member(group, is_member);
                }
                let reason = is_member.then_some(FallbackReason::LocalMembers);
                // Until the poll notices a member, or its absence.
                assert!(eventually(|| {
                    number += 1;
                    let bytes = number.to_be_bytes();
                    let fill = |payload: &mut [u8]| payload.copy_from_slice(&bytes);
                    ours.run(|| socket.transmit_to(&mut destination, 4, fill)).unwrap().unwrap();
                    expect_number(&far, number);
                    destination.fallback_reason() == reason
                }));
                if is_member {
                    eventually(|| near.next() == Some(number));
                    number += 1;
                    let bytes = number.to_be_bytes();
                    let fill = |payload: &mut [u8]| payload.copy_from_slice(&bytes);
                    ours.run(|| socket.transmit_to(&mut destination, 4, fill)).unwrap().unwrap();
                    expect_number(&near, number);
                    expect_number(&far, number);
                }
            }
        }
    }
}

#[test]
#[ignore = "needs root"]
fn strict_stack_rejects_a_group_with_foreign_members() {
    let testbed = testbed(1);
    let [ours, theirs] = testbed.hosts();
    let mut settings = crate::support::settings(Mode::Generic);
    settings.strict = true;
    let stack = crate::support::open(ours, &settings);
    let plain = KernelMember::bind(ours, 0, PORT + 1);
    plain.set_member(GROUPS[0], true);
    let mut socket = bind_with(ours, &stack, (ANY[0], PORT), &shared_options());
    let refused = ours.run(|| socket.join(GROUPS[0], &[])).unwrap().unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::Unsupported, "{refused}");
    let other = IpAddr::from([239, 1, 1, 2]);
    ours.run(|| socket.join(other, &[])).unwrap().unwrap();
    let sender = sender(theirs, 0);
    sender.send_to(b"hello", (other, PORT)).unwrap();
    assert_eq!(crate::support::next(&mut socket).unwrap().1, b"hello");
    // A later foreign member ends the stack.
    plain.set_member(other, true);
    let mut error = None;
    assert!(eventually(|| {
        error = socket.receive(8, |_, _| ()).err();
        error.is_some()
    }));
    assert!(error.unwrap().to_string().contains("239.1.1.2"));
}
