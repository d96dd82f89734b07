//! NegotiationResponse501, template 501. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, DataLayout, Field, Message};

/// The layout of NegotiationResponse501.
pub const MESSAGE: Message = Message {
    name: "NegotiationResponse501", template_id: 501, schema_id: 8, version: 9, semantic_type: "NegotiationResponse",
    block: BlockLayout::new(33, 0, FIELDS),
    groups: &[],
    data: &[DataLayout { name: "Credentials", tag: 39008, since: 0 }],
};
const FIELDS: &[Field] = &[
    Field::new("ServerFlow", 39009, 0, 0, &kind::EXCH_FLOW_TYP),
    Field::new("UUID", 39001, 0, 0, &kind::U_INT64),
    Field::new("RequestTimestamp", 39002, 8, 0, &kind::U_INT64),
    Field::new("SecretKeySecureIDExpiration", 39022, 16, 0, &kind::U_INT16NULL),
    Field::new("FaultToleranceIndicator", 39010, 18, 0, &kind::FTI),
    Field::new("SplitMsg", 9553, 19, 0, &kind::SPLIT_MSG),
    Field::new("PreviousSeqNo", 39021, 20, 0, &kind::U_INT32),
    Field::new("PreviousUUID", 39015, 24, 0, &kind::U_INT64),
    Field::new("EnvironmentIndicator", 39032, 32, 9, &kind::U_INT8NULL),
];

hairpin_sbe::message! {
    /// NegotiationResponse501: message type NegotiationResponse, template 501, block of 33 bytes, 0 groups.
    NegotiationResponse501, NegotiationResponse501Encoder, 33
}

impl<'a> NegotiationResponse501<'a> {
    /// ServerFlow (tag 39009), constant.
    pub const SERVER_FLOW: &'static str = "RECOVERABLE";
    /// UUID (tag 39001), bytes 0..8.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// RequestTimestamp (tag 39002), bytes 8..16.
    #[inline] pub fn request_timestamp(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// SecretKeySecureIDExpiration (tag 39022), bytes 16..18.
    #[inline] pub fn secret_key_secure_id_expiration(&self) -> Option<u16> { self.0.block.nullable::<u16, 16>(u16::MAX) }
    /// FaultToleranceIndicator (tag 39010), bytes 18..19.
    #[inline] pub fn fault_tolerance_indicator(&self) -> Option<FTI> { self.0.block.nullable::<u8, 18>(u8::MAX).map(FTI) }
    /// SplitMsg (tag 9553), bytes 19..20.
    #[inline] pub fn split_msg(&self) -> Option<SplitMsg> { self.0.block.nullable::<u8, 19>(u8::MAX).map(SplitMsg) }
    /// PreviousSeqNo (tag 39021), bytes 20..24.
    #[inline] pub fn previous_seq_no(&self) -> u32 { self.0.block.load::<u32, 20>() }
    /// PreviousUUID (tag 39015), bytes 24..32.
    #[inline] pub fn previous_uuid(&self) -> u64 { self.0.block.load::<u64, 24>() }
    /// EnvironmentIndicator (tag 39032), bytes 32..33, since version 9.
    #[inline] pub fn environment_indicator(&self) -> Option<u8> { self.0.block.nullable::<u8, 32>(u8::MAX) }
    /// Credentials (tag 39008).
    pub fn credentials(&self) -> &'a [u8] { self.0.data(0) }
}

impl NegotiationResponse501Encoder<'_> {
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes RequestTimestamp. */ #[inline] pub fn set_request_timestamp(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes SecretKeySecureIDExpiration. */ #[inline] pub fn set_secret_key_secure_id_expiration(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 16>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes FaultToleranceIndicator. */ #[inline] pub fn set_fault_tolerance_indicator(&mut self, value: impl Into<Option<FTI>>) -> &mut Self { self.0.store::<u8, 18>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes SplitMsg. */ #[inline] pub fn set_split_msg(&mut self, value: impl Into<Option<SplitMsg>>) -> &mut Self { self.0.store::<u8, 19>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes PreviousSeqNo. */ #[inline] pub fn set_previous_seq_no(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 20>(value); self }
    /** Writes PreviousUUID. */ #[inline] pub fn set_previous_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 24>(value); self }
    /** Writes EnvironmentIndicator. */ #[inline] pub fn set_environment_indicator(&mut self, value: impl Into<Option<u8>>) -> &mut Self { self.0.store::<u8, 32>(value.into().unwrap_or(u8::MAX)); self }
}
