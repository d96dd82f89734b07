//! What can be wrong with bytes, and with a buffer.

/// Why bytes are not a message of the expected kind. The bytes came from the network: this is an
/// ordinary event, to be counted by whoever asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// Fewer bytes than a message header has (8).
    #[error("message header is cut short")]
    Header,
    /// The header names another schema than the decoder was made from.
    #[error("schema {0} is not the expected one")]
    Schema(u16),
    /// The header names another message than the decoder is for, or one the schema does not have.
    #[error("template {0} is not known here")]
    Template(u16),
    /// The root block is longer than the bytes that are there.
    #[error("root block is cut short")]
    Block,
    /// A group's dimension or its entries are longer than the bytes that are there.
    #[error("group with tag {0} is cut short")]
    Group(u16),
    /// Variable-length data is longer than the bytes that are there.
    #[error("data with tag {0} is cut short")]
    Data(u16),
    /// A group has more entries than one message can be believed to have; only entries that take
    /// fewer bytes than the schema says can be so many.
    #[error("group with tag {0} has too many entries")]
    Entries(u16),
}

/// Why a message could not be written. Nothing of the buffer may be sent after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The buffer has no room for what was to be written next.
    #[error("buffer is too short")]
    Buffer,
    /// The group with this tag was opened after a group that follows it in the schema.
    #[error("group with tag {0} was opened out of order")]
    GroupOrder(u16),
    /// The group with this tag has as many entries as its counter can hold.
    #[error("group with tag {0} is full")]
    GroupFull(u16),
}
