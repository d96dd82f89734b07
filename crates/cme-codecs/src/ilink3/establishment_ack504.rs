//! EstablishmentAck504, template 504. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Field, Message};

/// The layout of EstablishmentAck504.
pub const MESSAGE: Message = Message {
    name: "EstablishmentAck504", template_id: 504, schema_id: 8, version: 9, semantic_type: "EstablishmentAck",
    block: BlockLayout::new(39, 0, FIELDS),
    groups: &[],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("UUID", 39001, 0, 0, &kind::U_INT64),
    Field::new("RequestTimestamp", 39002, 8, 0, &kind::U_INT64),
    Field::new("NextSeqNo", 39013, 16, 0, &kind::U_INT32),
    Field::new("PreviousSeqNo", 39021, 20, 0, &kind::U_INT32),
    Field::new("PreviousUUID", 39015, 24, 0, &kind::U_INT64),
    Field::new("KeepAliveInterval", 39014, 32, 0, &kind::U_INT16),
    Field::new("SecretKeySecureIDExpiration", 39022, 34, 0, &kind::U_INT16NULL),
    Field::new("FaultToleranceIndicator", 39010, 36, 0, &kind::FTI),
    Field::new("SplitMsg", 9553, 37, 0, &kind::SPLIT_MSG),
    Field::new("EnvironmentIndicator", 39032, 38, 9, &kind::U_INT8NULL),
];

hairpin_sbe::message! {
    /// EstablishmentAck504: message type EstablishmentAck, template 504, block of 39 bytes, 0 groups.
    EstablishmentAck504, EstablishmentAck504Encoder, 39
}

impl EstablishmentAck504<'_> {
    /// UUID (tag 39001), bytes 0..8.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// RequestTimestamp (tag 39002), bytes 8..16.
    #[inline] pub fn request_timestamp(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// NextSeqNo (tag 39013), bytes 16..20.
    #[inline] pub fn next_seq_no(&self) -> u32 { self.0.block.load::<u32, 16>() }
    /// PreviousSeqNo (tag 39021), bytes 20..24.
    #[inline] pub fn previous_seq_no(&self) -> u32 { self.0.block.load::<u32, 20>() }
    /// PreviousUUID (tag 39015), bytes 24..32.
    #[inline] pub fn previous_uuid(&self) -> u64 { self.0.block.load::<u64, 24>() }
    /// KeepAliveInterval (tag 39014), bytes 32..34.
    #[inline] pub fn keep_alive_interval(&self) -> u16 { self.0.block.load::<u16, 32>() }
    /// SecretKeySecureIDExpiration (tag 39022), bytes 34..36.
    #[inline] pub fn secret_key_secure_id_expiration(&self) -> Option<u16> { self.0.block.nullable::<u16, 34>(u16::MAX) }
    /// FaultToleranceIndicator (tag 39010), bytes 36..37.
    #[inline] pub fn fault_tolerance_indicator(&self) -> Option<FTI> { self.0.block.nullable::<u8, 36>(u8::MAX).map(FTI) }
    /// SplitMsg (tag 9553), bytes 37..38.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 37>(u8::MAX).map(SplitMsg) }
    /// EnvironmentIndicator (tag 39032), bytes 38..39, since version 9.
    #[inline] pub fn environment_indicator(&self) -> Option<u8> { self.0.block.nullable::<u8, 38>(u8::MAX) }
}

impl EstablishmentAck504Encoder<'_> {
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes RequestTimestamp. */ #[inline] pub fn set_request_timestamp(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes NextSeqNo. */ #[inline] pub fn set_next_seq_no(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 16>(value); self }
    /** Writes PreviousSeqNo. */ #[inline] pub fn set_previous_seq_no(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 20>(value); self }
    /** Writes PreviousUUID. */ #[inline] pub fn set_previous_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 24>(value); self }
    /** Writes KeepAliveInterval. */ #[inline] pub fn set_keep_alive_interval(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 32>(value); self }
    /** Writes SecretKeySecureIDExpiration. */ #[inline] pub fn set_secret_key_secure_id_expiration(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 34>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes FaultToleranceIndicator. */ #[inline] pub fn set_fault_tolerance_indicator(&mut self, value: impl Into<Option<FTI>>) -> &mut Self { self.0.store::<u8, 36>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 37>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes EnvironmentIndicator. */ #[inline] pub fn set_environment_indicator(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 38>(value.into().unwrap_or(u8::MAX)); self }
}
