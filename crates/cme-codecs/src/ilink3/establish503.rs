//! Establish503, template 503. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use hairpin_sbe::{Block, BlockLayout, CharArray, DataLayout, Field, Message};

/// The layout of Establish503.
pub const MESSAGE: Message = Message {
    name: "Establish503", template_id: 503, schema_id: 8, version: 9, semantic_type: "Establish",
    block: BlockLayout::new(132, 0, FIELDS),
    groups: &[],
    data: &[DataLayout { name: "Credentials", tag: 39008, since: 0 }],
};
const FIELDS: &[Field] = &[
    Field::new("HMACVersion", 39003, 0, 0, &kind::HMAC_VERSION),
    Field::new("HMACSignature", 39005, 0, 0, &kind::STRING32_REQ),
    Field::new("AccessKeyID", 39004, 32, 0, &kind::STRING20_REQ),
    Field::new("TradingSystemName", 1603, 52, 0, &kind::STRING30_REQ),
    Field::new("TradingSystemVersion", 1604, 82, 0, &kind::STRING10_REQ),
    Field::new("TradingSystemVendor", 1605, 92, 0, &kind::STRING10_REQ),
    Field::new("UUID", 39001, 102, 0, &kind::U_INT64),
    Field::new("RequestTimestamp", 39002, 110, 0, &kind::U_INT64),
    Field::new("NextSeqNo", 39013, 118, 0, &kind::U_INT32),
    Field::new("Session", 39006, 122, 0, &kind::STRING3_REQ),
    Field::new("Firm", 39007, 125, 0, &kind::STRING5_REQ),
    Field::new("KeepAliveInterval", 39014, 130, 0, &kind::U_INT16),
];

hairpin_sbe::message! {
    /// Establish503: message type Establish, template 503, block of 132 bytes, 0 groups.
    Establish503, Establish503Encoder, 132
}

impl<'a> Establish503<'a> {
    /// HMACVersion (tag 39003), constant.
    pub const HMAC_VERSION: &'static str = "CME-1-SHA-256";
    /// HMACSignature (tag 39005), bytes 0..32.
    #[inline] pub fn hmac_signature(&self) -> CharArray<'a> { self.0.block.chars::<0, 32>() }
    /// AccessKeyID (tag 39004), bytes 32..52.
    #[inline] pub fn access_key_id(&self) -> CharArray<'a> { self.0.block.chars::<32, 20>() }
    /// TradingSystemName (tag 1603), bytes 52..82.
    #[inline] pub fn trading_system_name(&self) -> CharArray<'a> { self.0.block.chars::<52, 30>() }
    /// TradingSystemVersion (tag 1604), bytes 82..92.
    #[inline] pub fn trading_system_version(&self) -> CharArray<'a> { self.0.block.chars::<82, 10>() }
    /// TradingSystemVendor (tag 1605), bytes 92..102.
    #[inline] pub fn trading_system_vendor(&self) -> CharArray<'a> { self.0.block.chars::<92, 10>() }
    /// UUID (tag 39001), bytes 102..110.
    #[inline] pub fn uuid(&self) -> u64 { self.0.block.load::<u64, 102>() }
    /// RequestTimestamp (tag 39002), bytes 110..118.
    #[inline] pub fn request_timestamp(&self) -> u64 { self.0.block.load::<u64, 110>() }
    /// NextSeqNo (tag 39013), bytes 118..122.
    #[inline] pub fn next_seq_no(&self) -> u32 { self.0.block.load::<u32, 118>() }
    /// Session (tag 39006), bytes 122..125.
    #[inline] pub fn session(&self) -> CharArray<'a> { self.0.block.chars::<122, 3>() }
    /// Firm (tag 39007), bytes 125..130.
    #[inline] pub fn firm(&self) -> CharArray<'a> { self.0.block.chars::<125, 5>() }
    /// KeepAliveInterval (tag 39014), bytes 130..132.
    #[inline] pub fn keep_alive_interval(&self) -> u16 { self.0.block.load::<u16, 130>() }
    /// Credentials (tag 39008).
    pub fn credentials(&self) -> &'a [u8] { self.0.data(0) }
}

impl Establish503Encoder<'_> {
    /** Writes HMACSignature. */ #[inline] pub fn set_hmac_signature(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 32>(value.as_ref()); self }
    /** Writes AccessKeyID. */ #[inline] pub fn set_access_key_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<32, 20>(value.as_ref()); self }
    /** Writes TradingSystemName. */ #[inline] pub fn set_trading_system_name(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<52, 30>(value.as_ref()); self }
    /** Writes TradingSystemVersion. */ #[inline] pub fn set_trading_system_version(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<82, 10>(value.as_ref()); self }
    /** Writes TradingSystemVendor. */ #[inline] pub fn set_trading_system_vendor(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<92, 10>(value.as_ref()); self }
    /** Writes UUID. */ #[inline] pub fn set_uuid(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 102>(value); self }
    /** Writes RequestTimestamp. */ #[inline] pub fn set_request_timestamp(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 110>(value); self }
    /** Writes NextSeqNo. */ #[inline] pub fn set_next_seq_no(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 118>(value); self }
    /** Writes Session. */ #[inline] pub fn set_session(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<122, 3>(value.as_ref()); self }
    /** Writes Firm. */ #[inline] pub fn set_firm(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<125, 5>(value.as_ref()); self }
    /** Writes KeepAliveInterval. */ #[inline] pub fn set_keep_alive_interval(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 130>(value); self }
}
