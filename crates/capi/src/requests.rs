//! Functions that send orders and cancels, for use in callbacks.

use core::ffi::{c_int, c_void};

use hairpin::feed_handler::Price9;
use hairpin::order_entry::{
    MassCancel, NewOrder, OrderTimeInForce, Pricing, ReplaceOrder, SecurityId, SideReq,
};
use hairpin::{ClOrdId, Context, Price, Quantity, SendError, Side};

use crate::current::{enter_batch, hairpin_context, with_context};
use crate::error::{Outcome, fail, hairpin_error, not_sent};
use crate::events::{hairpin_cl_ord_id, hairpin_side};
use crate::price::hairpin_price;
use crate::text::{reference, sized};

/// OrdType (40).
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum hairpin_order_type {
    /// Limit.
    Limit = 0,
    /// Market with protection.
    Market = 1,
    /// Market with leftover as limit.
    MarketLimit = 2,
    /// Stop with protection.
    Stop = 3,
    /// Stop limit.
    StopLimit = 4,
}

/// TimeInForce (59).
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum hairpin_time_in_force {
    /// Until the end of the trading session.
    Day = 0,
    /// Until canceled.
    GoodTillCancel = 1,
    /// Until the end of the trading session of `expire_date`.
    GoodTillDate = 2,
    /// Trades immediately as far as possible; the rest is eliminated.
    FillAndKill = 3,
    /// Trades the whole quantity immediately, or nothing.
    FillOrKill = 4,
    /// Good for session, for some products only.
    GoodForSession = 5,
}

/// The terms of an order. Zero is the default of the optional members.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct hairpin_new_order {
    /// `sizeof(hairpin_new_order)`.
    pub size: usize,
    /// SecurityID (48).
    pub security_id: i32,
    /// Side (54): a `hairpin_side`.
    pub side: i32,
    /// OrdType (40): a `hairpin_order_type`.
    pub order_type: i32,
    /// TimeInForce (59): a `hairpin_time_in_force`.
    pub time_in_force: i32,
    /// Price (44) of a limit or stop-limit order.
    pub price: hairpin_price,
    /// StopPx (99) of a stop or stop-limit order.
    pub stop_price: hairpin_price,
    /// OrderQty (38).
    pub quantity: u32,
    /// MinQty (110); 0: none.
    pub min_quantity: u32,
    /// DisplayQty (1138); 0: the whole quantity.
    pub display_quantity: u32,
    /// ExpireDate (432) in days since 1970-01-01, for good till date.
    pub expire_date: u32,
}

impl hairpin_new_order {
    fn read(&self, id: ClOrdId) -> Outcome<NewOrder> {
        let price = || checked_price(self.price);
        let stop_price = || checked_price(self.stop_price);
        let pricing = match self.order_type {
            0 => Pricing::Limit { price: price()? },
            1 => Pricing::Market,
            2 => Pricing::MarketLimit,
            3 => Pricing::Stop { stop_price: stop_price()? },
            4 => Pricing::StopLimit { stop_price: stop_price()?, price: price()? },
            other => return Err(not_a("an order type", other)),
        };
        let time_in_force = match self.time_in_force {
            0 => OrderTimeInForce::Day,
            1 => OrderTimeInForce::GoodTillCancel,
            2 => OrderTimeInForce::GoodTillDate {
                expire_date: u16::try_from(self.expire_date).map_err(|_| {
                    let text = format_args!("the date {} is out of range", self.expire_date);
                    fail(hairpin_error::Argument, text)
                })?,
            },
            3 => OrderTimeInForce::FillAndKill,
            4 => OrderTimeInForce::FillOrKill,
            5 => OrderTimeInForce::GoodForSession,
            other => return Err(not_a("a time in force", other)),
        };
        let side = match hairpin_side::read(self.side)? {
            Side::Buy => SideReq::BUY,
            Side::Sell => SideReq::SELL,
        };
        let order = NewOrder::new(SecurityId(self.security_id), side, pricing, self.quantity, id);
        let some = |quantity: u32| (quantity > 0).then_some(quantity);
        Ok(NewOrder {
            time_in_force,
            min_quantity: some(self.min_quantity),
            display_quantity: some(self.display_quantity),
            ..order
        })
    }
}

fn not_a(what: &str, value: i32) -> hairpin_error {
    fail(hairpin_error::Argument, format_args!("{value} is not {what}"))
}

fn checked_price(price: hairpin_price) -> Outcome<Price9> {
    let price = Price::from_mantissa(price);
    if price.is_saturated() { Err(not_sent(SendError::Price)) } else { Ok(price.into()) }
}

/// Writes the ClOrdID of a sent order, unless the program does not need it.
///
/// # Safety
/// `out` is NULL or valid for a write.
unsafe fn sent(out: *mut hairpin_cl_ord_id, id: ClOrdId) -> Outcome {
    if !out.is_null() {
        // SAFETY: not NULL, and valid by the caller's contract.
        unsafe { out.write(id.into()) };
    }
    Ok(0)
}

/// Sends a limit order to buy, for the day. Writes its ClOrdID (11), unless `cl_ord_id` is NULL.
/// Returns 0, or an error: nothing was sent.
///
/// # Safety
/// `cl_ord_id` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_buy(
    context: *mut hairpin_context,
    security_id: i32,
    quantity: u64,
    price: hairpin_price,
    cl_ord_id: *mut hairpin_cl_ord_id,
) -> i32 {
    with_context(context, |context| {
        let price = Price::from_mantissa(price);
        let id = context.buy(SecurityId(security_id), Quantity(quantity), price);
        // SAFETY: by the caller's contract.
        unsafe { sent(cl_ord_id, id.map_err(not_sent)?) }
    })
}

/// Sends a limit order to sell, for the day; see `hairpin_buy`.
///
/// # Safety
/// As `hairpin_buy`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_sell(
    context: *mut hairpin_context,
    security_id: i32,
    quantity: u64,
    price: hairpin_price,
    cl_ord_id: *mut hairpin_cl_ord_id,
) -> i32 {
    with_context(context, |context| {
        let price = Price::from_mantissa(price);
        let id = context.sell(SecurityId(security_id), Quantity(quantity), price);
        // SAFETY: by the caller's contract.
        unsafe { sent(cl_ord_id, id.map_err(not_sent)?) }
    })
}

/// Replaces price and quantity of a limit or stop-limit order. Writes the ClOrdID (11) that the
/// order has once the replacement is accepted, unless `new_cl_ord_id` is NULL.
///
/// # Safety
/// `order` points to an id; `new_cl_ord_id` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_replace(
    context: *mut hairpin_context,
    order: *const hairpin_cl_ord_id,
    quantity: u64,
    price: hairpin_price,
    new_cl_ord_id: *mut hairpin_cl_ord_id,
) -> i32 {
    with_context(context, |context| {
        // SAFETY: by the caller's contract.
        let order = unsafe { reference(order, "order") }?.read();
        let price = Price::from_mantissa(price);
        let id = context.replace(order, Quantity(quantity), price).map_err(not_sent)?;
        // SAFETY: by the caller's contract.
        unsafe { sent(new_cl_ord_id, id) }
    })
}

/// Cancels an order.
///
/// # Safety
/// `order` points to an id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_cancel(
    context: *mut hairpin_context,
    order: *const hairpin_cl_ord_id,
) -> i32 {
    with_context(context, |context| {
        // SAFETY: by the caller's contract.
        let order = unsafe { reference(order, "order") }?.read();
        context.cancel(order).map_err(not_sent)?;
        Ok(0)
    })
}

/// Cancels all orders of all sessions, with one request per session.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_cancel_all(context: *mut hairpin_context) -> i32 {
    with_context(context, |context| {
        context.cancel_all().map_err(not_sent)?;
        Ok(0)
    })
}

/// Cancels all orders in an instrument, with one request.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_cancel_instrument(
    context: *mut hairpin_context,
    security_id: i32,
) -> i32 {
    with_context(context, |context| {
        let request = MassCancel::instrument(SecurityId(security_id));
        context.send(&request).map_err(not_sent)?;
        Ok(0)
    })
}

/// Sends an order with all of its terms. Writes its ClOrdID (11), unless `cl_ord_id` is NULL.
///
/// # Safety
/// `order` points to as many bytes as it states; `cl_ord_id` is NULL or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_send_order(
    context: *mut hairpin_context,
    order: *const hairpin_new_order,
    cl_ord_id: *mut hairpin_cl_ord_id,
) -> i32 {
    with_context(context, |context| {
        // SAFETY: by the caller's contract; a structure of zeros is a value.
        let order = unsafe { sized(order, "order") }?;
        let id = context.next_cl_ord_id();
        context.send(&order.read(id)?).map_err(not_sent)?;
        // SAFETY: by the caller's contract.
        unsafe { sent(cl_ord_id, id) }
    })
}

/// Replaces all terms of a working order. Writes the ClOrdID (11) that the order has once the
/// replacement is accepted, unless `new_cl_ord_id` is NULL.
///
/// # Safety
/// As `hairpin_send_order`; `cl_ord_id` points to an id.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_replace_order(
    context: *mut hairpin_context,
    cl_ord_id: *const hairpin_cl_ord_id,
    order: *const hairpin_new_order,
    new_cl_ord_id: *mut hairpin_cl_ord_id,
) -> i32 {
    with_context(context, |context| {
        // SAFETY: by the caller's contract.
        let known = unsafe { reference(cl_ord_id, "cl_ord_id") }?.read();
        // SAFETY: by the caller's contract; a structure of zeros is a value.
        let order = unsafe { sized(order, "order") }?;
        let id = replace(context, known, &order)?;
        // SAFETY: by the caller's contract.
        unsafe { sent(new_cl_ord_id, id) }
    })
}

fn replace(
    context: &mut Context<'_>,
    known: ClOrdId,
    order: &hairpin_new_order,
) -> Outcome<ClOrdId> {
    let order_id = context.order(known).map(|order| order.order_id);
    let order_id = order_id.ok_or_else(|| not_sent(SendError::UnknownOrder(known)))?;
    // Without an OrderID yet, the order is addressed by its own ClOrdID.
    let id = if order_id.is_some() { context.next_cl_ord_id() } else { known };
    let order = order.read(id)?;
    let request = match order_id {
        Some(order_id) => ReplaceOrder::from_order(order_id, &order),
        None => ReplaceOrder::by_cl_ord_id(&order),
    };
    context.send(&request).map_err(not_sent)?;
    Ok(id)
}

/// Writes a new ClOrdID (11), which no order of this or an earlier run has.
///
/// # Safety
/// `cl_ord_id` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_next_cl_ord_id(
    context: *mut hairpin_context,
    cl_ord_id: *mut hairpin_cl_ord_id,
) -> i32 {
    with_context(context, |context| {
        let id = context.next_cl_ord_id().into();
        // SAFETY: by the caller's contract.
        unsafe { crate::text::write_out(cl_ord_id, "cl_ord_id", id) }
    })
}

/// Calls `send` with a context of its own, and writes the messages that it sends together, as one
/// TCP segment if they fit. Returns the number that `send` returns, unless it is negative.
///
/// # Safety
/// `send` has the type of the header.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_batch(
    context: *mut hairpin_context,
    send: Option<unsafe extern "C" fn(user: *mut c_void, context: *mut hairpin_context) -> c_int>,
    user: *mut c_void,
) -> i32 {
    with_context(context, |context| {
        let send = send.ok_or_else(|| crate::error::null("send"))?;
        let mut status = 0;
        context.batch(|context| {
            enter_batch(context, |context| {
                // SAFETY: the program has passed the function with this type.
                status = unsafe { send(user, context) };
            });
        });
        Ok(status.max(0))
    })
}
