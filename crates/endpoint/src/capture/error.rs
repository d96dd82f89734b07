//! Errors of captures and of packets in them.

use std::io;

use super::LinkType;

/// An error that ends the reading of a capture. Everything before it was valid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CaptureError {
    /// The file is neither pcap nor pcapng.
    #[error("not a pcap or pcapng file")]
    NoCapture,
    /// The file is truncated: the capture was cut, or is still being written.
    #[error("the file ends {left} bytes into a packet or block, at byte {at}")]
    Truncated {
        /// The file offset of the incomplete packet or block.
        at: u64,
        /// The bytes of it in the file.
        left: usize,
    },
    /// A packet or block exceeds the maximum length.
    #[error("packet or block at byte {at} is longer than {max} bytes")]
    TooLong {
        /// The file offset of the packet or block.
        at: u64,
        /// The maximum length in bytes.
        max: usize,
    },
    /// A block is inconsistent, so the following blocks cannot be located.
    #[error("{what} at byte {at}")]
    Malformed {
        /// The file offset of the packet or block.
        at: u64,
        /// The inconsistency.
        what: &'static str,
    },
    /// The file cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The reason why a packet's payload cannot be decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// The link type is not supported.
    #[error(
        "link type {} is not supported: use Ethernet, raw IP, loopback or Linux cooked captures",
        .0.0
    )]
    LinkType(LinkType),
    /// The file does not describe the packet's interface.
    #[error("the file does not describe interface {0}")]
    NoInterface(u32),
    /// The packet is an IP fragment.
    #[error("IP fragment: fragments are not reassembled")]
    Fragment,
    /// The capture truncated the packet.
    #[error("truncated packet: {captured} of {length} bytes were captured")]
    Cut {
        /// The captured bytes.
        captured: usize,
        /// The packet's original length in bytes.
        length: u32,
    },
    /// The headers are malformed.
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
