//! What is common to a new order and its replacement.

use hairpin_cme_codecs::ilink3::Price9;
use thiserror::Error;

use crate::{OrderTimeInForce, Pricing};

/// Values of a request that contradict each other, or that the layout cannot tell from no value.
/// Nothing was sent and no number is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// OrderQty is 0.
    #[error("OrderQty is 0")]
    Quantity,
    /// Price, or StopPx, is the mantissa that stands for no price.
    #[error("Price or StopPx is the layout's null")]
    Price,
    /// MinQty is 0 or more than OrderQty.
    #[error("MinQty is 0 or more than OrderQty")]
    MinQuantity,
    /// DisplayQty is 0, less than MinQty, or more than OrderQty.
    #[error("DisplayQty is 0, less than MinQty or more than OrderQty")]
    DisplayQuantity,
    /// ExpireDate is the number that stands for no date.
    #[error("ExpireDate is the layout's null")]
    ExpireDate,
    /// Party details have no party, or more than [`PARTIES_MAX`](crate::PARTIES_MAX).
    #[error("party details need 1 to {} parties", crate::PARTIES_MAX)]
    Parties,
    /// OrderID is the number that stands for no order.
    #[error("OrderID is the layout's null")]
    OrderId,
}

/// Mantissa of a price that is not there.
const NULL_PRICE: i64 = i64::MAX;
/// ExpireDate that is not there.
const NULL_DATE: u16 = u16::MAX;
/// OrderID that is not there.
const NULL_ORDER_ID: u64 = u64::MAX;

/// Whether `pricing`, `qualifier` and the quantities can stand in one request.
#[inline]
pub(crate) fn check_terms(
    pricing: Pricing,
    qualifier: OrderTimeInForce,
    quantity: u32,
    min_quantity: Option<u32>,
    display_quantity: Option<u32>,
) -> Result<(), RequestError> {
    if quantity == 0 {
        return Err(RequestError::Quantity);
    }
    let is_null = |price: Option<Price9>| price == Some(hairpin_sbe::Decimal(NULL_PRICE));
    if is_null(pricing.price()) || is_null(pricing.stop_price()) {
        return Err(RequestError::Price);
    }
    if qualifier.expire_date() == Some(NULL_DATE) {
        return Err(RequestError::ExpireDate);
    }
    let least = min_quantity.unwrap_or(1);
    if least == 0 || least > quantity {
        return Err(RequestError::MinQuantity);
    }
    match display_quantity {
        Some(display) if display < least || display > quantity => {
            Err(RequestError::DisplayQuantity)
        }
        _ => Ok(()),
    }
}

/// Whether `order_id` names an order.
#[inline]
pub(crate) fn check_order_id(order_id: u64) -> Result<(), RequestError> {
    if order_id == NULL_ORDER_ID { Err(RequestError::OrderId) } else { Ok(()) }
}

/// Defines, for a request with these fields, what may be said beyond what its constructors ask
/// for; each method returns the changed request.
macro_rules! qualified {
    ($request:ident) => {
        impl $request {
            /// Good till cancel, instead of for the day.
            #[inline]
            #[must_use]
            pub const fn good_till_cancel(mut self) -> Self {
                self.qualifier = OrderTimeInForce::GoodTillCancel;
                self
            }

            /// Good till `expire_date`, days since the epoch, instead of for the day.
            #[inline]
            #[must_use]
            pub const fn good_till_date(mut self, expire_date: u16) -> Self {
                self.qualifier = OrderTimeInForce::GoodTillDate { expire_date };
                self
            }

            /// Fill and kill, instead of for the day.
            #[inline]
            #[must_use]
            pub const fn fill_and_kill(mut self) -> Self {
                self.qualifier = OrderTimeInForce::FillAndKill;
                self
            }

            /// Fill or kill, instead of for the day.
            #[inline]
            #[must_use]
            pub const fn fill_or_kill(mut self) -> Self {
                self.qualifier = OrderTimeInForce::FillOrKill;
                self
            }

            /// With a MinQty (110): the least that is to trade at once.
            #[inline]
            #[must_use]
            pub const fn with_min_quantity(mut self, contracts: u32) -> Self {
                self.min_quantity = Some(contracts);
                self
            }

            /// With a DisplayQty (1138): no more than this many are shown.
            #[inline]
            #[must_use]
            pub const fn with_display_quantity(mut self, contracts: u32) -> Self {
                self.display_quantity = Some(contracts);
                self
            }

            /// With an OrderRequestID (2422) of the caller's.
            #[inline]
            #[must_use]
            pub const fn with_order_request_id(mut self, id: u64) -> Self {
                self.order_request_id = Some(id);
                self
            }
        }
    };
}

pub(crate) use qualified;
