//! Sends or receives a number of 64-byte datagrams, for counting instructions.
//!
//! The difference between `frames bound 1000` and `frames bound 2000` is the cost of 1,000
//! datagrams. The kinds are `send`, and for reception `bound`, `any`, `trusted`, `connected`,
//! `ipv6`, `group`.

use std::hint::black_box;
use std::net::IpAddr;

use hairpin_netstack::{
    Address, Datagram, DeviceId, DeviceSettings, Engine, Listener, PreparedHeader, Route,
    SendError, Settings, SocketAddress, SocketId, SocketOptions,
};
use hairpin_time::{Instant, Now, Utc};
use hairpin_wire::MacAddress;
use zerocopy::IntoBytes;

const NOW: Now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };

struct Sum(u64);

impl Listener for Sum {
    fn on_datagram(&mut self, _: Now, _: SocketId, datagram: &Datagram<'_>) {
        self.0 += datagram.payload.len() as u64;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let kind = args.next().unwrap_or_default();
    let count: u64 = args.next().unwrap_or_default().parse()?;
    let settings = Settings::default();
    let mut arena = vec![0_u64; settings.arena_size().div_ceil(8)];
    let mut engine = Engine::create(arena.as_mut_bytes(), &settings)?;
    let (device, header) = prepare(&mut engine, &kind)?;
    let mut frame = vec![0; 2_048];
    let length = engine.send(&header, 64, &mut frame, |payload| payload.fill(1))?;
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
    engine: &mut Engine<'_>,
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
fn receive(engine: &mut Engine<'_>, device: DeviceId, frame: &[u8], count: u64) {
    let mut sum = Sum(0);
    for _ in 0..count {
        let frame = black_box(frame);
        match engine.deliver_known_flow(device, frame) {
            Some((_, payload)) => sum.0 += u64::from(payload.length),
            None => drop(engine.handle_frame(NOW, device, frame, &mut sum)),
        }
    }
    black_box(sum.0);
}

/// Creates a socket of the given kind that sends to itself.
fn prepare(
    engine: &mut Engine<'_>,
    kind: &str,
) -> Result<(DeviceId, PreparedHeader), Box<dyn std::error::Error>> {
    let host: IpAddr = if kind == "ipv6" { "fd00::1".parse()? } else { "10.0.0.1".parse()? };
    let source = Address::from(host);
    let mac = MacAddress([2, 0, 0, 0, 0, 1]);
    let trusts_checksums = kind == "trusted";
    let device = DeviceSettings { mac, mtu: 1_500, trusts_checksums, vlan: None };
    let device = engine.add_device(&device)?;
    engine.add_address(device, source, None)?;
    let socket = engine.open_socket(&SocketOptions::default())?;
    let mut destination = SocketAddress::new(source, 7);
    let is_any = ["any", "group"].contains(&kind);
    engine.bind(
        socket,
        SocketAddress { address: if is_any { source.any() } else { source }, port: 7 },
    )?;
    if kind == "connected" {
        engine.connect(socket, source, destination)?;
    }
    if kind == "group" {
        destination.address = "239.1.1.1".parse::<IpAddr>()?.into();
        engine.join(socket, device, destination.address)?;
    }
    let route = Route { device, source, destination, next_hop: mac, is_broadcast: false };
    Ok((device, engine.prepare(socket, &route)?))
}
