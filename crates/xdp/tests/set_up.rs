//! What is refused, how it is told, and what it takes. As root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::fs::File;
use std::os::fd::AsFd;
use std::time::Duration;

use hairpin_testbed::{Capability, Host, Queues, Testbed, become_ordinary_user};
use hairpin_xdp::{
    Backing, BusyPolling, Completion, CopyMode, Device, Entry, Features, Filter, FilterSettings,
    Interface, InterfaceSettings, Mode, ReceiveStamps, Socket, SocketSettings, StampSource, Umem,
    UmemSettings, check_capabilities,
};

const RAW: Entry = Entry::EtherType { vlan: None, ether_type: 0x88b5 };

fn bed() -> Testbed {
    Testbed::namespaces().unwrap()
}

fn open(host: &Host, settings: &InterfaceSettings) -> Result<Interface, String> {
    host.run(|| Interface::open(host.interface(), settings).map_err(|e| e.to_string())).unwrap()
}

fn small() -> (Umem, hairpin_xdp::FramePool) {
    Umem::create(&UmemSettings { frames: 64, ..UmemSettings::default() }).unwrap()
}

/// Patient: a test's last socket may take a busy kernel its time.
fn sockets() -> SocketSettings {
    SocketSettings { ring: 32, patience: Duration::from_secs(10), ..SocketSettings::default() }
}

#[test]
#[ignore = "needs root"]
fn a_veth_is_described_as_it_is() {
    let bed =
        Testbed::builder().queues(Queues::pairs(2)).queues_max(Queues::pairs(4)).build().unwrap();
    let host = &bed.hosts()[0];
    let device = host.run(|| Device::named(host.interface())).unwrap().unwrap();
    assert_eq!((device.queues, device.queues_max, device.mtu), (2, 4, 1_500));
    assert_eq!((device.driver.as_deref(), device.index), (Some("veth"), host.interface_index()));
    let Features { native, zero_copy, .. } = device.features.expect("told since Linux 6.3");
    assert!(native && !zero_copy && device.strips_vlan);
    let interface = open(host, &InterfaceSettings::default()).unwrap();
    let line = interface.to_string();
    assert_eq!(line, "veth0: veth, 2 queues, generic mode, copy, rx-vlan-offload on");
    assert_eq!(interface.receive_stamps(), ReceiveStamps::Off);
}

#[test]
#[ignore = "needs root"]
fn an_mtu_beyond_a_frame_is_refused_and_one_that_fits_is_not() {
    let large = UmemSettings { frame_size: 4_096, ..UmemSettings::default() };
    let large = InterfaceSettings { umem: large, mode: Mode::Generic, ..Default::default() };
    let bed = Testbed::builder().mtu(1_775).build().unwrap();
    let host = &bed.hosts()[0];
    let error = open(host, &InterfaceSettings::default()).unwrap_err();
    assert_eq!(error, "veth0 has an MTU of 1775; frames of 2048 bytes have room for 1774");
    open(host, &large).unwrap();
    let bed = Testbed::builder().mtu(1_774).build().unwrap();
    let host = &bed.hosts()[0];
    let settings = InterfaceSettings { mode: Mode::Generic, ..Default::default() };
    let mut interface = open(host, &settings).unwrap();
    interface.enter(&RAW).unwrap();
    // The longest frame with a tag fits to the byte.
    let mut sender = open(&bed.hosts()[1], &settings).unwrap();
    let mut packet = sender.packet(1_774 + 14).unwrap();
    sender.bytes_mut(&mut packet).fill(0xb5);
    sender.bytes_mut(&mut packet)[12] = 0x88;
    sender.transmit(0, packet).unwrap();
    sender.flush().unwrap();
    assert!(interface.parts().2[0].wait(Some(Duration::from_secs(10))).unwrap());
    let (_, packet) = interface.receive().unwrap().unwrap();
    assert_eq!(packet.length(), 1_788);
    interface.give(packet.into_frame());
}

#[test]
#[ignore = "needs root"]
fn a_second_program_or_socket_is_refused_and_told_why() {
    let bed = bed();
    let host = &bed.hosts()[0];
    let first = open(host, &InterfaceSettings::default()).unwrap();
    let error = open(host, &InterfaceSettings::default()).unwrap_err();
    assert_eq!(error, "veth0: another XDP program is on the interface");
    let index = host.interface_index();
    let brief = SocketSettings { patience: Duration::from_millis(20), ..sockets() };
    let taken = host.run(|| Socket::open(index, 0, &small().0, &brief).map(drop)).unwrap();
    assert_eq!(taken.unwrap_err().to_string(), "queue 0 is taken, still after 20ms");
    // The kernel clears sockets away in its own time, and the next one waits for that.
    drop(first);
    for _ in 0..20 {
        open(host, &InterfaceSettings::default()).unwrap();
    }
}

#[test]
#[ignore = "needs root"]
fn what_a_veth_has_not_is_named() {
    let bed = bed();
    let host = &bed.hosts()[0];
    let index = host.interface_index();
    let open = |queue, copying| {
        let settings = SocketSettings { copying, ..sockets() };
        let opened = host.run(|| Socket::open(index, queue, &small().0, &settings));
        opened.unwrap().map(|socket| socket.is_zero_copy()).map_err(|error| error.to_string())
    };
    assert_eq!(open(0, CopyMode::ZeroCopy), Err("queue 0 has no zero-copy".to_string()));
    assert_eq!(open(0, CopyMode::Copy), Ok(false));
    assert_eq!(open(0, CopyMode::Auto), Ok(false));
    let socket = SocketSettings { copying: CopyMode::ZeroCopy, ..sockets() };
    let settings = InterfaceSettings { mode: Mode::Generic, socket, ..Default::default() };
    let error = host.run(|| Interface::open(host.interface(), &settings).unwrap_err().to_string());
    assert_eq!(error.unwrap(), "veth0: queue 0 has no zero-copy");
    let beyond = open(64, CopyMode::Auto).unwrap_err();
    assert!(beyond.starts_with("queue 64 cannot be had"), "{beyond}");
    let busy_polling = Some(BusyPolling { microseconds: 20, budget: 16 });
    let settings = SocketSettings { busy_polling, ..sockets() };
    let mut socket = host.run(|| Socket::open(index, 0, &small().0, &settings)).unwrap().unwrap();
    socket.wake().unwrap();
    let error = error_of("nope0");
    assert_eq!(error, "interface nope0 does not exist");
}

fn error_of(name: &str) -> String {
    Interface::open(name, &InterfaceSettings::default()).unwrap_err().to_string()
}

/// Another owner, who has but descriptors of the memory, the socket and the filter, changes the
/// filter, receives and sends.
#[test]
#[ignore = "needs root"]
fn a_socket_and_its_memory_go_to_another_owner() {
    let bed = bed();
    let [ours, theirs] = bed.hosts();
    let index = ours.interface_index();
    let settings = UmemSettings { frames: 64, backing: Backing::Shared, ..Default::default() };
    let (umem, mut pool) = Umem::create(&settings).unwrap();
    let filter = Filter::load(&FilterSettings::default()).unwrap();
    let copies = filter.descriptors().map(|fd| fd.try_clone_to_owned().unwrap());
    // SAFETY: they are what they are taken for.
    let filter_there = unsafe { Filter::adopt(copies, &FilterSettings::default()) }.unwrap();
    let slot = filter.slot(0).unwrap();
    let _link = ours.run(|| filter.attach(index, Mode::Native)).unwrap().unwrap();
    let mut first = ours.run(|| Socket::open(index, 0, &umem, &sockets())).unwrap().unwrap();
    assert_eq!(first.refill(&mut pool, 16), 16);
    filter.set_socket(slot, 0, first.as_fd()).unwrap();
    let descriptor = first.as_fd().try_clone_to_owned().unwrap();
    let file = File::from(umem.file().unwrap().try_clone_to_owned().unwrap());
    let spare = pool.take().unwrap().address();
    drop((first, umem, pool, filter));
    let umem = Umem::open(file, &settings).unwrap();
    // SAFETY: the first owner is gone, and this is its memory.
    let mut second = unsafe { Socket::adopt(descriptor, 0, &umem, &sockets()) }.unwrap();
    let slot = filter_there.slot(0).unwrap();
    filter_there.enter(&RAW, hairpin_xdp::Verdict::Slot(slot)).unwrap();
    let mut peer = open(theirs, &InterfaceSettings::default()).unwrap();
    peer.enter(&RAW).unwrap();
    let mut packet = peer.packet(64).unwrap();
    peer.bytes_mut(&mut packet).fill(0xb5);
    peer.bytes_mut(&mut packet)[12] = 0x88;
    peer.transmit(0, packet).unwrap();
    peer.flush().unwrap();
    assert!(second.wait(Some(Duration::from_secs(10))).unwrap());
    assert_eq!((second.filling(), second.transmitting()), (16, 0));
    let received = second.receive().unwrap();
    assert_eq!(second.filling(), 15);
    second.suspend();
    // SAFETY: nobody has used it in between.
    unsafe { second.resume() };
    assert_eq!((second.filling(), second.receive()), (15, None));
    assert_eq!(umem.bytes(&received).len(), 64);
    // SAFETY: the first owner had taken this frame out of its pool, and has left it.
    let frame = unsafe { umem.claim(spare) }.unwrap();
    let mut answer = umem.packet(frame, 64).unwrap();
    umem.bytes_mut(&mut answer).copy_from_slice(umem.bytes(&received));
    second.transmit(answer).unwrap();
    second.flush().unwrap();
    assert!(peer.parts().2[0].wait(Some(Duration::from_secs(10))).unwrap());
    let (_, packet) = peer.receive().unwrap().unwrap();
    assert_eq!(peer.bytes(&packet), umem.bytes(&received));
}

/// A veth's driver is asked for receive stamps and has none of its own. The kernel's clock has one
/// for every frame, and says when it was done with a frame that was sent, if that was asked for.
#[test]
#[ignore = "needs root"]
fn stamps_are_what_they_say_or_none() {
    let ways = [
        (ReceiveStamps::Driver, Mode::Native),
        (ReceiveStamps::Kernel, Mode::Native),
        (ReceiveStamps::Kernel, Mode::Generic),
    ];
    for (receive_stamps, mode) in ways {
        let bed = bed();
        let umem = UmemSettings { transmit_stamps: true, ..UmemSettings::default() };
        let settings = InterfaceSettings { umem, receive_stamps, mode, ..Default::default() };
        let mut ends = [0, 1].map(|end| open(&bed.hosts()[end], &settings).unwrap());
        for end in &ends {
            end.enter(&RAW).unwrap();
            assert_eq!(end.receive_stamps(), receive_stamps, "{end}");
        }
        let mut last = tai();
        // More than there are frames, so that each place of a stamp is used again.
        for number in 0..5_000 {
            let wants_stamp = number % 2 == 0;
            let before = tai();
            let (sent, received) = send_stamped(&mut ends, wants_stamp);
            match received {
                None => assert_eq!(receive_stamps, ReceiveStamps::Driver),
                Some(received) => {
                    assert_eq!(receive_stamps, ReceiveStamps::Kernel);
                    assert!(last.max(before) <= received && received <= tai());
                    last = received;
                }
            }
            assert_eq!(sent.is_some(), wants_stamp);
            assert!(sent.is_none_or(|sent| before <= sent && sent <= tai()));
        }
    }
}

/// Sends one frame: when it was done with, if it was asked, and when it came in.
fn send_stamped(ends: &mut [Interface; 2], wants_stamp: bool) -> (Option<u64>, Option<u64>) {
    let [from, to] = ends;
    let mut packet = from.packet(64).unwrap();
    from.bytes_mut(&mut packet).fill(0xb5);
    from.bytes_mut(&mut packet)[12] = 0x88;
    if wants_stamp {
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
    pool.give(frame);
    assert!(stamp.is_none_or(|stamp| stamp.source == StampSource::SoftwareCompletion));
    assert!(to.parts().2[0].wait(Some(Duration::from_secs(10))).unwrap());
    let (_, packet) = to.receive().unwrap().unwrap();
    let received = to.receive_stamp(&packet);
    assert!(received.is_none_or(|stamp| stamp.source == StampSource::SoftwareReceive));
    assert_eq!(to.bytes(&packet)[14..], [0xb5; 50]);
    to.give(packet.into_frame());
    [stamp, received].map(|stamp| stamp.map(|stamp| stamp.nanoseconds)).into()
}

fn tai() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes a time to where it is told, which lives through the call.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_TAI, &raw mut now) }, 0);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// A place of a stamp that nobody wrote holds none, whatever the frame was used for before.
#[test]
#[ignore = "needs root"]
fn what_lies_where_a_stamp_would_be_is_no_stamp() {
    let bed = bed();
    let [ours, theirs] = bed.hosts();
    let index = ours.interface_index();
    let (umem, mut pool) = small();
    let frames: Vec<_> = std::iter::from_fn(|| pool.take()).collect();
    for frame in frames {
        let mut packet = umem.packet(frame, 2_048).unwrap();
        umem.bytes_mut(&mut packet).fill(0xff);
        pool.give(packet.into_frame());
    }
    // The filter stamps nothing.
    let filter = Filter::load(&FilterSettings::default()).unwrap();
    let slot = filter.slot(0).unwrap();
    let _link = ours.run(|| filter.attach(index, Mode::Native)).unwrap().unwrap();
    let settings = SocketSettings { receive_stamps: ReceiveStamps::Driver, ..sockets() };
    let mut socket = ours.run(|| Socket::open(index, 0, &umem, &settings)).unwrap().unwrap();
    socket.refill(&mut pool, 8);
    filter.set_socket(slot, 0, socket.as_fd()).unwrap();
    filter.enter(&RAW, hairpin_xdp::Verdict::Slot(slot)).unwrap();
    let mut peer = open(theirs, &InterfaceSettings::default()).unwrap();
    let mut packet = peer.packet(64).unwrap();
    peer.bytes_mut(&mut packet).fill(0xb5);
    peer.bytes_mut(&mut packet)[12] = 0x88;
    peer.transmit(0, packet).unwrap();
    peer.flush().unwrap();
    assert!(socket.wait(Some(Duration::from_secs(10))).unwrap());
    let packet = socket.receive().unwrap();
    assert_eq!((packet.length(), socket.receive_stamp(&packet)), (64, None));
    pool.give(packet.into_frame());
    // And where nobody stamps it is not even looked at.
    let frame = peer.packet(0).unwrap().into_frame();
    let mut packet = peer.umem().packet_with_headroom(frame, 64).unwrap();
    packet.grow_front(8);
    peer.bytes_mut(&mut packet).fill(0xff);
    packet.shrink_front(8);
    assert_eq!(peer.receive_stamp(&packet), None);
    peer.give(packet.into_frame());
}

#[test]
#[ignore = "needs root"]
fn stamps_that_cannot_be_had_are_told_and_no_error() {
    let bed = bed();
    let receive_stamps = ReceiveStamps::Driver;
    let settings = InterfaceSettings { mode: Mode::Generic, receive_stamps, ..Default::default() };
    let interface = open(&bed.hosts()[0], &settings).unwrap();
    assert_eq!(interface.receive_stamps(), ReceiveStamps::Off);
    let line = interface.to_string();
    assert!(line.contains("generic mode, copy, no receive stamps by this driver"), "{line}");
}

/// The kernel would keep such frames and not tell.
#[test]
#[ignore = "needs root"]
fn what_the_kernel_would_not_give_back_is_not_sent() {
    let bed = bed();
    let umem = UmemSettings { transmit_stamps: true, ..UmemSettings::default() };
    let settings = InterfaceSettings { umem, ..Default::default() };
    let mut interface = open(&bed.hosts()[0], &settings).unwrap();
    let short = interface.packet(13).unwrap();
    let frame = interface.transmit(0, short).unwrap_err().into_frame();
    let mut front = interface.umem().packet(frame, 60).unwrap();
    front.grow_front(1);
    let mut crooked = interface.transmit(0, front).unwrap_err();
    crooked.shrink_front(2);
    crooked.request_stamp();
    let crooked = interface.transmit(0, crooked).unwrap_err();
    interface.give(crooked.into_frame());
    let mut shortest = interface.packet(14).unwrap();
    interface.bytes_mut(&mut shortest).fill(0xb5);
    interface.transmit(0, shortest).unwrap();
    interface.flush().unwrap();
    let socket = &mut interface.parts().2[0];
    assert!(socket.transmitting() == 0 || socket.complete().is_some());
    assert_eq!(socket.statistics().unwrap().transmit_invalid, 0);
    let beyond = interface.packet(60).unwrap();
    let beyond = interface.transmit(1, beyond).unwrap_err();
    interface.give(beyond.into_frame());
    assert!(interface.packet(2_048 - 24 + 1).is_none());
}

/// Their places in the completion ring are taken until somebody looks there.
#[test]
#[ignore = "needs root"]
fn no_more_are_under_way_than_the_ring_holds() {
    let bed = bed();
    let socket = SocketSettings { ring: 8, ..SocketSettings::default() };
    let settings = InterfaceSettings { socket, ..Default::default() };
    let mut interface = open(&bed.hosts()[0], &settings).unwrap();
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
    // All have gone, so that there is room in the transmit ring.
    let last = sockets[0].transmit(last).unwrap_err();
    pool.give(sockets[0].complete().unwrap().frame);
    sockets[0].transmit(last).unwrap();
}

/// What it takes.
const ALL: [Capability; 3] = [Capability::NetAdmin, Capability::NetRaw, Capability::Bpf];

/// The calling thread, and no other, has all of them but one from now on.
fn become_user_without(missing: Capability) {
    become_ordinary_user(&ALL.into_iter().filter(|it| *it != missing).collect::<Vec<_>>()).unwrap();
}

#[test]
#[ignore = "needs root"]
fn an_ordinary_user_with_just_the_three_capabilities_sets_all_up() {
    let bed = bed();
    let host = &bed.hosts()[0];
    let opened = host.run(|| {
        become_ordinary_user(&ALL).unwrap();
        check_capabilities().unwrap();
        let settings =
            InterfaceSettings { receive_stamps: ReceiveStamps::Driver, ..Default::default() };
        Interface::open(host.interface(), &settings).map_err(|error| error.to_string())
    });
    let interface = opened.unwrap().unwrap();
    interface.enter(&RAW).unwrap();
    assert_eq!(interface.receive_stamps(), ReceiveStamps::Driver);
}

#[test]
#[ignore = "needs root"]
fn a_capability_that_is_missing_is_named_alone() {
    let bed = bed();
    let host = &bed.hosts()[0];
    let without = |missing| {
        let opened = host.run(|| {
            become_user_without(missing);
            Interface::open(host.interface(), &InterfaceSettings::default())
        });
        opened.unwrap().unwrap_err().to_string()
    };
    for (missing, name) in ALL.into_iter().zip(["CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_BPF"]) {
        let rest = "; with them an ordinary user needs no more";
        assert_eq!(without(missing), format!("this process lacks {name}{rest}"));
    }
}

/// None of the three is asked for in vain: the kernel refuses just what each is for.
#[test]
#[ignore = "needs root"]
fn the_kernel_asks_for_each_of_the_three() {
    let bed = bed();
    let host = &bed.hosts()[0];
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

/// Instructions of the filter's program as the kernel has it, with what it has added.
fn instructions(filter: &Filter) -> u64 {
    let program = std::os::fd::AsRawFd::as_raw_fd(&filter.descriptors()[5]);
    // The beginning of `struct bpf_prog_info`, whose sixth word is the length in bytes.
    let mut information = [0_u32; 8];
    let address = information.as_mut_ptr() as u64;
    let words = [program as u64 | (size_of_val(&information) as u64) << 32, address];
    // SAFETY: the structure of the command, and where it points to; both live through the call.
    let result = unsafe { libc::syscall(libc::SYS_bpf, 15, words.as_ptr(), size_of_val(&words)) };
    assert_eq!(result, 0);
    u64::from(information[5]) / 8
}

/// Also of a user who may not look at the kernel's memory, for whom the kernel adds the most. The
/// program is bound to no device; one that is has a few instructions more.
#[test]
#[ignore = "needs root"]
fn a_program_and_what_the_kernel_adds_to_it_fit_a_page() {
    const PAGE: u64 = 4_096;
    /// More than `struct bpf_prog` takes of the page, and than asking a driver for stamps adds.
    const REST: u64 = 256 + 32 * 8;
    let bed = bed();
    for capabilities in [None, Some(ALL)] {
        let loaded = bed.hosts()[0].run(|| {
            capabilities.iter().for_each(|these| become_ordinary_user(these).unwrap());
            let receive_stamps = hairpin_xdp::Stamping::Kernel;
            Filter::load(&FilterSettings { receive_stamps, ..FilterSettings::default() }).unwrap()
        });
        let instructions = instructions(&loaded.unwrap());
        println!("{instructions} instructions, capabilities {capabilities:?}");
        assert!(instructions * 8 + REST <= PAGE, "{instructions} instructions");
    }
}
