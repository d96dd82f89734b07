//! Sends every frame of EtherType 0x88b5 back to where it came from, until it is interrupted: a
//! pong for `hairpin ping --protocol raw`.
//!
//! ```text
//! cargo run --release -p hairpin-stack --example raw_echo -- eth1
//! ```

use std::error::Error;

use hairpin_stack::{InterfaceSettings, RawFrames};

/// The first of those set aside for local experiments (IEEE 802).
const ETHER_TYPE: u16 = 0x88b5;

fn main() -> Result<(), Box<dyn Error>> {
    let interface = std::env::args().nth(1).ok_or("usage: raw_echo INTERFACE")?;
    let mut frames = RawFrames::open(&interface, ETHER_TYPE, &InterfaceSettings::default())?;
    eprintln!("{frames}");
    let own = frames.mac();
    loop {
        // One that spins leaves this out.
        frames.wait(None)?;
        while let Some(mut packet) = frames.receive()? {
            let bytes = frames.bytes_mut(&mut packet);
            bytes.copy_within(6..12, 0);
            bytes[6..12].copy_from_slice(&own);
            // All that have come leave by one system call. For one that finds no room it is lost.
            if let Err(packet) = frames.put(packet) {
                frames.give(packet);
            }
        }
        frames.flush()?;
    }
}
