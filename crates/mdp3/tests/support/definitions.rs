//! Definitions other than futures.

use hairpin_cme_codecs::mdp3::*;

use super::{END, PacketBuilder};

impl PacketBuilder {
    /// Adds a call on `underlying` at a strike of 4,500, with feed types like a future's.
    pub fn option(self, id: i32, total: u32, underlying: i32) -> Self {
        self.message(|buffer| {
            let (mut root, mut groups) = MDInstrumentDefinitionOption55::encode(buffer).unwrap();
            root.set_match_event_indicator(MatchEventIndicator(END))
                .set_tot_num_reports(total)
                .set_security_update_action(SecurityUpdateAction::ADD)
                .set_md_security_trading_status(SecurityTradingStatus::PRE_OPEN)
                .set_market_segment_id(64)
                .set_underlying_product(5)
                .set_security_exchange("XCME")
                .set_security_group("EZ")
                .set_asset("ES")
                .set_symbol("ESZ6 C4500")
                .set_security_id(id)
                .set_security_type("OOF")
                .set_put_or_call(PutOrCall::CALL)
                .set_strike_price(Price9(4_500_000_000_000))
                .set_strike_currency("USD")
                .set_min_cab_price(Price9(5_000_000))
                .set_match_algorithm(b'K')
                .set_min_trade_vol(1)
                .set_max_trade_vol(3_000)
                .set_min_price_increment(None)
                .set_display_factor(Price9(10_000_000))
                .set_tick_rule(4)
                .set_instrument_guid(77);
            let mut events = groups.no_events().unwrap();
            events.push().unwrap().set_event_type(EventType::ACTIVATION).set_event_time(1_000);
            let expiry = EventType::LAST_ELIGIBLE_TRADE_DATE;
            events.push().unwrap().set_event_type(expiry).set_event_time(2_000);
            let mut feed_types = groups.no_md_feed_types().unwrap();
            feed_types.push().unwrap().set_md_feed_type("GBX").set_market_depth(3);
            let mut attributes = groups.no_inst_attrib().unwrap();
            let eligible = InstAttribValue::ELECTRONIC_MATCH_ELIGIBLE;
            attributes.push().unwrap().set_inst_attrib_value(eligible);
            let mut underlyings = groups.no_underlyings().unwrap();
            let mut entry = underlyings.push().unwrap();
            entry.set_underlying_security_id(underlying).set_underlying_symbol("ESZ6");
            let mut related = groups.no_related_instruments().unwrap();
            related.push().unwrap().set_related_security_id(99).set_related_symbol("ESZ6 P4500");
            groups.finish().unwrap()
        })
    }

    /// Adds a spread that buys the first leg and sells the others, in ratios 1, 2, 3….
    pub fn spread(self, id: i32, total: u32, legs: &[i32]) -> Self {
        self.spread_as(SecurityUpdateAction::ADD, id, total, legs)
    }

    pub fn spread_as(
        self,
        action: SecurityUpdateAction,
        id: i32,
        total: u32,
        legs: &[i32],
    ) -> Self {
        self.message(|buffer| {
            let (mut root, mut groups) = MDInstrumentDefinitionSpread56::encode(buffer).unwrap();
            root.set_match_event_indicator(MatchEventIndicator(END))
                .set_tot_num_reports(total)
                .set_security_update_action(action)
                .set_security_group("ES")
                .set_asset("ES")
                .set_symbol("ESZ6-ESH7")
                .set_security_id(id)
                .set_security_sub_type("SP")
                .set_user_defined_instrument(b'Y')
                .set_price_ratio(None);
            let mut feed_types = groups.no_md_feed_types().unwrap();
            feed_types.push().unwrap().set_md_feed_type("GBX").set_market_depth(10);
            feed_types.push().unwrap().set_md_feed_type("GBI").set_market_depth(3);
            let mut group = groups.no_legs().unwrap();
            for (ratio, leg) in (1..).zip(legs) {
                let side = if ratio == 1 { LegSide::BUY_SIDE } else { LegSide::SELL_SIDE };
                group
                    .push()
                    .unwrap()
                    .set_leg_security_id(*leg)
                    .set_leg_side(side)
                    .set_leg_ratio_qty(ratio)
                    .set_leg_price(Price9(-1))
                    .set_leg_option_delta(None);
            }
            groups.finish().unwrap()
        })
    }

    /// Adds EUR/USD spot.
    pub fn fx(self, id: i32, total: u32) -> Self {
        self.message(|buffer| {
            let (mut root, mut groups) = MDInstrumentDefinitionFX63::encode(buffer).unwrap();
            root.set_tot_num_reports(total)
                .set_security_update_action(SecurityUpdateAction::ADD)
                .set_symbol("EURUSD")
                .set_security_id(id)
                .set_currency("EUR")
                .set_price_quote_currency("USD")
                .set_min_price_increment(Price9(10_000))
                .set_display_factor(Price9(1_000_000_000))
                .set_price_precision(5)
                .set_fx_currency_symbol("EUR/USD")
                .set_settl_type("0")
                .set_intervening_days(2)
                .set_alt_min_price_increment(Price9(50_000));
            let mut feed_types = groups.no_md_feed_types().unwrap();
            feed_types.push().unwrap().set_md_feed_type("GBX").set_market_depth(10);
            groups.finish().unwrap()
        })
    }

    /// Adds a bond that matures on day 24,000.
    pub fn bond(self, id: i32, total: u32) -> Self {
        self.message(|buffer| {
            let (mut root, groups) = MDInstrumentDefinitionFixedIncome57::encode(buffer).unwrap();
            root.set_tot_num_reports(total)
                .set_security_update_action(SecurityUpdateAction::ADD)
                .set_symbol("TN10")
                .set_security_id(id)
                .set_maturity_date(24_000)
                .set_coupon_rate(Price9(4_250_000_000))
                .set_main_fraction(32);
            groups.finish().unwrap()
        })
    }

    /// Adds a repo of days 20,454 to 20,455 on one underlying without a SecurityID.
    pub fn repo(self, id: i32, total: u32) -> Self {
        self.message(|buffer| {
            let (mut root, mut groups) = MDInstrumentDefinitionRepo58::encode(buffer).unwrap();
            root.set_tot_num_reports(total)
                .set_security_update_action(SecurityUpdateAction::ADD)
                .set_symbol("RP1")
                .set_security_id(id)
                .set_start_date(20_454)
                .set_end_date(20_455)
                .set_security_sub_type(RepoSubType::GC)
                .set_term_code("ON");
            let mut underlyings = groups.no_underlyings().unwrap();
            let mut entry = underlyings.push().unwrap();
            entry.set_underlying_security_id(None).set_underlying_symbol("TN10");
            groups.finish().unwrap()
        })
    }
}
