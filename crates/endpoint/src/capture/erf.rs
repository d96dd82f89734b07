//! The records of ERF files, as DAG cards and capture appliances write them.
//!
//! A record is a header of 16 bytes, its extension headers, and the packet (Endace, "Extensible
//! Record Format"; Wireshark, `wiretap/erf.c`):
//!
//! | bytes | field |
//! |---|---|
//! | 0..8 | time: 32 bits of seconds and 32 of fractions, little-endian |
//! | 8 | type; bit 7: extension headers of 8 bytes follow, each but the last with bit 7 set |
//! | 9 | flags: the port in bits 0 and 1 |
//! | 10..12 | length of the record, big-endian |
//! | 12..14 | packets lost, or a color |
//! | 14..16 | length of the packet on the wire |
//!
//! Two bytes of padding precede an Ethernet frame, and the record may be padded after it. The
//! format has no magic number, so the first two records are checked.

use std::io::Read;

use super::buffer::Buffer;
use super::decapsulation::Header;
use super::{CaptureError, LinkType};

/// The length of a record's header.
pub(super) const HEADER: usize = 16;
/// The most extension headers that are followed: those in use are fewer than ten.
const MOST_EXTENSIONS: usize = 16;
/// Records without a packet: of the appliance's state, and to fill space.
const META: u8 = 27;
const PAD: u8 = 48;
/// The first second of the year 2000, before which no ERF file was written.
const FIRST_SECOND: u32 = 946_684_800;
/// The most seconds between the first two records of a file that is recognized: a day.
const MOST_BETWEEN: u32 = 86_400;

/// A record, located in the bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Record {
    /// The length with the header.
    pub(super) length: usize,
    /// The time in fractions of 2^-32 of a second.
    pub(super) time: u64,
    /// The lengths of the record's packet with the record's headers: captured, and on the wire.
    pub(super) captured: usize,
    pub(super) wire: u32,
    /// `true` if the record has no packet.
    pub(super) padding: bool,
}

/// Returns the record at the beginning of `bytes`: `Ok(None)` if it is incomplete.
pub(super) fn record(bytes: &[u8]) -> Result<Option<Record>, &'static str> {
    let Some((header, _)) = bytes.split_first_chunk::<HEADER>() else { return Ok(None) };
    let half = |at: usize| usize::from(u16::from_be_bytes([header[at], header[at + 1]]));
    let length = half(10);
    let Some(record) = bytes.get(..length) else { return Ok(None) };
    let kind = header[8] & 0x7f;
    if matches!(kind, META | PAD) && length >= HEADER {
        return Ok(Some(Record { length, time: 0, captured: 0, wire: 0, padding: true }));
    }
    let start = start(record).ok_or("ERF record shorter than its headers")?;
    let wire = half(14);
    let [time @ .., _, _, _, _, _, _, _, _] = *header;
    Ok(Some(Record {
        length,
        time: u64::from_le_bytes(time),
        captured: length.min(start + wire),
        wire: (start + wire) as u32,
        padding: false,
    }))
}

/// Returns the place of the packet in a record.
fn start(record: &[u8]) -> Option<usize> {
    let mut start = HEADER;
    let mut has_more = record.get(8)? & 0x80 != 0;
    for _ in 0..MOST_EXTENSIONS {
        if !has_more {
            break;
        }
        has_more = record.get(start)? & 0x80 != 0;
        start += 8;
    }
    if is_ethernet(record[8]) {
        start += 2;
    }
    (start <= record.len()).then_some(start)
}

/// Returns `true` for the types of Ethernet frames: plain, colored, with a stream, with a hash.
fn is_ethernet(kind: u8) -> bool {
    matches!(kind & 0x7f, 2 | 11 | 16 | 20)
}

/// Returns the first header of a record's packet and its bytes; `None` for other types.
pub(super) fn contents(record: &[u8]) -> Option<(Header, &[u8])> {
    let header = match record.get(8)? & 0x7f {
        22 | 23 => Header::Ip,
        kind if is_ethernet(kind) => Header::Ethernet,
        _ => return None,
    };
    Some((header, record.get(start(record)?..)?))
}

/// Returns the Ethernet frame of a record; `None` for other types.
pub(super) fn ethernet(record: &[u8]) -> Option<&[u8]> {
    match contents(record)? {
        (Header::Ethernet, frame) => Some(frame),
        _ => None,
    }
}

/// Returns `true` if a file begins with ERF records.
///
/// # Errors
/// Those of the file.
pub(super) fn detect<R: Read>(buffer: &mut Buffer<R>) -> Result<bool, CaptureError> {
    /// Two of the longest records.
    const ENOUGH: usize = 2 << 16;
    /// The records that are checked.
    const MOST: usize = 64;
    while buffer.unused().len() < ENOUGH && buffer.fill()? {}
    let mut rest = buffer.unused();
    let (mut records, mut first) = (0, None);
    while records < MOST {
        match record(rest) {
            Ok(Some(found)) if is_plausible(rest, &found, first) => {
                if !found.padding {
                    first = first.or(Some(found.time));
                }
                rest = &rest[found.length..];
                records += 1;
            }
            Ok(None) => break,
            _ => return Ok(false),
        }
    }
    // The first record may be the only one, and the file may end within the second.
    let is_enough = records > 1 || rest.len() < HEADER || contents(rest).is_some();
    Ok(first.is_some() && is_enough)
}

/// Returns `true` for a record that may be among the first of a file. `first`: the time of the
/// first one with a packet.
fn is_plausible(bytes: &[u8], record: &Record, first: Option<u64>) -> bool {
    let seconds = |time: u64| (time >> 32) as u32;
    let is_near = |time: u64| {
        first.is_none_or(|first| seconds(first).abs_diff(seconds(time)) <= MOST_BETWEEN)
    };
    let is_known = || contents(&bytes[..record.length]).is_some();
    record.padding || (is_known() && seconds(record.time) >= FIRST_SECOND && is_near(record.time))
}

/// The link type of the records, as in a pcap file of them.
pub(super) const LINK: LinkType = LinkType(197);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::files::datagram_of;
    use super::super::{CaptureReader, Datagrams};
    use super::*;

    /// Returns a record with extension headers, padded to a multiple of 8 bytes.
    fn record_of(kind: u8, extensions: usize, nanos: u64, packet: &[u8], wire: u16) -> Vec<u8> {
        let (seconds, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        let fraction = ((u128::from(rest) << 32).div_ceil(1_000_000_000)) as u64;
        let mut record = (seconds << 32 | fraction).to_le_bytes().to_vec();
        record.extend([kind | if extensions > 0 { 0x80 } else { 0 }, 4]);
        record.extend([0; 4]);
        record.extend(wire.to_be_bytes());
        for left in (0..extensions).rev() {
            record.extend([if left > 0 { 0x83 } else { 3 }, 1, 2, 3, 4, 5, 6, 7]);
        }
        if matches!(kind, 2 | 11 | 16 | 20) {
            record.extend([0; 2]);
        }
        record.extend(packet);
        record.resize(record.len().next_multiple_of(8), 0);
        let length = (record.len() as u16).to_be_bytes();
        record[10..12].copy_from_slice(&length);
        record
    }

    const TIME: u64 = 1_700_000_000_123_456_789;

    #[test]
    fn reads_datagrams_of_every_type_with_nanoseconds() {
        let frame = datagram_of(&[1, 2, 3]);
        let wire = frame.len() as u16;
        for kind in [2, 11, 16, 20] {
            for extensions in [0, 1, 3] {
                let later = TIME + 1;
                let file = [
                    record_of(META, 0, TIME, &[7; 40], 40),
                    record_of(kind, extensions, TIME, &frame, wire),
                    record_of(PAD, 0, 0, &[], 0),
                    record_of(kind, extensions, later, &frame, wire),
                    // An IPv4 packet.
                    record_of(22, extensions, later, &frame[14..], wire - 14),
                ];
                let file = file.concat();
                let mut datagrams = Datagrams::new(CaptureReader::new(&file[..]).unwrap());
                for time in [TIME, later, later] {
                    let datagram = datagrams.next().unwrap().unwrap();
                    assert_eq!(datagram.bytes, [1, 2, 3]);
                    assert_eq!(datagram.time.unwrap().utc.as_nanos(), time);
                    assert_eq!(datagram.time.unwrap().precision.as_nanos(), 1);
                }
                assert!(datagrams.next().unwrap().is_none());
                assert_eq!(datagrams.counters().packets, 3);
            }
        }
    }

    #[test]
    fn truncated_packets_and_files_are_errors() {
        let frame = datagram_of(&[1, 2, 3]);
        let cut = record_of(2, 0, TIME, &frame[..38], frame.len() as u16);
        let whole = record_of(2, 0, TIME, &frame, frame.len() as u16);
        let file = [&whole[..], &cut, &whole[..30]].concat();
        let mut datagrams = Datagrams::new(CaptureReader::new(&file[..]).unwrap());
        assert!(datagrams.next().unwrap().is_some());
        assert!(matches!(datagrams.next(), Err(CaptureError::Truncated { left: 30, .. })));
        assert_eq!(datagrams.counters().cut_packets, 1);
    }

    #[test]
    fn other_files_are_no_erf_files() {
        let frame = datagram_of(&[1, 2, 3]);
        let whole = record_of(2, 0, TIME, &frame, frame.len() as u16);
        for (at, value) in [(7, 0), (8, 99), (10, 200), (11, 4)] {
            let mut other = [&whole[..], &whole].concat();
            other[at] = value;
            assert!(matches!(CaptureReader::new(&other[..]), Err(CaptureError::NoCapture)), "{at}");
        }
        let followed = [&whole[..], b"anything else that is long enough"].concat();
        assert!(matches!(CaptureReader::new(&followed[..]), Err(CaptureError::NoCapture)));
    }
    proptest! {
        #[test]
        fn never_panics_on_any_bytes(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..12),
        ) {
            let frame = datagram_of(&[1, 2, 3]);
            let mut file: Vec<u8> = [2, 16, 22, PAD]
                .into_iter()
                .flat_map(|kind| record_of(kind, 1, TIME, &frame, frame.len() as u16))
                .collect();
            for (place, value) in changes {
                *place.get_mut(&mut file) = value;
            }
            if let Ok(reader) = CaptureReader::new(&file[..]) {
                let mut datagrams = Datagrams::new(reader);
                while let Ok(Some(_)) = datagrams.next() {}
            }
        }
    }
}
