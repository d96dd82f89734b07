//! The snapshot of a session's progress after each request in the journal.

use hairpin_ilink3::{Gap, PreviousUuids, Progress, Stream};

/// The length of an encoded [`Progress`] in bytes. Little-endian:
///
/// | offset | bytes | contents |
/// |---|---|---|
/// | 0 | 8 | layout version: [`LAYOUT`] |
/// | 8 | 8 | UUID |
/// | 16 | 8 | RequestTimestamp |
/// | 24 | 4 | next outbound sequence number |
/// | 28 | 4 | next inbound sequence number |
/// | 32 | 2 × 12 | previous UUIDs: UUID (8), next inbound sequence number (4) |
/// | 56 | 4 | next inbound sequence number under UUID 0 |
/// | 60 | 8 × 16 | missing ranges: UUID (8), first number (4), last number (4); zeros if unused |
pub(crate) const SNAPSHOT_LENGTH: usize = 60 + 16 * PreviousUuids::PLACES;

/// The layout version. Increment on each change of the layout.
const LAYOUT: u64 = 1;

/// Encodes `progress` into `bytes`.
pub(crate) fn encode(progress: &Progress, bytes: &mut [u8; SNAPSHOT_LENGTH]) {
    let mut rest = &mut bytes[..];
    let mut put = |value: &[u8]| {
        let (place, after) = core::mem::take(&mut rest).split_at_mut(value.len());
        place.copy_from_slice(value);
        rest = after;
    };
    let earlier = &progress.previous_uuids;
    for value in [LAYOUT, progress.uuid, progress.request_timestamp] {
        put(&value.to_le_bytes());
    }
    for value in [progress.next_outgoing, progress.next_incoming] {
        put(&value.to_le_bytes());
    }
    for Stream { uuid, next_incoming } in earlier.streams {
        put(&uuid.to_le_bytes());
        put(&next_incoming.to_le_bytes());
    }
    put(&earlier.next_default.to_le_bytes());
    for gap in earlier.missing {
        let Gap { uuid, from, to } = gap.unwrap_or(Gap { uuid: 0, from: 0, to: 0 });
        put(&uuid.to_le_bytes());
        put(&from.to_le_bytes());
        put(&to.to_le_bytes());
    }
}

/// Decodes a snapshot, or returns `None` if the bytes are not a snapshot of this layout.
pub(crate) fn decode(bytes: &[u8]) -> Option<Progress> {
    let mut bytes: &[u8] = bytes.first_chunk::<SNAPSHOT_LENGTH>()?;
    let layout = take_u64(&mut bytes)?;
    let (uuid, request_timestamp) = (take_u64(&mut bytes)?, take_u64(&mut bytes)?);
    let (next_outgoing, next_incoming) = (take_u32(&mut bytes)?, take_u32(&mut bytes)?);
    let mut previous_uuids = PreviousUuids::default();
    for stream in &mut previous_uuids.streams {
        *stream = Stream { uuid: take_u64(&mut bytes)?, next_incoming: take_u32(&mut bytes)? };
    }
    previous_uuids.next_default = take_u32(&mut bytes)?;
    for place in &mut previous_uuids.missing {
        let uuid = take_u64(&mut bytes)?;
        let (from, to) = (take_u32(&mut bytes)?, take_u32(&mut bytes)?);
        *place = (from > 0).then_some(Gap { uuid, from, to });
    }
    let progress =
        Progress { uuid, request_timestamp, next_outgoing, next_incoming, previous_uuids };
    (layout == LAYOUT).then_some(progress)
}

fn take_u64(bytes: &mut &[u8]) -> Option<u64> {
    let (value, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*value))
}

fn take_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (value, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshot_round_trips() {
        let mut progress = Progress::default();
        let mut bytes = [0xEE; SNAPSHOT_LENGTH];
        encode(&progress, &mut bytes);
        assert_eq!(decode(&bytes), Some(progress));
        (progress.uuid, progress.request_timestamp) = (7, 70);
        (progress.next_outgoing, progress.next_incoming) = (3, 4);
        progress.previous_uuids.streams[0] = Stream { uuid: 6, next_incoming: 5 };
        progress.previous_uuids.streams[1] = Stream { uuid: 5, next_incoming: 9 };
        progress.previous_uuids.next_default = 2;
        // UUID 0 too: published before the first logon of the week.
        progress.previous_uuids.missing[0] = Some(Gap { uuid: 0, from: 1, to: 1 });
        progress.previous_uuids.missing[PreviousUuids::PLACES - 1] =
            Some(Gap { uuid: 6, from: 5, to: 8 });
        encode(&progress, &mut bytes);
        assert_eq!(decode(&bytes), Some(progress));
        assert_eq!((bytes[8], bytes[16], bytes[24], bytes[28]), (7, 70, 3, 4));
    }

    #[test]
    fn rejects_other_layouts_and_truncated_snapshots() {
        let mut bytes = [0; SNAPSHOT_LENGTH];
        encode(&Progress::default(), &mut bytes);
        (0..SNAPSHOT_LENGTH).for_each(|cut| assert_eq!(decode(&bytes[..cut]), None));
        bytes[0] += 1;
        assert_eq!(decode(&bytes), None);
    }
}
