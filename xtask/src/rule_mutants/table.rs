//! The broken rules.

use super::RuleMutant;
use crate::sim::mutant::{Mutant, change};

/// Defines a row with one change: name, test, file, text, replacement.
macro_rules! rule {
    ($name:literal, $test:literal, $file:literal, $text:literal, $replacement:literal) => {
        RuleMutant {
            test: $test,
            mutant: Mutant { name: $name, changes: &[change($file, $text, $replacement)] },
        }
    };
}

/// Every broken rule.
pub(super) const RULE_MUTANTS: &[RuleMutant] = &[
    rule!(
        "client: details on demand have the id of the schema's description",
        "ilink3::party_details::details_on_demand_have_id_0",
        "ilink3/src/session_policy.rs",
        "on_demand_party_id: 0,",
        "on_demand_party_id: 0xFFFF_FFFF,"
    ),
    rule!(
        "client: id 0 is registered",
        "ilink3::party_details::id_0_cannot_be_registered",
        "ilink3/src/party_details.rs",
        "if self.list_req_id == 0 {",
        "if self.list_req_id == u64::MAX {"
    ),
    rule!(
        "client: a long SenderID is accepted",
        "ilink3::operator::sender_id_has_the_audit_trail_format",
        "ilink3/src/operator.rs",
        "let fits = (1..=SENDER_ID_MAX).contains(&text.len()) && is_sender_id(text);",
        "let fits = (1..=20).contains(&text.len()) && is_sender_id(text);"
    ),
    rule!(
        "client: a short EBS SenderID is accepted",
        "ilink3::operator::ebs_sender_id_has_three_characters",
        "ilink3/src/operator.rs",
        "text.len() == EBS_SENDER_ID_LENGTH",
        "text.len() <= EBS_SENDER_ID_LENGTH"
    ),
    rule!(
        "client: the status of all orders is requested on a market segment gateway",
        "ilink3::orders::status_of_all_orders_needs_a_convenience_gateway",
        "ilink3/src/mass_status.rs",
        "if is_all && kind == GatewayKind::MarketSegment {",
        "if is_all && kind != GatewayKind::MarketSegment {"
    ),
    rule!(
        "client: a batch ignores the segment size",
        "order-entry::batch::no_write_of_a_batch_exceeds_the_segment_size",
        "order-entry/src/journaled_connection/batch.rs",
        "segment_size.unwrap_or(usize::MAX).min(self.configured)",
        "segment_size.unwrap_or(usize::MAX).max(self.configured)"
    ),
    rule!(
        "simulator: details on demand have the id of the schema's description",
        "exchange::party_details::on_demand_id_is_0",
        "exchange/src/gateway/settings.rs",
        "on_demand_party: 0,",
        "on_demand_party: 0xFFFF_FFFF,"
    ),
    rule!(
        "simulator: the resting order's instruction decides a self-match",
        "exchange::self_match::instruction_of_the_resting_order_means_nothing",
        "exchange/src/matching.rs",
        "is_prevented.then_some(own.instruction)",
        "is_prevented.then_some(resting.self_match.as_ref()?.instruction)"
    ),
    rule!(
        "simulator: the status of all orders is available on a market segment gateway",
        "exchange::status::status_of_all_orders_requires_a_convenience_gateway",
        "exchange/src/gateway/status.rs",
        "if self.rules.kind == GatewayKind::Msgw => {",
        "if self.rules.kind != GatewayKind::Msgw => {"
    ),
    rule!(
        "simulator: BrokerTec accepts requests without OrderID",
        "exchange::operator::brokertec_requires_the_order_id",
        "exchange/src/gateway/order_requests.rs",
        "None if self.rules.venue == Venue::BrokerTec => {",
        "None if self.rules.venue != Venue::BrokerTec => {"
    ),
    rule!(
        "simulator: a long operator is accepted",
        "exchange::operator::operator_has_the_audit_trails_format",
        "exchange/src/gateway/check.rs",
        "operator.len() <= OPERATOR_MAX,",
        "operator.len() <= OPERATOR_MAX + 2,"
    ),
    rule!(
        "simulator: 53 lists all bids first",
        "exchange::orders::snapshot_alternates_bids_and_offers",
        "exchange/src/publisher/orders.rs",
        "is_bid = !is_bid;",
        "is_bid = true;"
    ),
    rule!(
        "receiver: quotes end with the event",
        "mdp3::event_parts::quotes_end_before_event_does",
        "mdp3/src/message/match_event.rs",
        "self.0 & 0x04 != 0",
        "self.0 & 0x80 != 0 && self.0 & 0x04 != 0"
    ),
    rule!(
        "receiver: resent messages are not marked",
        "mdp3::event_parts::resent_messages_are_marked",
        "mdp3/src/message/match_event.rs",
        "self.0 & 0x20 != 0",
        "self.0 & 0x40 != 0 && self.0 & 0x20 != 0"
    ),
    rule!(
        "receiver: a statistics reset clears averages",
        "mdp3::statistics::statistics_reset_keeps_averages_daily_values_and_limits",
        "mdp3/src/instrument/statistic_kind.rs",
        "LowestOffer, Volume, LastTrade]",
        "LowestOffer, Volume, Vwap]"
    ),
    rule!(
        "audit trail: a new order needs no country of origin",
        "hairpin::order_audit_trail::missing_value_is_an_error_that_names_the_message",
        "hairpin/src/cmd/order/cme_audit_trail/columns.rs",
        "514 => NEW,",
        "514 => MODIFICATION,"
    ),
    rule!(
        "audit trail: a modification begins an order flow",
        "hairpin::order_audit_trail::messages_of_an_order_have_one_flow",
        "hairpin/src/cmd/order/cme_audit_trail/order_flows.rs",
        "515 | 516 => self.find(order_id, cl_ord_id).unwrap_or_else(new),",
        "515 | 516 => new(),"
    ),
    rule!(
        "audit trail: a later file lacks the party details",
        "hairpin::order_audit_trail::later_file_repeats_the_party_details_it_uses",
        "hairpin/src/cmd/order/cme_audit_trail/trail.rs",
        "Some(details) => writeln!(file.out, \"{}\", details.csv()),",
        "Some(_) => Ok(()),"
    ),
    rule!(
        "audit trail: legs are written twice",
        "hairpin::order_audit_trail::scripted_day_equals_golden_files",
        "hairpin/src/cmd/order/cme_audit_trail/line.rs",
        "    if with_legs {",
        "    if with_legs || !lines.is_empty() {"
    ),
    rule!(
        "display prices: the factor is ignored",
        "hairpin::display_prices::es_at_4500_25_has_the_wire_price_450025",
        "hairpin/src/cmd/order/display_prices.rs",
        "let scaled = i128::from(price.0) * ONE;",
        "let scaled = i128::from(price.0) * i128::from(factor);"
    ),
];
