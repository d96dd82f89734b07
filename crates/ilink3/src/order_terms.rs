//! Validation and setters that new orders and replacements share.

use hairpin_cme_codecs::ilink3::Price9;
use thiserror::Error;

use crate::{OrderTimeInForce, Pricing};

/// An invalid or contradictory value in a request. Nothing was sent and no SeqNum was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// OrderQty is 0.
    #[error("OrderQty is 0")]
    Quantity,
    /// Price or StopPx equals the schema's null.
    #[error("Price or StopPx is the schema's null")]
    Price,
    /// MinQty is 0 or more than OrderQty.
    #[error("MinQty is 0 or more than OrderQty")]
    MinQuantity,
    /// DisplayQty is 0, less than MinQty, or more than OrderQty.
    #[error("DisplayQty is 0, less than MinQty or more than OrderQty")]
    DisplayQuantity,
    /// ExpireDate equals the schema's null.
    #[error("ExpireDate is the schema's null")]
    ExpireDate,
    /// Party details contain no party, or more than [`PARTIES_MAX`](crate::PARTIES_MAX).
    #[error("party details need 1 to {} parties", crate::PARTIES_MAX)]
    Parties,
    /// Party details contain more publications than [`PUBLICATIONS_MAX`](crate::PUBLICATIONS_MAX).
    #[error("party details can have {} publications", crate::PUBLICATIONS_MAX)]
    Publications,
    /// PartyDetailsListReqID is 0, which belongs to party details on demand.
    #[error("PartyDetailsListReqID is 0, the id of party details on demand")]
    PartyDetailsId,
    /// OrderID equals the schema's null.
    #[error("OrderID is the schema's null")]
    OrderId,
}

/// The null mantissa of a price.
const NULL_PRICE: i64 = i64::MAX;
/// The null of ExpireDate.
const NULL_DATE: u16 = u16::MAX;
/// The null of OrderID.
const NULL_ORDER_ID: u64 = u64::MAX;

/// Checks that the pricing, time in force and quantities are valid together.
#[inline]
pub(crate) fn check_terms(
    pricing: Pricing,
    time_in_force: OrderTimeInForce,
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
    if time_in_force.expire_date() == Some(NULL_DATE) {
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

/// Checks that `order_id` is not null.
#[inline]
pub(crate) fn check_order_id(order_id: u64) -> Result<(), RequestError> {
    if order_id == NULL_ORDER_ID { Err(RequestError::OrderId) } else { Ok(()) }
}

/// Defines builder methods for the optional fields of an order request.
macro_rules! order_setters {
    ($request:ident) => {
        impl $request {
            /// Sets TimeInForce (59) to GTC (1).
            #[inline]
            #[must_use]
            pub const fn good_till_cancel(mut self) -> Self {
                self.time_in_force = OrderTimeInForce::GoodTillCancel;
                self
            }

            /// Sets TimeInForce (59) to GTD (6), with `expire_date` in days since the epoch.
            #[inline]
            #[must_use]
            pub const fn good_till_date(mut self, expire_date: u16) -> Self {
                self.time_in_force = OrderTimeInForce::GoodTillDate { expire_date };
                self
            }

            /// Sets TimeInForce (59) to fill and kill (3).
            #[inline]
            #[must_use]
            pub const fn fill_and_kill(mut self) -> Self {
                self.time_in_force = OrderTimeInForce::FillAndKill;
                self
            }

            /// Sets TimeInForce (59) to fill or kill (4).
            #[inline]
            #[must_use]
            pub const fn fill_or_kill(mut self) -> Self {
                self.time_in_force = OrderTimeInForce::FillOrKill;
                self
            }

            /// Sets MinQty (110): the minimum quantity that must trade immediately.
            #[inline]
            #[must_use]
            pub const fn with_min_quantity(mut self, contracts: u32) -> Self {
                self.min_quantity = Some(contracts);
                self
            }

            /// Sets DisplayQty (1138): the maximum quantity shown.
            #[inline]
            #[must_use]
            pub const fn with_display_quantity(mut self, contracts: u32) -> Self {
                self.display_quantity = Some(contracts);
                self
            }

            /// Sets OrderRequestID (2422).
            #[inline]
            #[must_use]
            pub const fn with_order_request_id(mut self, id: u64) -> Self {
                self.order_request_id = Some(id);
                self
            }
        }
    };
}

pub(crate) use order_setters;
