//! Odd frames to a program with and without the library: it receives the same.

use std::io::{BufRead, BufReader};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::process::{ChildStdout, Stdio};

use hairpin_netsim::Census;

use crate::odd_frames::{
    Batch, CLASSES, GROUP, OddFrames, PORTS, Record, Records, SOURCE_PORT, Side, compare,
    destinations,
};
use crate::support::{Running, alone, command, counter, pause, testbed};

const SEED: u64 = 0x0DD5;
const BATCHES: u32 = 40;
const FRAMES: u32 = 60;

/// A running program, and the lines that it prints.
struct Receiver {
    program: Running,
    lines: BufReader<ChildStdout>,
}

impl Receiver {
    fn start(side: &Side, accelerated: bool) -> Self {
        let (host, ends) = (&side.testbed.hosts()[1], side.ends());
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/programs/receiver.py");
        let mut python = command("/usr/bin/python3", accelerated);
        python.arg(path);
        python.args([ends.to, ends.from].map(|ip| ip.to_string()));
        python.args([ends.to_v6, ends.from_v6].map(|ip| ip.to_string()));
        python.args([GROUP.to_string(), SOURCE_PORT.to_string()]);
        python.args(PORTS.map(|port| port.to_string()));
        python.stdout(Stdio::piped());
        let mut program = Running(host.spawn(python, &[]).unwrap());
        let lines = BufReader::new(program.0.stdout.take().unwrap());
        let mut this = Self { program, lines };
        assert_eq!(this.line(), "ready");
        this
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        let length = self.lines.read_line(&mut line).unwrap();
        assert!(length > 0, "the program has ended, or waited for a datagram for two minutes");
        line.trim_end().to_owned()
    }

    fn record(&mut self) -> Record {
        let line = self.line();
        let mut fields = line.split(' ');
        let mut next = || fields.next().unwrap_or_default();
        let number = next().parse().unwrap();
        let address: IpAddr = next().parse().unwrap();
        let source = SocketAddr::new(address, next().parse().unwrap());
        let payload = next()
            .as_bytes()
            .chunks(2)
            .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap());
        (number, source, payload.collect())
    }

    /// Returns the records until the markers of a batch.
    fn batch(&mut self, number: u32) -> Records {
        let mut batch = Batch::new(number);
        while !batch.is_complete() {
            batch.add(self.record());
        }
        batch.records
    }
}

/// Waits until a counter of the accelerated program is above `least`: its page is written later.
fn await_counter(receiver: &Receiver, name: &str, least: u64) {
    let value = || counter(receiver.program.0.id(), name);
    for _ in 0..600 {
        if value() > least {
            return;
        }
        pause(100);
    }
    panic!("{name}: {}, not above {least}", value());
}

#[test]
#[ignore = "needs root"]
fn program_receives_the_odd_frames_that_the_kernel_accepts() {
    let _alone = alone();
    let sides = [(); 2].map(|()| Side::new(testbed(1)));
    let [mut kernel, mut bypass] = [0, 1].map(|at| Receiver::start(&sides[at], at == 1));
    let mut frames = OddFrames::new(SEED, sides[0].ends(), &destinations());
    let mut census = Census::default();
    for batch in 0..BATCHES {
        let mut sent = frames.good();
        sent.extend((0..FRAMES).map(|_| frames.next()));
        let markers = frames.markers(batch);
        for side in &sides {
            sent.iter().chain(&markers).for_each(|frame| side.send(frame));
        }
        sent.iter().for_each(|frame| census.count(frame.class));
        let (by_kernel, by_bypass) = (kernel.batch(batch), bypass.batch(batch));
        compare(&sent, &by_kernel, &by_bypass, &mut census);
    }
    census.iter().for_each(|(class, count)| println!("{count:6} {class}"));
    census.require(&CLASSES).unwrap();
    census.require(&["delivered by both", "kernel only", "stack only"]).unwrap();
    // More than half of the datagrams bypass the kernel.
    await_counter(&bypass, "udp.received_bypass", census.of("delivered by both") / 2);
    for cause in ["malformed", "wrong_checksum", "martian", "other_mac"] {
        await_counter(&bypass, &format!("xdp.dropped.{cause}"), 0);
    }
}
