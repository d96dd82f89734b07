//! The definition of an instrument.

use hairpin_cme_codecs::mdp3::{InstAttribValue, SecurityTradingStatus, SettlPriceType};
use hairpin_sbe::MonthYear;
use hairpin_time::Utc;

use crate::{Details, LotTypeRules, Price9, Text};

/// SecurityUpdateAction (980): the effect of a definition on the instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DefinitionAction {
    /// `A`: added, or already present.
    Add,
    /// `M`: modified.
    Modify,
    /// `D`: deleted.
    Delete,
}

/// The fields common to all definitions (templates 54 to 58 and 63), and in [`Details`] those of
/// one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Definition {
    /// SecurityID (48).
    pub security_id: i32,
    /// Symbol (55), such as `ESZ6`.
    pub symbol: Text<20>,
    /// SecurityGroup (1151).
    pub security_group: Text<6>,
    /// Asset (6937).
    pub asset: Text<6>,
    /// SecurityExchange (207).
    pub security_exchange: Text<4>,
    /// SecurityType (167), such as `FUT`.
    pub security_type: Text<6>,
    /// CFICode (461).
    pub cfi_code: Text<6>,
    /// Currency (15).
    pub currency: Text<3>,
    /// MarketSegmentID (1300): the destination of orders for the instrument.
    pub market_segment_id: u8,
    /// UnderlyingProduct (462).
    pub underlying_product: Option<u8>,
    /// MaturityMonthYear (200); empty for fixed income and repos, whose dates are in the details.
    pub maturity: MonthYear,
    /// MatchAlgorithm (1142), a letter.
    pub match_algorithm: u8,
    /// MinTradeVol (562): the minimum quantity of an order.
    pub min_trade_vol: u32,
    /// MaxTradeVol (1140): the maximum quantity of an order.
    pub max_trade_vol: u32,
    /// MinPriceIncrement (969): the tick size. `None` if it depends on the price.
    pub min_price_increment: Option<Price9>,
    /// DisplayFactor (9787): the factor from wire prices to display prices.
    pub display_factor: Price9,
    /// MainFraction (37702): the denominator of displayed prices.
    pub main_fraction: Option<u8>,
    /// SubFraction (37703): the denominator of the remainder of a main fraction.
    pub sub_fraction: Option<u8>,
    /// PriceDisplayFormat (9800): digits shown to the right of the tick mark.
    pub price_display_format: Option<u8>,
    /// MarketDepth (264) of feed type `GBX`: the depth of the direct book, 0 without one. As
    /// stated; a book holds at most [`crate::MAX_DEPTH`].
    pub depth: u8,
    /// MarketDepth (264) of feed type `GBI`: the depth of the implied book, 0 without one. As
    /// stated; a book holds at most [`crate::MAX_IMPLIED_DEPTH`].
    pub implied_depth: u8,
    /// HighLimitPrice (1149).
    pub high_limit_price: Option<Price9>,
    /// LowLimitPrice (1148).
    pub low_limit_price: Option<Price9>,
    /// MaxPriceVariation (1143); options have none.
    pub max_price_variation: Option<Price9>,
    /// InstAttribValue (872): the eligibility flags.
    pub attributes: InstAttribValue,
    /// The lot types and minimum lot sizes.
    pub lots: LotTypeRules,
    /// EventTime (1145) of the event Activation.
    pub activation: Option<Utc>,
    /// EventTime (1145) of the event LastEligibleTradeDate.
    pub last_trade: Option<Utc>,
    /// UserDefinedInstrument (9779): created by a user of the exchange.
    pub user_defined: bool,
    /// InstrumentGUID (37513), since version 10.
    pub instrument_guid: Option<u64>,
    /// ApplID (1180): the channel.
    pub appl_id: i16,
    /// SettlCurrency (120); spreads have none.
    pub settl_currency: Text<3>,
    /// UnitOfMeasure (996).
    pub unit_of_measure: Text<30>,
    /// UnitOfMeasureQty (1147): the contract size; spreads have none.
    pub unit_of_measure_qty: Option<Price9>,
    /// MinPriceIncrementAmount (1146): the value of a tick, of futures, options and fixed income.
    pub min_price_increment_amount: Option<Price9>,
    /// TradingReferencePrice (1150): the last settlement; foreign exchange has none.
    pub trading_reference_price: Option<Price9>,
    /// TradingReferenceDate (5796) of that price: days since 1970-01-01.
    pub trading_reference_date: Option<u16>,
    /// SettlPriceType (731) of that price, of futures, options and spreads.
    pub settl_price_type: SettlPriceType,
    /// OpenInterestQty (5792), of futures, options and spreads.
    pub open_interest_qty: Option<i32>,
    /// ClearedVolume (5791), of futures, options and spreads.
    pub cleared_volume: Option<i32>,
    /// PriceQuoteMethod (1196), of spreads, fixed income and repos.
    pub price_quote_method: Text<5>,
    /// RiskSet (37721), of spreads, fixed income and repos.
    pub risk_set: Text<6>,
    /// MarketSet (37722), of spreads, fixed income and repos.
    pub market_set: Text<6>,
    /// PartyRoleClearingOrg (9736), of fixed income and repos.
    pub party_role_clearing_org: Text<5>,
    /// The fields of this kind of definition.
    pub details: Details,
    /// MDSecurityTradingStatus (1682) when the definition was sent. [`crate::Instruments::status`]
    /// has the present status.
    pub trading_status: Option<SecurityTradingStatus>,
    /// LastUpdateTime (779) of the definition.
    pub last_update_time: Utc,
    /// SecurityUpdateAction (980).
    pub action: DefinitionAction,
    /// The template of the definition, 0 without one.
    pub template_id: u16,
}

impl Definition {
    /// Returns the placeholder for an instrument without a definition.
    pub(crate) const fn undefined(security_id: i32) -> Self {
        Self {
            security_id,
            symbol: Text::EMPTY,
            security_group: Text::EMPTY,
            asset: Text::EMPTY,
            security_exchange: Text::EMPTY,
            security_type: Text::EMPTY,
            cfi_code: Text::EMPTY,
            currency: Text::EMPTY,
            market_segment_id: 0,
            underlying_product: None,
            maturity: NO_MATURITY,
            match_algorithm: 0,
            min_trade_vol: 0,
            max_trade_vol: 0,
            min_price_increment: None,
            display_factor: Price9(0),
            main_fraction: None,
            sub_fraction: None,
            price_display_format: None,
            depth: 0,
            implied_depth: 0,
            high_limit_price: None,
            low_limit_price: None,
            max_price_variation: None,
            attributes: InstAttribValue(0),
            lots: LotTypeRules::NONE,
            activation: None,
            last_trade: None,
            user_defined: false,
            instrument_guid: None,
            appl_id: 0,
            settl_currency: Text::EMPTY,
            unit_of_measure: Text::EMPTY,
            unit_of_measure_qty: None,
            min_price_increment_amount: None,
            trading_reference_price: None,
            trading_reference_date: None,
            settl_price_type: SettlPriceType::NULL_VALUE,
            open_interest_qty: None,
            cleared_volume: None,
            price_quote_method: Text::EMPTY,
            risk_set: Text::EMPTY,
            market_set: Text::EMPTY,
            party_role_clearing_org: Text::EMPTY,
            details: Details::None,
            trading_status: None,
            last_update_time: Utc::EPOCH,
            action: DefinitionAction::Delete,
            template_id: 0,
        }
    }

    /// Returns when trading ends for good: the event LastEligibleTradeDate. `None` if the
    /// definition does not state it, as for bonds, whose maturity is in the details.
    #[must_use]
    pub const fn expires_at(&self) -> Option<Utc> {
        self.last_trade
    }

    /// Returns `true` if trading has ended for good. CME deletes an expired instrument later, at
    /// the end of its day, by a definition.
    #[must_use]
    pub fn is_expired(&self, utc: Utc) -> bool {
        self.last_trade.is_some_and(|last_trade| utc > last_trade)
    }

    /// Returns `true` if trading has begun, by the event Activation, and not ended.
    #[must_use]
    pub fn is_active(&self, utc: Utc) -> bool {
        self.activation.is_none_or(|activation| utc >= activation) && !self.is_expired(utc)
    }

    /// Returns `true` if the instrument is defined and not deleted.
    pub(crate) fn is_in_force(&self) -> bool {
        self.action != DefinitionAction::Delete
    }

    /// Returns `true` if a definition from the loop adds nothing to this one, by LastUpdateTime
    /// (779): the loop lags behind the incremental feed.
    pub(crate) fn supersedes(&self, looped: &Self) -> bool {
        let has_same_force = self.is_in_force() == looped.is_in_force();
        self.template_id != 0
            && (looped.last_update_time < self.last_update_time
                || (looped.last_update_time == self.last_update_time && has_same_force))
    }

    /// Returns `true` if both definitions have the same content. Add and Modify count as equal.
    pub(crate) fn has_same_content(&self, other: &Self) -> bool {
        self.is_in_force() == other.is_in_force()
            && Self { action: other.action, ..*self } == *other
    }
}

/// An absent maturity.
pub(crate) const NO_MATURITY: MonthYear =
    MonthYear { year: None, month: None, day: None, week: None };

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(updated: u64, action: DefinitionAction) -> Definition {
        let last_update_time = Utc::from_nanos(updated);
        Definition { last_update_time, action, template_id: 54, ..Definition::undefined(7) }
    }

    #[test]
    fn active_from_activation_through_last_trade() {
        let at = Utc::from_nanos;
        let (activation, last_trade) = (Some(at(10)), Some(at(20)));
        let definition = Definition { activation, last_trade, ..Definition::undefined(7) };
        assert_eq!(
            [9, 10, 20, 21].map(|now| definition.is_active(at(now))),
            [false, true, true, false]
        );
        assert_eq!([9, 20, 21].map(|now| definition.is_expired(at(now))), [false, false, true]);
        assert_eq!(definition.expires_at(), Some(at(20)));
        let undated = Definition::undefined(7);
        assert!(undated.is_active(at(1)) && !undated.is_expired(at(u64::MAX)));
    }

    #[test]
    fn newer_last_update_time_supersedes() {
        use DefinitionAction::{Add, Delete, Modify};
        let known = definition(5, Modify);
        assert!(known.supersedes(&definition(4, Add)));
        assert!(known.supersedes(&definition(5, Add)));
        assert!(!known.supersedes(&definition(6, Add)));
        assert!(!known.supersedes(&definition(5, Delete)));
        assert!(definition(5, Delete).supersedes(&definition(4, Add)), "the loop lags");
        assert!(!Definition::undefined(7).supersedes(&definition(0, Add)));
    }
}
