//! Sequence506, template 506. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Field, Message};

/// The layout of Sequence506.
pub const MESSAGE: Message = Message {
    name: "Sequence506", template_id: 506, schema_id: 8, version: 9, semantic_type: "Sequence",
    block: BlockLayout::new(14, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("UUID", 39001, 0, 0, &kind::U_INT64),
    Field::new("NextSeqNo", 39013, 8, 0, &kind::U_INT32),
    Field::new("FaultToleranceIndicator", 39010, 12, 0, &kind::FTI),
    Field::new("KeepAliveIntervalLapsed", 39016, 13, 0, &kind::KEEP_ALIVE_LAPSED),
];

hairpin_sbe::message! {
    /// Sequence506: message type Sequence, template 506, block of 14 bytes, 0 groups.
    Sequence506, Sequence506Encoder, 14
}

impl Sequence506<'_> {
    /// UUID (tag 39001), bytes 0..8.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// NextSeqNo (tag 39013), bytes 8..12.
    #[inline] pub fn next_seq_no(&self) -> u32 { self.0.block.load::<u32, 8>() }
    /// FaultToleranceIndicator (tag 39010), bytes 12..13.
    #[inline] pub fn fault_tolerance_indicator(&self) -> Option<FTI> { self.0.block.nullable::<u8, 12>(u8::MAX).map(FTI) }
    /// KeepAliveIntervalLapsed (tag 39016), bytes 13..14.
    #[inline] pub fn keep_alive_interval_lapsed(&self) -> KeepAliveLapsed { KeepAliveLapsed(self.0.block.load::<u8, 13>()) }
}

impl Sequence506Encoder<'_> {
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes NextSeqNo. */ #[inline] pub fn set_next_seq_no(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 8>(value); self }
    /** Writes FaultToleranceIndicator. */ #[inline] pub fn set_fault_tolerance_indicator(&mut self, value: impl Into<Option<FTI>>) -> &mut Self { self.0.store::<u8, 12>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes KeepAliveIntervalLapsed. */ #[inline] pub fn set_keep_alive_interval_lapsed(&mut self, value: KeepAliveLapsed) -> &mut Self { self.0.store::<u8, 13>(value.0); self }
}
