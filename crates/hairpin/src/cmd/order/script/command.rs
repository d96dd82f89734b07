//! The commands of the language.

use std::fmt;

use hairpin_order_entry::{ClOrdId, OrderTimeInForce, Pricing, SideReq};
use hairpin_time::Duration;

/// A command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cmd::order) enum Command {
    /// `buy` and `sell`.
    Enter(Enter),
    /// `replace`: terms that are not given stay as they are.
    Replace {
        target: Target,
        quantity: Option<u32>,
        pricing: Option<Pricing>,
        qualifier: Option<OrderTimeInForce>,
    },
    /// `cancel` of one order.
    Cancel(Target),
    /// `cancel all`, of one instrument if it is given.
    CancelAll(Option<i32>),
    /// `status`: of one order, requested from the exchange; otherwise of all, from its reports so
    /// far.
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
    /// Generated if it is not given.
    pub(in crate::cmd::order) cl_ord_id: Option<ClOrdId>,
}

/// The order to which a command refers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cmd::order) enum Target {
    /// The last entered order.
    Last,
    /// The order with this ClOrdID.
    Id(ClOrdId),
}

/// The events for `expect`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cmd::order) enum ExpectedEvent {
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
