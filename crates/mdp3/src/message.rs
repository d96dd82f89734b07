//! Packets, messages and their entries.

pub(crate) mod collateral;
pub(crate) mod entries;
pub(crate) mod incremental_messages;
pub(crate) mod match_event;
pub(crate) mod other_messages;
pub(crate) mod packet;
pub(crate) mod quote_request;
pub(crate) mod template_ids;
pub(crate) mod text;
pub(crate) mod trade_orders;
pub(crate) mod workup;
