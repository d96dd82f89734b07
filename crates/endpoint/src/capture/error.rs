//! What can be wrong with a capture, and with a packet in it.

use std::io;

use super::LinkType;

/// Why a capture cannot be read, or not any further. What came before it was whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// Neither pcap nor pcapng.
    #[error("not a pcap or pcapng file")]
    NoCapture,
    /// The file ends where more should be: the capture was cut, or is still being written.
    #[error("the file ends {left} bytes into a packet or block, at byte {at}")]
    Truncated {
        /// Where the part begins that is not whole, in bytes from the file's start.
        at: u64,
        /// Bytes that there are of it.
        left: usize,
    },
    /// A packet or block is longer than any is that is read.
    #[error("a packet or block of more than {max} bytes at byte {at}")]
    TooLong {
        /// Where it begins, in bytes from the file's start.
        at: u64,
        /// The most bytes that are read.
        max: usize,
    },
    /// A block that contradicts itself; what follows cannot be told apart.
    #[error("{what} at byte {at}")]
    Malformed {
        /// Where it begins, in bytes from the file's start.
        at: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Why it is not known what a packet carries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// It is behind a link of a type that is not read.
    #[error(
        "link type {} is not supported; Ethernet, raw IP, loopback and Linux cooked captures are",
        .0.0
    )]
    LinkType(LinkType),
    /// The file does not say what link the packet was behind.
    #[error("interface {0} is not described")]
    NoInterface(u32),
    /// A fragment of an IP packet.
    #[error("fragment of an IP packet; fragments are not put together")]
    Fragment,
    /// It was not captured to its end.
    #[error("only {captured} of its {length} bytes were captured")]
    Cut {
        /// Bytes in the file.
        captured: usize,
        /// Bytes that it had.
        length: u32,
    },
    /// Its headers make no packet.
    #[error("{0}")]
    Malformed(Box<str>),
}

impl From<CaptureError> for io::Error {
    fn from(error: CaptureError) -> Self {
        match error {
            CaptureError::Io(error) => error,
            CaptureError::Truncated { .. } => {
                Self::new(io::ErrorKind::UnexpectedEof, error.to_string())
            }
            other => Self::new(io::ErrorKind::InvalidData, other.to_string()),
        }
    }
}
