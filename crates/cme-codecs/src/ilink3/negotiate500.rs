//! Negotiate500, template 500. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use hairpin_sbe::{Block, BlockLayout, CharArray, DataLayout, Field, Message};

/// The layout of Negotiate500.
pub const MESSAGE: Message = Message {
    name: "Negotiate500", template_id: 500, schema_id: 8, version: 9, semantic_type: "Negotiate",
    block: BlockLayout::new(76, 0, FIELDS),
    groups: &[],
    data: &[DataLayout { name: "Credentials", tag: 39008, since: 0 }],
};
const FIELDS: &[Field] = &[
    Field::new("CustomerFlow", 39000, 0, 0, &kind::CLIENT_FLOW_TYPE),
    Field::new("HMACVersion", 39003, 0, 0, &kind::HMAC_VERSION),
    Field::new("HMACSignature", 39005, 0, 0, &kind::STRING32_REQ),
    Field::new("AccessKeyID", 39004, 32, 0, &kind::STRING20_REQ),
    Field::new("UUID", 39001, 52, 0, &kind::U_INT64),
    Field::new("RequestTimestamp", 39002, 60, 0, &kind::U_INT64),
    Field::new("Session", 39006, 68, 0, &kind::STRING3_REQ),
    Field::new("Firm", 39007, 71, 0, &kind::STRING5_REQ),
];

hairpin_sbe::message! {
    /// Negotiate500: message type Negotiate, template 500, block of 76 bytes, 0 groups.
    Negotiate500, Negotiate500Encoder, 76
}

impl<'a> Negotiate500<'a> {
    /// CustomerFlow (tag 39000), constant.
    pub const CUSTOMER_FLOW: &'static str = "IDEMPOTENT";
    /// HMACVersion (tag 39003), constant.
    pub const HMAC_VERSION: &'static str = "CME-1-SHA-256";
    /// HMACSignature (tag 39005), bytes 0..32.
    #[inline] pub fn hmac_signature(&self) -> CharArray<'a> { self.0.block.chars::<0, 32>() }
    /// AccessKeyID (tag 39004), bytes 32..52.
    #[inline] pub fn access_key_id(&self) -> CharArray<'a> { self.0.block.chars::<32, 20>() }
    /// UUID (tag 39001), bytes 52..60.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 52>() }
    /// RequestTimestamp (tag 39002), bytes 60..68.
    #[inline] pub fn request_timestamp(&self) -> u64 { self.0.block.load::<u64, 60>() }
    /// Session (tag 39006), bytes 68..71.
    #[inline] pub fn session(&self) -> CharArray<'a> { self.0.block.chars::<68, 3>() }
    /// Firm (tag 39007), bytes 71..76.
    #[inline] pub fn firm(&self) -> CharArray<'a> { self.0.block.chars::<71, 5>() }
    /// Credentials (tag 39008).
    pub fn credentials(&self) -> &'a [u8] { self.0.data(0) }
}

impl Negotiate500Encoder<'_> {
    /** Writes HMACSignature. */ #[inline] pub fn set_hmac_signature(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 32>(value.as_ref()); self }
    /** Writes AccessKeyID. */ #[inline] pub fn set_access_key_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<32, 20>(value.as_ref()); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 52>(value); self }
    /** Writes RequestTimestamp. */ #[inline] pub fn set_request_timestamp(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 60>(value); self }
    /** Writes Session. */ #[inline] pub fn set_session(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<68, 3>(value.as_ref()); self }
    /** Writes Firm. */ #[inline] pub fn set_firm(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<71, 5>(value.as_ref()); self }
}
