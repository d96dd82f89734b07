//! Sequence506, template 506. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, DecodeError, EncodeError, Field, Message, MessageHeader, Root};

/// Layout of Sequence506.
pub const MESSAGE: Message = Message {
    name: "Sequence506", template_id: 506, schema_id: 8, version: 9, semantic_type: "Sequence",
    block: BlockLayout::new(14, 0, FIELDS), groups: &[
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("UUID", 39001, 0, 0, &kind::U_INT64),
    Field::new("NextSeqNo", 39013, 8, 0, &kind::U_INT32),
    Field::new("FaultToleranceIndicator", 39010, 12, 0, &kind::FTI),
    Field::new("KeepAliveIntervalLapsed", 39016, 13, 0, &kind::KEEP_ALIVE_LAPSED),
];

/// Sequence506: message type Sequence, template 506, block of 14 bytes, 0 groups.
#[derive(Clone, Copy, Debug)]
pub struct Sequence506<'a>(Root<'a, 14, 0>);

impl<'a> Sequence506<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 506;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 14;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 14] = [0; 14];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 14] = MESSAGE.block.null_block();
    /// Bytes that [`encode`](Self::encode) writes.
    pub const ENCODED_LENGTH: usize = 22;
    /// Writes header and null block; sets nothing. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<Sequence506Encoder<'_>, EncodeError> { hairpin_sbe::begin_fixed(&MESSAGE, &Self::NULL_BLOCK, buffer).map(Sequence506Encoder) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 14]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// UUID (tag 39001), 8 at 0.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// NextSeqNo (tag 39013), 4 at 8.
    #[inline] pub fn next_seq_no(&self) -> u32 { self.0.block.load::<u32, 8>() }
    /// FaultToleranceIndicator (tag 39010), 1 at 12.
    #[inline] pub fn fault_tolerance_indicator(&self) -> Option<FTI> { self.0.block.nullable::<u8, 12>(u8::MAX).map(FTI) }
    /// KeepAliveIntervalLapsed (tag 39016), 1 at 13.
    #[inline] pub fn keep_alive_interval_lapsed(&self) -> KeepAliveLapsed { KeepAliveLapsed(self.0.block.load::<u8, 13>()) }
}

/// Writes the block of Sequence506.
#[derive(Debug)]
pub struct Sequence506Encoder<'a>(&'a mut [u8; 14]);

impl Sequence506Encoder<'_> {
    /// Writes UUID.
    #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes NextSeqNo.
    #[inline] pub fn set_next_seq_no(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 8>(value); self }
    /// Writes FaultToleranceIndicator.
    #[inline] pub fn set_fault_tolerance_indicator(&mut self, value: impl Into<Option<FTI>>) -> &mut Self { self.0.store::<u8, 12>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /// Writes KeepAliveIntervalLapsed.
    #[inline] pub fn set_keep_alive_interval_lapsed(&mut self, value: KeepAliveLapsed) -> &mut Self { self.0.store::<u8, 13>(value.0); self }
}
