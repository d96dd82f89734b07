//! Sends or receives a number of 64-byte datagrams, for counting instructions.
//!
//! The difference between `frames bound 1000` and `frames bound 2000` is the cost of 1,000
//! datagrams. The kinds are `send`, and for reception `bound`, `any`, `partial`, `connected`,
//! `ipv6`, `group`.

use std::hint::black_box;
use std::net::IpAddr;

use hairpin_netstack::{
    Address, Datagram, DeviceId, DeviceSettings, Engine, Listener, PreparedHeader, Route,
    SendError, Settings, SocketAddress, SocketId, SocketOptions,
};
use hairpin_time::{Instant, Now, Utc};
use hairpin_wire::{Ipv4Header, MacAddress, Protocol, Sum, UdpHeader};

const NOW: Now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };

struct Total(u64);

impl Listener for Total {
    fn on_datagram(&mut self, _: Now, _: SocketId, datagram: &Datagram<'_>) {
        self.0 += datagram.payload.len() as u64;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let kind = args.next().unwrap_or_default();
    let count: u64 = args.next().unwrap_or_default().parse()?;
    let settings = Settings::default();
    let mut engine = Engine::new(&settings);
    let (device, header) = prepare(&mut engine, &kind)?;
    let mut frame = vec![0; 2_048];
    let length = engine.send(&header, 64, &mut frame, |payload| payload.fill(1))?;
    if kind == "partial" {
        let (ip, _) = Ipv4Header::split(&frame[14..])?;
        let sum = Sum::pseudo_ipv4(ip.source(), ip.destination(), Protocol::UDP, 72);
        UdpHeader::split_mut(&mut frame[34..])?.0.set_checksum(!sum.checksum());
    }
    if kind == "send" {
        send(&mut engine, &header, &mut frame, count)?;
    } else {
        frame.truncate(length);
        receive(&mut engine, device, &frame, count);
    }
    println!("{:?}", engine.device_counters(device)?);
    Ok(())
}

#[inline(never)]
fn send(
    engine: &mut Engine,
    header: &PreparedHeader,
    buffer: &mut [u8],
    count: u64,
) -> Result<(), SendError> {
    for _ in 0..count {
        engine.send(header, 64, black_box(&mut *buffer), |payload| {
            payload[0] = payload[0].wrapping_add(1);
        })?;
    }
    Ok(())
}

#[inline(never)]
fn receive(engine: &mut Engine, device: DeviceId, frame: &[u8], count: u64) {
    let mut sum = Total(0);
    for _ in 0..count {
        let frame = black_box(frame);
        match engine.deliver_known_flow(device, frame) {
            Some((_, payload)) => sum.0 += u64::from(payload.length),
            None => drop(engine.handle_frame(NOW, device, frame, &mut sum)),
        }
    }
    black_box(sum.0);
}

/// Creates a socket of the given kind, and one of a peer that sends to it.
fn prepare(
    engine: &mut Engine,
    kind: &str,
) -> Result<(DeviceId, PreparedHeader), Box<dyn std::error::Error>> {
    let host: IpAddr = if kind == "ipv6" { "fd00::1".parse()? } else { "10.0.0.1".parse()? };
    let (host, peer) = (
        Address::from(host),
        match host {
            IpAddr::V4(_) => "10.0.0.2".parse::<IpAddr>()?.into(),
            IpAddr::V6(_) => "fd00::2".parse::<IpAddr>()?.into(),
        },
    );
    let mac = MacAddress([2, 0, 0, 0, 0, 1]);
    let device = DeviceSettings { mac, mtu: 1_500, vlan: None };
    let device = engine.add_device(&device)?;
    engine.add_address(device, host, None)?;
    let socket = engine.open_socket(&SocketOptions::default())?;
    let mut destination = SocketAddress::new(host, 7);
    let is_any = ["any", "group"].contains(&kind);
    engine
        .bind(socket, SocketAddress { address: if is_any { host.any() } else { host }, port: 7 })?;
    if kind == "connected" {
        engine.connect(socket, host, SocketAddress::new(peer, 8))?;
    }
    if kind == "group" {
        destination.address = "239.1.1.1".parse::<IpAddr>()?.into();
        engine.join(socket, device, destination.address)?;
    }
    let sender = engine.open_socket(&SocketOptions::default())?;
    engine.bind(sender, SocketAddress::new(peer, 8))?;
    let (source, next_hop) = (peer, mac);
    let route = Route { device, source, destination, next_hop, is_broadcast: false };
    Ok((device, engine.prepare(sender, &route)?))
}
