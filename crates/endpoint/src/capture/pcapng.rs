//! The blocks of a pcapng file that tell of packets and interfaces.
//!
//! `pcap-file` tells blocks apart; what is in them is read here, since it refuses files that the
//! format allows: options without an end mark, reserved fields that are not 0.

use std::ops::Range;

use byteorder_slice::ByteOrder;
use byteorder_slice::result::ReadSlice;

use super::{CaptureClock, Interface, LinkType};

/// Types of blocks.
pub(super) const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// The end of a list of options, which may be missing.
const END_OF_OPTIONS: u16 = 0;

/// What recorded captures say of the clock in an interface's description, which any other may too.
pub(super) const CLOCKS: [(CaptureClock, &str); 2] =
    [(CaptureClock::Software, "clock=software"), (CaptureClock::Hardware, "clock=hardware")];

/// A block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A section begins, and with it the numbers of interfaces.
    Section,
    Interface(Box<Interface>),
    Packet(Packet),
    /// None of these.
    Other,
}

/// A packet, by where it lies in the body of its block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) interface: u32,
    /// In units of the interface's clock.
    pub(super) time: Option<u64>,
    pub(super) bytes: Range<usize>,
    pub(super) length: u32,
    /// Whether the interface's longest frame says where the packet ends.
    pub(super) is_simple: bool,
}

/// Reads a block of this type; or says what is wrong with it.
#[inline]
pub(super) fn read<B: ByteOrder>(kind: u32, body: &[u8]) -> Result<Content, &'static str> {
    match kind {
        ENHANCED_PACKET => packet::<B>(body, false)
            .map(Content::Packet)
            .ok_or("an enhanced packet block that is too short for its packet"),
        SIMPLE_PACKET => {
            simple::<B>(body).map(Content::Packet).ok_or("a simple packet block of no length")
        }
        OBSOLETE_PACKET => packet::<B>(body, true)
            .map(Content::Packet)
            .ok_or("a packet block that is too short for its packet"),
        SECTION => Ok(Content::Section),
        INTERFACE => interface::<B>(body)
            .map(|interface| Content::Interface(Box::new(interface)))
            .ok_or("an interface description block that is too short"),
        _ => Ok(Content::Other),
    }
}

/// Interface, time in two halves, captured and original length, packet. The obsolete block has two
/// bytes for the interface, and two for packets dropped.
#[inline]
fn packet<B: ByteOrder>(mut body: &[u8], is_obsolete: bool) -> Option<Packet> {
    const HEADER: usize = 20;
    let mut next = || body.read_u32::<B>().ok();
    let (interface, high, low) = (next()?, next()?, next()?);
    let (captured, length) = (next()? as usize, next()?);
    // Two halves of a word: which is first is a matter of the byte order.
    let interface = match is_obsolete {
        true => u32::from(first_half::<B>(interface)),
        false => interface,
    };
    let time = Some(u64::from(high) << 32 | u64::from(low));
    let bytes = HEADER..HEADER + captured;
    (captured <= body.len()).then_some(Packet { interface, time, bytes, length, is_simple: false })
}

fn first_half<B: ByteOrder>(word: u32) -> u16 {
    let mut bytes = [0; 4];
    B::write_u32(&mut bytes, word);
    B::read_u16(&bytes[..2])
}

/// The original length, and what is left of the block: padded, or cut at the longest frame.
fn simple<B: ByteOrder>(body: &[u8]) -> Option<Packet> {
    const HEADER: usize = 4;
    let mut rest = body;
    let length = rest.read_u32::<B>().ok()?;
    let bytes = HEADER..HEADER + rest.len().min(length as usize);
    Some(Packet { interface: 0, time: None, bytes, length, is_simple: true })
}

/// Link type, two bytes that are reserved, the longest frame, options.
fn interface<B: ByteOrder>(mut body: &[u8]) -> Option<Interface> {
    let link = body.read_u16::<B>().ok()?;
    body.read_u16::<B>().ok()?;
    let longest_frame = body.read_u32::<B>().ok()?;
    let mut interface = Interface::new(LinkType(link.into()), longest_frame);
    while let Some((code, value)) = option::<B>(&mut body) {
        let text = || String::from_utf8_lossy(value).into_owned();
        match (code, value) {
            (2, _) => interface.name = text(),
            (3, _) => interface.description = text(),
            (9, [resolution, ..]) => interface.set_resolution(*resolution),
            (14, mut seconds) => {
                interface.offset = seconds.read_i64::<B>().unwrap_or_default();
            }
            _ => {}
        }
    }
    let said = |(_, words): &&(_, &str)| interface.description.contains(*words);
    interface.clock = CLOCKS.iter().find(said).map_or(CaptureClock::Unknown, |(clock, _)| *clock);
    Some(interface)
}

/// The next option, code and value; none behind the end mark, or one that is cut short.
fn option<'a, B: ByteOrder>(options: &mut &'a [u8]) -> Option<(u16, &'a [u8])> {
    let code = options.read_u16::<B>().ok()?;
    let length = usize::from(options.read_u16::<B>().ok()?);
    let value = options.get(..length).filter(|_| code != END_OF_OPTIONS)?;
    *options = options.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((code, value))
}
