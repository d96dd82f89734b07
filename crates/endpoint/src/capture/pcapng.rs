//! Decoding of pcapng blocks with packets and interfaces.
//!
//! `pcap-file` separates the blocks. Their contents are decoded here, because `pcap-file` rejects
//! files that the format allows: options without an end mark, reserved fields other than 0.

use std::ops::Range;

use byteorder_slice::ByteOrder;
use byteorder_slice::result::ReadSlice;

use super::{CaptureClock, Interface, LinkType};

/// The block types.
pub(super) const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

/// The code that ends a list of options. It may be missing.
const END_OF_OPTIONS: u16 = 0;

/// The text in an interface's description that names the clock, in captures recorded by Hairpin.
pub(super) const CLOCKS: [(CaptureClock, &str); 2] =
    [(CaptureClock::Software, "clock=software"), (CaptureClock::Hardware, "clock=hardware")];

/// A decoded block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content {
    /// A section header: interface numbers start again at 0.
    Section,
    Interface(Box<Interface>),
    Packet(Packet),
    /// Any other block.
    Other,
}

/// A packet, located in the body of its block.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) interface: u32,
    /// The time in units of the interface's clock.
    pub(super) time: Option<u64>,
    pub(super) bytes: Range<usize>,
    pub(super) length: u32,
    /// `true` if the interface's snapshot length determines the end of the packet.
    pub(super) simple: bool,
}

/// Decodes a block of this type, or returns a description of the error.
#[inline]
pub(super) fn read<B: ByteOrder>(kind: u32, body: &[u8]) -> Result<Content, &'static str> {
    match kind {
        ENHANCED_PACKET => packet::<B>(body, false)
            .map(Content::Packet)
            .ok_or("enhanced packet block shorter than its packet"),
        SIMPLE_PACKET => {
            simple::<B>(body).map(Content::Packet).ok_or("simple packet block without a length")
        }
        OBSOLETE_PACKET => packet::<B>(body, true)
            .map(Content::Packet)
            .ok_or("packet block shorter than its packet"),
        SECTION => Ok(Content::Section),
        INTERFACE => interface::<B>(body)
            .map(|interface| Content::Interface(Box::new(interface)))
            .ok_or("interface description block too short"),
        _ => Ok(Content::Other),
    }
}

/// Decodes interface, time in two halves, captured and original length, packet. The obsolete block
/// has two bytes for the interface, and two for the drop count.
#[inline]
fn packet<B: ByteOrder>(mut body: &[u8], is_obsolete: bool) -> Option<Packet> {
    const HEADER: usize = 20;
    let mut next = || body.read_u32::<B>().ok();
    let (interface, high, low) = (next()?, next()?, next()?);
    let (captured, length) = (next()? as usize, next()?);
    // The byte order determines which half of the word comes first.
    let interface = match is_obsolete {
        true => u32::from(first_half::<B>(interface)),
        false => interface,
    };
    let time = Some(u64::from(high) << 32 | u64::from(low));
    let bytes = HEADER..HEADER + captured;
    (captured <= body.len()).then_some(Packet { interface, time, bytes, length, simple: false })
}

fn first_half<B: ByteOrder>(word: u32) -> u16 {
    let mut bytes = [0; 4];
    B::write_u32(&mut bytes, word);
    B::read_u16(&bytes[..2])
}

/// Decodes the original length. The rest of the block is the packet, padded or truncated at the
/// snapshot length.
fn simple<B: ByteOrder>(body: &[u8]) -> Option<Packet> {
    const HEADER: usize = 4;
    let mut rest = body;
    let length = rest.read_u32::<B>().ok()?;
    let bytes = HEADER..HEADER + rest.len().min(length as usize);
    Some(Packet { interface: 0, time: None, bytes, length, simple: true })
}

/// Decodes link type, two reserved bytes, snapshot length and options.
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
    let has_text = |(_, text): &&(_, &str)| interface.description.contains(*text);
    interface.clock =
        CLOCKS.iter().find(has_text).map_or(CaptureClock::Unknown, |(clock, _)| *clock);
    Some(interface)
}

/// Returns the next option as code and value. `None` at the end mark or if an option is truncated.
fn option<'a, B: ByteOrder>(options: &mut &'a [u8]) -> Option<(u16, &'a [u8])> {
    let code = options.read_u16::<B>().ok()?;
    let length = usize::from(options.read_u16::<B>().ok()?);
    let value = options.get(..length).filter(|_| code != END_OF_OPTIONS)?;
    *options = options.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((code, value))
}
