//! What only one kind of definition says.

use hairpin_cme_codecs::mdp3::{PutOrCall, RepoSubType};

use crate::{Price9, Text};

/// What only one kind of definition says. Lists are apart: see [`crate::Instruments::legs`] and
/// [`crate::Instruments::underlyings`]. What is in neither is in the message, which
/// [`crate::Listener::on_message`] is shown first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Details {
    /// There is no definition.
    None,
    /// Template 54, which says nothing of its own.
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

/// What makes an option one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct OptionDetails {
    /// PutOrCall (201).
    pub put_or_call: PutOrCall,
    /// StrikePrice (202).
    pub strike_price: Option<Price9>,
    /// StrikeCurrency (947).
    pub strike_currency: Text<3>,
    /// MinCabPrice (9850): the least price of an option all but worthless.
    pub min_cab_price: Option<Price9>,
    /// TickRule (6350): which table of tick sizes by price applies.
    pub tick_rule: Option<i8>,
}

/// What makes a spread one, but for its legs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpreadDetails {
    /// SecuritySubType (762): the kind of spread, such as `SP` or `BF`.
    pub sub_type: Text<5>,
    /// PriceRatio (5770), of spreads between products.
    pub price_ratio: Option<Price9>,
    /// TickRule (6350): which table of tick sizes by price applies.
    pub tick_rule: Option<i8>,
    /// FinancialInstrumentFullName (2714).
    pub full_name: Text<35>,
}

/// What makes a bond or a bill one. Dates are days since 1970-01-01.
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

/// What makes a repo one. Dates are days since 1970-01-01.
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

/// What makes a foreign exchange instrument one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FxDetails {
    /// FXCurrencySymbol (37725), such as `EUR/USD`.
    pub currency_symbol: Text<7>,
    /// PriceQuoteCurrency (1524).
    pub price_quote_currency: Text<3>,
    /// SettlType (63).
    pub settl_type: Text<3>,
    /// InterveningDays (37730): from spot to settlement.
    pub intervening_days: u16,
    /// PricePrecision (2349): digits of a price after the point.
    pub price_precision: u8,
    /// AltMinPriceIncrement (37739), since version 13.
    pub alt_min_price_increment: Option<Price9>,
    /// FinancialInstrumentFullName (2714).
    pub full_name: Text<35>,
}
