//! Two hosts joined by a veth, interfaces on them, and bounded waits.

use std::time::Duration;

use hairpin_testbed::{Host, Offloads, Queues, Testbed};
use hairpin_xdp::{Entry, Interface, InterfaceSettings, Mode, Packet};

pub(crate) use hairpin_testbed::eventually;

pub(crate) const RAW: Entry = Entry::EtherType { vlan: None, ether_type: 0x88b5 };
/// Long enough that a missing frame is lost, not late.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(300);

pub(crate) fn testbed(queues: u32) -> Testbed {
    Testbed::builder().queues(Queues::pairs(queues)).offloads(Offloads::OFF).build().unwrap()
}

pub(crate) fn open(host: &Host, mode: Mode) -> Interface {
    let settings = InterfaceSettings { mode, ..InterfaceSettings::default() };
    host.run(|| Interface::open(host.interface(), &settings)).unwrap().unwrap()
}

/// Returns frame `number` of a queue; its length and bytes follow from these.
pub(crate) fn raw(number: u32, queue: u32) -> Vec<u8> {
    let length = 60 + (number * 37) % 1_455;
    let mut frame = vec![2; 12];
    frame.extend([0x88, 0xb5]);
    frame.extend(number.to_be_bytes());
    frame.extend(queue.to_be_bytes());
    frame.extend((frame.len() as u32..length).map(|at| (at ^ number) as u8));
    frame
}

/// Queues one frame. Returns `false` if there is no space for it.
pub(crate) fn send(interface: &mut Interface, queue: u32, frame: &[u8]) -> bool {
    let Some(mut packet) = interface.packet(frame.len() as u32) else { return false };
    interface.bytes_mut(&mut packet).copy_from_slice(frame);
    let sent = interface.transmit(queue, packet);
    sent.map_err(|packet| interface.release(packet.into_frame())).is_ok()
}

/// Waits for the next packet.
pub(crate) fn next(interface: &mut Interface) -> Option<(u32, Packet)> {
    let mut found = None;
    eventually(|| {
        found = interface.receive().unwrap();
        found.is_some()
    });
    found
}

pub(crate) fn is_nothing(interface: &mut Interface) -> bool {
    interface.receive().unwrap().is_none()
}
