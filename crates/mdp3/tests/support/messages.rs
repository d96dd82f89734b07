//! Messages other than books: statistics, limits, trades with orders, requests, workups.

use hairpin_cme_codecs::mdp3::*;

use super::packets::price;
use super::{END, PacketBuilder};

/// An entry of a statistic: type, flag, price, quantity and action.
#[derive(Clone, Copy, Debug)]
pub struct StatisticEntry {
    pub entry_type: u8,
    pub flag: Option<u8>,
    pub price: i64,
    pub quantity: Option<i32>,
    pub action: u8,
}

/// Returns a new statistic without a quantity.
pub fn statistic(entry_type: u8, flag: Option<u8>, price: i64) -> StatisticEntry {
    StatisticEntry { entry_type, flag, price, quantity: None, action: 0 }
}

/// Adds session statistics of either template, which differ in the quantity type.
macro_rules! session_statistics {
    ($packet:expr, $type:ident, $quantity:ty, $id:ident, $rpt_seq:ident, $entries:ident) => {{
        let time = $packet.time();
        $packet.message(|buffer| {
            let (mut root, mut groups) = $type::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator(END));
            let mut group = groups.no_md_entries().unwrap();
            for (rpt_seq, entry) in ($rpt_seq..).zip($entries) {
                let mut wire = group.push().unwrap();
                wire.set_security_id($id)
                    .set_rpt_seq(rpt_seq)
                    .set_md_entry_px(price(entry.price))
                    .set_md_entry_size(entry.quantity.map(|quantity| quantity as $quantity))
                    .set_open_close_settl_flag(entry.flag.map(OpenCloseSettlFlag))
                    .set_md_update_action(MDUpdateAction(entry.action))
                    .set_md_entry_type(MDEntryTypeStatistics(entry.entry_type));
            }
            groups.finish().unwrap()
        })
    }};
}

/// Adds trades of either template, which differ in the quantity type.
macro_rules! trades {
    ($packet:expr, $type:ident, $id:ident, $rpt_seq:ident, $trades:ident, $orders:ident) => {{
        let time = $packet.time();
        $packet.message(|buffer| {
            let (mut root, mut groups) = $type::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator(END));
            let mut group = groups.no_md_entries().unwrap();
            for (rpt_seq, (quantity, count)) in ($rpt_seq..).zip($trades) {
                let mut trade = group.push().unwrap();
                trade.set_security_id($id).set_rpt_seq(rpt_seq).set_md_entry_px(price(50));
                trade.set_md_entry_size(*quantity).set_number_of_orders(*count);
            }
            let mut group = groups.no_order_id_entries().unwrap();
            for (order_id, quantity) in $orders {
                group.push().unwrap().set_order_id(*order_id).set_last_qty(*quantity);
            }
            groups.finish().unwrap()
        })
    }};
}

impl PacketBuilder {
    /// Adds session statistics (template 51) with RptSeq from `rpt_seq` on.
    pub fn session_statistics(self, id: i32, rpt_seq: u32, entries: &[StatisticEntry]) -> Self {
        session_statistics!(
            self,
            MDIncrementalRefreshSessionStatistics51,
            i32,
            id,
            rpt_seq,
            entries
        )
    }

    /// Adds the same with 64-bit quantities (template 67).
    pub fn long_statistics(self, id: i32, rpt_seq: u32, entries: &[StatisticEntry]) -> Self {
        session_statistics!(
            self,
            MDIncrementalRefreshSessionStatisticsLongQty67,
            u64,
            id,
            rpt_seq,
            entries
        )
    }

    /// Adds daily statistics (template 49): settlements have a flag, the others a quantity.
    pub fn daily_statistics(self, id: i32, rpt_seq: u32, entries: &[StatisticEntry]) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) =
                MDIncrementalRefreshDailyStatistics49::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator(0x80));
            let mut group = groups.no_md_entries().unwrap();
            for (rpt_seq, entry) in (rpt_seq..).zip(entries) {
                let mut wire = group.push().unwrap();
                let at = entry.quantity.is_none().then(|| price(entry.price));
                wire.set_security_id(id)
                    .set_rpt_seq(rpt_seq)
                    .set_md_entry_px(at)
                    .set_md_entry_size(entry.quantity)
                    .set_trading_reference_date(20_454)
                    .set_settl_price_type(SettlPriceType(entry.flag.unwrap_or(0x80)))
                    .set_md_update_action(MDUpdateAction(entry.action))
                    .set_md_entry_type(MDEntryTypeDailyStatistics(entry.entry_type));
            }
            groups.finish().unwrap()
        })
    }

    /// Adds high limit, low limit and price variation (template 50).
    pub fn limits(self, id: i32, rpt_seq: u32, limits: [Option<i64>; 3]) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) =
                MDIncrementalRefreshLimitsBanding50::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator(END));
            let mut group = groups.no_md_entries().unwrap();
            let mut entry = group.push().unwrap();
            let [high, low, variation] = limits.map(|limit| limit.map(price));
            entry
                .set_security_id(id)
                .set_rpt_seq(rpt_seq)
                .set_high_limit_price(high)
                .set_low_limit_price(low)
                .set_max_price_variation(variation);
            groups.finish().unwrap()
        })
    }

    /// Adds trades (template 48) with RptSeq from `rpt_seq` on, each with its quantity and number
    /// of orders, and the orders of all trades.
    pub fn trades(
        self,
        id: i32,
        rpt_seq: u32,
        trades: &[(i32, i32)],
        orders: &[(u64, i32)],
    ) -> Self {
        trades!(self, MDIncrementalRefreshTradeSummary48, id, rpt_seq, trades, orders)
    }

    /// Adds the same with 64-bit quantities (template 65).
    pub fn long_trades(
        self,
        id: i32,
        rpt_seq: u32,
        trades: &[(u64, i32)],
        orders: &[(u64, i32)],
    ) -> Self {
        trades!(self, MDIncrementalRefreshTradeSummaryLongQty65, id, rpt_seq, trades, orders)
    }

    /// Adds electronic volume with a 64-bit quantity (template 66).
    pub fn long_volume(self, id: i32, rpt_seq: u32, quantity: u64) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) =
                MDIncrementalRefreshVolumeLongQty66::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator(END));
            let mut group = groups.no_md_entries().unwrap();
            let mut entry = group.push().unwrap();
            entry.set_security_id(id).set_rpt_seq(rpt_seq).set_md_entry_size(quantity);
            groups.finish().unwrap()
        })
    }

    /// Adds a request for quotes of some instruments (template 39), each to buy ten.
    pub fn quote_request(self, ids: &[i32]) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) = QuoteRequest39::encode(buffer).unwrap();
            root.set_transact_time(time)
                .set_quote_req_id("4711")
                .set_match_event_indicator(MatchEventIndicator(END));
            let mut group = groups.no_related_sym().unwrap();
            for id in ids {
                let mut entry = group.push().unwrap();
                entry.set_symbol(format!("ES{id}")).set_security_id(*id);
                entry.set_order_qty(10).set_quote_type(1).set_side(1);
            }
            groups.finish().unwrap()
        })
    }

    /// Adds a workup of two orders (template 60).
    pub fn workup(self, id: i32, status: u8, event: u8) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) = SecurityStatusWorkup60::encode(buffer).unwrap();
            root.set_transact_time(time)
                .set_md_entry_px(price(99))
                .set_security_id(id)
                .set_match_event_indicator(MatchEventIndicator(END))
                .set_trade_date(20_454)
                .set_trade_link_id(77)
                .set_security_trading_status(WorkupTradingStatus(status))
                .set_halt_reason(HaltReason::GROUP_SCHEDULE)
                .set_security_trading_event(SecurityTradingEvent(event));
            let mut group = groups.no_order_id_entries().unwrap();
            let mut order = group.push().unwrap();
            order.set_order_id(501).set_side(Side::BUY);
            order.set_aggressor_indicator(AggressorFlag::AGGRESSOR);
            let mut order = group.push().unwrap();
            order.set_order_id(502).set_side(Side::SELL);
            order.set_aggressor_indicator(AggressorFlag::NOT_AGGRESSOR);
            groups.finish().unwrap()
        })
    }

    /// Adds the value of one bond as collateral (template 62).
    pub fn collateral(self) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) = CollateralMarketValue62::encode(buffer).unwrap();
            root.set_transact_time(time).set_match_event_indicator(MatchEventIndicator(END));
            let mut group = groups.no_md_entries().unwrap();
            let mut entry = group.push().unwrap();
            entry
                .set_underlying_security_alt_id("US912828")
                .set_underlying_security_alt_id_source(SecurityAltIDSource::CUSIP)
                .set_collateral_market_price(price(99))
                .set_dirty_price(price(101))
                .set_underlying_instrument_guid(9)
                .set_md_stream_id(PriceSource::GLOBEX);
            groups.finish().unwrap()
        })
    }

    /// Adds a snapshot (template 52) without levels, with the given statistics and limits.
    /// Settlements have their type in the flag.
    pub fn statistics_snapshot(
        self,
        id: i32,
        last: u32,
        total: u32,
        entries: &[StatisticEntry],
        limits: [Option<i64>; 3],
    ) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) = SnapshotFullRefresh52::encode(buffer).unwrap();
            let [high, low, variation] = limits.map(|limit| limit.map(price));
            root.set_last_msg_seq_num_processed(last)
                .set_tot_num_reports(total)
                .set_security_id(id)
                .set_rpt_seq(1_000)
                .set_transact_time(time)
                .set_high_limit_price(high)
                .set_low_limit_price(low)
                .set_max_price_variation(variation);
            let mut group = groups.no_md_entries().unwrap();
            for entry in entries {
                let mut wire = group.push().unwrap();
                let is_settlement = entry.entry_type == b'6';
                let of = |is_of: bool| entry.flag.filter(|_| is_of);
                wire.set_md_entry_px(entry.quantity.is_none().then(|| price(entry.price)))
                    .set_md_entry_size(entry.quantity)
                    .set_md_price_level(None)
                    .set_open_close_settl_flag(of(!is_settlement).map(OpenCloseSettlFlag))
                    .set_settl_price_type(SettlPriceType(of(is_settlement).unwrap_or(0x80)))
                    .set_trading_reference_date(is_settlement.then_some(20_454))
                    .set_md_entry_type(MDEntryType(entry.entry_type));
            }
            groups.finish().unwrap()
        })
    }

    /// Adds the same with 64-bit quantities (template 69).
    pub fn long_statistics_snapshot(
        self,
        id: i32,
        last: u32,
        total: u32,
        entries: &[StatisticEntry],
    ) -> Self {
        let time = self.time();
        self.message(|buffer| {
            let (mut root, mut groups) = SnapshotFullRefreshLongQty69::encode(buffer).unwrap();
            root.set_last_msg_seq_num_processed(last)
                .set_tot_num_reports(total)
                .set_security_id(id)
                .set_rpt_seq(1_000)
                .set_transact_time(time);
            let mut group = groups.no_md_entries().unwrap();
            for entry in entries {
                let mut wire = group.push().unwrap();
                wire.set_md_entry_px(entry.quantity.is_none().then(|| price(entry.price)))
                    .set_md_entry_size(entry.quantity.map(|quantity| quantity as u64))
                    .set_md_price_level(None)
                    .set_open_close_settl_flag(entry.flag.map(OpenCloseSettlFlag))
                    .set_md_entry_type(MDEntryType(entry.entry_type));
            }
            groups.finish().unwrap()
        })
    }
}
