//! What the control messages of a datagram say.

use hairpin_time::Utc;

use super::control_messages::{messages, part};
use crate::Timestamp;

/// The space for the control messages of one datagram, in bytes: SCM_TIMESTAMPING needs 64 and
/// SO_RXQ_OVFL 24. IP_RECVERR needs 48 and never comes with SO_RXQ_OVFL.
pub(crate) const ANCILLARY_LENGTH: usize = 128;

/// A buffer for control messages, with their alignment: each begins with a `size_t`.
#[repr(C, align(8))]
pub(crate) struct AncillaryBuffer(pub(crate) [u8; ANCILLARY_LENGTH]);

/// The values found in the control messages of one datagram.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ancillary {
    pub(crate) timestamp: Timestamp,
    /// The number of datagrams dropped on this socket before this one, modulo 2^32. `None` while
    /// there are no drops.
    pub(crate) drops: Option<u32>,
    /// The id of a transmit timestamp.
    pub(crate) transmit_id: Option<u32>,
}

impl Ancillary {
    /// Reads the messages in `bytes`. Unknown and truncated messages are skipped.
    #[inline]
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut found = Self::default();
        for (level, kind, data) in messages(bytes) {
            match level {
                libc::SOL_SOCKET => found.read_socket_message(kind, data),
                libc::IPPROTO_IP if kind == libc::IP_RECVERR => {
                    found.transmit_id = transmit_id_of(data)
                }
                _ => {}
            }
        }
        found
    }

    fn read_socket_message(&mut self, kind: i32, data: &[u8]) {
        match kind {
            libc::SCM_TIMESTAMPING | SCM_TIMESTAMPING_NEW => self.timestamp = timestamp(data),
            libc::SO_RXQ_OVFL => {
                self.drops = data.first_chunk().map(|&count| u32::from_ne_bytes(count));
            }
            _ => {}
        }
    }
}

/// The control message type with 64-bit times on every system (asm-generic/socket.h,
/// SO_TIMESTAMPING_NEW). On a 64-bit system the older type has them too.
const SCM_TIMESTAMPING_NEW: libc::c_int = 65;

/// Reads three times of 16 bytes (Linux, Documentation/networking/timestamping.rst): software, an
/// obsolete one, hardware. A time that was not taken is zero.
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

/// Reads the id of a transmit timestamp from a `struct sock_extended_err` (linux/errqueue.h). The
/// unused address of the offender follows.
///
/// ```text
/// 0       4        5      6      7         8       12     16
/// | errno | origin | type | code | padding | stage | number |
/// ```
/// Only the driver's or NIC's stage is requested: SCM_TSTAMP_SND, which is 0.
fn transmit_id_of(data: &[u8]) -> Option<u32> {
    const SENT: u32 = 0;
    let error: &[u8; 16] = data.first_chunk()?;
    let is_transmit_timestamp = u32::from_ne_bytes(part(error, 0)) == libc::ENOMSG.unsigned_abs()
        && error[4] == libc::SO_EE_ORIGIN_TIMESTAMPING
        && u32::from_ne_bytes(part(error, 8)) == SENT;
    is_transmit_timestamp.then(|| u32::from_ne_bytes(part(error, 12)))
}

#[cfg(test)]
mod tests {
    use super::super::control_messages::HEADER;
    use super::super::control_messages::tests::message;
    use super::*;

    fn timestamps_message(software: (u64, u64), hardware: (u64, u64)) -> Vec<u8> {
        let words = [software.0, software.1, 0, 0, hardware.0, hardware.1];
        let data: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        message(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &data)
    }

    #[test]
    fn reads_zero_timestamp_as_none() {
        assert_eq!(
            Ancillary::parse(&timestamps_message((0, 0), (0, 0))).timestamp,
            Timestamp::None
        );
        assert_eq!(Ancillary::parse(&[]).timestamp, Timestamp::None);
    }

    #[test]
    fn prefers_the_hardware_timestamp() {
        let software = Timestamp::Software(Utc::from_nanos(2_000_000_003));
        assert_eq!(Ancillary::parse(&timestamps_message((2, 3), (0, 0))).timestamp, software);
        let hardware = Timestamp::Hardware(Utc::from_nanos(4_000_000_005));
        assert_eq!(Ancillary::parse(&timestamps_message((2, 3), (4, 5))).timestamp, hardware);
    }

    #[test]
    fn skips_unknown_messages_before_drop_count() {
        let mut bytes = message(libc::SOL_SOCKET, 9_999, &[1, 2, 3]);
        bytes.extend(message(libc::IPPROTO_IP, libc::SO_RXQ_OVFL, &7_u32.to_ne_bytes()));
        assert_eq!(Ancillary::parse(&bytes).drops, None);
        bytes.extend(timestamps_message((1, 0), (0, 0)));
        bytes.extend(message(libc::SOL_SOCKET, libc::SO_RXQ_OVFL, &8_u32.to_ne_bytes()));
        let found = Ancillary::parse(&bytes);
        assert_eq!(found.drops, Some(8));
        assert_eq!(found.timestamp, Timestamp::Software(Utc::from_nanos(1_000_000_000)));
    }

    /// The error queue entry of a UDP socket on x86-64, Linux 6.18, for the datagram with id 258
    /// sent over the loopback interface: struct scm_timestamping and IP_RECVERR.
    fn error_queue_entry() -> Vec<u8> {
        let mut bytes = timestamps_message((1_763_793_000, 5), (0, 0));
        let mut error = libc::ENOMSG.to_ne_bytes().to_vec();
        error.extend([4, 0, 0, 0]);
        error.extend(0_u32.to_ne_bytes());
        error.extend(258_u32.to_ne_bytes());
        // The offender's address, which is not set.
        error.extend([0; 16]);
        bytes.extend(message(libc::IPPROTO_IP, libc::IP_RECVERR, &error));
        bytes
    }

    const ERROR_OFFSET: usize = 64 + HEADER;

    #[test]
    fn reads_id_and_time_of_transmit_timestamp() {
        let bytes = error_queue_entry();
        assert_eq!(bytes.len(), 112, "including the kernel's padding");
        assert!(bytes.len() <= ANCILLARY_LENGTH);
        let found = Ancillary::parse(&bytes);
        assert_eq!(found.transmit_id, Some(258));
        let time = Timestamp::Software(Utc::from_nanos(1_763_793_000_000_000_005));
        assert_eq!(found.timestamp, time);
        assert_eq!(found.drops, None);
    }

    #[test]
    fn ignores_other_errors_in_error_queue() {
        // A different error number, a different origin, different stages.
        for (offset, byte) in [(0, 111), (4, 2), (8, 1), (8, 2)] {
            let mut bytes = error_queue_entry();
            bytes[ERROR_OFFSET + offset] = byte;
            assert_eq!(Ancillary::parse(&bytes).transmit_id, None, "{offset}");
        }
        let other_level =
            message(libc::IPPROTO_IPV6, libc::IP_RECVERR, &error_queue_entry()[ERROR_OFFSET..]);
        assert_eq!(Ancillary::parse(&other_level).transmit_id, None);
    }

    #[test]
    fn ignores_truncated_transmit_timestamp() {
        for length in 0..16 {
            let error = &error_queue_entry()[ERROR_OFFSET..ERROR_OFFSET + length];
            let bytes = message(libc::IPPROTO_IP, libc::IP_RECVERR, error);
            assert_eq!(Ancillary::parse(&bytes).transmit_id, None);
        }
    }

    #[test]
    fn reads_old_and_new_timestamp_types_alike() {
        let mut bytes = timestamps_message((1 << 33, 7), (0, 0));
        let old = Ancillary::parse(&bytes).timestamp;
        assert_eq!(old, Timestamp::Software(Utc::from_nanos((1 << 33) * 1_000_000_000 + 7)));
        bytes[12..16].copy_from_slice(&65_i32.to_ne_bytes());
        assert_eq!(Ancillary::parse(&bytes).timestamp, old);
        bytes[12..16].copy_from_slice(&64_i32.to_ne_bytes());
        assert_eq!(Ancillary::parse(&bytes).timestamp, Timestamp::None);
    }

    #[test]
    fn reads_overflowing_or_truncated_time_as_none() {
        assert_eq!(
            Ancillary::parse(&timestamps_message((u64::MAX, 0), (0, 0))).timestamp,
            Timestamp::None
        );
        for length in 0..16 {
            let bytes = message(libc::SOL_SOCKET, libc::SCM_TIMESTAMPING, &vec![1; length]);
            assert_eq!(Ancillary::parse(&bytes).timestamp, Timestamp::None);
        }
    }

    #[test]
    fn stops_at_invalid_message_length() {
        for length in [0_u64, 15, 17, 4_096, u64::MAX] {
            let mut bytes = timestamps_message((1, 0), (0, 0));
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
        fn never_panics_on_corrupted_message(
            changes in proptest::collection::vec((0_usize..112, 0_u8..), 0..4),
            length in 0_usize..=112,
        ) {
            let mut bytes = error_queue_entry();
            for (offset, byte) in changes {
                bytes[offset] = byte;
            }
            let _ = Ancillary::parse(&bytes[..length]);
        }
    }
}
