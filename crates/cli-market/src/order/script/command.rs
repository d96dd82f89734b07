//! The commands of the language.

use std::fmt;

use hairpin_order_entry::messages::SMPI;
use hairpin_order_entry::{
    ClOrdId, InFlightMitigation, OrderTimeInForce, Party, Price9, Pricing, SideReq,
};
use hairpin_time::Duration;

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::order) enum Command {
    /// `buy` and `sell`.
    Enter(Enter),
    /// `replace`: terms that are not given stay as they are.
    Replace {
        target: Target,
        quantity: Option<u32>,
        pricing: Option<Pricing>,
        qualifier: Option<OrderTimeInForce>,
        display_quantity: Option<u32>,
        mitigation: InFlightMitigation,
        naming: OrderNaming,
    },
    /// `cancel` of one order.
    Cancel { target: Target, naming: OrderNaming },
    /// `cancel all`, of one instrument if it is given.
    CancelAll(Option<i32>),
    /// `cancel quotes`.
    CancelQuotes(QuoteScope),
    /// `party`: details with id 0 go with the next order, others with all following messages.
    Party(PartyTerms),
    /// `quote`: a mass quote of one set.
    Quote { set: u16, quotes: Vec<QuoteTerms> },
    /// `rfq`: a request for quotes.
    RequestQuote { security_id: i32, quantity: Option<u32> },
    /// `cross`: a buyer and a seller of this session.
    Cross { quantity: u32, price: Price9, security_id: i32 },
    /// `status all` of an instrument.
    MassStatus(i32),
    /// `status`: of one order, requested from the exchange; otherwise of all, from its reports so
    /// far.
    Status(Option<Target>),
    /// `sleep`.
    Sleep(Duration),
    /// `expect`.
    Expect { what: ExpectedEvent, within: Duration },
    /// `orders`: the working orders.
    Orders,
    /// `positions`: the net fills of this run.
    Positions,
    /// `help`, or `?`.
    Help,
    /// `quit`.
    Quit,
}

/// An order to enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::order) struct Enter {
    pub(in crate::order) side: SideReq,
    pub(in crate::order) quantity: u32,
    pub(in crate::order) pricing: Pricing,
    pub(in crate::order) security_id: i32,
    pub(in crate::order) qualifier: OrderTimeInForce,
    pub(in crate::order) min_quantity: Option<u32>,
    pub(in crate::order) display_quantity: Option<u32>,
    /// Generated if it is not given.
    pub(in crate::order) cl_ord_id: Option<ClOrdId>,
}

/// Registered or on-demand party details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::order) struct PartyTerms {
    /// PartyDetailsListReqID (1505); 0 on demand.
    pub(in crate::order) list_id: u64,
    pub(in crate::order) account: Party,
    /// SelfMatchPreventionID (2362).
    pub(in crate::order) self_match_id: Option<u64>,
    /// SelfMatchPreventionInstruction (8000).
    pub(in crate::order) instruction: Option<SMPI>,
}

/// A two-sided quote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::order) struct QuoteTerms {
    pub(in crate::order) security_id: i32,
    /// Quantity and price.
    pub(in crate::order) bid: (u32, Price9),
    pub(in crate::order) offer: (u32, Price9),
}

/// The quotes that a command cancels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::order) enum QuoteScope {
    All,
    Instrument(i32),
    Set(u16),
}

/// How a message names its order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::order) enum OrderNaming {
    /// By OrderID (37).
    OrderId,
    /// By ClOrdID (11), without OrderID.
    ClOrdId,
}

/// The order to which a command refers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::order) enum Target {
    /// The last entered order.
    Last,
    /// The order with this ClOrdID.
    Id(ClOrdId),
}

/// The events for `expect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::order) enum ExpectedEvent {
    /// An order is working.
    New,
    /// It was replaced.
    Replace,
    /// It was filled, completely or in part.
    Fill,
    /// It was canceled, or orders were canceled together.
    Cancel,
    /// It ended without a cancel.
    Eliminate,
    /// The exchange has rejected a message.
    Reject,
    /// The exchange has reported the status of an order.
    Status,
    /// Party details were accepted.
    Party,
    /// A mass quote was accepted.
    Quote,
    /// Quotes were canceled.
    QuoteCancel,
    /// A request for quotes was accepted.
    QuoteRequest,
}

impl Command {
    /// Returns `true` for a command about an order that the exchange must have confirmed before.
    pub(in crate::order) fn waits_for_order(&self) -> bool {
        matches!(self, Self::Replace { .. } | Self::Cancel { .. } | Self::Status(Some(_)))
    }

    /// Returns the events that the command may cause. Earlier ones of these kinds belong to earlier
    /// commands, and no later `expect` counts them.
    pub(in crate::order) fn causes(&self) -> &'static [ExpectedEvent] {
        use ExpectedEvent::{
            Cancel, Eliminate, Fill, New, Party, Quote, QuoteCancel, QuoteRequest, Reject, Replace,
            Status,
        };
        match self {
            Self::Enter(_) | Self::Cross { .. } => &[New, Fill, Eliminate, Reject],
            Self::Replace { .. } => &[Replace, Fill, Eliminate, Reject],
            Self::Cancel { .. } | Self::CancelAll(_) => &[Cancel, Reject],
            Self::CancelQuotes(_) => &[QuoteCancel, Reject],
            Self::Party(_) => &[Party, Reject],
            Self::Quote { .. } => &[Quote, Fill, Reject],
            Self::RequestQuote { .. } => &[QuoteRequest, Reject],
            Self::MassStatus(_) | Self::Status(Some(_)) => &[Status, Reject],
            Self::Status(None)
            | Self::Sleep(_)
            | Self::Expect { .. }
            | Self::Orders
            | Self::Positions
            | Self::Help
            | Self::Quit => &[],
        }
    }

    /// Converts the command's prices. The instrument of a replacement is known only when it runs,
    /// so its prices stay.
    ///
    /// # Errors
    /// Those of `wire`, which converts the price of an instrument.
    pub(in crate::order) fn with_prices<E>(
        mut self,
        wire: &dyn Fn(i32, Price9) -> Result<Price9, E>,
    ) -> Result<Self, E> {
        match &mut self {
            Self::Enter(enter) => {
                enter.pricing = convert(enter.pricing, |price| wire(enter.security_id, price))?;
            }
            Self::Quote { quotes, .. } => {
                for quote in quotes {
                    quote.bid.1 = wire(quote.security_id, quote.bid.1)?;
                    quote.offer.1 = wire(quote.security_id, quote.offer.1)?;
                }
            }
            Self::Cross { price, security_id, .. } => *price = wire(*security_id, *price)?,
            _ => {}
        }
        Ok(self)
    }
}

/// Converts each price of a pricing.
///
/// # Errors
/// Those of `wire`.
pub(in crate::order) fn convert<E>(
    pricing: Pricing,
    wire: impl Fn(Price9) -> Result<Price9, E>,
) -> Result<Pricing, E> {
    Ok(match pricing {
        Pricing::Limit { price } => Pricing::Limit { price: wire(price)? },
        Pricing::Stop { stop_price } => Pricing::Stop { stop_price: wire(stop_price)? },
        Pricing::StopLimit { stop_price, price } => {
            Pricing::StopLimit { stop_price: wire(stop_price)?, price: wire(price)? }
        }
        other => other,
    })
}

impl ExpectedEvent {
    pub(super) const NAMES: [(&'static str, Self); 11] = [
        ("new", Self::New),
        ("fill", Self::Fill),
        ("cancel", Self::Cancel),
        ("reject", Self::Reject),
        ("replace", Self::Replace),
        ("eliminate", Self::Eliminate),
        ("status", Self::Status),
        ("party", Self::Party),
        ("quote", Self::Quote),
        ("quote-cancel", Self::QuoteCancel),
        ("rfq", Self::QuoteRequest),
    ];
}

impl fmt::Display for ExpectedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::NAMES.iter().find(|(_, event)| event == self);
        f.write_str(named.map_or("?", |(name, _)| name))
    }
}
