//! The packet files of CME DataMine: market data packets without network headers.
//!
//! A record is the length of a packet, two bytes in little-endian order, and the packet as over UDP
//! (CME, "Packet Capture Dataset"). In some files two bytes with the channel's number precede the
//! length. The format has no magic number, so the first two records are checked.

use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr};

use super::buffer::Buffer;
use super::{CaptureError, LinkType, Payload};

/// The packet header: MsgSeqNum and SendingTime.
const PACKET_HEADER: usize = 12;
/// The size of a message and its header.
const MESSAGE_HEADER: usize = 10;
/// The schema of market data.
const SCHEMA: u16 = 1;

/// A record, located in the bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    /// The length with its prefix.
    pub(super) length: usize,
    /// SendingTime.
    pub(super) nanos: u64,
}

/// Returns the link type of a DataMine file, or `None` if the file has another format.
///
/// # Errors
/// Those of the file.
pub(super) fn detect<R: Read>(buffer: &mut Buffer<R>) -> Result<Option<LinkType>, CaptureError> {
    /// Two of the longest records.
    const ENOUGH: usize = 2 * (4 + (1 << 16));
    while buffer.unused().len() < ENOUGH && buffer.fill()? {}
    let links = [LinkType::DATAMINE, LinkType::DATAMINE_WITH_CHANNEL];
    Ok(links.into_iter().find(|link| {
        let bytes = buffer.unused();
        let next = first(bytes, prefix(*link)).and_then(|length| bytes.get(length..));
        next.is_some_and(|next| next.is_empty() || first(next, prefix(*link)).is_some())
    }))
}

/// Returns the length of a link type's prefix. The packet's length is its last two bytes.
fn prefix(link: LinkType) -> usize {
    if link == LinkType::DATAMINE_WITH_CHANNEL { 4 } else { 2 }
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|half| u16::from_le_bytes(*half))
}

/// Returns the length of a record that begins with a message of market data.
fn first(bytes: &[u8], prefix: usize) -> Option<usize> {
    let length = usize::from(half(bytes, prefix - 2)?);
    let message = prefix + PACKET_HEADER;
    let size = usize::from(half(bytes, message)?);
    let (block, schema) = (usize::from(half(bytes, message + 2)?), half(bytes, message + 6)?);
    let is_message = schema == SCHEMA && block + MESSAGE_HEADER <= size;
    (is_message && size + PACKET_HEADER <= length).then_some(prefix + length)
}

/// Returns the record at the beginning of `bytes`: `Ok(None)` if it is incomplete.
pub(super) fn record(link: LinkType, bytes: &[u8]) -> Result<Option<Record>, &'static str> {
    let prefix = prefix(link);
    let Some(length) = half(bytes, prefix - 2).map(usize::from) else { return Ok(None) };
    if length < PACKET_HEADER {
        return Err("DataMine record shorter than a packet header");
    }
    Ok(bytes.get(prefix..prefix + length).map(|packet| {
        let time = packet[4..].first_chunk().expect("the packet has a header");
        Record { length: prefix + length, nanos: u64::from_le_bytes(*time) }
    }))
}

/// Returns the packet of a record as a datagram. The file has no addresses: the destination is
/// 0.0.0.1 for the incremental feed, 0.0.0.2 for instrument definitions, 0.0.0.3 and 0.0.0.4 for
/// snapshots of price books and of order books; the port is the channel's number.
pub(super) fn payload(link: LinkType, bytes: &[u8]) -> Option<Payload<'_>> {
    let prefix = prefix(link);
    let bytes_of_packet = bytes.get(prefix..)?;
    let channel = if prefix == 4 { half(bytes, 0)? } else { 0 };
    let feed = match half(bytes_of_packet, PACKET_HEADER + 4) {
        Some(27 | 29 | 41 | 54..=58 | 63) => 2,
        Some(38 | 52 | 69) => 3,
        Some(44 | 53) => 4,
        _ => 1,
    };
    Some(Payload::Datagram {
        source: SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)),
        destination: SocketAddr::from((Ipv4Addr::new(0, 0, 0, feed), channel)),
        bytes: bytes_of_packet,
    })
}

#[cfg(test)]
mod tests {
    use super::super::{CaptureReader, Datagrams};
    use super::*;

    /// Returns a packet that consists of an empty message of this template.
    fn packet(sequence: u32, template: u16) -> Vec<u8> {
        let header = [10, 0, template, SCHEMA, 9].map(u16::to_le_bytes).concat();
        let time = (5_000_000_000 + u64::from(sequence)).to_le_bytes();
        [&sequence.to_le_bytes()[..], &time, &header].concat()
    }

    fn file(channel: Option<u16>, packets: &[Vec<u8>]) -> Vec<u8> {
        let record = |packet: &Vec<u8>| {
            let channel = channel.map_or(vec![], |channel| channel.to_le_bytes().to_vec());
            [&channel[..], &(packet.len() as u16).to_le_bytes(), packet].concat()
        };
        packets.iter().flat_map(record).collect()
    }

    #[test]
    fn packets_have_sending_time_and_a_destination_for_each_feed() {
        let packets = [packet(1, 46), packet(2, 54), packet(3, 52), packet(4, 53), packet(5, 12)];
        for (channel, port) in [(None, 0), (Some(310), 310)] {
            let file = file(channel, &packets);
            let mut datagrams = Datagrams::new(CaptureReader::new(&file[..]).unwrap());
            for (packet, feed) in packets.iter().zip([1, 2, 3, 4, 1]) {
                let datagram = datagrams.next().unwrap().unwrap();
                assert_eq!(datagram.destination.to_string(), format!("0.0.0.{feed}:{port}"));
                assert_eq!(datagram.bytes, packet);
                let time = 5_000_000_000 + u64::from(packet[0]);
                assert_eq!(datagram.time.unwrap().utc.as_nanos(), time);
            }
            assert!(datagrams.next().unwrap().is_none());
        }
    }

    #[test]
    fn truncated_and_damaged_files_end_with_an_error() {
        let packets = [packet(1, 46), packet(2, 46), packet(3, 46)];
        let whole = file(None, &packets);
        let mut reader = CaptureReader::new(&whole[..whole.len() - 1]).unwrap();
        assert!(reader.advance().unwrap() && reader.advance().unwrap());
        assert!(matches!(reader.advance(), Err(CaptureError::Truncated { at: 48, left: 23 })));
        let damaged = [&whole[..], &[3, 0, 0, 0, 0]].concat();
        let mut reader = CaptureReader::new(&damaged[..]).unwrap();
        assert!((0..3).all(|_| reader.advance().unwrap()));
        let error = reader.advance().unwrap_err().to_string();
        assert_eq!(error, "DataMine record shorter than a packet header at byte 72");
    }

    #[test]
    fn other_files_are_no_datamine_files() {
        let whole = file(None, &[packet(1, 46)]);
        for (at, value) in [(0, 21), (14, 9), (20, 2), (16, 1)] {
            let mut other = whole.clone();
            other[at] = value;
            assert!(matches!(CaptureReader::new(&other[..]), Err(CaptureError::NoCapture)), "{at}");
        }
        let followed = [&whole[..], b"anything else that is long enough"].concat();
        assert!(matches!(CaptureReader::new(&followed[..]), Err(CaptureError::NoCapture)));
    }
}
