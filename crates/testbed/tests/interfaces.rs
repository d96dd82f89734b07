//! Queues, offloads and MTU: what is asked for is what is there, as root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::net::UdpSocket;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::process::{Command, Stdio};
use std::time::Duration;

use hairpin_testbed::{Host, Offloads, Queues, RelaySettings, Testbed, TestbedBuilder};

const PATIENCE: Duration = Duration::from_secs(20);

/// What a program prints on a host; `None` if it is not there.
fn ask(host: &Host, program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(child) = host.spawn(command, &[]) else {
        println!("skipped: there is no {program} here");
        return None;
    };
    let output = child.wait_with_output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

/// The queues in a sysfs that shows the host's own namespace.
fn queues_of_sysfs(host: &Host) -> Option<Queues> {
    let script = "mount -t sysfs none /sys && ls /sys/class/net/veth0/queues";
    let listing = ask(host, "unshare", &["--mount", "sh", "-c", script])?;
    let count = |kind| listing.lines().filter(|line| line.starts_with(kind)).count() as u32;
    Some(Queues { rx: count("rx-"), tx: count("tx-") })
}

fn with_and_without_relay(builder: TestbedBuilder) -> [Testbed; 2] {
    let relay = RelaySettings::seeded(7);
    [builder.build().unwrap(), builder.relay(relay).build().unwrap()]
}

fn pings(bed: &Testbed) {
    let sockets = bed.hosts().each_ref().map(|host| {
        let socket = host.run(|| UdpSocket::bind((host.address(), 0)).unwrap()).unwrap();
        socket.set_read_timeout(Some(PATIENCE)).unwrap();
        socket
    });
    for (from, to) in [(0, 1), (1, 0)] {
        sockets[from].send_to(b"tick", sockets[to].local_addr().unwrap()).unwrap();
        assert_eq!(sockets[to].recv(&mut [0; 8]).unwrap(), 4);
    }
}

#[test]
#[ignore = "needs root"]
fn queues_are_as_many_as_asked_for_and_real() {
    for wanted in [Queues::pairs(1), Queues::pairs(2), Queues { rx: 4, tx: 3 }] {
        for bed in with_and_without_relay(Testbed::builder().queues(wanted)) {
            for host in bed.hosts() {
                assert_eq!((host.queues().unwrap(), host.queues_max().unwrap()), (wanted, wanted));
                assert_eq!(queues_of_sysfs(host).unwrap_or(wanted), wanted);
            }
            pings(&bed);
        }
    }
}

#[test]
#[ignore = "needs root"]
fn without_a_wish_there_is_one_queue_of_each_kind() {
    let bed = Testbed::namespaces().unwrap();
    for host in bed.hosts() {
        assert_eq!(host.queues().unwrap(), Queues::pairs(1));
    }
}

#[test]
#[ignore = "needs root"]
fn queues_change_while_all_goes_on_up_to_the_room_there_is() {
    let most = Queues::pairs(4);
    for bed in with_and_without_relay(Testbed::builder().queues_max(most)) {
        for count in [1, 4, 2, 1, 3] {
            for host in bed.hosts() {
                host.set_queues(Queues::pairs(count)).unwrap();
                assert_eq!(host.queues().unwrap(), Queues::pairs(count));
                assert_eq!(queues_of_sysfs(host).unwrap_or(Queues::pairs(count)).rx, count);
            }
            pings(&bed);
        }
        let [host, _] = bed.hosts();
        assert!(
            host.set_queues(Queues::pairs(5)).is_err()
                && host.set_queues(Queues::pairs(0)).is_err()
        );
        assert_eq!((host.queues().unwrap(), host.queues_max().unwrap()), (Queues::pairs(3), most));
    }
}

#[test]
#[ignore = "needs root"]
fn queues_are_those_that_other_programs_see() {
    let builder = Testbed::builder().queues(Queues { rx: 3, tx: 2 }).queues_max(Queues::pairs(5));
    let bed = builder.mtu(4_000).build().unwrap();
    for host in bed.hosts() {
        if let Some(text) = ask(host, "ip", &["-d", "-o", "link", "show", "veth0"]) {
            assert!(text.contains("numtxqueues 5 numrxqueues 5"), "{text}");
            assert!(text.contains("mtu 4000"), "{text}");
        }
        if let Some(text) = ask(host, "ethtool", &["-l", "veth0"]) {
            let numbers = |name| {
                let lines = text.lines().filter_map(move |line| line.strip_prefix(name));
                lines.map(|rest| rest.trim().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(
                (numbers("RX:"), numbers("TX:")),
                (vec!["5".into(), "3".into()], vec!["5".into(), "2".into()])
            );
        }
    }
}

#[test]
#[ignore = "needs root"]
fn offloads_are_on_or_off_as_asked_for() {
    let some = Offloads { tso: false, rx_checksum: false, ..Offloads::ON };
    for wanted in [Offloads::ON, Offloads::OFF, some] {
        for bed in with_and_without_relay(Testbed::builder().offloads(wanted)) {
            for host in bed.hosts() {
                assert_eq!(host.offloads().unwrap(), wanted);
                assert_eq!(offloads_of_ethtool(host).unwrap_or(wanted), wanted);
            }
            pings(&bed);
        }
    }
}

fn offloads_of_ethtool(host: &Host) -> Option<Offloads> {
    let text = ask(host, "ethtool", &["-k", "veth0"])?;
    let is_on = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        lines.next().unwrap().starts_with("on")
    };
    Some(Offloads {
        rx_checksum: is_on("rx-checksumming"),
        tx_checksum: is_on("tx-checksumming"),
        scatter_gather: is_on("scatter-gather"),
        tso: is_on("tcp-segmentation-offload"),
        gso: is_on("generic-segmentation-offload"),
        gro: is_on("generic-receive-offload"),
    })
}

#[test]
#[ignore = "needs root"]
fn offloads_change_while_all_goes_on_and_one_at_a_time() {
    let bed = Testbed::namespaces().unwrap();
    let [host, other] = bed.hosts();
    let kernels_own = Offloads { gro: false, ..Offloads::ON };
    assert_eq!(host.offloads().unwrap(), kernels_own);
    for wanted in [
        Offloads { rx_checksum: false, ..Offloads::ON },
        Offloads { tso: false, ..Offloads::ON },
        Offloads { gso: false, ..Offloads::ON },
        Offloads { gro: false, ..Offloads::ON },
        Offloads { tso: false, gso: false, scatter_gather: false, ..Offloads::ON },
        Offloads { tx_checksum: true, ..Offloads::OFF },
        Offloads::ON,
    ] {
        host.set_offloads(wanted).unwrap();
        assert_eq!(host.offloads().unwrap(), wanted);
        pings(&bed);
    }
    assert_eq!(other.offloads().unwrap(), kernels_own, "each host has its own");
}

#[test]
#[ignore = "needs root"]
fn an_offload_that_needs_another_is_refused_without_it() {
    let wanted = Offloads { tx_checksum: false, ..Offloads::ON };
    let error = Testbed::builder().offloads(wanted).build().unwrap_err().to_string();
    assert!(error.starts_with("the offloads cannot be had: asked for rx-checksumming"), "{error}");
    assert!(
        error.contains("does not switch tx-tcp-segmentation") && !error.contains('\n'),
        "{error}"
    );
}

#[test]
#[ignore = "needs root"]
fn what_the_kernel_refuses_is_one_line() {
    for (builder, step) in [
        (Testbed::builder().mtu(67), "a veth is refused: "),
        (Testbed::builder().mtu(67).relay(RelaySettings::default()), "a relay is refused: "),
        (Testbed::builder().queues(Queues::pairs(5_000)), "a veth is refused: "),
        (
            Testbed::builder().queues(Queues { rx: 1, tx: 0 }).queues_max(Queues::pairs(2)),
            "the queues cannot be had: ",
        ),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.starts_with(step) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn over_loopback_no_offload_of_the_machine_is_touched() {
    let bed = Testbed::loopback("a test").unwrap();
    let error = bed.hosts()[0].set_offloads(Offloads::OFF).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    assert!(bed.hosts()[0].queues().is_err() && bed.relay().is_none());
}

/// Just as long as the MTU passes; a byte more does not leave, with fragments forbidden.
#[test]
#[ignore = "needs root"]
fn packets_are_as_long_as_the_mtu_at_most() {
    for mtu in [576, 1_500, 9_000, 65_535] {
        for bed in with_and_without_relay(Testbed::builder().mtu(mtu)) {
            let [first, second] = bed.hosts();
            let [sender, receiver] = [first, second].map(|host| {
                assert_eq!(host.mtu().unwrap(), mtu);
                host.run(|| UdpSocket::bind((host.address(), 0)).unwrap()).unwrap()
            });
            receiver.set_read_timeout(Some(PATIENCE)).unwrap();
            forbid_fragments(&sender);
            sender.connect(receiver.local_addr().unwrap()).unwrap();
            let longest = mtu as usize - 28;
            let mut bytes = vec![1; longest + 1];
            let error = sender.send(&bytes).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(libc::EMSGSIZE));
            sender.send(&bytes[1..]).unwrap();
            assert_eq!(receiver.recv(&mut bytes).unwrap(), longest);
        }
    }
}

fn forbid_fragments(socket: &UdpSocket) {
    let value = libc::IP_PMTUDISC_DO;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let (fd, option) = (socket.as_raw_fd(), libc::IP_MTU_DISCOVER);
    // SAFETY: the kernel reads one integer, which lives through the call.
    let result = unsafe {
        libc::setsockopt(fd, libc::IPPROTO_IP, option, (&raw const value).cast(), length)
    };
    assert_eq!(result, 0);
}

/// The first UDP datagram of IPv4 that arrives at a host, as the wire had it.
fn captured(bed: &Testbed) -> Vec<u8> {
    let [first, second] = bed.hosts();
    let tap = second.run(packet_socket).unwrap();
    let sender = first.run(|| UdpSocket::bind((first.address(), 0)).unwrap()).unwrap();
    sender.send_to(b"with a checksum", (second.address(), 7_777)).unwrap();
    for _ in 0..100 {
        let mut frame = vec![0; 2_000];
        // SAFETY: the kernel writes at most as many bytes as the buffer has.
        let length =
            unsafe { libc::recv(tap.as_raw_fd(), frame.as_mut_ptr().cast(), frame.len(), 0) };
        frame.truncate(usize::try_from(length).unwrap());
        if frame[12..14] == [8, 0] && frame[23] == 17 {
            return frame;
        }
    }
    panic!("other frames only");
}

fn packet_socket() -> OwnedFd {
    let protocol = (libc::ETH_P_ALL as u16).to_be();
    // SAFETY: takes integers.
    let fd = unsafe { libc::socket(libc::AF_PACKET, libc::SOCK_RAW, protocol.into()) };
    assert!(fd >= 0);
    // SAFETY: the descriptor is new and nobody else's.
    unsafe { OwnedFd::from_raw_fd(fd) }
}

/// RFC 768, RFC 1071: the sum over pseudo header, header and payload is all ones.
fn has_sound_checksum(frame: &[u8]) -> bool {
    let datagram = &frame[34..];
    let words = frame[26..34].chunks(2).chain(datagram.chunks(2));
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    let sum = words.map(word).sum::<u32>() + 17 + datagram.len() as u32;
    (sum & 0xffff) + (sum >> 16) == 0xffff
}

#[test]
#[ignore = "needs root"]
fn checksums_on_the_wire_are_finished_without_offloads_and_behind_a_relay() {
    let on = Testbed::builder().offloads(Offloads::ON);
    let off = Testbed::builder().offloads(Offloads::OFF);
    assert!(!has_sound_checksum(&captured(&on.build().unwrap())), "a veth finishes nothing");
    assert!(has_sound_checksum(&captured(&off.build().unwrap())));
    for builder in [on, off] {
        let bed = builder.relay(RelaySettings::seeded(7)).build().unwrap();
        assert!(has_sound_checksum(&captured(&bed)));
    }
}
