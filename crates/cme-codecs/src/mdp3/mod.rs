//! Messages of mktdata, schema 1 version 13. Generated from `schemas/mdp3-v13.xml` by `cargo xtask codegen`.

use hairpin_sbe::{DecodeError, Message, MessageHeader, Visitor};

mod kind;
mod types;
pub mod channel_reset4;
pub mod admin_heartbeat12;
pub mod admin_login15;
pub mod admin_logout16;
pub mod security_status30;
pub mod md_incremental_refresh_volume37;
pub mod quote_request39;
pub mod md_incremental_refresh_book46;
pub mod md_incremental_refresh_order_book47;
pub mod md_incremental_refresh_trade_summary48;
pub mod md_incremental_refresh_daily_statistics49;
pub mod md_incremental_refresh_limits_banding50;
pub mod md_incremental_refresh_session_statistics51;
pub mod snapshot_full_refresh52;
pub mod snapshot_full_refresh_order_book53;
pub mod md_instrument_definition_future54;
pub mod md_instrument_definition_option55;
pub mod md_instrument_definition_spread56;
pub mod md_instrument_definition_fixed_income57;
pub mod md_instrument_definition_repo58;
pub mod snapshot_refresh_top_orders59;
pub mod security_status_workup60;
pub mod snapshot_full_refresh_tcp61;
pub mod collateral_market_value62;
pub mod md_instrument_definition_fx63;
pub mod md_incremental_refresh_book_long_qty64;
pub mod md_incremental_refresh_trade_summary_long_qty65;
pub mod md_incremental_refresh_volume_long_qty66;
pub mod md_incremental_refresh_session_statistics_long_qty67;
pub mod snapshot_full_refresh_tcp_long_qty68;
pub mod snapshot_full_refresh_long_qty69;

pub use types::*;
pub use channel_reset4::{ChannelReset4, ChannelReset4Encoder, ChannelReset4Groups};
pub use admin_heartbeat12::{AdminHeartbeat12, AdminHeartbeat12Encoder};
pub use admin_login15::{AdminLogin15, AdminLogin15Encoder};
pub use admin_logout16::{AdminLogout16, AdminLogout16Encoder};
pub use security_status30::{SecurityStatus30, SecurityStatus30Encoder};
pub use md_incremental_refresh_volume37::{MDIncrementalRefreshVolume37, MDIncrementalRefreshVolume37Encoder, MDIncrementalRefreshVolume37Groups};
pub use quote_request39::{QuoteRequest39, QuoteRequest39Encoder, QuoteRequest39Groups};
pub use md_incremental_refresh_book46::{MDIncrementalRefreshBook46, MDIncrementalRefreshBook46Encoder, MDIncrementalRefreshBook46Groups};
pub use md_incremental_refresh_order_book47::{MDIncrementalRefreshOrderBook47, MDIncrementalRefreshOrderBook47Encoder, MDIncrementalRefreshOrderBook47Groups};
pub use md_incremental_refresh_trade_summary48::{MDIncrementalRefreshTradeSummary48, MDIncrementalRefreshTradeSummary48Encoder, MDIncrementalRefreshTradeSummary48Groups};
pub use md_incremental_refresh_daily_statistics49::{MDIncrementalRefreshDailyStatistics49, MDIncrementalRefreshDailyStatistics49Encoder, MDIncrementalRefreshDailyStatistics49Groups};
pub use md_incremental_refresh_limits_banding50::{MDIncrementalRefreshLimitsBanding50, MDIncrementalRefreshLimitsBanding50Encoder, MDIncrementalRefreshLimitsBanding50Groups};
pub use md_incremental_refresh_session_statistics51::{MDIncrementalRefreshSessionStatistics51, MDIncrementalRefreshSessionStatistics51Encoder, MDIncrementalRefreshSessionStatistics51Groups};
pub use snapshot_full_refresh52::{SnapshotFullRefresh52, SnapshotFullRefresh52Encoder, SnapshotFullRefresh52Groups};
pub use snapshot_full_refresh_order_book53::{SnapshotFullRefreshOrderBook53, SnapshotFullRefreshOrderBook53Encoder, SnapshotFullRefreshOrderBook53Groups};
pub use md_instrument_definition_future54::{MDInstrumentDefinitionFuture54, MDInstrumentDefinitionFuture54Encoder, MDInstrumentDefinitionFuture54Groups};
pub use md_instrument_definition_option55::{MDInstrumentDefinitionOption55, MDInstrumentDefinitionOption55Encoder, MDInstrumentDefinitionOption55Groups};
pub use md_instrument_definition_spread56::{MDInstrumentDefinitionSpread56, MDInstrumentDefinitionSpread56Encoder, MDInstrumentDefinitionSpread56Groups};
pub use md_instrument_definition_fixed_income57::{MDInstrumentDefinitionFixedIncome57, MDInstrumentDefinitionFixedIncome57Encoder, MDInstrumentDefinitionFixedIncome57Groups};
pub use md_instrument_definition_repo58::{MDInstrumentDefinitionRepo58, MDInstrumentDefinitionRepo58Encoder, MDInstrumentDefinitionRepo58Groups};
pub use snapshot_refresh_top_orders59::{SnapshotRefreshTopOrders59, SnapshotRefreshTopOrders59Encoder, SnapshotRefreshTopOrders59Groups};
pub use security_status_workup60::{SecurityStatusWorkup60, SecurityStatusWorkup60Encoder, SecurityStatusWorkup60Groups};
pub use snapshot_full_refresh_tcp61::{SnapshotFullRefreshTCP61, SnapshotFullRefreshTCP61Encoder, SnapshotFullRefreshTCP61Groups};
pub use collateral_market_value62::{CollateralMarketValue62, CollateralMarketValue62Encoder, CollateralMarketValue62Groups};
pub use md_instrument_definition_fx63::{MDInstrumentDefinitionFX63, MDInstrumentDefinitionFX63Encoder, MDInstrumentDefinitionFX63Groups};
pub use md_incremental_refresh_book_long_qty64::{MDIncrementalRefreshBookLongQty64, MDIncrementalRefreshBookLongQty64Encoder, MDIncrementalRefreshBookLongQty64Groups};
pub use md_incremental_refresh_trade_summary_long_qty65::{MDIncrementalRefreshTradeSummaryLongQty65, MDIncrementalRefreshTradeSummaryLongQty65Encoder, MDIncrementalRefreshTradeSummaryLongQty65Groups};
pub use md_incremental_refresh_volume_long_qty66::{MDIncrementalRefreshVolumeLongQty66, MDIncrementalRefreshVolumeLongQty66Encoder, MDIncrementalRefreshVolumeLongQty66Groups};
pub use md_incremental_refresh_session_statistics_long_qty67::{MDIncrementalRefreshSessionStatisticsLongQty67, MDIncrementalRefreshSessionStatisticsLongQty67Encoder, MDIncrementalRefreshSessionStatisticsLongQty67Groups};
pub use snapshot_full_refresh_tcp_long_qty68::{SnapshotFullRefreshTCPLongQty68, SnapshotFullRefreshTCPLongQty68Encoder, SnapshotFullRefreshTCPLongQty68Groups};
pub use snapshot_full_refresh_long_qty69::{SnapshotFullRefreshLongQty69, SnapshotFullRefreshLongQty69Encoder, SnapshotFullRefreshLongQty69Groups};

/// The schema id in every header.
pub const SCHEMA_ID: u16 = 1;
/// The schema version of these codecs.
pub const SCHEMA_VERSION: u16 = 13;
/// The layout of every message, sorted by template id.
pub const MESSAGES: &[&Message] = &[
    &channel_reset4::MESSAGE,
    &admin_heartbeat12::MESSAGE,
    &admin_login15::MESSAGE,
    &admin_logout16::MESSAGE,
    &security_status30::MESSAGE,
    &md_incremental_refresh_volume37::MESSAGE,
    &quote_request39::MESSAGE,
    &md_incremental_refresh_book46::MESSAGE,
    &md_incremental_refresh_order_book47::MESSAGE,
    &md_incremental_refresh_trade_summary48::MESSAGE,
    &md_incremental_refresh_daily_statistics49::MESSAGE,
    &md_incremental_refresh_limits_banding50::MESSAGE,
    &md_incremental_refresh_session_statistics51::MESSAGE,
    &snapshot_full_refresh52::MESSAGE,
    &snapshot_full_refresh_order_book53::MESSAGE,
    &md_instrument_definition_future54::MESSAGE,
    &md_instrument_definition_option55::MESSAGE,
    &md_instrument_definition_spread56::MESSAGE,
    &md_instrument_definition_fixed_income57::MESSAGE,
    &md_instrument_definition_repo58::MESSAGE,
    &snapshot_refresh_top_orders59::MESSAGE,
    &security_status_workup60::MESSAGE,
    &snapshot_full_refresh_tcp61::MESSAGE,
    &collateral_market_value62::MESSAGE,
    &md_instrument_definition_fx63::MESSAGE,
    &md_incremental_refresh_book_long_qty64::MESSAGE,
    &md_incremental_refresh_trade_summary_long_qty65::MESSAGE,
    &md_incremental_refresh_volume_long_qty66::MESSAGE,
    &md_incremental_refresh_session_statistics_long_qty67::MESSAGE,
    &snapshot_full_refresh_tcp_long_qty68::MESSAGE,
    &snapshot_full_refresh_long_qty69::MESSAGE,
];

/// Visits every field of the message in `body`. Returns its length in bytes, SBE header
/// included.
///
/// # Errors
/// Any [`DecodeError`] except `Header`: unknown template or schema, or truncated.
pub fn visit(header: &MessageHeader, body: &[u8], visitor: &mut impl Visitor) -> Result<usize, DecodeError> {
    hairpin_sbe::visit(MESSAGES, header, body, visitor)
}
