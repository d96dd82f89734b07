//! Rebuilding the order tracker from a session's journal.

use std::ops::ControlFlow;

use hairpin_cme_codecs::ilink3::{
    Establish503, NewOrderSingle514, OrderCancelReplaceRequest515, OrderCancelRequest516,
    OrderMassActionRequest529, OrderType,
};
use hairpin_ilink3::{FRAMING_HEADER_LENGTH, Message, OrderId, SecurityId};
use hairpin_mapped::{Direction, Storage, Tag};
use hairpin_sbe::MessageHeader;

use super::Orders;
use super::apply::id;
use super::order::{Order, OrderState};
use super::request::Intent;
use crate::journal_record::{CONTROL_RECORD, FILL_RECORD, MESSAGE_RECORD};

impl Orders {
    /// Creates a tracker of up to `capacity` orders from all records of a journal.
    ///
    /// Give the tracker to the listener of the session that resumes this journal. Redelivered
    /// messages are not applied twice. The journal must reach back to the first working order: an
    /// order without a record in it is unknown.
    #[must_use]
    pub fn from_journal(journal: &impl Storage, capacity: usize) -> Self {
        let mut orders = Self::new(capacity);
        let mut last = None;
        while let Some(record) = journal.next(last) {
            orders.handle_record(&journal.tag(record), journal.bytes(record));
            last = Some(record);
        }
        orders
    }

    /// Applies one record of a session's journal, for journals read by other means. Records must be
    /// applied in order.
    pub fn handle_record(&mut self, tag: &Tag, frame: &[u8]) {
        let message = frame.get(FRAMING_HEADER_LENGTH..).unwrap_or_default();
        match (tag.direction, tag.kind) {
            (Direction::Outbound, MESSAGE_RECORD) => self.handle_outbound(tag, message),
            (Direction::Outbound, FILL_RECORD) => self.mark_uncertain(tag.uuid),
            (Direction::Inbound, MESSAGE_RECORD) => self.handle_inbound(tag, message),
            (Direction::Control, CONTROL_RECORD) if is_logon(message) => {
                self.mark_uncertain(tag.uuid);
            }
            _ => {}
        }
    }

    /// Marks all requests of a session as uncertain. The exchange skipped or refused a message, and
    /// which one is unknown. A later answer drops the uncertain requests before it.
    pub(super) fn mark_uncertain(&mut self, uuid: u64) {
        self.in_flight.iter_mut().for_each(|it| it.uncertain |= it.uuid == uuid);
    }

    fn handle_inbound(&mut self, tag: &Tag, message: &[u8]) {
        let Ok((header, body)) = MessageHeader::decode(message) else {
            self.counters.undecodable += 1;
            return;
        };
        self.handle_message(&Message {
            header,
            body,
            seq_num: tag.seq_num,
            uuid: tag.uuid,
            possible_retransmission: false,
            redelivered: false,
        });
    }

    fn handle_outbound(&mut self, tag: &Tag, message: &[u8]) {
        match request_intent(message) {
            ControlFlow::Continue((request_id, intent)) => {
                self.record_request(tag.uuid, tag.seq_num, request_id, intent);
            }
            ControlFlow::Break(is_valid) => {
                self.record_request(tag.uuid, tag.seq_num, 0, Intent::Other);
                self.counters.undecodable += u64::from(!is_valid);
            }
        }
    }
}

/// Returns `true` if the request is an Establish.
fn is_logon(message: &[u8]) -> bool {
    let header = MessageHeader::decode(message);
    header.is_ok_and(|(header, _)| header.template_id == Establish503::TEMPLATE_ID)
}

/// Decodes `$message` as `$name` and binds the view to `$view`.
macro_rules! decode {
    ($header:ident, $body:ident, $name:ident as $view:ident => $then:expr) => {{
        let mut scratch = $name::SCRATCH;
        match $name::decode(&$header, $body, &mut scratch) {
            Ok($view) => ControlFlow::Continue(($view.order_request_id(), $then)),
            Err(_) => ControlFlow::Break(false),
        }
    }};
}

/// Returns OrderRequestID and intent of an outbound message. Breaks for other messages, with `true`
/// if the message is valid.
fn request_intent(message: &[u8]) -> ControlFlow<bool, (u64, Intent)> {
    let Ok((header, body)) = MessageHeader::decode(message) else {
        return ControlFlow::Break(false);
    };
    match header.template_id {
        NewOrderSingle514::TEMPLATE_ID => decode!(header, body,
            NewOrderSingle514 as new => Intent::New(pending(&new))),
        OrderCancelReplaceRequest515::TEMPLATE_ID => decode!(header, body,
        OrderCancelReplaceRequest515 as replace => Intent::Replace {
            order_id: replace.order_id().map(OrderId),
            cl_ord_id: id(replace.cl_ord_id()),
        }),
        OrderCancelRequest516::TEMPLATE_ID => decode!(header, body,
        OrderCancelRequest516 as cancel => Intent::Cancel {
            order_id: cancel.order_id().map(OrderId),
            cl_ord_id: id(cancel.cl_ord_id()),
        }),
        OrderMassActionRequest529::TEMPLATE_ID => decode!(header, body,
            OrderMassActionRequest529 as request => Intent::MassAction),
        _ => ControlFlow::Break(true),
    }
}

fn pending(new: &NewOrderSingle514<'_>) -> Order {
    Order {
        order_id: None,
        cl_ord_id: id(new.cl_ord_id()),
        security_id: SecurityId(new.security_id()),
        side: new.side(),
        order_type: Some(OrderType(new.ord_type().0)),
        price: new.price(),
        stop_price: new.stop_px(),
        time_in_force: new.time_in_force(),
        quantity: new.order_qty(),
        filled: 0,
        leaves: new.order_qty(),
        state: OrderState::Pending,
    }
}
