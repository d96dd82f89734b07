//! The fields of each kind of definition.

use hairpin_cme_codecs::mdp3::{PutOrCall, RepoSubType};

use crate::{Price9, Text};

/// The fields of one kind of definition. Lists are separate: see [`crate::Instruments::legs`] and
/// [`crate::Instruments::underlyings`]. For all other fields, decode the message passed to
/// [`crate::Listener::on_message`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Details {
    /// No definition.
    None,
    /// Template 54, without fields of its own.
    Future,
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
}
