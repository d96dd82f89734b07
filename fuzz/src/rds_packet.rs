//! Arbitrary bytes to the decoder of reliable datagrams.
//!
//! Checks:
//!
//! - No packet causes a panic, and no accepted packet is longer than the input.
//! - A packet is accepted only with the right checksum. With a corrected checksum, only the length,
//!   the version and the type decide.
//! - A decoded header is encoded to the same bytes.
//! - A packet quoted by an ICMP error, and the destination port, are read as from the whole packet.
//! - A reject packet can be decoded and names the packet that it answers.
//!
//! Input: a packet.

use hairpin_rds::packet::{self, HEADER, Header, Kind, PacketError};

use crate::Seed;

/// Runs one input.
pub fn run(bytes: &[u8]) {
    let mut corrected = bytes.to_vec();
    fill_checksum(&mut corrected);
    let decoded = Header::decode(&corrected, crc32c::crc32c_append);
    match Header::decode(bytes, crc32c::crc32c_append) {
        Ok(_) => assert_eq!(bytes, corrected, "a wrong checksum was accepted"),
        Err(PacketError::Checksum) => {
            assert!(bytes != corrected && decoded.is_ok(), "a right checksum was refused");
        }
        Err(error) => assert_eq!(decoded.as_ref().err(), Some(&error)),
    }
    match decoded {
        Ok((header, payload)) => check_packet(&corrected, &header, payload),
        Err(error) => assert_ne!(error, PacketError::Checksum),
    }
}

/// Checks a packet that was accepted.
fn check_packet(bytes: &[u8], header: &Header, payload: &[u8]) {
    let mut again = [&[0; HEADER][..], payload].concat();
    header.encode(&mut again, crc32c::crc32c_append);
    assert_eq!(again, bytes[..again.len()]);
    assert_eq!(packet::destination_port(bytes), Some(header.destination_port));
    let quoted = Header::decode_quoted(&bytes[..HEADER]);
    assert_eq!(quoted.as_ref(), Some(header).filter(|header| header.kind != Kind::Reject));
    let mut answer = [0; HEADER];
    if packet::reject(bytes, &mut answer, crc32c::crc32c_append).is_some() {
        let (reject, rest) =
            Header::decode(&answer, crc32c::crc32c_append).expect("a reject packet is valid");
        assert_eq!((reject.kind, reject.echo, rest), (Kind::Reject, header.timestamp, &[][..]));
        assert_eq!(reject.destination_incarnation, header.source_incarnation);
        assert_eq!(reject.destination_port, header.source_port);
    }
}

/// Corrects the checksum of a packet, as far as its length field allows.
pub(crate) fn fill_checksum(bytes: &mut [u8]) {
    let Some(header) = bytes.first_chunk::<HEADER>() else { return };
    let length = usize::from(u16::from_be_bytes([header[6], header[7]]));
    let Some(packet) = bytes.get_mut(..HEADER + length) else { return };
    let crc = crc32c::crc32c(&packet[4..]);
    packet[..4].copy_from_slice(&crc.to_be_bytes());
}

/// Returns a packet of each type, one with padding and one that is cut off.
#[must_use]
pub fn seeds() -> Vec<Seed> {
    let packet = |kind: u8, length: u8| {
        let mut bytes: Vec<u8> = (0..HEADER as u8 + length).collect();
        (bytes[4], bytes[5], bytes[6], bytes[7]) = (0x10 | kind, 3, 0, length);
        fill_checksum(&mut bytes);
        bytes
    };
    vec![
        ("data".to_owned(), packet(1, 5)),
        ("ack".to_owned(), packet(2, 8)),
        ("probe".to_owned(), packet(3, 0)),
        ("challenge".to_owned(), packet(4, 0)),
        ("reject".to_owned(), packet(5, 0)),
        ("padding".to_owned(), [packet(3, 0), vec![0; 20]].concat()),
        ("cut".to_owned(), packet(1, 5)[..HEADER + 2].to_vec()),
    ]
}
