//! What the kernel says of a datagram beside it: control messages (cmsg(3)).

use hairpin_time::Utc;

use crate::Timestamp;

/// Room for the control messages of one datagram: SCM_TIMESTAMPING takes 64 bytes, SO_RXQ_OVFL 24,
/// IP_RECVERR, which the latter never comes with, 48.
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
    /// Of a report that something has been sent: its number.
    pub(crate) transmitted: Option<u32>,
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
            match level {
                libc::SOL_SOCKET => found.take(kind, data),
                libc::IPPROTO_IP if kind == libc::IP_RECVERR => found.transmitted = report(data),
                _ => {}
            }
            bytes = bytes.get(length.next_multiple_of(8)..).unwrap_or_default();
        }
        found
    }

    fn take(&mut self, kind: i32, data: &[u8]) {
        match kind {
            libc::SCM_TIMESTAMPING | SCM_TIMESTAMPING_NEW => self.timestamp = timestamp(data),
            libc::SO_RXQ_OVFL => {
                self.drops = data.first_chunk().map(|&count| u32::from_ne_bytes(count));
            }
            _ => {}
        }
    }
}

/// The form of control message that has times of 64 bits everywhere (asm-generic/socket.h,
/// SO_TIMESTAMPING_NEW); on a 64-bit system the older one has them too.
const SCM_TIMESTAMPING_NEW: libc::c_int = 65;

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

/// struct sock_extended_err (linux/errqueue.h), and behind it an address that is not used here.
///
/// ```text
/// 0       4        5      6      7         8       12     16
/// | errno | origin | type | code | padding | stage | number |
/// ```
/// Of the stages only that of the driver or NIC is asked for, SCM_TSTAMP_SND, which is 0.
fn report(data: &[u8]) -> Option<u32> {
    const SENT: u32 = 0;
    let error: &[u8; 16] = data.first_chunk()?;
    let is_report = u32::from_ne_bytes(part(error, 0)) == libc::ENOMSG.unsigned_abs()
        && error[4] == libc::SO_EE_ORIGIN_TIMESTAMPING
        && u32::from_ne_bytes(part(error, 8)) == SENT;
    is_report.then(|| u32::from_ne_bytes(part(error, 12)))
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

    /// What is in the error queue of a UDP socket on x86-64, Linux 6.18, for the datagram numbered
    /// 258 that went out by the loopback interface: struct scm_timestamping and IP_RECVERR.
    fn transmitted() -> Vec<u8> {
        let mut bytes = stamps((1_763_793_000, 5), (0, 0));
        let mut error = libc::ENOMSG.to_ne_bytes().to_vec();
        error.extend([4, 0, 0, 0]);
        error.extend(0_u32.to_ne_bytes());
        error.extend(258_u32.to_ne_bytes());
        // The offender: no address.
        error.extend([0; 16]);
        bytes.extend(message(libc::IPPROTO_IP, libc::IP_RECVERR, &error));
        bytes
    }

    const REPORT: usize = 64 + HEADER;

    #[test]
    fn a_report_of_sending_has_a_number_and_a_time() {
        let bytes = transmitted();
        assert_eq!(bytes.len(), 112, "as the kernel pads it");
        assert!(bytes.len() <= ANCILLARY_LENGTH);
        let found = Ancillary::parse(&bytes);
        assert_eq!(found.transmitted, Some(258));
        let time = Timestamp::Software(Utc::from_nanos(1_763_793_000_000_000_005));
        assert_eq!(found.timestamp, time);
        assert_eq!(found.drops, None);
    }

    #[test]
    fn another_error_is_no_report_of_sending() {
        // Another error number, another origin, another stage.
        for (offset, byte) in [(0, 111), (4, 2), (8, 1), (8, 2)] {
            let mut bytes = transmitted();
            bytes[REPORT + offset] = byte;
            assert_eq!(Ancillary::parse(&bytes).transmitted, None, "{offset}");
        }
        let elsewhere = message(libc::IPPROTO_IPV6, libc::IP_RECVERR, &transmitted()[REPORT..]);
        assert_eq!(Ancillary::parse(&elsewhere).transmitted, None);
    }

    #[test]
    fn a_report_that_is_cut_short_is_none() {
        for length in 0..16 {
            let error = &transmitted()[REPORT..REPORT + length];
            let bytes = message(libc::IPPROTO_IP, libc::IP_RECVERR, error);
            assert_eq!(Ancillary::parse(&bytes).transmitted, None);
        }
    }

    #[test]
    fn both_forms_of_timestamps_are_read_alike() {
        let mut bytes = stamps((1 << 33, 7), (0, 0));
        let old = Ancillary::parse(&bytes).timestamp;
        assert_eq!(old, Timestamp::Software(Utc::from_nanos((1 << 33) * 1_000_000_000 + 7)));
        bytes[12..16].copy_from_slice(&65_i32.to_ne_bytes());
        assert_eq!(Ancillary::parse(&bytes).timestamp, old);
        bytes[12..16].copy_from_slice(&64_i32.to_ne_bytes());
        assert_eq!(Ancillary::parse(&bytes).timestamp, Timestamp::None);
    }

    #[test]
    fn a_time_that_cannot_be_counted_or_is_cut_short_is_none() {
        assert_eq!(Ancillary::parse(&stamps((u64::MAX, 0), (0, 0))).timestamp, Timestamp::None);
        for length in 0..16 {
            let bytes = message(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &vec![1; length]);
            assert_eq!(Ancillary::parse(&bytes).timestamp, Timestamp::None);
        }
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

        #[test]
        fn never_panics_at_what_is_nearly_right(
            places in proptest::collection::vec((0_usize..112, 0_u8..), 0..4),
            length in 0_usize..=112,
        ) {
            let mut bytes = transmitted();
            for (place, byte) in places {
                bytes[place] = byte;
            }
            let _ = Ancillary::parse(&bytes[..length]);
        }
    }
}
