//! OrderStatusRequest533, template 533. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, CharArray, DecodeError, EncodeError, Field, Message, MessageHeader, Root};

/// Layout of OrderStatusRequest533.
pub const MESSAGE: Message = Message {
    name: "OrderStatusRequest533", template_id: 533, schema_id: 8, version: 9, semantic_type: "H",
    block: BlockLayout::new(62, 0, FIELDS), groups: &[
    ], data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("OrdStatusReqID", 790, 8, 0, &kind::U_INT64),
    Field::new("ManualOrderIndicator", 1028, 16, 0, &kind::MANUAL_ORD_IND_REQ),
    Field::new("SeqNum", 9726, 17, 0, &kind::U_INT32),
    Field::new("SenderID", 5392, 21, 0, &kind::STRING20_REQ),
    Field::new("OrderID", 37, 41, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 49, 0, &kind::U_INT64),
    Field::new("Location", 9537, 57, 0, &kind::STRING5_REQ),
];

/// OrderStatusRequest533: message type H, template 533, block of 62 bytes, 0 groups.
#[derive(Clone, Copy, Debug)]
pub struct OrderStatusRequest533<'a>(Root<'a, 62, 0>);

impl<'a> OrderStatusRequest533<'a> {
    /// Template id.
    pub const TEMPLATE_ID: u16 = 533;
    /// Bytes of the root block.
    pub const BLOCK_LENGTH: usize = 62;
    /// Where [`decode`](Self::decode) puts an older or shorter block.
    pub const SCRATCH: [u8; 62] = [0; 62];
    /// The root block without values.
    pub const NULL_BLOCK: [u8; 62] = MESSAGE.block.null_block();
    /// Bytes that [`encode`](Self::encode) writes.
    pub const ENCODED_LENGTH: usize = 70;
    /// Writes header and null block; sets nothing. Fails if `buffer` is too short.
    #[inline] pub fn encode(buffer: &mut [u8]) -> Result<OrderStatusRequest533Encoder<'_>, EncodeError> { hairpin_sbe::begin_fixed(&MESSAGE, &Self::NULL_BLOCK, buffer).map(OrderStatusRequest533Encoder) }
    /// Checks the whole structure once; fails if anything is cut short or of another template.
    #[inline] pub fn decode(header: &MessageHeader, body: &'a [u8], scratch: &'a mut [u8; 62]) -> Result<Self, DecodeError> { Root::decode(&MESSAGE, header, body, scratch).map(Self) }
    /// Bytes on the wire from the SBE header on.
    #[inline] pub fn encoded_length(&self) -> usize { self.0.encoded_length() }
    /// PartyDetailsListReqID (tag 1505), 8 at 0.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// OrdStatusReqID (tag 790), 8 at 8.
    #[inline] pub fn ord_status_req_id(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// ManualOrderIndicator (tag 1028), 1 at 16.
    #[inline] pub fn manual_order_indicator(&self) -> ManualOrdIndReq { ManualOrdIndReq(self.0.block.load::<u8, 16>()) }
    /// SeqNum (tag 9726), 4 at 17.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 17>() }
    /// SenderID (tag 5392), 20 at 21.
    #[inline] pub fn sender_id(&self) -> CharArray<'a> { self.0.block.chars::<21, 20>() }
    /// OrderID (tag 37), 8 at 41.
    #[inline] pub fn order_id(&self) -> u64 { self.0.block.load::<u64, 41>() }
    /// SendingTimeEpoch (tag 5297), 8 at 49.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 49>() }
    /// Location (tag 9537), 5 at 57.
    #[inline] pub fn location(&self) -> CharArray<'a> { self.0.block.chars::<57, 5>() }
}

/// Writes the block of OrderStatusRequest533.
#[derive(Debug)]
pub struct OrderStatusRequest533Encoder<'a>(&'a mut [u8; 62]);

impl OrderStatusRequest533Encoder<'_> {
    /// Writes PartyDetailsListReqID.
    #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /// Writes OrdStatusReqID.
    #[inline] pub fn set_ord_status_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /// Writes ManualOrderIndicator.
    #[inline] pub fn set_manual_order_indicator(&mut self, value: ManualOrdIndReq) -> &mut Self { self.0.store::<u8, 16>(value.0); self }
    /// Writes SeqNum.
    #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 17>(value); self }
    /// Writes SenderID.
    #[inline] pub fn set_sender_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<21, 20>(value.as_ref()); self }
    /// Writes OrderID.
    #[inline] pub fn set_order_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 41>(value); self }
    /// Writes SendingTimeEpoch.
    #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 49>(value); self }
    /// Writes Location.
    #[inline] pub fn set_location(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<57, 5>(value.as_ref()); self }
}
