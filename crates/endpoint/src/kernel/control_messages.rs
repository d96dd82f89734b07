//! Control messages, also called ancillary data (cmsg(3)).

/// The length of a control message's header.
pub(super) const HEADER: usize = 16;
const _: () = assert!(size_of::<libc::cmsghdr>() == HEADER, "written for 64-bit Linux");

/// Returns the level, type and data of each message, up to one that is truncated.
///
/// ```text
/// 0       8      12     16                  length, rounded up to 8
/// | length | level | type | data ... | padding | next message
/// ```
/// The length counts from its own first byte to the end of the data.
#[inline]
pub(super) fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (i32, i32, &[u8])> {
    std::iter::from_fn(move || {
        let (header, _) = bytes.split_first_chunk::<HEADER>()?;
        let length = u64::from_ne_bytes(part(header, 0)) as usize;
        let level = i32::from_ne_bytes(part(header, 8));
        let kind = i32::from_ne_bytes(part(header, 12));
        let data = bytes.get(HEADER..length)?;
        bytes = bytes.get(length.next_multiple_of(8)..).unwrap_or_default();
        Some((level, kind, data))
    })
}

/// Returns `N` bytes of a header at a constant offset.
#[inline]
pub(super) fn part<const N: usize, const M: usize>(header: &[u8; M], offset: usize) -> [u8; N] {
    *header[offset..].first_chunk().expect("offsets are constants within the header")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a control message, padded to the next.
    pub(in super::super) fn message(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let mut bytes = ((HEADER + data.len()) as u64).to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    #[test]
    fn a_truncated_message_ends_the_list() {
        let whole = [message(1, 2, &[3; 5]), message(4, 5, &[6; 8])].concat();
        let read = |bytes: &[u8]| messages(bytes).map(|it| (it.0, it.1, it.2.len())).collect();
        let both: Vec<_> = read(&whole);
        assert_eq!(both, [(1, 2, 5), (4, 5, 8)]);
        let one: Vec<_> = read(&whole[..whole.len() - 1]);
        assert_eq!(one, [(1, 2, 5)]);
    }
}
