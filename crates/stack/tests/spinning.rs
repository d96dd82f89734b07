//! Who is woken for frames, and who is not, as root.
#![expect(clippy::unwrap_used, reason = "all of this file is tests")]

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use hairpin_stack::{RawFrames, SocketOptions, Stack, StackSettings, UdpSocket};
use hairpin_testbed::{Host, Testbed};

const ETHER_TYPE: u16 = 0x88b5;
/// Long enough that what has not come does not come.
const PATIENCE: Duration = Duration::from_secs(10);
/// What is sent over a veth has arrived when the call is back; this is for a busy machine.
const MOMENT_MS: i32 = 100;

fn on(host: &Host) -> Stack {
    host.run(|| Stack::open(host.interface(), &StackSettings::default())).unwrap().unwrap()
}

/// Whether a descriptor becomes readable, within a moment.
fn is_readable(source: &impl AsFd) -> bool {
    let fd = source.as_fd().as_raw_fd();
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which lives through the call.
    let ready = unsafe { libc::poll(&raw mut poll, 1, MOMENT_MS) };
    assert!(ready >= 0, "{}", io::Error::last_os_error());
    ready == 1
}

fn send(frames: &mut RawFrames) {
    let mut packet = frames.frame(60).unwrap();
    let bytes = frames.bytes_mut(&mut packet);
    bytes.fill(0xff);
    bytes[12..14].copy_from_slice(&ETHER_TYPE.to_be_bytes());
    frames.transmit(packet).unwrap().unwrap();
}

fn take(frames: &mut RawFrames) {
    let packet = frames.receive().unwrap().unwrap();
    frames.give(packet);
    assert!(frames.receive().unwrap().is_none());
}

#[test]
#[ignore = "needs root"]
fn frames_wake_nobody_while_their_reader_spins() {
    let bed = Testbed::namespaces().unwrap();
    let [ours, theirs] = [0, 1].map(|host| on(&bed.hosts()[host]));
    let mut sender = ours.raw_frames(ETHER_TYPE).unwrap();
    let mut reader = theirs.raw_frames(ETHER_TYPE).unwrap();
    send(&mut sender);
    assert!(is_readable(&reader));
    take(&mut reader);
    reader.set_spinning(true);
    send(&mut sender);
    assert!(!is_readable(&reader));
    take(&mut reader);
    // What came while it spun is found by who sleeps from now on.
    send(&mut sender);
    reader.set_spinning(false);
    assert!(is_readable(&reader));
    take(&mut reader);
    reader.set_spinning(true);
    send(&mut sender);
    assert!(reader.wait(Some(PATIENCE)).unwrap());
    take(&mut reader);
}

fn bind(stack: &Stack, host: &Host) -> UdpSocket {
    let local = (host.address(), 7_000).into();
    host.run(|| stack.bind(local, &SocketOptions::default())).unwrap().unwrap()
}

#[test]
#[ignore = "needs root"]
fn datagrams_wake_nobody_while_their_reader_spins() {
    let bed = Testbed::namespaces().unwrap();
    let hosts = bed.hosts();
    let [ours, theirs] = [0, 1].map(|host| on(&hosts[host]));
    let mut sender = bind(&ours, &hosts[0]);
    let mut reader = bind(&theirs, &hosts[1]);
    let to = (hosts[1].address(), 7_000).into();
    let count = |reader: &mut UdpSocket| reader.receive(32, |_, _| {}).unwrap().count;
    // The first may go by the kernel, which wakes in any case.
    let mut way = sender.destination(to).unwrap();
    for _ in 0..1_000 {
        sender.transmit_to(&mut way, 8, |bytes| bytes.fill(1)).unwrap();
        if way.by_kernel().is_none() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(way.by_kernel(), None);
    assert!(reader.wait(Some(PATIENCE)).unwrap());
    while count(&mut reader) > 0 {}
    reader.set_spinning(true);
    sender.transmit_to(&mut way, 8, |bytes| bytes.fill(2)).unwrap();
    assert!(!is_readable(&reader));
    assert_eq!(count(&mut reader), 1);
    sender.transmit_to(&mut way, 8, |bytes| bytes.fill(3)).unwrap();
    reader.set_spinning(false);
    assert!(is_readable(&reader));
    assert_eq!(count(&mut reader), 1);
}
