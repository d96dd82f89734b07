//! The times that switches and taps write into Ethernet frames.
//!
//! | device | place | layout |
//! |---|---|---|
//! | Metamako, Arista 7130 (MetaWatch) | trailer | original FCS (4), extensions, seconds (4), nanoseconds (4), flags (1), device (2), port (1) |
//! | Exablaze, Cisco Nexus 3550 (HPT) | trailer | original FCS (4), device (1), port (1), seconds (4), 2^-40 seconds (5), reserved (1) |
//! | Arista 7280, 7500 | after the MAC addresses | EtherType 0xD28B, subtype 1 (2), timescale (1), version (1), seconds (4 or the low 2), nanoseconds (4) |
//!
//! All are big-endian. A trailer follows the IP packet and its padding. The capture may have the
//! frame check sequence after it. Sources: Wireshark, `packet-metamako.c` and `packet-exablaze.c`;
//! Arista, "Timestamping at ingress". Not supported: the times of Arista 7150, which need the
//! switch's key frames.

use hairpin_time::{Duration, Utc};

use super::{CaptureTime, Frame, LinkType, Payload, erf, tunnels};

/// The difference of TAI and UTC in seconds since 2017.
const TAI_OFFSET: u64 = 37;
const SECOND: u64 = 1_000_000_000;
/// The first second of the year 2000, before which no device wrote a time.
const FIRST_SECOND: u64 = 946_684_800;
/// A destination and a source.
const MAC_ADDRESSES: usize = 12;

/// The device that writes times, and the place of its trailer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceTime {
    /// A trailer of Metamako or Arista MetaWatch.
    Metamako {
        /// `true` if the capture has the frame check sequence after the trailer.
        fcs: bool,
    },
    /// A trailer of Exablaze or Cisco.
    Exablaze {
        /// `true` if the capture has the frame check sequence after the trailer.
        fcs: bool,
    },
    /// A header of Arista.
    Arista,
}

impl DeviceTime {
    /// Every device and place.
    pub const ALL: [Self; 5] = [
        Self::Metamako { fcs: false },
        Self::Metamako { fcs: true },
        Self::Exablaze { fcs: false },
        Self::Exablaze { fcs: true },
        Self::Arista,
    ];

    /// Returns the time in a frame, whose payload was decoded. `None` if the frame has no time of
    /// the device: also if the bytes in its place are no time after 1999.
    #[must_use]
    pub fn read(self, frame: &Frame<'_>, payload: &Payload<'_>) -> Option<Utc> {
        let ethernet = match frame.link? {
            LinkType::ETHERNET => frame.bytes,
            erf::LINK => erf::ethernet(frame.bytes)?,
            _ => return None,
        };
        if (frame.bytes.len() as u32) < frame.length {
            return None;
        }
        let nanos = match self {
            Self::Metamako { fcs } => metamako(trailer(frame, payload, fcs)?),
            Self::Exablaze { fcs } => exablaze(trailer(frame, payload, fcs)?),
            Self::Arista => arista(ethernet, frame.time),
        };
        nanos.filter(|nanos| *nanos >= FIRST_SECOND * SECOND).map(Utc::from_nanos)
    }

    /// Returns the resolution of the times, rounded to nanoseconds.
    #[must_use]
    pub const fn precision(self) -> Duration {
        Duration::from_nanos(1)
    }
}

/// Returns the bytes after the packet, without the frame check sequence.
fn trailer<'a>(frame: &Frame<'a>, payload: &Payload<'a>, fcs: bool) -> Option<&'a [u8]> {
    let (Payload::Datagram { bytes, .. } | Payload::Segment { bytes, .. }) = payload else {
        return None;
    };
    let end = bytes.as_ptr_range().end.addr().checked_sub(frame.bytes.as_ptr().addr())?;
    let after = frame.bytes.get(end..)?;
    after.get(..after.len().checked_sub(if fcs { 4 } else { 0 })?)
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn metamako(trailer: &[u8]) -> Option<u64> {
    /// The original FCS, the times, and what follows them.
    const LENGTH: usize = 16;
    let metadata = trailer.get(trailer.len().checked_sub(LENGTH)? + 4..)?;
    let (seconds, nanos) = (number(&metadata[..4]), number(&metadata[4..8]));
    (nanos < SECOND).then_some(seconds * SECOND + nanos)
}

fn exablaze(trailer: &[u8]) -> Option<u64> {
    const LENGTH: usize = 16;
    let trailer = trailer.get(trailer.len().checked_sub(LENGTH)?..)?;
    let (seconds, fraction) = (number(&trailer[6..10]), number(&trailer[10..15]));
    Some(seconds * SECOND + ((u128::from(fraction) * u128::from(SECOND)) >> 40) as u64)
}

fn arista(bytes: &[u8], captured: Option<CaptureTime>) -> Option<u64> {
    let header = bytes.get(MAC_ADDRESSES..)?.strip_prefix(&[0xd2, 0x8b])?;
    let length = tunnels::arista_timestamp(header)?;
    let time = header.get(4..length)?;
    let (seconds, nanos) = time.split_at(time.len() - 4);
    let nanos = number(nanos);
    let tai = if header[2] == 0 { TAI_OFFSET } else { 0 };
    let seconds = match number(seconds) {
        low if seconds.len() == 2 => {
            // The capture's own time has the other bits.
            let near = captured?.utc.as_nanos() / SECOND + tai;
            let behind = (near as u16).wrapping_sub(low as u16).cast_signed();
            near.checked_add_signed(-i64::from(behind))?
        }
        seconds => seconds,
    };
    let seconds = seconds.checked_sub(tai)?;
    (nanos < SECOND).then(|| seconds.checked_mul(SECOND)?.checked_add(nanos)).flatten()
}

#[cfg(test)]
mod tests {
    use super::super::CaptureClock;
    use super::super::tests::files::datagram_of;
    use super::*;

    const TIME: u64 = 1_700_000_000_123_456_789;

    /// Returns what each device reads in a frame that was captured at `time`.
    fn read(bytes: &[u8], time: u64) -> Vec<(DeviceTime, u64)> {
        let frame = Frame {
            interface: 0,
            link: Some(LinkType::ETHERNET),
            time: Some(CaptureTime {
                utc: Utc::from_nanos(time),
                precision: Duration::from_nanos(1),
                clock: CaptureClock::Unknown,
            }),
            bytes,
            length: bytes.len() as u32,
        };
        let payload = frame.payload().unwrap();
        let read = |it: DeviceTime| Some((it, it.read(&frame, &payload)?.as_nanos()));
        DeviceTime::ALL.into_iter().filter_map(read).filter(|(_, at)| *at == TIME).collect()
    }

    /// Returns a frame with a trailer after padding, with and without a frame check sequence.
    fn trailed(trailer: &[u8]) -> [Vec<u8>; 2] {
        let frame = [&datagram_of(&[1, 2, 3])[..], &[0; 15], trailer].concat();
        [frame.clone(), [&frame[..], &[9; 4]].concat()]
    }

    #[test]
    fn reads_trailers_with_and_without_fcs() {
        let seconds = 1_700_000_000_u32.to_be_bytes();
        let metamako = [&[7; 4], &seconds[..], &123_456_789_u32.to_be_bytes(), &[1, 0, 5, 3]];
        let fraction = ((123_456_789_u128 << 40).div_ceil(1_000_000_000) as u64).to_be_bytes();
        let exablaze = [&[7; 4], &[2, 3][..], &seconds, &fraction[3..], &[0]];
        for (fcs, frame) in [false, true].into_iter().zip(trailed(&metamako.concat())) {
            assert_eq!(read(&frame, TIME), [(DeviceTime::Metamako { fcs }, TIME)]);
        }
        for (fcs, frame) in [false, true].into_iter().zip(trailed(&exablaze.concat())) {
            assert_eq!(read(&frame, TIME), [(DeviceTime::Exablaze { fcs }, TIME)]);
        }
        assert_eq!(read(&datagram_of(&[1, 2, 3]), TIME), []);
    }

    #[test]
    fn reads_headers_of_both_lengths_and_timescales() {
        let frame = datagram_of(&[1, 2, 3]);
        for (scale, seconds) in [(0, 1_700_000_037_u32), (1, 1_700_000_000)] {
            let (seconds, nanos) = (seconds.to_be_bytes(), 123_456_789_u32.to_be_bytes());
            for (version, seconds) in [(0x10, &seconds[..]), (0x20, &seconds[2..])] {
                let header = [&[0xd2, 0x8b, 0, 1, scale, version], seconds, &nanos].concat();
                let tagged = [&frame[..12], &header, &frame[12..]].concat();
                for captured in [TIME - 30 * SECOND, TIME, TIME + 30 * SECOND] {
                    assert_eq!(read(&tagged, captured), [(DeviceTime::Arista, TIME)]);
                }
            }
        }
    }
}
