//! What the relay itself costs: `cargo run --release -p hairpin-testbed --example relay`.
//!
//! Prints the round trip of a small UDP datagram between two hosts, one at a time and with both
//! ends blocked in the kernel, over a veth and through a relay on which nothing happens; and how
//! many frames a second the relay hands on when they come as fast as one thread can send them.

use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use hairpin_testbed::{Direction, Host, RelaySettings, Testbed, enter_user_namespace};

const ROUND_TRIPS: usize = 20_000;
const FRAMES: u64 = 400_000;
const PAYLOAD: [u8; 100] = [7; 100];
/// Longer than any round trip; the end of a wait for what is lost.
const PATIENCE: Duration = Duration::from_secs(5);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    enter_user_namespace()?;
    let relayed = || Testbed::builder().relay(RelaySettings::seeded(1)).build();
    for bed in [Testbed::namespaces()?, relayed()?] {
        let mut times = round_trips(&bed)?;
        times.sort_unstable();
        let at = |part: usize| times[times.len() * part / 100].as_nanos() as f64 / 1_000.0;
        let [least, median, late] = [at(0), at(50), at(99)];
        println!(
            "{}: round trip µs, least {least:.1}, p50 {median:.1}, p99 {late:.1}",
            bed.describe()
        );
    }
    flood(&relayed()?)
}

fn bound(host: &Host) -> io::Result<UdpSocket> {
    let socket = host.run(|| UdpSocket::bind((host.address(), 0))).flatten()?;
    socket.set_read_timeout(Some(PATIENCE))?;
    Ok(socket)
}

/// Echoes between two hosts, one after the other.
fn round_trips(bed: &Testbed) -> io::Result<Vec<Duration>> {
    let [near, far] = [bound(&bed.hosts()[0])?, bound(&bed.hosts()[1])?];
    near.connect(far.local_addr()?)?;
    far.connect(near.local_addr()?)?;
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut bytes = PAYLOAD;
            for _ in 0..ROUND_TRIPS {
                if far.recv(&mut bytes).and_then(|_| far.send(&bytes)).is_err() {
                    break;
                }
            }
        });
        let mut bytes = PAYLOAD;
        let mut round_trip = || {
            let started = Instant::now();
            near.send(&PAYLOAD)?;
            near.recv(&mut bytes)?;
            Ok(started.elapsed())
        };
        (0..ROUND_TRIPS).map(|_| round_trip()).collect()
    })
}

/// Sends flat out and waits for the relay to be done.
fn flood(bed: &Testbed) -> Result<(), Box<dyn std::error::Error>> {
    let [near, far] = [bound(&bed.hosts()[0])?, bound(&bed.hosts()[1])?];
    let relay = bed.relay().ok_or("a bed without a relay")?;
    let tally = || relay.tally(Direction::FirstToSecond);
    let to = far.local_addr()?;
    near.send_to(&PAYLOAD, to)?;
    far.recv(&mut [0; 200])?;
    while tally().arrived == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let (started, before) = (Instant::now(), tally());
    for _ in 0..FRAMES {
        near.send_to(&PAYLOAD, to)?;
    }
    let sent = started.elapsed();
    let is_done = || tally().arrived + tally().missed >= before.arrived + FRAMES;
    while !is_done() && started.elapsed() < PATIENCE * 4 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let (time, done) = (started.elapsed().as_secs_f64(), tally().arrived - before.arrived);
    let (sent, missed) = (sent.as_secs_f64(), tally().missed);
    print!("flat out: {done} of {FRAMES} frames in {time:.2} s, sent in {sent:.2} s: ");
    println!("{:.0} a second, {missed} missed", done as f64 / time);
    Ok(())
}
