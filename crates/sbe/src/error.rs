//! Decoding and encoding errors.

/// The reason bytes are not a valid message. The bytes are from the network, so the caller counts
/// the error as an ordinary event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The message header is incomplete: fewer than 8 bytes.
    #[error("message header is truncated")]
    Header,
    /// The header contains a schema id other than the decoder's.
    #[error("unexpected schema id {0}")]
    Schema(u16),
    /// The header contains a template id other than the decoder's, or one that is not in the
    /// schema.
    #[error("unknown template {0}")]
    Template(u16),
    /// The root block is longer than the remaining bytes.
    #[error("root block is truncated")]
    Block,
    /// The group with this tag, or its dimension header, is longer than the remaining bytes.
    #[error("group with tag {0} is truncated")]
    Group(u16),
    /// The data field with this tag is longer than the remaining bytes.
    #[error("data with tag {0} is truncated")]
    Data(u16),
    /// The group with this tag has more entries than the work limit allows. This requires entries
    /// shorter than the schema's block.
    #[error("group with tag {0} has too many entries")]
    Entries(u16),
}

/// The reason a message cannot be encoded. The buffer's content is undefined and must not be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The buffer is too short.
    #[error("buffer is too short")]
    Buffer,
    /// The group with this tag was started after a later group of the schema.
    #[error("group with tag {0} was opened out of order")]
    GroupOrder(u16),
    /// The group with this tag has the maximum number of entries.
    #[error("group with tag {0} is full")]
    GroupFull(u16),
}
