//! Opening interfaces, sockets and filters: errors, required capabilities, timestamps, and limits.

use std::fs::File;
use std::os::fd::AsFd;
use std::time::Duration;

use hairpin_testbed::{Capability, Host, Queues, Testbed, become_ordinary_user};
use hairpin_xdp::{
    Backing, BusyPolling, Completion, CopyMode, Device, Entry, Features, Filter, FilterSettings,
    Interface, InterfaceSettings, Mode, ReceiveStamps, Socket, SocketSettings, StampSource, Umem,
    UmemSettings, check_capabilities,
};

use crate::support::TIMEOUT;

const RAW: Entry = Entry::EtherType { vlan: None, ether_type: 0x88b5 };

fn testbed() -> Testbed {
    Testbed::namespaces().unwrap()
}

fn open(host: &Host, settings: &InterfaceSettings) -> Result<Interface, String> {
    host.run(|| Interface::open(host.interface(), settings).map_err(|e| e.to_string())).unwrap()
}

fn small() -> (Umem, hairpin_xdp::FramePool) {
    Umem::create(&UmemSettings { frames: 64, ..UmemSettings::default() }).unwrap()
}

/// Returns settings with a long bind timeout, for a busy kernel.
fn sockets() -> SocketSettings {
    SocketSettings { ring: 32, bind_timeout: TIMEOUT, ..SocketSettings::default() }
}

#[test]
#[ignore = "needs root"]
fn veth_properties_are_reported() {
    let testbed =
        Testbed::builder().queues(Queues::pairs(2)).queues_max(Queues::pairs(4)).build().unwrap();
    let host = &testbed.hosts()[0];
    let device = host.run(|| Device::from_name(host.interface())).unwrap().unwrap();
    assert_eq!((device.queues, device.queues_max, device.mtu), (2, 4, 1_500));
    assert_eq!((device.driver.as_deref(), device.index), (Some("veth"), host.interface_index()));
    let Features { native, zero_copy, .. } = device.features.expect("reported since Linux 6.3");
    assert!(native && !zero_copy && device.strips_vlan);
    let interface = open(host, &InterfaceSettings::default()).unwrap();
    let line = interface.to_string();
    assert_eq!(line, "veth0: veth, 2 queues, generic mode, copy, rx-vlan-offload on");
    assert_eq!(interface.receive_stamps(), ReceiveStamps::Off);
}

#[test]
#[ignore = "needs root"]
fn mtu_beyond_a_frame_is_rejected() {
    let testbed = Testbed::builder().mtu(3_823).build().unwrap();
    let host = &testbed.hosts()[0];
    let error = open(host, &InterfaceSettings::default()).unwrap_err();
    assert_eq!(
        error,
        "cannot use veth0: MTU 3823 exceeds 3822, the most that frames of 4096 bytes hold \
         (longer ones arrive in parts on Linux 6.6 or newer)"
    );
    let testbed = Testbed::builder().mtu(1_775).build().unwrap();
    let interface = open(&testbed.hosts()[0], &InterfaceSettings::default()).unwrap();
    let UmemSettings { frames, frame_size, .. } = *interface.umem().settings();
    assert_eq!((frames, frame_size), (1_024, 4_096));
    let testbed = Testbed::builder().mtu(1_774).build().unwrap();
    let host = &testbed.hosts()[0];
    let settings = InterfaceSettings { mode: Mode::Generic, ..Default::default() };
    let mut interface = open(host, &settings).unwrap();
    interface.redirect(&RAW).unwrap();
    // The longest frame with a tag fits exactly.
    let mut sender = open(&testbed.hosts()[1], &settings).unwrap();
    let mut packet = sender.packet(1_774 + 14).unwrap();
    sender.bytes_mut(&mut packet).fill(0xb5);
    sender.bytes_mut(&mut packet)[12] = 0x88;
    sender.transmit(0, packet).unwrap();
    sender.flush().unwrap();
    assert!(interface.parts().2[0].wait(Some(TIMEOUT)).unwrap());
    let (_, packet) = interface.receive().unwrap().unwrap();
    assert_eq!(packet.length(), 1_788);
    interface.release(packet.into_frame());
}

#[test]
#[ignore = "needs root"]
fn second_program_or_socket_is_rejected_with_a_reason() {
    let testbed = testbed();
    let host = &testbed.hosts()[0];
    let first = open(host, &InterfaceSettings::default()).unwrap();
    let error = open(host, &InterfaceSettings::default()).unwrap_err();
    let executable = std::env::current_exe().unwrap();
    let name = executable.file_name().unwrap().to_string_lossy();
    let expected = format!(
        "cannot attach the filter to veth0: {name} (process {}) has attached its XDP program, ",
        std::process::id()
    );
    assert!(error.starts_with(&expected), "{error}");
    let index = host.interface_index();
    let brief = SocketSettings { bind_timeout: Duration::from_millis(20), ..sockets() };
    let taken = host.run(|| Socket::open(index, 0, &small().0, &brief).map(drop)).unwrap();
    assert_eq!(taken.unwrap_err().to_string(), "cannot bind to queue 0: still in use after 20ms");
    // The kernel releases sockets asynchronously; the next open waits for that.
    drop(first);
    for _ in 0..20 {
        open(host, &InterfaceSettings::default()).unwrap();
    }
}

#[test]
#[ignore = "needs root"]
fn unsupported_veth_features_are_named() {
    let testbed = testbed();
    let host = &testbed.hosts()[0];
    let index = host.interface_index();
    let open = |queue, copy_mode| {
        let settings = SocketSettings { copy_mode, ..sockets() };
        let opened = host.run(|| Socket::open(index, queue, &small().0, &settings));
        opened.unwrap().map(|socket| socket.is_zero_copy()).map_err(|error| error.to_string())
    };
    assert_eq!(
        open(0, CopyMode::ZeroCopy),
        Err("cannot bind to queue 0: the driver does not support zero-copy".to_string())
    );
    assert_eq!(open(0, CopyMode::Copy), Ok(false));
    assert_eq!(open(0, CopyMode::Auto), Ok(false));
    let socket = SocketSettings { copy_mode: CopyMode::ZeroCopy, ..sockets() };
    let settings = InterfaceSettings { mode: Mode::Generic, socket, ..Default::default() };
    let error = host.run(|| Interface::open(host.interface(), &settings).unwrap_err().to_string());
    assert_eq!(
        error.unwrap(),
        "cannot open a socket on veth0: cannot bind to queue 0: the driver does not support \
         zero-copy"
    );
    let beyond = open(64, CopyMode::Auto).unwrap_err();
    assert!(beyond.starts_with("cannot bind to queue 64:"), "{beyond}");
    let busy_polling = Some(BusyPolling { microseconds: 20, budget: 16 });
    let settings = SocketSettings { busy_polling, ..sockets() };
    let mut socket = host.run(|| Socket::open(index, 0, &small().0, &settings)).unwrap().unwrap();
    socket.wake().unwrap();
    let error = error_of("nope0");
    assert_eq!(error, "cannot find interface nope0: no such interface");
}

fn error_of(name: &str) -> String {
    Interface::open(name, &InterfaceSettings::default()).unwrap_err().to_string()
}

/// A second owner that has only the descriptors of memory, socket and filter changes the filter,
/// receives and sends.
#[test]
#[ignore = "needs root"]
fn socket_and_memory_move_to_another_owner() {
    let testbed = testbed();
    let [ours, theirs] = testbed.hosts();
    let index = ours.interface_index();
    let settings = UmemSettings { frames: 64, backing: Backing::Shared, ..Default::default() };
    let (umem, mut pool) = Umem::create(&settings).unwrap();
    let filter = Filter::load(&FilterSettings::default()).unwrap();
    let copies = filter.descriptors().map(|fd| fd.try_clone_to_owned().unwrap());
    // SAFETY: the descriptors are those of a filter, in order.
    let filter_there = unsafe { Filter::from_fds(copies, &FilterSettings::default()) }.unwrap();
    let slot = filter.slot(0).unwrap();
    let _link = ours.run(|| filter.attach(index, Mode::Native)).unwrap().unwrap();
    let mut first = ours.run(|| Socket::open(index, 0, &umem, &sockets())).unwrap().unwrap();
    assert_eq!(first.refill(&mut pool, 16), 16);
    filter.set_socket(slot, 0, first.as_fd()).unwrap();
    let descriptor = first.as_fd().try_clone_to_owned().unwrap();
    let file = File::from(umem.file().unwrap().try_clone_to_owned().unwrap());
    drop((first, umem, pool, filter));
    let umem = Umem::open(file, &settings).unwrap();
    // SAFETY: the first owner no longer exists, and this is its memory.
    let mut second = unsafe { Socket::from_fd(descriptor, 0, &umem, &sockets()) }.unwrap();
    let slot = filter_there.slot(0).unwrap();
    filter_there.insert(&RAW, hairpin_xdp::Verdict::Slot(slot)).unwrap();
    let mut peer = open(theirs, &InterfaceSettings::default()).unwrap();
    peer.redirect(&RAW).unwrap();
    let mut packet = peer.packet(64).unwrap();
    peer.bytes_mut(&mut packet).fill(0xb5);
    peer.bytes_mut(&mut packet)[12] = 0x88;
    peer.transmit(0, packet).unwrap();
    peer.flush().unwrap();
    assert!(second.wait(Some(TIMEOUT)).unwrap());
    assert_eq!((second.rx_frames(), second.tx_frames()), (16, 0));
    let received = second.receive().unwrap();
    assert_eq!(second.rx_frames(), 15);
    let bytes = umem.bytes(&received).to_vec();
    assert_eq!(bytes.len(), 64);
    second.transmit(received).unwrap();
    second.flush().unwrap();
    assert!(peer.parts().2[0].wait(Some(TIMEOUT)).unwrap());
    let (_, packet) = peer.receive().unwrap().unwrap();
    assert_eq!(peer.bytes(&packet), bytes);
}

/// A veth's driver is asked for receive timestamps and has none of its own. The kernel's clock
/// stamps every received frame, and every completion for which a timestamp was requested.
#[test]
#[ignore = "needs root"]
fn timestamps_are_plausible_or_absent() {
    let cases = [
        (ReceiveStamps::Driver, Mode::Native),
        (ReceiveStamps::Kernel, Mode::Native),
        (ReceiveStamps::Kernel, Mode::Generic),
    ];
    for (receive_stamps, mode) in cases {
        let testbed = testbed();
        let umem = UmemSettings { transmit_stamps: true, ..UmemSettings::default() };
        let settings = InterfaceSettings { umem, receive_stamps, mode, ..Default::default() };
        let mut ends = [0, 1].map(|end| open(&testbed.hosts()[end], &settings).unwrap());
        for end in &ends {
            end.redirect(&RAW).unwrap();
            assert_eq!(end.receive_stamps(), receive_stamps, "{end}");
        }
        let mut last = tai();
        // More frames than the UMEM has, so that each timestamp field is reused.
        for number in 0..5_000 {
            let stamp_requested = number % 2 == 0;
            let before = tai();
            let (sent, received) = send_stamped(&mut ends, stamp_requested);
            match received {
                None => assert_eq!(receive_stamps, ReceiveStamps::Driver),
                Some(received) => {
                    assert_eq!(receive_stamps, ReceiveStamps::Kernel);
                    assert!(last.max(before) <= received && received <= tai());
                    last = received;
                }
            }
            assert_eq!(sent.is_some(), stamp_requested);
            assert!(sent.is_none_or(|sent| before <= sent && sent <= tai()));
        }
    }
}

/// Sends one frame. Returns its transmit timestamp, if requested, and its receive timestamp.
fn send_stamped(ends: &mut [Interface; 2], stamp_requested: bool) -> (Option<u64>, Option<u64>) {
    let [from, to] = ends;
    let mut packet = from.packet(64).unwrap();
    from.bytes_mut(&mut packet).fill(0xb5);
    from.bytes_mut(&mut packet)[12] = 0x88;
    if stamp_requested {
        packet.request_stamp();
    }
    from.transmit(0, packet).unwrap();
    let (_, pool, sockets) = from.parts();
    sockets[0].flush().unwrap();
    let Completion { frame, stamp } = loop {
        match sockets[0].complete() {
            Some(completion) => break completion,
            None => std::thread::yield_now(),
        }
    };
    pool.release(frame);
    assert!(stamp.is_none_or(|stamp| stamp.source == StampSource::SoftwareCompletion));
    assert!(to.parts().2[0].wait(Some(TIMEOUT)).unwrap());
    let (_, packet) = to.receive().unwrap().unwrap();
    let received = to.receive_stamp(&packet);
    assert!(received.is_none_or(|stamp| stamp.source == StampSource::SoftwareReceive));
    assert_eq!(to.bytes(&packet)[14..], [0xb5; 50]);
    to.release(packet.into_frame());
    [stamp, received].map(|stamp| stamp.map(|stamp| stamp.nanoseconds)).into()
}

fn tai() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes a time to the structure, which outlives the call.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_TAI, &raw mut now) }, 0);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A timestamp field that nothing wrote reads as `None`, whatever the frame contained before.
#[test]
#[ignore = "needs root"]
fn stale_bytes_are_not_reported_as_a_timestamp() {
    let testbed = testbed();
    let [ours, theirs] = testbed.hosts();
    let index = ours.interface_index();
    let (umem, mut pool) = small();
    let frames: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
    for frame in frames {
        let mut packet = umem.packet(frame, 2_048).unwrap();
        umem.bytes_mut(&mut packet).fill(0xff);
        pool.release(packet.into_frame());
    }
    // This filter writes no timestamps.
    let filter = Filter::load(&FilterSettings::default()).unwrap();
    let slot = filter.slot(0).unwrap();
    let _link = ours.run(|| filter.attach(index, Mode::Native)).unwrap().unwrap();
    let settings = SocketSettings { receive_stamps: ReceiveStamps::Driver, ..sockets() };
    let mut socket = ours.run(|| Socket::open(index, 0, &umem, &settings)).unwrap().unwrap();
    socket.refill(&mut pool, 8);
    filter.set_socket(slot, 0, socket.as_fd()).unwrap();
    filter.insert(&RAW, hairpin_xdp::Verdict::Slot(slot)).unwrap();
    let mut peer = open(theirs, &InterfaceSettings::default()).unwrap();
    let mut packet = peer.packet(64).unwrap();
    peer.bytes_mut(&mut packet).fill(0xb5);
    peer.bytes_mut(&mut packet)[12] = 0x88;
    peer.transmit(0, packet).unwrap();
    peer.flush().unwrap();
    assert!(socket.wait(Some(TIMEOUT)).unwrap());
    let packet = socket.receive().unwrap();
    assert_eq!((packet.length(), socket.receive_stamp(&packet)), (64, None));
    pool.release(packet.into_frame());
    // Without timestamps the field is not read at all.
    let frame = peer.packet(0).unwrap().into_frame();
    let mut packet = peer.umem().packet_with_headroom(frame, 64).unwrap();
    packet.grow_front(8);
    peer.bytes_mut(&mut packet).fill(0xff);
    packet.shrink_front(8);
    assert_eq!(peer.receive_stamp(&packet), None);
    peer.release(packet.into_frame());
}

#[test]
#[ignore = "needs root"]
fn unsupported_timestamps_are_reported_without_an_error() {
    let testbed = testbed();
    let receive_stamps = ReceiveStamps::Driver;
    let settings = InterfaceSettings { mode: Mode::Generic, receive_stamps, ..Default::default() };
    let interface = open(&testbed.hosts()[0], &settings).unwrap();
    assert_eq!(interface.receive_stamps(), ReceiveStamps::Off);
    let line = interface.to_string();
    assert!(line.contains("generic mode, copy, no receive timestamps from this driver"), "{line}");
}

/// The kernel would drop such frames without an error.
#[test]
#[ignore = "needs root"]
fn frames_that_the_kernel_would_drop_are_rejected() {
    let testbed = testbed();
    let umem = UmemSettings { transmit_stamps: true, ..UmemSettings::default() };
    let settings = InterfaceSettings { umem, ..Default::default() };
    let mut interface = open(&testbed.hosts()[0], &settings).unwrap();
    let short = interface.packet(13).unwrap();
    let frame = interface.transmit(0, short).unwrap_err().into_frame();
    let mut front = interface.umem().packet(frame, 60).unwrap();
    front.grow_front(1);
    let mut misaligned = interface.transmit(0, front).unwrap_err();
    misaligned.shrink_front(2);
    misaligned.request_stamp();
    let misaligned = interface.transmit(0, misaligned).unwrap_err();
    interface.release(misaligned.into_frame());
    let mut shortest = interface.packet(14).unwrap();
    interface.bytes_mut(&mut shortest).fill(0xb5);
    interface.transmit(0, shortest).unwrap();
    interface.flush().unwrap();
    let socket = &mut interface.parts().2[0];
    assert!(socket.tx_frames() == 0 || socket.complete().is_some());
    assert_eq!(socket.statistics().unwrap().transmit_invalid, 0);
    let beyond = interface.packet(60).unwrap();
    let beyond = interface.transmit(1, beyond).unwrap_err();
    interface.release(beyond.into_frame());
    assert!(interface.packet(2_048 - 24 + 1).is_none());
}

/// Completed frames occupy the completion ring until they are reclaimed.
#[test]
#[ignore = "needs root"]
fn frames_in_flight_are_limited_by_the_ring() {
    let testbed = testbed();
    let socket = SocketSettings { ring: 8, ..SocketSettings::default() };
    let settings = InterfaceSettings { socket, ..Default::default() };
    let mut interface = open(&testbed.hosts()[0], &settings).unwrap();
    let mut packets: Vec<_> = (0..9).map(|_| interface.packet(60).unwrap()).collect();
    for packet in &mut packets {
        interface.bytes_mut(packet).fill(0xb5);
    }
    let (_, pool, sockets) = interface.parts();
    let last = packets.pop().unwrap();
    for packet in packets {
        sockets[0].transmit(packet).unwrap();
        sockets[0].flush().unwrap();
    }
    // All frames have left, so the transmit ring has space.
    let last = sockets[0].transmit(last).unwrap_err();
    pool.release(sockets[0].complete().unwrap().frame);
    sockets[0].transmit(last).unwrap();
}

/// The required capabilities.
const ALL: [Capability; 3] = [Capability::NetAdmin, Capability::NetRaw, Capability::Bpf];

/// Drops all capabilities of the calling thread except the required ones without `missing`.
fn become_user_without(missing: Capability) {
    become_ordinary_user(&ALL.into_iter().filter(|it| *it != missing).collect::<Vec<_>>()).unwrap();
}

#[test]
#[ignore = "needs root"]
fn ordinary_user_with_three_capabilities_opens_an_interface() {
    let testbed = testbed();
    let host = &testbed.hosts()[0];
    let opened = host.run(|| {
        become_ordinary_user(&ALL).unwrap();
        check_capabilities().unwrap();
        let settings =
            InterfaceSettings { receive_stamps: ReceiveStamps::Driver, ..Default::default() };
        Interface::open(host.interface(), &settings).map_err(|error| error.to_string())
    });
    let interface = opened.unwrap().unwrap();
    interface.redirect(&RAW).unwrap();
    assert_eq!(interface.receive_stamps(), ReceiveStamps::Driver);
}

#[test]
#[ignore = "needs root"]
fn missing_capability_is_named_alone() {
    let testbed = testbed();
    let host = &testbed.hosts()[0];
    let without = |missing| {
        let opened = host.run(|| {
            become_user_without(missing);
            Interface::open(host.interface(), &InterfaceSettings::default())
        });
        opened.unwrap().unwrap_err().to_string()
    };
    for (missing, name) in ALL.into_iter().zip(["CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_BPF"]) {
        let rest = " (run as root, or give them to the program by setcap)";
        assert_eq!(without(missing), format!("cannot open an interface: missing {name}{rest}"));
    }
}

/// Each capability is necessary: the kernel refuses exactly the operation that it covers.
#[test]
#[ignore = "needs root"]
fn kernel_requires_each_of_the_three_capabilities() {
    let testbed = testbed();
    let host = &testbed.hosts()[0];
    let index = host.interface_index();
    let tried = |missing| {
        host.run(|| {
            become_user_without(missing);
            let filter = Filter::load(&FilterSettings::default());
            let socket = Socket::open(index, 0, &small().0, &sockets()).map(drop);
            let link = filter.as_ref().ok().map(|filter| filter.attach(index, Mode::Auto).is_ok());
            (filter.is_ok(), socket.is_ok(), link)
        })
        .unwrap()
    };
    assert_eq!(tried(Capability::Bpf), (false, true, None));
    assert_eq!(tried(Capability::NetRaw), (true, false, Some(true)));
    let (_, socket, link) = tried(Capability::NetAdmin);
    assert!(socket && link != Some(true));
}

/// Returns the length of the filter's program in instructions, including those that the kernel
/// added.
fn instructions(filter: &Filter) -> u64 {
    let program = std::os::fd::AsRawFd::as_raw_fd(&filter.descriptors()[5]);
    // The beginning of `struct bpf_prog_info`, whose sixth word is the length in bytes.
    let mut information = [0_u32; 8];
    let address = information.as_mut_ptr() as u64;
    let words = [program as u64 | (size_of_val(&information) as u64) << 32, address];
    // SAFETY: the structure of the command, and the memory that it points to, outlive the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, 15, words.as_ptr(), size_of_val(&words)) };
    assert_eq!(result, 0);
    u64::from(information[5]) / 8
}

/// The kernel adds the most instructions for a user who may not read kernel memory. The program is
/// not device-bound; a device-bound one has a few instructions more.
#[test]
#[ignore = "needs root"]
fn program_with_kernel_additions_fits_a_page() {
    const PAGE: u64 = 4_096;
    /// More than `struct bpf_prog` occupies of the page, plus the instructions that driver
    /// timestamps add.
    const REST: u64 = 256 + 32 * 8;
    let testbed = testbed();
    for capabilities in [None, Some(ALL)] {
        let loaded = testbed.hosts()[0].run(|| {
            capabilities.iter().for_each(|these| become_ordinary_user(these).unwrap());
            let receive_stamps = hairpin_xdp::Stamping::Kernel;
            Filter::load(&FilterSettings { receive_stamps, ..FilterSettings::default() }).unwrap()
        });
        let instructions = instructions(&loaded.unwrap());
        println!("{instructions} instructions, capabilities {capabilities:?}");
        assert!(instructions * 8 + REST <= PAGE, "{instructions} instructions");
    }
}
