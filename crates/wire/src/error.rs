//! The error of parsing a header.

use core::fmt;

/// The reason why bytes are not a valid header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// The bytes are fewer than the fixed part of the header.
    TooShort,
    /// The version, or an ARP packet's address types, are not those expected.
    Version,
    /// The header length is below the minimum or beyond the available bytes.
    HeaderLength,
    /// The packet length is below the header length or beyond the available bytes.
    TotalLength,
    /// The packet is a later fragment, which has no transport header.
    LaterFragment,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooShort => "too short for its header",
            Self::Version => "unexpected version or address type",
            Self::HeaderLength => "invalid header length",
            Self::TotalLength => "invalid packet length",
            Self::LaterFragment => "fragment without a transport header",
        })
    }
}

impl core::error::Error for Error {}
