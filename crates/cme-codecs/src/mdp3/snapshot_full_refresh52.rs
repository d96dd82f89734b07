//! SnapshotFullRefresh52, template 52. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use super::kind;
use super::types::*;
use hairpin_sbe::{Block, BlockLayout, Decimal, EncodeError, Field, Group, GroupEncoder, GroupLayout, Message};

/// The layout of SnapshotFullRefresh52.
pub const MESSAGE: Message = Message {
    name: "SnapshotFullRefresh52", template_id: 52, schema_id: 1, version: 13, semantic_type: "W",
    block: BlockLayout::new(59, 9, FIELDS),
    groups: &[
        GroupLayout::new("NoMDEntries", 268, 0, kind::GROUP_SIZE, BlockLayout::new(22, 9, NO_MD_ENTRIES)),
    ],
    data: &[],
};
const FIELDS: &[Field] = &[
    Field::new("LastMsgSeqNumProcessed", 369, 0, 0, &kind::U_INT32),
    Field::new("TotNumReports", 911, 4, 0, &kind::U_INT32),
    Field::new("SecurityID", 48, 8, 0, &kind::INT32),
    Field::new("RptSeq", 83, 12, 0, &kind::U_INT32),
    Field::new("TransactTime", 60, 16, 0, &kind::U_INT64),
    Field::new("LastUpdateTime", 779, 24, 0, &kind::U_INT64),
    Field::new("TradeDate", 75, 32, 0, &kind::LOCAL_MKT_DATE),
    Field::new("MDSecurityTradingStatus", 1682, 34, 0, &kind::SECURITY_TRADING_STATUS),
    Field::new("HighLimitPrice", 1149, 35, 0, &kind::PRICENULL9),
    Field::new("LowLimitPrice", 1148, 43, 0, &kind::PRICENULL9),
    Field::new("MaxPriceVariation", 1143, 51, 0, &kind::PRICENULL9),
];
const NO_MD_ENTRIES: &[Field] = &[
    Field::new("MDEntryPx", 270, 0, 0, &kind::PRICENULL9),
    Field::new("MDEntrySize", 271, 8, 0, &kind::INT32NULL),
    Field::new("NumberOfOrders", 346, 12, 0, &kind::INT32NULL),
    Field::new("MDPriceLevel", 1023, 16, 0, &kind::INT8NULL),
    Field::new("TradingReferenceDate", 5796, 17, 0, &kind::LOCAL_MKT_DATE),
    Field::new("OpenCloseSettlFlag", 286, 19, 0, &kind::OPEN_CLOSE_SETTL_FLAG),
    Field::new("SettlPriceType", 731, 20, 0, &kind::SETTL_PRICE_TYPE),
    Field::new("MDEntryType", 269, 21, 0, &kind::MD_ENTRY_TYPE),
];

hairpin_sbe::message! {
    /// SnapshotFullRefresh52: message type W, template 52, since version 9, block of 59 bytes, 1 group.
    SnapshotFullRefresh52, SnapshotFullRefresh52Encoder, 59, SnapshotFullRefresh52Groups, 1
}

impl<'a> SnapshotFullRefresh52<'a> {
    /// LastMsgSeqNumProcessed (tag 369), bytes 0..4.
    #[inline] pub fn last_msg_seq_num_processed(&self) -> u32 { self.0.block.load::<u32, 0>() }
    /// TotNumReports (tag 911), bytes 4..8.
    #[inline] pub fn tot_num_reports(&self) -> u32 { self.0.block.load::<u32, 4>() }
    /// SecurityID (tag 48), bytes 8..12.
    #[inline] pub fn security_id(&self) -> i32 { self.0.block.load::<i32, 8>() }
    /// RptSeq (tag 83), bytes 12..16.
    #[inline] pub fn rpt_seq(&self) -> u32 { self.0.block.load::<u32, 12>() }
    /// TransactTime (tag 60), bytes 16..24.
    #[inline] pub fn transact_time(&self) -> u64 { self.0.block.load::<u64, 16>() }
    /// LastUpdateTime (tag 779), bytes 24..32.
    #[inline] pub fn last_update_time(&self) -> u64 { self.0.block.load::<u64, 24>() }
    /// TradeDate (tag 75), bytes 32..34.
    #[inline] pub fn trade_date(&self) -> Option<u16> { self.0.block.nullable::<u16, 32>(u16::MAX) }
    /// MDSecurityTradingStatus (tag 1682), bytes 34..35.
    #[inline] pub fn md_security_trading_status(&self) -> Option<SecurityTradingStatus> { self.0.block.nullable::<u8, 34>(u8::MAX).map(SecurityTradingStatus) }
    /// HighLimitPrice (tag 1149), bytes 35..43.
    #[inline] pub fn high_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 35>(i64::MAX).map(Decimal) }
    /// LowLimitPrice (tag 1148), bytes 43..51.
    #[inline] pub fn low_limit_price(&self) -> Option<Price9> { self.0.block.nullable::<i64, 43>(i64::MAX).map(Decimal) }
    /// MaxPriceVariation (tag 1143), bytes 51..59.
    #[inline] pub fn max_price_variation(&self) -> Option<Price9> { self.0.block.nullable::<i64, 51>(i64::MAX).map(Decimal) }
    /// NoMDEntries (tag 268).
    #[inline] pub fn no_md_entries(&self) -> Group<'a, NoMDEntries<'a>> { Group::new(self.0.group(0)) }
}

impl SnapshotFullRefresh52Encoder<'_> {
    /** Writes LastMsgSeqNumProcessed. */ #[inline] pub fn set_last_msg_seq_num_processed(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 0>(value); self }
    /** Writes TotNumReports. */ #[inline] pub fn set_tot_num_reports(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 4>(value); self }
    /** Writes SecurityID. */ #[inline] pub fn set_security_id(&mut self, value: i32) -> &mut Self { self.0.store::<i32, 8>(value); self }
    /** Writes RptSeq. */ #[inline] pub fn set_rpt_seq(&mut self, value: u32) -> &mut Self { self.0.store::<u32, 12>(value); self }
    /** Writes TransactTime. */ #[inline] pub fn set_transact_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 16>(value); self }
    /** Writes LastUpdateTime. */ #[inline] pub fn set_last_update_time(&mut self, value: u64) -> &mut Self { self.0.store::<u64, 24>(value); self }
    /** Writes TradeDate. */ #[inline] pub fn set_trade_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 32>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes MDSecurityTradingStatus. */ #[inline] pub fn set_md_security_trading_status(&mut self, value: impl Into<Option<SecurityTradingStatus>>) -> &mut Self { self.0.store::<u8, 34>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes HighLimitPrice. */ #[inline] pub fn set_high_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 35>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes LowLimitPrice. */ #[inline] pub fn set_low_limit_price(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 43>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MaxPriceVariation. */ #[inline] pub fn set_max_price_variation(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 51>(value.into().map_or(i64::MAX, |v| v.0)); self }
}

impl SnapshotFullRefresh52Groups<'_> {
    /// Starts the group NoMDEntries.
    #[inline] pub fn no_md_entries(&mut self) -> Result<GroupEncoder<'_, NoMDEntries<'_>>, EncodeError> { self.0.open(0) }
}

hairpin_sbe::entry! {
    /// An entry of NoMDEntries (tag 268): block of 22 bytes.
    NoMDEntries, NoMDEntriesEncoder, 22, 0
}

impl NoMDEntries<'_> {
    /// MDEntryPx (tag 270), bytes 0..8.
    #[inline] pub fn md_entry_px(&self) -> Option<Price9> { self.0.nullable::<i64, 0>(i64::MAX).map(Decimal) }
    /// MDEntrySize (tag 271), bytes 8..12.
    #[inline] pub fn md_entry_size(&self) -> Option<i32> { self.0.nullable::<i32, 8>(i32::MAX) }
    /// NumberOfOrders (tag 346), bytes 12..16.
    #[inline] pub fn number_of_orders(&self) -> Option<i32> { self.0.nullable::<i32, 12>(i32::MAX) }
    /// MDPriceLevel (tag 1023), bytes 16..17.
    #[inline] pub fn md_price_level(&self) -> Option<i8> { self.0.nullable::<i8, 16>(i8::MAX) }
    /// TradingReferenceDate (tag 5796), bytes 17..19.
    #[inline] pub fn trading_reference_date(&self) -> Option<u16> { self.0.nullable::<u16, 17>(u16::MAX) }
    /// OpenCloseSettlFlag (tag 286), bytes 19..20.
    #[inline] pub fn open_close_settl_flag(&self) -> Option<OpenCloseSettlFlag> { self.0.nullable::<u8, 19>(u8::MAX).map(OpenCloseSettlFlag) }
    /// SettlPriceType (tag 731), bytes 20..21.
    #[inline] pub fn settl_price_type(&self) -> SettlPriceType { SettlPriceType(self.0.load::<u8, 20>()) }
    /// MDEntryType (tag 269), bytes 21..22.
    #[inline] pub fn md_entry_type(&self) -> MDEntryType { MDEntryType(self.0.load::<u8, 21>()) }
}

impl NoMDEntriesEncoder<'_> {
    /** Writes MDEntryPx. */ #[inline] pub fn set_md_entry_px(&mut self, value: impl Into<Option<Price9>>) -> &mut Self { self.0.store::<i64, 0>(value.into().map_or(i64::MAX, |v| v.0)); self }
    /** Writes MDEntrySize. */ #[inline] pub fn set_md_entry_size(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 8>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes NumberOfOrders. */ #[inline] pub fn set_number_of_orders(&mut self, value: impl Into<Option<i32>>) -> &mut Self { self.0.store::<i32, 12>(value.into().unwrap_or(i32::MAX)); self }
    /** Writes MDPriceLevel. */ #[inline] pub fn set_md_price_level(&mut self, value: impl Into<Option<i8>>) -> &mut Self { self.0.store::<i8, 16>(value.into().unwrap_or(i8::MAX)); self }
    /** Writes TradingReferenceDate. */ #[inline] pub fn set_trading_reference_date(&mut self, value: impl Into<Option<u16>>) -> &mut Self { self.0.store::<u16, 17>(value.into().unwrap_or(u16::MAX)); self }
    /** Writes OpenCloseSettlFlag. */ #[inline] pub fn set_open_close_settl_flag(&mut self, value: impl Into<Option<OpenCloseSettlFlag>>) -> &mut Self { self.0.store::<u8, 19>(value.into().map_or(u8::MAX, |v| v.0)); self }
    /** Writes SettlPriceType. */ #[inline] pub fn set_settl_price_type(&mut self, value: SettlPriceType) -> &mut Self { self.0.store::<u8, 20>(value.0); self }
    /** Writes MDEntryType. */ #[inline] pub fn set_md_entry_type(&mut self, value: MDEntryType) -> &mut Self { self.0.store::<u8, 21>(value.0); self }
}
