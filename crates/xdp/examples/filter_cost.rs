//! Measures what the filter costs per frame, in the kernel, for each kind of entry: nanoseconds,
//! the mean of many runs (`BPF_PROG_TEST_RUN`). Run it as root on an idle machine:
//!
//! ```text
//! cargo run --release -p hairpin-xdp --example filter_cost
//! ```

use std::error::Error;
use std::net::SocketAddr;
use std::os::fd::AsFd;

use hairpin_testbed::Testbed;
use hairpin_xdp::{
    Entry, Filter, FilterSettings, Protocol, Socket, SocketSettings, Umem, UmemSettings, Verdict,
};

const RUNS: u32 = 1_000_000;
const ROUNDS: usize = 5;
const RAW: Entry = Entry::EtherType { vlan: None, ether_type: 0x88b5 };

fn udp(to: [u8; 4], port: u16) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45, 0, 0, 32, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 9]);
    frame.extend(to);
    frame.extend([0x17, 0x70]);
    frame.extend(port.to_be_bytes());
    frame.extend([0, 12, 0, 0]);
    frame.resize(60, 0);
    frame
}

fn tcp(to: [u8; 4], port: u16) -> Vec<u8> {
    let mut frame = udp(to, port);
    frame[23] = 6;
    frame
}

fn raw() -> Vec<u8> {
    let mut frame = vec![2; 60];
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

const PROTOCOL: Protocol = Protocol::Udp;
const HOST: [u8; 4] = [10, 0, 0, 1];

fn local(address: [u8; 4], port: u16) -> Entry {
    Entry::Local { protocol: PROTOCOL, vlan: None, local: SocketAddr::from((address, port)) }
}

fn flow(from_port: u16) -> Entry {
    let (local, remote) = ((HOST, 5_000), ([10, 0, 0, 9], from_port));
    let [local, remote] = [SocketAddr::from(local), SocketAddr::from(remote)];
    Entry::Flow { protocol: PROTOCOL, vlan: None, local, remote }
}

fn group(group: [u8; 4], port: Option<u16>) -> Entry {
    Entry::Group { vlan: None, group: group.into(), port }
}

/// The cases: a name, the entry to insert, and the frame.
fn cases() -> [(&'static str, Option<Entry>, Vec<u8>); 9] {
    const GROUP: [u8; 4] = [239, 1, 2, 3];
    [
        ("raw", Some(RAW), raw()),
        ("raw, no entry", None, raw()),
        ("UDP, flow", Some(flow(6_000)), udp(HOST, 5_000)),
        ("UDP, port", Some(local(HOST, 5_000)), udp(HOST, 5_000)),
        ("UDP, port of any address", Some(local([0; 4], 5_000)), udp(HOST, 5_000)),
        ("UDP, group and port", Some(group(GROUP, Some(5_000))), udp(GROUP, 5_000)),
        ("UDP, group", Some(group(GROUP, None)), udp(GROUP, 5_000)),
        ("UDP, no entry", None, udp(HOST, 5_001)),
        ("TCP, no entry", None, tcp(HOST, 5_001)),
    ]
}

/// Returns an entry of each kind, none of which matches a test frame.
fn other_entries() -> [Entry; 5] {
    let raw = Entry::EtherType { vlan: None, ether_type: 0x88b6 };
    [raw, flow(6_001), local(HOST, 7), local([0; 4], 7), group([239, 9, 9, 9], None)]
}

fn main() -> Result<(), Box<dyn Error>> {
    let testbed = Testbed::namespaces()?;
    let host = &testbed.hosts()[0];
    // As an interface with frames of 2,048 bytes has it.
    let settings = FilterSettings { longest_datagram: 1_734, ..FilterSettings::default() };
    let filter = Filter::load(&settings)?;
    let (umem, _pool) = Umem::create(&UmemSettings { frames: 64, ..UmemSettings::default() })?;
    let settings = SocketSettings { ring: 64, ..SocketSettings::default() };
    let index = host.interface_index();
    let socket = host.run(|| Socket::open(index, 0, &umem, &settings))??;
    let slot = filter.slot(0).ok_or("no slot")?;
    filter.set_socket(slot, 0, socket.as_fd())?;
    let best = |frame: &[u8]| {
        let costs = (0..ROUNDS).map(|_| filter.cost_ns(frame, RUNS));
        costs.collect::<Result<Vec<_>, _>>().map(|costs| costs.into_iter().min())
    };
    println!("{:<26} {:>10} {:>14}", "ns per frame, best round", "only entry", "other entries");
    for (name, entry, frame) in cases() {
        entry.iter().try_for_each(|entry| filter.insert(entry, Verdict::Slot(slot)))?;
        let alone = best(&frame)?.unwrap_or(0);
        other_entries().iter().try_for_each(|entry| filter.insert(entry, Verdict::Slot(slot)))?;
        let among = best(&frame)?.unwrap_or(0);
        println!("{name:<26} {alone:>10} {among:>14}");
        other_entries()
            .iter()
            .chain(&entry)
            .try_for_each(|entry| filter.remove(entry).map(drop))?;
    }
    Ok(())
}
