//! What a line can ask for.

use std::fmt;

use hairpin_order_entry::{ClOrdId, OrderTimeInForce, Pricing, SideReq};
use hairpin_time::Duration;

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cmd::order) enum Command {
    /// `buy` and `sell`.
    Enter(Enter),
    /// `replace`: the order keeps what is not said.
    Replace {
        target: Target,
        quantity: Option<u32>,
        pricing: Option<Pricing>,
        qualifier: Option<OrderTimeInForce>,
    },
    /// `cancel` of one order.
    Cancel(Target),
    /// `cancel all`, of one instrument if it is named.
    CancelAll(Option<i32>),
    /// `status`: of one order, asked of the exchange; else of all, from what it has said.
    Status(Option<Target>),
    /// `sleep`.
    Sleep(Duration),
    /// `expect`.
    Expect { what: ExpectedEvent, within: Duration },
    /// `quit`.
    Quit,
}

/// An order to enter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cmd::order) struct Enter {
    pub(in crate::cmd::order) side: SideReq,
    pub(in crate::cmd::order) quantity: u32,
    pub(in crate::cmd::order) pricing: Pricing,
    pub(in crate::cmd::order) security_id: i32,
    pub(in crate::cmd::order) qualifier: OrderTimeInForce,
    pub(in crate::cmd::order) min_quantity: Option<u32>,
    pub(in crate::cmd::order) display_quantity: Option<u32>,
    /// One is made if it is not given.
    pub(in crate::cmd::order) cl_ord_id: Option<ClOrdId>,
}

/// Which order is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cmd::order) enum Target {
    /// The one that was entered last.
    Last,
    /// The one with this ClOrdID.
    Id(ClOrdId),
}

/// What can be expected of the exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cmd::order) enum ExpectedEvent {
    /// An order works.
    New,
    /// It was replaced.
    Replace,
    /// It traded, wholly or in part.
    Fill,
    /// It was cancelled, or orders were cancelled together.
    Cancel,
    /// It ended without a cancel.
    Eliminate,
    /// The exchange has refused something.
    Reject,
    /// It says how an order stands.
    Status,
}

impl ExpectedEvent {
    pub(super) const NAMES: [(&'static str, Self); 7] = [
        ("new", Self::New),
        ("fill", Self::Fill),
        ("cancel", Self::Cancel),
        ("reject", Self::Reject),
        ("replace", Self::Replace),
        ("eliminate", Self::Eliminate),
        ("status", Self::Status),
    ];
}

impl fmt::Display for ExpectedEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = Self::NAMES.iter().find(|(_, event)| event == self);
        f.write_str(named.map_or("?", |(name, _)| name))
    }
}
