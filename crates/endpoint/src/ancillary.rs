//! What the kernel says of a datagram beside it: control messages (cmsg(3)).

use hairpin_time::Utc;

use crate::Timestamp;

/// Room for the control messages of one datagram: SCM_TIMESTAMPING takes 64 bytes, SO_RXQ_OVFL 24.
pub(crate) const ANCILLARY_LENGTH: usize = 128;

/// Room for control messages, aligned as they are: they begin with a `size_t`.
#[repr(C, align(8))]
pub(crate) struct AncillaryBuffer(pub(crate) [u8; ANCILLARY_LENGTH]);

/// What was found among the control messages of one datagram.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ancillary {
    pub(crate) timestamp: Timestamp,
    /// Datagrams dropped on this socket up to this one, modulo 2^32; absent while there are none.
    pub(crate) drops: Option<u32>,
}

/// ```text
/// 0       8      12     16                  length, rounded up to 8
/// | length | level | type | data ... | padding | next message
/// ```
/// The length counts from its own first byte to the end of the data.
const HEADER: usize = 16;
const _: () = assert!(size_of::<libc::cmsghdr>() == HEADER, "written for 64-bit Linux");

impl Ancillary {
    /// Reads the messages in `bytes`; what is not known or cut short is passed over.
    pub(crate) fn parse(mut bytes: &[u8]) -> Self {
        let mut found = Self::default();
        while let Some((header, _)) = bytes.split_first_chunk::<HEADER>() {
            let length = u64::from_ne_bytes(part(header, 0)) as usize;
            let level = i32::from_ne_bytes(part(header, 8));
            let kind = i32::from_ne_bytes(part(header, 12));
            let Some(data) = bytes.get(HEADER..length) else { break };
            if level == libc::SOL_SOCKET {
                found.take(kind, data);
            }
            bytes = bytes.get(length.next_multiple_of(8)..).unwrap_or_default();
        }
        found
    }

    fn take(&mut self, kind: i32, data: &[u8]) {
        match kind {
            libc::SCM_TIMESTAMPING => self.timestamp = timestamp(data),
            libc::SO_RXQ_OVFL => {
                self.drops = data.first_chunk().map(|&count| u32::from_ne_bytes(count));
            }
            _ => {}
        }
    }
}

/// Three times of 16 bytes (Linux, Documentation/networking/timestamping.rst): software, one no
/// longer used, hardware. One that was not taken is zero.
fn timestamp(data: &[u8]) -> Timestamp {
    if let Some(utc) = time(data, 32) {
        return Timestamp::Hardware(utc);
    }
    time(data, 0).map_or(Timestamp::None, Timestamp::Software)
}

fn time(data: &[u8], offset: usize) -> Option<Utc> {
    let time: &[u8; 16] = data.get(offset..)?.first_chunk()?;
    let seconds = u64::from_ne_bytes(part(time, 0));
    let nanos = u64::from_ne_bytes(part(time, 8));
    let total = seconds.checked_mul(1_000_000_000)?.checked_add(nanos)?;
    (total != 0).then_some(Utc::from_nanos(total))
}

/// `N` bytes of a header at a constant offset within it.
fn part<const N: usize, const M: usize>(header: &[u8; M], offset: usize) -> [u8; N] {
    *header[offset..].first_chunk().expect("offsets are constants within the header")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + data.len()) as u64).to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    fn stamps(software: (u64, u64), hardware: (u64, u64)) -> Vec<u8> {
        let words = [software.0, software.1, 0, 0, hardware.0, hardware.1];
        let data: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        message(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &data)
    }

    #[test]
    fn a_zero_timestamp_is_none() {
        assert_eq!(Ancillary::parse(&stamps((0, 0), (0, 0))).timestamp, Timestamp::None);
        assert_eq!(Ancillary::parse(&[]).timestamp, Timestamp::None);
    }

    #[test]
    fn prefers_the_hardware_timestamp() {
        let software = Timestamp::Software(Utc::from_nanos(2_000_000_003));
        assert_eq!(Ancillary::parse(&stamps((2, 3), (0, 0))).timestamp, software);
        let hardware = Timestamp::Hardware(Utc::from_nanos(4_000_000_005));
        assert_eq!(Ancillary::parse(&stamps((2, 3), (4, 5))).timestamp, hardware);
    }

    #[test]
    fn finds_the_drops_behind_messages_it_does_not_know() {
        let mut bytes = message(libc::SOL_SOCKET, 9_999, &[1, 2, 3]);
        bytes.extend(message(libc::IPPROTO_IP, libc::SO_RXQ_OVFL, &7_u32.to_ne_bytes()));
        assert_eq!(Ancillary::parse(&bytes).drops, None);
        bytes.extend(stamps((1, 0), (0, 0)));
        bytes.extend(message(libc::SOL_SOCKET, libc::SO_RXQ_OVFL, &8_u32.to_ne_bytes()));
        let found = Ancillary::parse(&bytes);
        assert_eq!(found.drops, Some(8));
        assert_eq!(found.timestamp, Timestamp::Software(Utc::from_nanos(1_000_000_000)));
    }

    #[test]
    fn stops_at_a_length_that_lies() {
        for length in [0_u64, 15, 17, 4_096, u64::MAX] {
            let mut bytes = stamps((1, 0), (0, 0));
            bytes[..8].copy_from_slice(&length.to_ne_bytes());
            let found = Ancillary::parse(&bytes);
            assert_eq!(found.timestamp, Timestamp::None, "length {length}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(0_u8.., 0..ANCILLARY_LENGTH)) {
            let _ = Ancillary::parse(&bytes);
        }
    }
}
