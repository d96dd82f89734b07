//! Sends every frame of EtherType 0x88b5 back to its source until interrupted: a pong for `hairpin
//! ping --protocol raw`.
//!
//! ```text
//! cargo run --release -p hairpin-stack --example raw_echo -- eth1
//! ```

use std::error::Error;

use hairpin_stack::{InterfaceSettings, RawFrames};

/// The first EtherType for local experiments (IEEE 802).
const ETHER_TYPE: u16 = 0x88b5;

fn main() -> Result<(), Box<dyn Error>> {
    let interface = std::env::args().nth(1).ok_or("usage: raw_echo INTERFACE")?;
    let mut frames = RawFrames::open(&interface, ETHER_TYPE, &InterfaceSettings::default())?;
    eprintln!("{frames}");
    let own = frames.mac();
    loop {
        // A spinning program omits this call.
        frames.wait(None)?;
        while let Some(mut packet) = frames.receive()? {
            let bytes = frames.bytes_mut(&mut packet);
            bytes.copy_within(6..12, 0);
            bytes[6..12].copy_from_slice(&own);
            // One system call sends all answers. A frame that finds the ring full is dropped.
            if let Err(packet) = frames.enqueue(packet) {
                frames.release(packet);
            }
        }
        frames.flush()?;
    }
}
