//! Sends, or sends and receives, a number of datagrams of 64 bytes: for counting instructions.
//!
//! `frames send 1000` and `frames receive 1000`; what a thousand more take is what each takes.

use hairpin_netstack::{
    Address, Datagram, DeviceSettings, Engine, Listener, Route, Settings, SocketAddress, SocketId,
    SocketOptions,
};
use hairpin_time::{Instant, Now, Utc};
use hairpin_wire::MacAddress;
use zerocopy::IntoBytes;

struct Sum(u64);

impl Listener for Sum {
    fn on_datagram(&mut self, _: Now, _: SocketId, datagram: &Datagram<'_>) {
        self.0 += datagram.payload.len() as u64;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let receives = words.next().as_deref() == Some("receive");
    let count: u64 = words.next().unwrap_or_default().parse()?;
    let settings = Settings::default();
    let mut arena = vec![0_u64; settings.arena_size().div_ceil(8)];
    let mut engine = Engine::create(arena.as_mut_bytes(), &settings)?;
    let mac = MacAddress([2, 0, 0, 0, 0, 1]);
    let device = DeviceSettings { mac, mtu: 1_500, trusts_checksums: false, vlan: None };
    let device = engine.add_device(&device)?;
    let source = Address::from(std::net::Ipv4Addr::new(10, 0, 0, 1));
    let socket = engine.open_socket(&SocketOptions::default())?;
    let destination = SocketAddress::new(source, 7);
    engine.bind(socket, destination)?;
    engine.connect(socket, source, destination)?;
    let route = Route { device, source, destination, next_hop: mac, is_broadcast: false };
    let header = engine.prepare(socket, &route)?;
    let now = Now { monotonic: Instant::ZERO, utc: Utc::EPOCH };
    let (mut frame, mut sum) = ([0; 2_048], Sum(0));
    let mut length = engine.send(&header, 64, &mut frame, |payload| payload.fill(1))?;
    for _ in 0..count {
        if receives {
            engine.handle_frame(now, device, std::hint::black_box(&frame[..length]), &mut sum);
        } else {
            length = engine.send(&header, 64, std::hint::black_box(&mut frame), |payload| {
                payload[0] = payload[0].wrapping_add(1);
            })?;
        }
    }
    println!("{} {:?}", sum.0, engine.socket_counters(socket)?);
    Ok(())
}
