//! Groups whose members come and go while somebody sends. As root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

mod hosts;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use hairpin_stack::{FallbackReason, Meta, Mode, PathEvent, Stack, UdpSocket};
use hairpin_testbed::{Host, Testbed};
use socket2::{Domain, Socket, Type};

use hosts::{
    MS, Random, addresses, bed, bind_with, each_way, eventually, is_said, kernel, shared, stack,
};

const PORT: u16 = 7_000;
const GROUPS: [IpAddr; 2] = [
    IpAddr::V4(Ipv4Addr::new(239, 1, 1, 1)),
    IpAddr::V6(Ipv6Addr::new(0xff15, 0, 0, 0, 0, 0, 0, 0x1111)),
];
const ANY: [IpAddr; 2] = [IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V6(Ipv6Addr::UNSPECIFIED)];

/// A member of the kernel's, if it wants to be one.
struct Plain {
    socket: Socket,
    interface: u32,
}

impl Plain {
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

/// A member past the kernel, if it wants to be one, and what it has heard.
struct Member {
    socket: UdpSocket,
    is_member: bool,
    /// Numbers sent while it was a member and not heard yet.
    awaited: Vec<u32>,
    direct: u32,
    by_kernel: u32,
}

impl Member {
    fn bind(host: &Host, stack: &Stack, family: usize) -> Self {
        let socket = bind_with(host, stack, (ANY[family], PORT), &shared());
        Self { socket, is_member: false, awaited: Vec::new(), direct: 0, by_kernel: 0 }
    }

    fn set_member(&mut self, host: &Host, group: IpAddr, is_member: bool) {
        let socket = &mut self.socket;
        host.run(|| if is_member { socket.join(group, &[]) } else { socket.leave(group) })
            .unwrap()
            .unwrap();
        self.is_member = is_member;
    }

    fn hear(&mut self) {
        let Self { socket, awaited, direct, by_kernel, .. } = self;
        let on = |meta: Meta, payload: &[u8]| {
            let number = u32::from_be_bytes(*payload.first_chunk().unwrap());
            let at = awaited.iter().position(|&awaited| awaited == number);
            awaited.swap_remove(at.unwrap_or_else(|| panic!("{number} twice, or of no member")));
            let count = if meta.by_kernel { &mut *by_kernel } else { &mut *direct };
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

/// Three past the kernel and one of the kernel's come and go at random.
fn come_and_go(bed: &Testbed, mode: Mode, family: usize) {
    const STEPS: usize = 250;
    let [ours, theirs] = bed.hosts();
    let (stack, group) = (stack(ours, mode), GROUPS[family]);
    let mut members = [(); 3].map(|()| Member::bind(ours, &stack, family));
    let (mut plain, mut plain_heard) = (None, 0);
    let sender = sender(theirs, family);
    let mut random = Random(7 + family as u64);
    let mut number = 0;
    for step in 0..STEPS {
        // The stack looks for such as hear a group once a second, so they come seldom.
        match random.below(if plain.is_some() { 20 } else { 60 }) as usize {
            0 if plain.is_some() => plain = None,
            0 => {
                let member = Plain::bind(ours, family, PORT);
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
                member.awaited.push(number);
            }
            sender.send_to(&u32::to_be_bytes(number), (group, PORT)).unwrap();
            number += 1;
        }
        // Long enough, at times, for the look at members.
        std::thread::sleep(MS * random.below(30) as u32);
        let all = eventually(|| {
            members.iter_mut().for_each(Member::hear);
            members.iter().all(|member| member.awaited.is_empty())
        });
        let missing: Vec<_> = members.iter().map(|member| member.awaited.len()).collect();
        assert!(all, "{mode}, family {family}, step {step}: {missing:?} are lost");
        plain_heard += plain.iter().flat_map(|p| std::iter::from_fn(|| p.next())).count();
    }
    let direct: u32 = members.iter().map(|member| member.direct).sum();
    let by_kernel: u32 = members.iter().map(|member| member.by_kernel).sum();
    println!("{mode}, family {family}: {direct} direct, {by_kernel} by the kernel, {plain_heard}");
    assert!(direct > 200 && by_kernel > 200 && plain_heard > 100);
}

#[test]
#[ignore = "needs root"]
fn no_member_loses_or_doubles_one_while_others_come_and_go() {
    each_way(|bed, mode| come_and_go(bed, mode, 0));
}

#[test]
#[ignore = "needs root"]
fn nor_over_ipv6() {
    each_way(|bed, mode| come_and_go(bed, mode, 1));
}

fn numbers(socket: &mut UdpSocket) -> Vec<u8> {
    let mut numbers = Vec::new();
    socket.receive(64, |_, payload| numbers.push(payload[0])).unwrap();
    numbers
}

#[test]
#[ignore = "needs root"]
fn two_groups_on_one_port_do_not_mix() {
    each_way(|bed, mode| {
        let [ours, theirs] = bed.hosts();
        let stack = stack(ours, mode);
        let groups = [1, 2].map(|last| IpAddr::from([239, 1, 1, last]));
        let mut members = groups.map(|group| {
            let mut member = Member::bind(ours, &stack, 0);
            member.set_member(ours, group, true);
            assert!(member.socket.is_group_direct(group));
            member.socket
        });
        let sender = sender(theirs, 0);
        for number in 0..50 {
            for (group, at) in groups.into_iter().zip([0, 100]) {
                sender.send_to(&[at + number], (group, PORT)).unwrap();
            }
        }
        for (member, at) in members.iter_mut().zip([0, 100]) {
            let mut came = Vec::new();
            eventually(|| {
                came.extend(numbers(member));
                came.len() >= 50
            });
            assert_eq!(came, (at..at + 50).collect::<Vec<u8>>(), "{mode}");
        }
        assert!(members.iter_mut().all(|member| numbers(member).is_empty()));
    });
}

#[test]
#[ignore = "needs root"]
fn only_senders_that_were_named_are_heard() {
    each_way(|bed, mode| {
        let [ours, theirs] = bed.hosts();
        let (stack, group) = (stack(ours, mode), GROUPS[0]);
        let other = IpAddr::from([10, 77, 0, 3]);
        let mut rtnetlink = theirs.rtnetlink().unwrap();
        rtnetlink.add_address(theirs.interface_index(), other, 24).unwrap();
        let senders = [theirs.address().into(), other].map(|from| kernel(theirs, (from, 0)));
        for sender in &senders {
            let interface = socket2::SockRef::from(sender);
            interface.set_multicast_if_v4(&theirs.address()).unwrap();
        }
        let mut socket = bind_with(ours, &stack, (ANY[0], PORT), &shared());
        ours.run(|| socket.join(group, &[other])).unwrap().unwrap();
        assert!(socket.is_group_direct(group));
        for number in 0..40 {
            for (sender, at) in senders.iter().zip([0, 100]) {
                sender.send_to(&[at + number], (group, PORT)).unwrap();
            }
        }
        let mut came = Vec::new();
        eventually(|| {
            came.extend(numbers(&mut socket));
            came.len() >= 40
        });
        assert_eq!(came, (100..140).collect::<Vec<u8>>(), "{mode}");
        assert!(numbers(&mut socket).is_empty());
    });
}

/// The other listens at another port, so that its membership alone tells of it.
#[test]
#[ignore = "needs root"]
fn a_group_is_the_kernels_while_somebody_else_is_a_member() {
    each_way(|bed, mode| {
        let [ours, _] = bed.hosts();
        let stack = stack(ours, mode);
        for (family, group) in GROUPS.into_iter().enumerate() {
            let address = SocketAddr::new(group, PORT);
            let mut member = Member::bind(ours, &stack, family);
            member.set_member(ours, group, true);
            assert!(member.socket.is_group_direct(group));
            let other = Plain::bind(ours, family, PORT + 1);
            other.set_member(group, true);
            let reason = FallbackReason::OtherMembers;
            let by_kernel = PathEvent::RxFallback { address, reason };
            assert!(is_said(&stack, |notice| *notice == by_kernel), "{mode}, {group}");
            assert!(!member.socket.is_group_direct(group));
            drop(other);
            let directly = PathEvent::RxRestored { address };
            assert!(is_said(&stack, |notice| *notice == directly), "{mode}, {group}");
            assert!(member.socket.is_group_direct(group));
        }
    });
}

#[test]
#[ignore = "needs root"]
fn a_group_that_the_last_has_left_is_the_kernels_again() {
    each_way(|bed, mode| {
        let [ours, theirs] = bed.hosts();
        let stack = stack(ours, mode);
        for (family, group) in GROUPS.into_iter().enumerate() {
            for is_closed in [false, true] {
                let mut member = Member::bind(ours, &stack, family);
                member.set_member(ours, group, true);
                assert!(member.socket.is_group_direct(group));
                // Nobody of the stack counts it from here on, nor looks.
                let member = if is_closed {
                    drop(member);
                    None
                } else {
                    member.set_member(ours, group, false);
                    Some(member)
                };
                let plain = Plain::bind(ours, family, PORT);
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
fn what_is_sent_to_a_group_reaches_members_there_and_here() {
    for mode in hosts::MODES {
        for (family, group) in GROUPS.into_iter().enumerate() {
            let bed = bed(1);
            let [ours, theirs] = bed.hosts();
            let stack = stack(ours, mode);
            let mut socket = hosts::bind(ours, &stack, (addresses(ours)[family], 7_001));
            let to = SocketAddr::new(group, PORT);
            let (far, near) = (Plain::bind(theirs, family, PORT), Plain::bind(ours, family, PORT));
            far.set_member(group, true);
            let hears = |plain: &Plain, number: u32| {
                let mut came = None;
                eventually(|| {
                    came = plain.next();
                    came.is_some()
                });
                assert_eq!(came, Some(number), "{mode}, family {family}");
            };
            let mut destination = ours.run(|| socket.destination(to)).unwrap().unwrap();
            assert_eq!(destination.by_kernel(), None);
            let mut number = 0_u32;
            for (turn, is_member) in [false, true, false, true].into_iter().enumerate() {
                if turn > 0 {
                    near.set_member(group, is_member);
                }
                let reason = is_member.then_some(FallbackReason::LocalMembers);
                // Until it is noticed that there is a member, or none any more.
                assert!(eventually(|| {
                    number += 1;
                    let bytes = number.to_be_bytes();
                    let fill = |payload: &mut [u8]| payload.copy_from_slice(&bytes);
                    ours.run(|| socket.transmit_to(&mut destination, 4, fill)).unwrap().unwrap();
                    hears(&far, number);
                    destination.by_kernel() == reason
                }));
                if is_member {
                    eventually(|| near.next() == Some(number));
                    number += 1;
                    let bytes = number.to_be_bytes();
                    let fill = |payload: &mut [u8]| payload.copy_from_slice(&bytes);
                    ours.run(|| socket.transmit_to(&mut destination, 4, fill)).unwrap().unwrap();
                    hears(&near, number);
                    hears(&far, number);
                }
            }
        }
    }
}

#[test]
#[ignore = "needs root"]
fn a_strict_stack_refuses_a_group_with_others_and_goes_on() {
    let bed = bed(1);
    let [ours, theirs] = bed.hosts();
    let mut settings = hosts::settings(Mode::Generic);
    settings.strict = true;
    let stack = hosts::open(ours, &settings);
    let plain = Plain::bind(ours, 0, PORT + 1);
    plain.set_member(GROUPS[0], true);
    let mut socket = bind_with(ours, &stack, (ANY[0], PORT), &shared());
    let refused = ours.run(|| socket.join(GROUPS[0], &[])).unwrap().unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::Unsupported, "{refused}");
    let other = IpAddr::from([239, 1, 1, 2]);
    ours.run(|| socket.join(other, &[])).unwrap().unwrap();
    let sender = sender(theirs, 0);
    sender.send_to(b"hello", (other, PORT)).unwrap();
    assert_eq!(hosts::next(&mut socket).unwrap().1, b"hello");
    // One who comes later ends it.
    plain.set_member(other, true);
    let mut error = None;
    assert!(eventually(|| {
        error = socket.receive(8, |_, _| ()).err();
        error.is_some()
    }));
    assert!(error.unwrap().to_string().contains("239.1.1.2"));
}
