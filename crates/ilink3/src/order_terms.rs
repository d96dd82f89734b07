//! Validation and setters that new orders and replacements share.

use hairpin_cme_codecs::ilink3::{BooleanNULL, Price9};
use thiserror::Error;

use crate::{OrderId, OrderTimeInForce, Pricing};

/// An invalid or contradictory value in a request. Nothing was sent and no SeqNum was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RequestError {
    /// OrderQty is 0.
    #[error("OrderQty is 0")]
    Quantity,
    /// A price equals the schema's null.
    #[error("a price is the schema's null")]
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
    /// MassStatusReqType is 7, all orders, which CME accepts on a convenience gateway only.
    #[error("MassStatusReqType is 7 on a market segment gateway: request one market segment")]
    AllOrders,
    /// A group has too few or too many entries.
    #[error("the request needs {min} to {max} entries")]
    Entries {
        /// The minimum.
        min: usize,
        /// The maximum.
        max: usize,
    },
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
const NULL_ORDER_ID: OrderId = OrderId(u64::MAX);

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
pub(crate) fn check_order_id(order_id: Option<OrderId>) -> Result<(), RequestError> {
    if order_id == Some(NULL_ORDER_ID) { Err(RequestError::OrderId) } else { Ok(()) }
}

/// Checks that the optional prices are not null.
#[inline]
pub(crate) fn check_prices(
    discretion_price: Option<Price9>,
    reservation_price: Option<Price9>,
) -> Result<(), RequestError> {
    let is_null = |price: Option<Price9>| price == Some(hairpin_sbe::Decimal(NULL_PRICE));
    if is_null(discretion_price) || is_null(reservation_price) {
        return Err(RequestError::Price);
    }
    Ok(())
}

/// Checks the number of entries of a group.
pub(crate) fn check_count(count: usize, min: usize, max: usize) -> Result<(), RequestError> {
    if (min..=max).contains(&count) { Ok(()) } else { Err(RequestError::Entries { min, max }) }
}

/// Returns a flag as encoded on the wire.
#[inline]
pub(crate) fn boolean(flag: Option<bool>) -> Option<BooleanNULL> {
    flag.map(|flag| BooleanNULL(flag.into()))
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
