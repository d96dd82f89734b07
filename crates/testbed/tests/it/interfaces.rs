//! Queues, offloads and MTU of the interfaces, as root.
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};

use hairpin_testbed::{Host, Offloads, Queues, RelaySettings, Testbed, TestbedBuilder};

use crate::fixtures::{TIMEOUT, packet_socket, receive_datagram, udp_socket};

/// Returns the output of a program on a host; `None` if the program is not installed.
fn run_program(host: &Host, program: &str, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
    let Ok(child) = host.spawn(command, &[]) else {
        println!("skipped: {program} is not installed");
        return None;
    };
    let output = child.wait_with_output().unwrap();
    output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
}

/// Returns the queues in a sysfs of the host's own namespace.
fn sysfs_queues(host: &Host) -> Option<Queues> {
    let script = "mount -t sysfs none /sys && ls /sys/class/net/veth0/queues";
    let listing = run_program(host, "unshare", &["--mount", "sh", "-c", script])?;
    let count = |kind| listing.lines().filter(|line| line.starts_with(kind)).count() as u32;
    Some(Queues { rx: count("rx-"), tx: count("tx-") })
}

fn with_and_without_relay(builder: TestbedBuilder) -> [Testbed; 2] {
    let relay = RelaySettings::seeded(7);
    [builder.build().unwrap(), builder.relay(relay).build().unwrap()]
}

fn assert_datagrams_pass(testbed: &Testbed) {
    let sockets = testbed.hosts().each_ref().map(udp_socket);
    for (from, to) in [(0, 1), (1, 0)] {
        sockets[from].send_to(b"tick", sockets[to].local_addr().unwrap()).unwrap();
        assert_eq!(sockets[to].recv(&mut [0; 8]).unwrap(), 4);
    }
}

#[test]
#[ignore = "needs root"]
fn queues_are_real() {
    for wanted in [Queues::pairs(1), Queues::pairs(2), Queues { rx: 4, tx: 3 }] {
        for testbed in with_and_without_relay(Testbed::builder().queues(wanted)) {
            for host in testbed.hosts() {
                assert_eq!((host.queues().unwrap(), host.queues_max().unwrap()), (wanted, wanted));
                assert_eq!(sysfs_queues(host).unwrap_or(wanted), wanted);
            }
            assert_datagrams_pass(&testbed);
        }
    }
}

#[test]
#[ignore = "needs root"]
fn queues_default_to_one_in_each_direction() {
    let testbed = Testbed::namespaces().unwrap();
    for host in testbed.hosts() {
        assert_eq!(host.queues().unwrap(), Queues::pairs(1));
    }
}

#[test]
#[ignore = "needs root"]
fn set_queues_changes_queues_in_use_up_to_the_maximum() {
    let max = Queues::pairs(4);
    for testbed in with_and_without_relay(Testbed::builder().queues_max(max)) {
        for count in [1, 4, 2, 1, 3] {
            for host in testbed.hosts() {
                host.set_queues(Queues::pairs(count)).unwrap();
                assert_eq!(host.queues().unwrap(), Queues::pairs(count));
                assert_eq!(sysfs_queues(host).unwrap_or(Queues::pairs(count)).rx, count);
            }
            assert_datagrams_pass(&testbed);
        }
        let [host, _] = testbed.hosts();
        assert!(
            host.set_queues(Queues::pairs(5)).is_err()
                && host.set_queues(Queues::pairs(0)).is_err()
        );
        assert_eq!((host.queues().unwrap(), host.queues_max().unwrap()), (Queues::pairs(3), max));
    }
}

#[test]
#[ignore = "needs root"]
fn queues_match_ip_and_ethtool() {
    let builder = Testbed::builder().queues(Queues { rx: 3, tx: 2 }).queues_max(Queues::pairs(5));
    let testbed = builder.mtu(4_000).build().unwrap();
    for host in testbed.hosts() {
        if let Some(text) = run_program(host, "ip", &["-d", "-o", "link", "show", "veth0"]) {
            assert!(text.contains("numtxqueues 5 numrxqueues 5"), "{text}");
            assert!(text.contains("mtu 4000"), "{text}");
        }
        if let Some(text) = run_program(host, "ethtool", &["-l", "veth0"]) {
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
fn offloads_match_ethtool() {
    let some = Offloads { tso: false, rx_checksum: false, ..Offloads::ON };
    for wanted in [Offloads::ON, Offloads::OFF, some] {
        for testbed in with_and_without_relay(Testbed::builder().offloads(wanted)) {
            for host in testbed.hosts() {
                assert_eq!(host.offloads().unwrap(), wanted);
                assert_eq!(ethtool_offloads(host).unwrap_or(wanted), wanted);
            }
            assert_datagrams_pass(&testbed);
        }
    }
}

fn ethtool_offloads(host: &Host) -> Option<Offloads> {
    let text = run_program(host, "ethtool", &["-k", "veth0"])?;
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
fn set_offloads_changes_single_offloads_in_use() {
    let testbed = Testbed::namespaces().unwrap();
    let [host, other] = testbed.hosts();
    let default = Offloads { gro: false, ..Offloads::ON };
    assert_eq!(host.offloads().unwrap(), default);
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
        assert_datagrams_pass(&testbed);
    }
    assert_eq!(other.offloads().unwrap(), default, "the other host is unchanged");
}

#[test]
#[ignore = "needs root"]
fn offload_without_a_required_one_is_an_error() {
    let wanted = Offloads { tx_checksum: false, ..Offloads::ON };
    let error = Testbed::builder().offloads(wanted).build().unwrap_err().to_string();
    assert!(
        error.starts_with("cannot set the offloads: cannot set the offloads rx-checksumming"),
        "{error}"
    );
    assert!(error.contains("unchanged: tx-tcp-segmentation") && !error.contains('\n'), "{error}");
}

#[test]
#[ignore = "needs root"]
fn errors_of_the_kernel_are_one_line() {
    for (builder, step) in [
        (Testbed::builder().mtu(67), "cannot add a veth pair: "),
        (Testbed::builder().mtu(67).relay(RelaySettings::default()), "cannot start a relay: "),
        (Testbed::builder().queues(Queues::pairs(5_000)), "cannot add a veth pair: "),
        (
            Testbed::builder().queues(Queues { rx: 1, tx: 0 }).queues_max(Queues::pairs(2)),
            "cannot set the queues: ",
        ),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.starts_with(step) && !error.contains('\n'), "{error}");
    }
}

#[test]
fn loopback_rejects_changes_of_offloads() {
    let testbed = Testbed::loopback("a test").unwrap();
    let error = testbed.hosts()[0].set_offloads(Offloads::OFF).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::Unsupported);
    assert!(testbed.hosts()[0].queues().is_err() && testbed.relay().is_none());
}

/// A packet of the MTU passes. One byte more is an error when fragmentation is off.
#[test]
#[ignore = "needs root"]
fn packets_have_at_most_the_mtu() {
    for mtu in [576, 1_500, 9_000, 65_535] {
        for testbed in with_and_without_relay(Testbed::builder().mtu(mtu)) {
            let [first, second] = testbed.hosts();
            let [sender, receiver] = [first, second].map(|host| {
                assert_eq!(host.mtu().unwrap(), mtu);
                host.run(|| UdpSocket::bind((host.address(), 0)).unwrap()).unwrap()
            });
            receiver.set_read_timeout(Some(TIMEOUT)).unwrap();
            disable_fragmentation(&sender);
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

fn disable_fragmentation(socket: &UdpSocket) {
    let value = libc::IP_PMTUDISC_DO;
    let length = size_of::<libc::c_int>() as libc::socklen_t;
    let (fd, option) = (socket.as_raw_fd(), libc::IP_MTU_DISCOVER);
    // SAFETY: the kernel reads one integer, which lives during the call.
    let result = unsafe {
        libc::setsockopt(fd, libc::IPPROTO_IP, option, (&raw const value).cast(), length)
    };
    assert_eq!(result, 0);
}

/// Sends a datagram and returns its frame at the second host.
fn capture_datagram(testbed: &Testbed) -> Vec<u8> {
    let [first, second] = testbed.hosts();
    let tap = second.run(packet_socket).unwrap();
    let sender = first.run(|| UdpSocket::bind((first.address(), 0)).unwrap()).unwrap();
    sender.send_to(b"with a checksum", (second.address(), 7_777)).unwrap();
    receive_datagram(&tap)
}

/// Returns `true` if the sum over pseudo header, header and payload is all ones (RFC 768, RFC
/// 1071).
fn has_valid_checksum(frame: &[u8]) -> bool {
    let datagram = &frame[34..];
    let words = frame[26..34].chunks(2).chain(datagram.chunks(2));
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    let sum = words.map(word).sum::<u32>() + 17 + datagram.len() as u32;
    (sum & 0xffff) + (sum >> 16) == 0xffff
}

#[test]
#[ignore = "needs root"]
fn checksums_are_complete_without_offloads_or_with_a_relay() {
    let on = Testbed::builder().offloads(Offloads::ON);
    let off = Testbed::builder().offloads(Offloads::OFF);
    assert!(
        !has_valid_checksum(&capture_datagram(&on.build().unwrap())),
        "a veth completes no checksums"
    );
    assert!(has_valid_checksum(&capture_datagram(&off.build().unwrap())));
    for builder in [on, off] {
        let testbed = builder.relay(RelaySettings::seeded(7)).build().unwrap();
        assert!(has_valid_checksum(&capture_datagram(&testbed)));
    }
}
