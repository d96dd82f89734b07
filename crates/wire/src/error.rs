//! Why bytes are not the header they were taken for.

use core::fmt;

/// Why bytes are not the header they were taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// There are fewer bytes than the fixed part of the header has.
    TooShort,
    /// The version, or what an ARP packet says of its addresses, is another.
    Version,
    /// The header says it is shorter than it can be, or longer than the bytes that are there.
    HeaderLength,
    /// The packet says it is shorter than its header, or longer than the bytes that are there.
    TotalLength,
    /// A later fragment, which has no transport header.
    LaterFragment,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooShort => "too short for its header",
            Self::Version => "not of the version or kind expected",
            Self::HeaderLength => "a header length that cannot be",
            Self::TotalLength => "a packet length that cannot be",
            Self::LaterFragment => "a fragment without a transport header",
        })
    }
}

impl core::error::Error for Error {}
