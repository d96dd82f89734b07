//! Instruments: definitions, statuses, statistics, and the filter that selects them.

pub(crate) mod definition;
pub(crate) mod definition_decoder;
pub(crate) mod definition_details;
pub(crate) mod definition_loop;
pub(crate) mod display_price;
pub(crate) mod filter;
pub(crate) mod free_slots;
pub(crate) mod instrument_index;
pub(crate) mod instruments;
pub(crate) mod lot_type_rules;
pub(crate) mod related_instruments;
pub(crate) mod statistic_kind;
pub(crate) mod statistic_update;
pub(crate) mod statistics;
pub(crate) mod status;
pub(crate) mod tick_rule;
