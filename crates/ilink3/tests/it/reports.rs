//! Every business message of the exchange, with any content, reaches one callback: its own, or
//! `on_message` if that is not implemented.

use crate::test_session::{Discard, UUID, framed, now, session};
use hairpin_cme_codecs::ilink3::*;
use hairpin_ilink3::*;
use hairpin_sbe::MessageHeader;
use proptest::prelude::*;

/// A listener that records each callback and its message.
#[derive(Default)]
struct CallbackLog(Vec<(u16, u16, u32)>);

/// Implements each callback for its template.
macro_rules! callbacks {
    ($($name:ident $callback:ident;)*) => {
        impl Listener for CallbackLog {
            $(
                fn $callback(
                    &mut self,
                    _: &mut Sender<'_>,
                    report: $name<'_>,
                    message: &Message<'_>,
                ) {
                    assert_eq!((report.seq_num(), report.uuid()), (message.seq_num, message.uuid));
                    let own = $name::TEMPLATE_ID;
                    self.0.push((own, message.header.template_id, message.seq_num));
                }
            )*
            fn on_message(&mut self, _: &mut Sender<'_>, message: &Message<'_>) {
                self.0.push((0, message.header.template_id, message.seq_num));
            }
        }

        /// The templates with a callback of their own.
        const OWN: &[u16] = &[$($name::TEMPLATE_ID),*];
    };
}

callbacks! {
    BusinessReject521 on_business_reject;
    ExecutionReportNew522 on_execution_report_new;
    ExecutionReportReject523 on_execution_report_reject;
    ExecutionReportElimination524 on_execution_report_elimination;
    ExecutionReportTradeOutright525 on_execution_report_trade_outright;
    ExecutionReportTradeSpread526 on_execution_report_trade_spread;
    ExecutionReportTradeSpreadLeg527 on_execution_report_trade_spread_leg;
    ExecutionReportModify531 on_execution_report_modify;
    ExecutionReportStatus532 on_execution_report_status;
    ExecutionReportCancel534 on_execution_report_cancel;
    OrderCancelReject535 on_order_cancel_reject;
    OrderCancelReplaceReject536 on_order_cancel_replace_reject;
    ExecutionReportTradeAddendumOutright548 on_trade_addendum_outright;
    ExecutionReportTradeAddendumSpread549 on_trade_addendum_spread;
    ExecutionReportTradeAddendumSpreadLeg550 on_trade_addendum_spread_leg;
    ExecutionReportPendingCancel564 on_execution_report_pending_cancel;
    ExecutionReportPendingReplace565 on_execution_report_pending_replace;
    PartyDetailsDefinitionRequestAck519 on_party_details_definition_ack;
    PartyDetailsListReport538 on_party_details_list_report;
    MassQuoteAck545 on_mass_quote_ack;
    RequestForQuoteAck546 on_request_for_quote_ack;
    SecurityDefinitionResponse561 on_security_definition_response;
    OrderMassActionReport562 on_order_mass_action_report;
    QuoteCancelAck563 on_quote_cancel_ack;
    MassQuoteResponse571 on_mass_quote_response;
}

/// A listener that implements only `on_message`.
#[derive(Default)]
struct Any(Vec<(u16, u32)>);

impl Listener for Any {
    fn on_message(&mut self, _: &mut Sender<'_>, message: &Message<'_>) {
        self.0.push((message.header.template_id, message.seq_num));
    }
}

/// Creates a frame of `template_id` with arbitrary field values and `entries` entries in each
/// group.
fn report(template_id: u16, seq_num: u32, content: &[u8], entries: u8) -> Vec<u8> {
    let message = MESSAGES.iter().find(|message| message.template_id == template_id).unwrap();
    let mut content = content.iter().copied().cycle();
    let mut body: Vec<u8> = content.by_ref().take(message.block.length.into()).collect();
    body[..4].copy_from_slice(&seq_num.to_le_bytes());
    body[4..12].copy_from_slice(&UUID.to_le_bytes());
    for group in message.groups {
        body.extend(group.block.length.to_le_bytes());
        body.push(entries);
        let length = usize::from(group.block.length) * usize::from(entries);
        body.extend(content.by_ref().take(length));
    }
    let header = MessageHeader {
        block_length: message.block.length,
        template_id,
        schema_id: message.schema_id,
        version: message.version,
    };
    framed(MessageHeader::LENGTH + body.len(), |buffer| {
        buffer[..MessageHeader::LENGTH].copy_from_slice(&header.to_bytes());
        buffer[MessageHeader::LENGTH..].copy_from_slice(&body);
    })
}

#[test]
fn covers_every_business_message_of_the_exchange() {
    // The exchange's business messages start with SeqNum and UUID; no client message does.
    let of_the_exchange = MESSAGES.iter().filter(|message| {
        let first = message.block.fields.first().map(|field| field.name);
        first == Some("SeqNum")
    });
    let mut tried = OWN.to_vec();
    tried.sort_unstable();
    let expected: Vec<_> = of_the_exchange.map(|message| message.template_id).collect();
    assert_eq!(tried, expected);
}

proptest! {
    #[test]
    fn report_reaches_only_its_callback(
        reports in prop::collection::vec(
            (
                prop::sample::select(OWN),
                prop::collection::vec(any::<u8>(), 1..600),
                0_u8..4,
            ),
            1..8,
        )
    ) {
        let mut stream = Vec::new();
        let mut expected = Vec::new();
        for (index, (template_id, content, entries)) in reports.iter().enumerate() {
            let seq_num = index as u32 + 1;
            stream.extend(report(*template_id, seq_num, content, *entries));
            expected.push((*template_id, *template_id, seq_num));
        }
        let (mut log, mut any) = (CallbackLog::default(), Any::default());
        let sink = &mut Discard::default();
        session(State::Established).handle_bytes(now(1), &stream, sink, &mut log);
        session(State::Established).handle_bytes(now(1), &stream, sink, &mut any);
        prop_assert_eq!(&log.0, &expected);
        let log: Vec<_> = log.0.iter().map(|&(_, template, number)| (template, number)).collect();
        prop_assert_eq!(&any.0, &log);
    }
}
