//! Spinning readers are not woken for frames.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use hairpin_stack::{RawFrames, SocketOptions, Stack, StackSettings, UdpSocket};
use hairpin_testbed::{Host, Testbed};

const ETHER_TYPE: u16 = 0x88b5;
/// Long enough that a missing frame does not arrive.
const TIMEOUT: Duration = Duration::from_secs(10);
/// A frame over a veth has arrived when the send returns; this allows for a busy machine.
const POLL_MS: i32 = 100;

fn on(host: &Host) -> Stack {
    host.run(|| Stack::open(host.interface(), &StackSettings::default())).unwrap().unwrap()
}

/// Returns `true` if a descriptor becomes readable within a short time.
fn is_readable(source: &impl AsFd) -> bool {
    let fd = source.as_fd().as_raw_fd();
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which outlives the call.
    let ready = unsafe { libc::poll(&raw mut poll, 1, POLL_MS) };
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
    frames.release(packet);
    assert!(frames.receive().unwrap().is_none());
}

#[test]
#[ignore = "needs root"]
fn frames_do_not_wake_a_spinning_reader() {
    let testbed = Testbed::namespaces().unwrap();
    let [ours, theirs] = [0, 1].map(|host| on(&testbed.hosts()[host]));
    let mut sender = ours.raw_frames(ETHER_TYPE).unwrap();
    let mut reader = theirs.raw_frames(ETHER_TYPE).unwrap();
    send(&mut sender);
    assert!(is_readable(&reader));
    take(&mut reader);
    reader.set_spinning(true);
    send(&mut sender);
    assert!(!is_readable(&reader));
    take(&mut reader);
    // Frames that arrived while it spun end a later wait.
    send(&mut sender);
    reader.set_spinning(false);
    assert!(is_readable(&reader));
    take(&mut reader);
    reader.set_spinning(true);
    send(&mut sender);
    assert!(reader.wait(Some(TIMEOUT)).unwrap());
    take(&mut reader);
}

fn bind(stack: &Stack, host: &Host) -> UdpSocket {
    let local = (host.address(), 7_000).into();
    host.run(|| stack.bind(local, &SocketOptions::default())).unwrap().unwrap()
}

#[test]
#[ignore = "needs root"]
fn datagrams_do_not_wake_a_spinning_reader() {
    let testbed = Testbed::namespaces().unwrap();
    let hosts = testbed.hosts();
    let [ours, theirs] = [0, 1].map(|host| on(&hosts[host]));
    let mut sender = bind(&ours, &hosts[0]);
    let mut reader = bind(&theirs, &hosts[1]);
    let to = (hosts[1].address(), 7_000).into();
    let count = |reader: &mut UdpSocket| reader.receive(32, |_, _| {}).unwrap().count;
    // The first datagram may go through the kernel, which wakes in any case.
    let mut destination = sender.destination(to).unwrap();
    for _ in 0..1_000 {
        sender.transmit_to(&mut destination, 8, |bytes| bytes.fill(1)).unwrap();
        if destination.fallback_reason().is_none() {
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(destination.fallback_reason(), None);
    assert!(reader.wait(Some(TIMEOUT)).unwrap());
    while count(&mut reader) > 0 {}
    reader.set_spinning(true);
    sender.transmit_to(&mut destination, 8, |bytes| bytes.fill(2)).unwrap();
    assert!(!is_readable(&reader));
    assert_eq!(count(&mut reader), 1);
    sender.transmit_to(&mut destination, 8, |bytes| bytes.fill(3)).unwrap();
    reader.set_spinning(false);
    assert!(is_readable(&reader));
    assert_eq!(count(&mut reader), 1);
}
