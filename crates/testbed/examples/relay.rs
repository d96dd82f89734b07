//! The cost of the relay: `cargo run --release -p hairpin-testbed --example relay`.
//!
//! Prints the round trip of a small UDP datagram between two hosts, with both ends blocked in the
//! kernel, over a veth and through a relay without faults. Then prints how many frames per second
//! the relay forwards when one thread sends as fast as possible.

use std::io;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

use hairpin_testbed::{Direction, Host, RelaySettings, Testbed, enter_user_namespace};

const ROUND_TRIPS: usize = 20_000;
const FRAMES: u64 = 400_000;
const PAYLOAD: [u8; 100] = [7; 100];
/// The timeout for a lost datagram: longer than any round trip.
const TIMEOUT: Duration = Duration::from_secs(5);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    enter_user_namespace()?;
    let relayed = || Testbed::builder().relay(RelaySettings::seeded(1)).build();
    for testbed in [Testbed::namespaces()?, relayed()?] {
        let mut times = round_trips(&testbed)?;
        times.sort_unstable();
        let percentile = |part: usize| times[times.len() * part / 100].as_nanos() as f64 / 1_000.0;
        let [min, p50, p99] = [percentile(0), percentile(50), percentile(99)];
        println!(
            "{}: round trip in µs: min {min:.1}, p50 {p50:.1}, p99 {p99:.1}",
            testbed.describe()
        );
    }
    flood(&relayed()?)
}

fn bind(host: &Host) -> io::Result<UdpSocket> {
    let socket = host.run(|| UdpSocket::bind((host.address(), 0))).flatten()?;
    socket.set_read_timeout(Some(TIMEOUT))?;
    Ok(socket)
}

/// Measures round trips between two hosts, one at a time.
fn round_trips(testbed: &Testbed) -> io::Result<Vec<Duration>> {
    let [near, far] = [bind(&testbed.hosts()[0])?, bind(&testbed.hosts()[1])?];
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

/// Sends as fast as possible and waits until the relay has forwarded or missed every frame.
fn flood(testbed: &Testbed) -> Result<(), Box<dyn std::error::Error>> {
    let [near, far] = [bind(&testbed.hosts()[0])?, bind(&testbed.hosts()[1])?];
    let relay = testbed.relay().ok_or("the testbed has no relay")?;
    let counters = || relay.counters(Direction::FirstToSecond);
    let to = far.local_addr()?;
    near.send_to(&PAYLOAD, to)?;
    far.recv(&mut [0; 200])?;
    while counters().arrived == 0 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let (started, before) = (Instant::now(), counters());
    for _ in 0..FRAMES {
        near.send_to(&PAYLOAD, to)?;
    }
    let sent = started.elapsed();
    let is_done = || counters().arrived + counters().missed >= before.arrived + FRAMES;
    while !is_done() && started.elapsed() < TIMEOUT * 4 {
        std::thread::sleep(Duration::from_millis(1));
    }
    let (time, done) = (started.elapsed().as_secs_f64(), counters().arrived - before.arrived);
    let (sent, missed) = (sent.as_secs_f64(), counters().missed);
    print!("as fast as possible: {done} of {FRAMES} frames in {time:.2} s, sent in {sent:.2} s: ");
    println!("{:.0} per second, {missed} missed", done as f64 / time);
    Ok(())
}
