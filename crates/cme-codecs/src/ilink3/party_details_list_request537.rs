//! PartyDetailsListRequest537, template 537. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use super::kind;
use hairpin_sbe::{Block, BlockLayout, CharArray, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of PartyDetailsListRequest537.
pub const MESSAGE: Message = Message {
    name: "PartyDetailsListRequest537", template_id: 537, schema_id: 8, version: 9, semantic_type: "CF",
    block: BlockLayout::new(20, 0, FIELDS),
    groups: &[
        GroupLayout::new("NoRequestingPartyIDs", 1657, 0, kind::GROUP_SIZE, BlockLayout::new(7, 0, NO_REQUESTING_PARTY_I_DS)),
        GroupLayout::new("NoPartyIDs", 453, 0, kind::GROUP_SIZE, BlockLayout::new(11, 0, NO_PARTY_I_DS)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("PartyDetailsListReqID", 1505, 0, 0, &kind::U_INT64),
    Field::new("SendingTimeEpoch", 5297, 8, 0, &kind::U_INT64),
    Field::new("SeqNum", 9726, 16, 0, &kind::U_INT32),
];
const NO_REQUESTING_PARTY_I_DS: &[Field] = &[
    Field::new("RequestingPartyID", 1658, 0, 0, &kind::STRING5),
    Field::new("RequestingPartyIDSource", 1659, 5, 0, &kind::CHAR),
    Field::new("RequestingPartyRole", 1660, 6, 0, &kind::CHAR),
];
const NO_PARTY_I_DS: &[Field] = &[
    Field::new("PartyID", 448, 0, 0, &kind::U_INT64),
    Field::new("PartyIDSource", 447, 8, 0, &kind::CHAR),
    Field::new("PartyRole", 452, 9, 0, &kind::U_INT16),
];

hairpin_sbe::message! {
    /// PartyDetailsListRequest537: message type CF, template 537, block of 20 bytes, 2 groups.
    PartyDetailsListRequest537, PartyDetailsListRequest537Encoder, 20, PartyDetailsListRequest537Groups, 2
}

impl<'a> PartyDetailsListRequest537<'a> {
    /// PartyDetailsListReqID (tag 1505), bytes 0..8.
    #[inline] pub fn party_details_list_req_id(&self) -> u64 { self.0.block.load::<u64, 0>() }
    /// SendingTimeEpoch (tag 5297), bytes 8..16.
    #[inline] pub fn sending_time_epoch(&self) -> u64 { self.0.block.load::<u64, 8>() }
    /// SeqNum (tag 9726), bytes 16..20.
    #[inline] pub fn seq_num(&self) -> u32 { self.0.block.load::<u32, 16>() }
    /// NoRequestingPartyIDs (tag 1657).
    #[inline] pub fn no_requesting_party_i_ds(&self) -> Group<'a, NoRequestingPartyIDs<'a>> { Group::new(self.0.group(0)) }
    /// NoPartyIDs (tag 453).
    #[inline] pub fn no_party_i_ds(&self) -> Group<'a, NoPartyIDs<'a>> { Group::new(self.0.group(1)) }
}

impl PartyDetailsListRequest537Encoder<'_> {
    /** Writes PartyDetailsListReqID. */ #[inline] pub fn set_party_details_list_req_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes SendingTimeEpoch. */ #[inline] pub fn set_sending_time_epoch(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 8>(value); self }
    /** Writes SeqNum. */ #[inline] pub fn set_seq_num(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 16>(value); self }
}

impl PartyDetailsListRequest537Groups<'_> {
    /// Starts the group NoRequestingPartyIDs.
    #[inline] pub fn no_requesting_party_i_ds(&mut self) -> Result<GroupEncoder<'_, NoRequestingPartyIDs<'_>>, EncodeError> { self.0.open(0) }
    /// Starts the group NoPartyIDs.
    #[inline] pub fn no_party_i_ds(&mut self) -> Result<GroupEncoder<'_, NoPartyIDs<'_>>, EncodeError> { self.0.open(1) }
}

hairpin_sbe::entry! {
    /// An entry of NoRequestingPartyIDs (tag 1657): block of 7 bytes.
    NoRequestingPartyIDs, NoRequestingPartyIDsEncoder, 7, 0
}

impl<'a> NoRequestingPartyIDs<'a> {
    /// RequestingPartyID (tag 1658), bytes 0..5.
    #[inline] pub fn requesting_party_id(&self) -> CharArray<'a> { self.0.chars::<0, 5>() }
    /// RequestingPartyIDSource (tag 1659), bytes 5..6.
    #[inline] pub fn requesting_party_id_source(&self) -> u8 { self.0.load::<u8, 5>() }
    /// RequestingPartyRole (tag 1660), bytes 6..7.
    #[inline] pub fn requesting_party_role(&self) -> u8 { self.0.load::<u8, 6>() }
}

impl NoRequestingPartyIDsEncoder<'_> {
    /** Writes RequestingPartyID. */ #[inline] pub fn set_requesting_party_id(&mut self, value: impl AsRef<[u8]>) -> &mut Self { self.0.store_chars::<0, 5>(value.as_ref()); self }
    /** Writes RequestingPartyIDSource. */ #[inline] pub fn set_requesting_party_id_source(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 5>(value); self }
    /** Writes RequestingPartyRole. */ #[inline] pub fn set_requesting_party_role(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 6>(value); self }
}

hairpin_sbe::entry! {
    /// An entry of NoPartyIDs (tag 453): block of 11 bytes.
    NoPartyIDs, NoPartyIDsEncoder, 11, 1
}

impl NoPartyIDs<'_> {
    /// PartyID (tag 448), bytes 0..8.
    #[inline] pub fn party_id(&self) -> u64 { self.0.load::<u64, 0>() }
    /// PartyIDSource (tag 447), bytes 8..9.
    #[inline] pub fn party_id_source(&self) -> u8 { self.0.load::<u8, 8>() }
    /// PartyRole (tag 452), bytes 9..11.
    #[inline] pub fn party_role(&self) -> u16 { self.0.load::<u16, 9>() }
}

impl NoPartyIDsEncoder<'_> {
    /** Writes PartyID. */ #[inline] pub fn set_party_id(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 0>(value); self }
    /** Writes PartyIDSource. */ #[inline] pub fn set_party_id_source(&mut self, value: u8) -> &mut Self { self.0.store::<u8, 8>(value); self }
    /** Writes PartyRole. */ #[inline] pub fn set_party_role(&mut self, value: u16) -> &mut Self { self.0.store::<u16, 9>(value); self }
}
