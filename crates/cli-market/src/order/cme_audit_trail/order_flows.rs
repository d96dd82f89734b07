//! Order flow ids: one per order, on each of its messages.

use std::collections::HashMap;

use super::message::Message;

/// The order flows of a journal.
///
/// An id is the UUID and the sequence number of the message that entered the order, so it is unique
/// in every file. The id of an order that an earlier journal entered is its OrderID.
#[derive(Debug, Default)]
pub(super) struct OrderFlows {
    by_cl_ord_id: HashMap<String, String>,
    by_order_id: HashMap<u64, String>,
    by_request: HashMap<(u64, u32), String>,
}

impl OrderFlows {
    /// Returns the order flow of our message, if it belongs to an order.
    pub(super) fn sent(&mut self, uuid: u64, seq_num: u32, message: &Message) -> Option<String> {
        let cl_ord_id = message.root.get("ClOrdID");
        let order_id = message.root.number("OrderID");
        let new = || format!("{uuid}-{seq_num}");
        let flow = match message.template_id {
            514 | 544 | 566 => new(),
            515 | 516 => self.find(order_id, cl_ord_id).unwrap_or_else(new),
            533 | 539 => self.find(order_id, cl_ord_id)?,
            _ => return None,
        };
        let sides = message.group("NoSides").iter().filter_map(|side| side.get("ClOrdID"));
        for id in cl_ord_id.into_iter().chain(sides) {
            self.by_cl_ord_id.insert(id.to_owned(), flow.clone());
        }
        self.by_request.insert((uuid, seq_num), flow.clone());
        Some(flow)
    }

    /// Returns the order flow of the exchange's message, if it belongs to an order.
    pub(super) fn received(&mut self, uuid: u64, message: &Message) -> Option<String> {
        if message.template_id == 521 {
            let request = u32::try_from(message.root.number("RefSeqNum")?).ok()?;
            return self.by_request.get(&(uuid, request)).cloned();
        }
        let order_id = message.root.number("OrderID");
        self.report(order_id, message.root.get("ClOrdID"))
    }

    /// Returns the order flow of a report with these ids.
    pub(super) fn report(
        &mut self,
        order_id: Option<u64>,
        cl_ord_id: Option<&str>,
    ) -> Option<String> {
        let order_id = order_id.filter(|&id| id > 0);
        let known = self.find(order_id, cl_ord_id);
        let flow = known.or_else(|| order_id.map(|id| format!("order-{id}")))?;
        if let Some(id) = order_id {
            self.by_order_id.insert(id, flow.clone());
        }
        if let Some(id) = cl_ord_id {
            self.by_cl_ord_id.insert(id.to_owned(), flow.clone());
        }
        Some(flow)
    }

    /// Returns the order flow of an OrderID, otherwise of a ClOrdID.
    fn find(&self, order_id: Option<u64>, cl_ord_id: Option<&str>) -> Option<String> {
        let by_id = order_id.filter(|&id| id > 0);
        let by_id = by_id.map(|id| self.by_order_id.get(&id).cloned());
        match by_id {
            Some(Some(flow)) => Some(flow),
            // The first report of an order has its ClOrdID; an unknown OrderID may be older.
            _ => self.by_cl_ord_id.get(cl_ord_id?).cloned(),
        }
    }
}
