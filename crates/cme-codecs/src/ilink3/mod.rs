//! Messages of iLinkBinary, schema 8 version 9. Generated from `schemas/ilink3-v9.xml` by `cargo xtask codegen`.

use hairpin_sbe::{DecodeError, Message, MessageHeader, Visitor};

mod kind;
mod types;
pub mod negotiate500;
pub mod negotiation_response501;
pub mod negotiation_reject502;
pub mod establish503;
pub mod establishment_ack504;
pub mod establishment_reject505;
pub mod sequence506;
pub mod terminate507;
pub mod retransmit_request508;
pub mod retransmission509;
pub mod retransmit_reject510;
pub mod not_applied513;
pub mod new_order_single514;
pub mod order_cancel_replace_request515;
pub mod order_cancel_request516;
pub mod mass_quote517;
pub mod party_details_definition_request518;
pub mod party_details_definition_request_ack519;
pub mod business_reject521;
pub mod execution_report_new522;
pub mod execution_report_reject523;
pub mod execution_report_elimination524;
pub mod execution_report_trade_outright525;
pub mod execution_report_trade_spread526;
pub mod execution_report_trade_spread_leg527;
pub mod quote_cancel528;
pub mod order_mass_action_request529;
pub mod order_mass_status_request530;
pub mod execution_report_modify531;
pub mod execution_report_status532;
pub mod order_status_request533;
pub mod execution_report_cancel534;
pub mod order_cancel_reject535;
pub mod order_cancel_replace_reject536;
pub mod party_details_list_request537;
pub mod party_details_list_report538;
pub mod execution_ack539;
pub mod request_for_quote543;
pub mod new_order_cross544;
pub mod mass_quote_ack545;
pub mod request_for_quote_ack546;
pub mod execution_report_trade_addendum_outright548;
pub mod execution_report_trade_addendum_spread549;
pub mod execution_report_trade_addendum_spread_leg550;
pub mod security_definition_request560;
pub mod security_definition_response561;
pub mod order_mass_action_report562;
pub mod quote_cancel_ack563;
pub mod execution_report_pending_cancel564;
pub mod execution_report_pending_replace565;
pub mod request_for_cross566;
pub mod mass_quote_request567;
pub mod quote_cancel_by_set568;
pub mod quote_cancel_by_group569;
pub mod quote_cancel_by_instrument570;
pub mod mass_quote_response571;

pub use types::*;
pub use negotiate500::{Negotiate500, Negotiate500Encoder};
pub use negotiation_response501::{NegotiationResponse501, NegotiationResponse501Encoder};
pub use negotiation_reject502::{NegotiationReject502, NegotiationReject502Encoder};
pub use establish503::{Establish503, Establish503Encoder};
pub use establishment_ack504::{EstablishmentAck504, EstablishmentAck504Encoder};
pub use establishment_reject505::{EstablishmentReject505, EstablishmentReject505Encoder};
pub use sequence506::{Sequence506, Sequence506Encoder};
pub use terminate507::{Terminate507, Terminate507Encoder};
pub use retransmit_request508::{RetransmitRequest508, RetransmitRequest508Encoder};
pub use retransmission509::{Retransmission509, Retransmission509Encoder};
pub use retransmit_reject510::{RetransmitReject510, RetransmitReject510Encoder};
pub use not_applied513::{NotApplied513, NotApplied513Encoder};
pub use new_order_single514::{NewOrderSingle514, NewOrderSingle514Encoder};
pub use order_cancel_replace_request515::{OrderCancelReplaceRequest515, OrderCancelReplaceRequest515Encoder};
pub use order_cancel_request516::{OrderCancelRequest516, OrderCancelRequest516Encoder};
pub use mass_quote517::{MassQuote517, MassQuote517Encoder, MassQuote517Groups};
pub use party_details_definition_request518::{PartyDetailsDefinitionRequest518, PartyDetailsDefinitionRequest518Encoder, PartyDetailsDefinitionRequest518Groups};
pub use party_details_definition_request_ack519::{PartyDetailsDefinitionRequestAck519, PartyDetailsDefinitionRequestAck519Encoder, PartyDetailsDefinitionRequestAck519Groups};
pub use business_reject521::{BusinessReject521, BusinessReject521Encoder};
pub use execution_report_new522::{ExecutionReportNew522, ExecutionReportNew522Encoder};
pub use execution_report_reject523::{ExecutionReportReject523, ExecutionReportReject523Encoder};
pub use execution_report_elimination524::{ExecutionReportElimination524, ExecutionReportElimination524Encoder};
pub use execution_report_trade_outright525::{ExecutionReportTradeOutright525, ExecutionReportTradeOutright525Encoder, ExecutionReportTradeOutright525Groups};
pub use execution_report_trade_spread526::{ExecutionReportTradeSpread526, ExecutionReportTradeSpread526Encoder, ExecutionReportTradeSpread526Groups};
pub use execution_report_trade_spread_leg527::{ExecutionReportTradeSpreadLeg527, ExecutionReportTradeSpreadLeg527Encoder, ExecutionReportTradeSpreadLeg527Groups};
pub use quote_cancel528::{QuoteCancel528, QuoteCancel528Encoder, QuoteCancel528Groups};
pub use order_mass_action_request529::{OrderMassActionRequest529, OrderMassActionRequest529Encoder};
pub use order_mass_status_request530::{OrderMassStatusRequest530, OrderMassStatusRequest530Encoder};
pub use execution_report_modify531::{ExecutionReportModify531, ExecutionReportModify531Encoder};
pub use execution_report_status532::{ExecutionReportStatus532, ExecutionReportStatus532Encoder};
pub use order_status_request533::{OrderStatusRequest533, OrderStatusRequest533Encoder};
pub use execution_report_cancel534::{ExecutionReportCancel534, ExecutionReportCancel534Encoder};
pub use order_cancel_reject535::{OrderCancelReject535, OrderCancelReject535Encoder};
pub use order_cancel_replace_reject536::{OrderCancelReplaceReject536, OrderCancelReplaceReject536Encoder};
pub use party_details_list_request537::{PartyDetailsListRequest537, PartyDetailsListRequest537Encoder, PartyDetailsListRequest537Groups};
pub use party_details_list_report538::{PartyDetailsListReport538, PartyDetailsListReport538Encoder, PartyDetailsListReport538Groups};
pub use execution_ack539::{ExecutionAck539, ExecutionAck539Encoder};
pub use request_for_quote543::{RequestForQuote543, RequestForQuote543Encoder, RequestForQuote543Groups};
pub use new_order_cross544::{NewOrderCross544, NewOrderCross544Encoder, NewOrderCross544Groups};
pub use mass_quote_ack545::{MassQuoteAck545, MassQuoteAck545Encoder, MassQuoteAck545Groups};
pub use request_for_quote_ack546::{RequestForQuoteAck546, RequestForQuoteAck546Encoder};
pub use execution_report_trade_addendum_outright548::{ExecutionReportTradeAddendumOutright548, ExecutionReportTradeAddendumOutright548Encoder, ExecutionReportTradeAddendumOutright548Groups};
pub use execution_report_trade_addendum_spread549::{ExecutionReportTradeAddendumSpread549, ExecutionReportTradeAddendumSpread549Encoder, ExecutionReportTradeAddendumSpread549Groups};
pub use execution_report_trade_addendum_spread_leg550::{ExecutionReportTradeAddendumSpreadLeg550, ExecutionReportTradeAddendumSpreadLeg550Encoder, ExecutionReportTradeAddendumSpreadLeg550Groups};
pub use security_definition_request560::{SecurityDefinitionRequest560, SecurityDefinitionRequest560Encoder, SecurityDefinitionRequest560Groups};
pub use security_definition_response561::{SecurityDefinitionResponse561, SecurityDefinitionResponse561Encoder, SecurityDefinitionResponse561Groups};
pub use order_mass_action_report562::{OrderMassActionReport562, OrderMassActionReport562Encoder, OrderMassActionReport562Groups};
pub use quote_cancel_ack563::{QuoteCancelAck563, QuoteCancelAck563Encoder, QuoteCancelAck563Groups};
pub use execution_report_pending_cancel564::{ExecutionReportPendingCancel564, ExecutionReportPendingCancel564Encoder};
pub use execution_report_pending_replace565::{ExecutionReportPendingReplace565, ExecutionReportPendingReplace565Encoder};
pub use request_for_cross566::{RequestForCross566, RequestForCross566Encoder, RequestForCross566Groups};
pub use mass_quote_request567::{MassQuoteRequest567, MassQuoteRequest567Encoder, MassQuoteRequest567Groups};
pub use quote_cancel_by_set568::{QuoteCancelBySet568, QuoteCancelBySet568Encoder, QuoteCancelBySet568Groups};
pub use quote_cancel_by_group569::{QuoteCancelByGroup569, QuoteCancelByGroup569Encoder, QuoteCancelByGroup569Groups};
pub use quote_cancel_by_instrument570::{QuoteCancelByInstrument570, QuoteCancelByInstrument570Encoder, QuoteCancelByInstrument570Groups};
pub use mass_quote_response571::{MassQuoteResponse571, MassQuoteResponse571Encoder, MassQuoteResponse571Groups};

/// The schema id in every header.
pub const SCHEMA_ID: u16 = 8;
/// The schema version of these codecs.
pub const SCHEMA_VERSION: u16 = 9;
/// The layout of every message, sorted by template id.
pub const MESSAGES: &[&Message] = &[
    &negotiate500::MESSAGE,
    &negotiation_response501::MESSAGE,
    &negotiation_reject502::MESSAGE,
    &establish503::MESSAGE,
    &establishment_ack504::MESSAGE,
    &establishment_reject505::MESSAGE,
    &sequence506::MESSAGE,
    &terminate507::MESSAGE,
    &retransmit_request508::MESSAGE,
    &retransmission509::MESSAGE,
    &retransmit_reject510::MESSAGE,
    &not_applied513::MESSAGE,
    &new_order_single514::MESSAGE,
    &order_cancel_replace_request515::MESSAGE,
    &order_cancel_request516::MESSAGE,
    &mass_quote517::MESSAGE,
    &party_details_definition_request518::MESSAGE,
    &party_details_definition_request_ack519::MESSAGE,
    &business_reject521::MESSAGE,
    &execution_report_new522::MESSAGE,
    &execution_report_reject523::MESSAGE,
    &execution_report_elimination524::MESSAGE,
    &execution_report_trade_outright525::MESSAGE,
    &execution_report_trade_spread526::MESSAGE,
    &execution_report_trade_spread_leg527::MESSAGE,
    &quote_cancel528::MESSAGE,
    &order_mass_action_request529::MESSAGE,
    &order_mass_status_request530::MESSAGE,
    &execution_report_modify531::MESSAGE,
    &execution_report_status532::MESSAGE,
    &order_status_request533::MESSAGE,
    &execution_report_cancel534::MESSAGE,
    &order_cancel_reject535::MESSAGE,
    &order_cancel_replace_reject536::MESSAGE,
    &party_details_list_request537::MESSAGE,
    &party_details_list_report538::MESSAGE,
    &execution_ack539::MESSAGE,
    &request_for_quote543::MESSAGE,
    &new_order_cross544::MESSAGE,
    &mass_quote_ack545::MESSAGE,
    &request_for_quote_ack546::MESSAGE,
    &execution_report_trade_addendum_outright548::MESSAGE,
    &execution_report_trade_addendum_spread549::MESSAGE,
    &execution_report_trade_addendum_spread_leg550::MESSAGE,
    &security_definition_request560::MESSAGE,
    &security_definition_response561::MESSAGE,
    &order_mass_action_report562::MESSAGE,
    &quote_cancel_ack563::MESSAGE,
    &execution_report_pending_cancel564::MESSAGE,
    &execution_report_pending_replace565::MESSAGE,
    &request_for_cross566::MESSAGE,
    &mass_quote_request567::MESSAGE,
    &quote_cancel_by_set568::MESSAGE,
    &quote_cancel_by_group569::MESSAGE,
    &quote_cancel_by_instrument570::MESSAGE,
    &mass_quote_response571::MESSAGE,
];

/// Visits every field of the message in `body`. Returns its length in bytes, SBE header
/// included.
///
/// # Errors
/// Any [`DecodeError`] except `Header`: unknown template or schema, or truncated.
pub fn visit(header: &MessageHeader, body: &[u8], visitor: &mut impl Visitor) -> Result<usize, DecodeError> {
    hairpin_sbe::visit(MESSAGES, header, body, visitor)
}
