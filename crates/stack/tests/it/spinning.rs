//! Spinning readers are not woken for frames.

use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

use hairpin_stack::{RawFrames, SocketOptions, Stack, StackSettings, UdpSocket};
use hairpin_testbed::{Host, Testbed};

use crate::support::eventually;

const ETHER_TYPE: u16 = 0x88b5;
/// Long enough that a missing frame does not arrive.
const TIMEOUT: Duration = Duration::from_secs(300);
/// The time for which a wakeup must not happen.
const QUIET: Duration = Duration::from_millis(100);

fn on(host: &Host) -> Stack {
    host.run(|| Stack::open(host.interface(), &StackSettings::default())).unwrap().unwrap()
}

/// Returns `true` if a descriptor becomes readable in time.
fn is_readable(source: &impl AsFd, time: Duration) -> bool {
    let fd = source.as_fd().as_raw_fd();
    let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one entry, which outlives the call.
    let ready = unsafe { libc::poll(&raw mut poll, 1, time.as_millis() as i32) };
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
    let mut packet = None;
    assert!(eventually(|| {
        packet = frames.receive().unwrap();
        packet.is_some()
    }));
    frames.release(packet.unwrap());
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
    assert!(is_readable(&reader, TIMEOUT));
    take(&mut reader);
    reader.set_spinning(true);
    send(&mut sender);
    assert!(!is_readable(&reader, QUIET));
    take(&mut reader);
    // Frames that arrived while it spun end a later wait.
    send(&mut sender);
    reader.set_spinning(false);
    assert!(is_readable(&reader, TIMEOUT));
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
    assert!(eventually(|| {
        sender.transmit_to(&mut destination, 8, |bytes| bytes.fill(1)).unwrap();
        destination.fallback_reason().is_none()
    }));
    assert!(reader.wait(Some(TIMEOUT)).unwrap());
    while count(&mut reader) > 0 {}
    reader.set_spinning(true);
    sender.transmit_to(&mut destination, 8, |bytes| bytes.fill(2)).unwrap();
    assert!(!is_readable(&reader, QUIET));
    assert!(eventually(|| count(&mut reader) == 1));
    sender.transmit_to(&mut destination, 8, |bytes| bytes.fill(3)).unwrap();
    reader.set_spinning(false);
    assert!(is_readable(&reader, TIMEOUT));
    assert!(eventually(|| count(&mut reader) == 1));
}
