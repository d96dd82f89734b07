//! The fields of each kind of definition.

use hairpin_cme_codecs::mdp3::{MoneyOrPar, PutOrCall, RepoSubType, SecurityAltIDSource};

use crate::{Price9, Text};

/// The fields of one kind of definition. Lists are separate: see [`crate::Instruments::legs`] and
/// [`crate::Instruments::underlyings`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Details {
    /// No definition.
    None,
    /// Template 54.
    Future(FutureDetails),
    /// Template 55.
    Option(OptionDetails),
    /// Template 56.
    Spread(SpreadDetails),
    /// Template 57.
    FixedIncome(FixedIncomeDetails),
    /// Template 58.
    Repo(RepoDetails),
    /// Template 63.
    Fx(FxDetails),
}

/// The fields of a future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FutureDetails {
    /// DecayQuantity (5818): the daily decrease of the contract size.
    pub decay_quantity: Option<i32>,
    /// DecayStartDate (5819): days since 1970-01-01.
    pub decay_start_date: Option<u16>,
    /// OriginalContractSize (5849).
    pub original_contract_size: Option<i32>,
    /// ContractMultiplier (231): the number of deliverable units per contract.
    pub contract_multiplier: Option<i32>,
    /// ContractMultiplierUnit (1435): 1 hours, 2 days.
    pub contract_multiplier_unit: Option<i8>,
    /// FlowScheduleType (1439): the delivery schedule of energy.
    pub flow_schedule_type: Option<i8>,
}

/// The fields of an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionDetails {
    /// PutOrCall (201).
    pub put_or_call: PutOrCall,
    /// StrikePrice (202).
    pub strike_price: Option<Price9>,
    /// StrikeCurrency (947).
    pub strike_currency: Text<3>,
    /// MinCabPrice (9850): the minimum price of a nearly worthless option.
    pub min_cab_price: Option<Price9>,
    /// TickRule (6350): the table of tick sizes by price.
    pub tick_rule: Option<i8>,
}

/// The fields of a spread, except its legs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpreadDetails {
    /// SecuritySubType (762): the kind of spread, such as `SP` or `BF`.
    pub sub_type: Text<5>,
    /// PriceRatio (5770), for spreads between products.
    pub price_ratio: Option<Price9>,
    /// TickRule (6350): the table of tick sizes by price.
    pub tick_rule: Option<i8>,
    /// FinancialInstrumentFullName (2714).
    pub full_name: Text<35>,
}

/// The fields of a bond or bill. Dates are days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FixedIncomeDetails {
    /// IssueDate (225).
    pub issue_date: Option<u16>,
    /// MaturityDate (541).
    pub maturity_date: Option<u16>,
    /// CouponRate (223).
    pub coupon_rate: Option<Price9>,
    /// ParValue (37723).
    pub par_value: Option<Price9>,
    /// FinancialInstrumentFullName (2714).
    pub full_name: Text<35>,
    /// DatedDate (873): the start of interest.
    pub dated_date: Option<u16>,
    /// CouponFrequencyUnit (1949).
    pub coupon_frequency_unit: Text<3>,
    /// CouponFrequencyPeriod (1948).
    pub coupon_frequency_period: Option<u16>,
    /// CouponDayCount (1950).
    pub coupon_day_count: Text<20>,
    /// CountryOfIssue (470).
    pub country_of_issue: Text<2>,
    /// Issuer (106).
    pub issuer: Text<25>,
    /// SecurityAltID (455).
    pub security_alt_id: Text<12>,
    /// SecurityAltIDSource (456): CUSIP or ISIN.
    pub security_alt_id_source: Option<SecurityAltIDSource>,
}

/// The fields of a repo. Dates are days since 1970-01-01.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RepoDetails {
    /// SecuritySubType (762): special, or general collateral.
    pub sub_type: RepoSubType,
    /// StartDate (916).
    pub start_date: Option<u16>,
    /// EndDate (917).
    pub end_date: Option<u16>,
    /// TermCode (37716).
    pub term_code: Text<20>,
    /// FinancialInstrumentFullName (2714).
    pub full_name: Text<35>,
    /// TerminationType (788).
    pub termination_type: Text<8>,
    /// MoneyOrPar (37714).
    pub money_or_par: Option<MoneyOrPar>,
    /// MaxNoOfSubstitutions (37715).
    pub max_substitutions: u8,
    /// BrokenDateTermType (6651), since version 13.
    pub broken_date_term_type: Option<u8>,
}

/// The fields of a foreign exchange instrument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FxDetails {
    /// FXCurrencySymbol (37725), such as `EUR/USD`.
    pub currency_symbol: Text<7>,
    /// PriceQuoteCurrency (1524).
    pub price_quote_currency: Text<3>,
    /// SettlType (63).
    pub settl_type: Text<3>,
    /// InterveningDays (37730): days from spot to settlement.
    pub intervening_days: u16,
    /// PricePrecision (2349): the number of decimal places of a price.
    pub price_precision: u8,
    /// AltMinPriceIncrement (37739), since version 13.
    pub alt_min_price_increment: Option<Price9>,
    /// FinancialInstrumentFullName (2714).
    pub full_name: Text<35>,
    /// FXBenchmarkRateFix (2796).
    pub benchmark_rate_fix: Text<20>,
    /// RateSource (1446).
    pub rate_source: Text<12>,
    /// FixRateLocalTime (37726).
    pub fix_rate_local_time: Text<8>,
    /// FixRateLocalTimeZone (37727).
    pub fix_rate_local_time_zone: Text<20>,
    /// MinQuoteLife (37731), in microseconds.
    pub min_quote_life: u32,
    /// MaxPriceDiscretionOffset (37728).
    pub max_price_discretion_offset: Price9,
    /// SettlementLocale (37734).
    pub settlement_locale: Text<8>,
    /// AltMinQuoteLife (37738), in microseconds, since version 13.
    pub alt_min_quote_life: Option<u32>,
    /// AltPriceIncrementConstraint (37742), since version 13.
    pub alt_price_increment_constraint: Option<Price9>,
    /// MaxBidAskConstraint (37743), since version 13.
    pub max_bid_ask_constraint: Option<Price9>,
}
