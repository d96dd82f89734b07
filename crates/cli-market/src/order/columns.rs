//! The fields of a message that an audit trail prints.
//!
//! The list names what is printed, not what is left out: it contains neither the key id nor the
//! signature of a logon.

use hairpin_order_entry::messages::{OrderCancelReplaceReject536, Terminate507, visit};
use hairpin_order_entry::{
    BusinessRejectReason, CancelRejectReason, OrderRejectReason, ReplaceRejectReason,
    RetransmitRejectCode, TerminateCode,
};
use hairpin_sbe::{DecodeError, MessageHeader, Value, Visitor};

/// The printed fields, with CME's names where they have one.
pub(super) const NAMES: [&str; 41] = [
    "ClOrdID",
    "OrderID",
    "Side",
    "OrderQty",
    "MinQty",
    "DisplayQty",
    "Price",
    "StopPx",
    "SecurityID",
    "OrdType",
    "TimeInForce",
    "ExpireDate",
    "OrdStatus",
    "LastQty",
    "LastPx",
    "CumQty",
    "LeavesQty",
    REASON,
    "Text",
    "ExecID",
    "OrderRequestID",
    "RefSeqNum",
    "BusinessRejectRefID",
    "MassActionScope",
    "MassActionResponse",
    "TotalAffectedOrders",
    "CrossID",
    "QuoteID",
    "QuoteStatus",
    "PossRetransFlag",
    "Session",
    "Firm",
    "RequestTimestamp",
    "NextSeqNo",
    "KeepAliveInterval",
    "LastUUID",
    "FromSeqNo",
    "MsgCount",
    OUR_NEXT,
    THEIR_NEXT,
    MISSING,
];

/// The reason of any refusal, whatever CME's name for it.
pub(super) const REASON: &str = "RejectReason";
/// For a request: the number of our next message when it was sent.
pub(super) const OUR_NEXT: &str = "OurNext";
/// For a request: the number of the exchange's next message when it was sent.
pub(super) const THEIR_NEXT: &str = "TheirNext";
/// For a request: the exchange's missing messages when it was sent.
pub(super) const MISSING: &str = "Missing";

/// A printed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnValue {
    pub(super) text: String,
    /// It is a number in JSON.
    pub(super) is_number: bool,
}

impl ColumnValue {
    pub(super) fn number(number: impl Into<u64>) -> Self {
        Self { text: number.into().to_string(), is_number: true }
    }

    pub(super) fn text(text: impl ToString) -> Self {
        Self { text: text.to_string(), is_number: false }
    }
}

/// The columns of a message.
#[derive(Debug)]
pub(super) struct Columns {
    pub(super) name: Option<String>,
    cells: [Option<ColumnValue>; NAMES.len()],
    template_id: u16,
    /// The number of open groups and composites.
    depth: u32,
    /// The OrderID of each order that a mass action has canceled.
    pub(super) affected: Vec<u64>,
}

impl Default for Columns {
    fn default() -> Self {
        Self {
            name: None,
            cells: [const { None }; NAMES.len()],
            template_id: 0,
            depth: 0,
            affected: Vec::new(),
        }
    }
}

impl Columns {
    /// Reads a message from its SBE header on.
    ///
    /// # Errors
    /// Why it is not an order entry message.
    pub(super) fn read(&mut self, message: &[u8]) -> Result<(), DecodeError> {
        let (header, body) = MessageHeader::decode(message)?;
        self.read_body(&header, body)
    }

    /// Reads a message whose header was already read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(super) fn read_body(
        &mut self,
        header: &MessageHeader,
        body: &[u8],
    ) -> Result<(), DecodeError> {
        self.template_id = header.template_id;
        visit(header, body, self).map(drop)
    }

    /// Creates the columns of a row that is not a message.
    pub(super) fn named(name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..Self::default() }
    }

    /// Returns the value in a column.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let place = NAMES.iter().position(|&column| column == name)?;
        self.cells[place].as_ref().map(|cell| cell.text.as_str())
    }

    /// Returns the number in a column.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.get(name)?.parse().ok()
    }

    pub(super) fn put(&mut self, name: &str, cell: ColumnValue) {
        if let Some(place) = NAMES.iter().position(|&column| column == name) {
            self.cells[place] = Some(cell);
        }
    }

    /// Returns every column in order, with its name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&'static str, Option<&ColumnValue>)> {
        NAMES.into_iter().zip(self.cells.iter().map(Option::as_ref))
    }

    /// Returns the code of a refusal with its meaning.
    fn reason(&self, field: &str, code: u64) -> Option<String> {
        let code = u16::try_from(code).unwrap_or(u16::MAX);
        let is_replace = self.template_id == OrderCancelReplaceReject536::TEMPLATE_ID;
        Some(match field {
            "OrdRejReason" => OrderRejectReason(code).to_string(),
            "CxlRejReason" if is_replace => ReplaceRejectReason(code).to_string(),
            "CxlRejReason" => CancelRejectReason(code).to_string(),
            "BusinessRejectReason" => BusinessRejectReason(code).to_string(),
            "ErrorCodes" if self.template_id == Terminate507::TEMPLATE_ID => {
                TerminateCode(code).to_string()
            }
            "ErrorCodes" => RetransmitRejectCode(code).to_string(),
            "QuoteRejectReason" | "MassActionRejectReason" => code.to_string(),
            _ => return None,
        })
    }
}

impl Visitor for Columns {
    fn message(&mut self, name: &str, _: &MessageHeader) {
        self.name = Some(name.to_owned());
    }

    fn field(&mut self, name: &str, value: Value<'_>) {
        if let ("AffectedOrderID", Value::Unsigned(id)) = (name, value) {
            self.affected.push(id);
        }
        if self.depth > 0 || matches!(value, Value::Null) {
            return;
        }
        if let Value::Unsigned(code) = value
            && let Some(reason) = self.reason(name, code)
        {
            return self.put(REASON, ColumnValue::text(reason));
        }
        // Some reports give their status as a constant that the schema does not name.
        let is_constant = matches!(value, Value::Character(_) | Value::Text(_));
        if name == "OrdStatus" && is_constant {
            let code = value.to_string();
            return self.put(name, ColumnValue::text(format!("{}({code})", status_name(&code))));
        }
        let name = if name == "Reason" { "Text" } else { name };
        let is_number = matches!(value, Value::Signed(_) | Value::Unsigned(_));
        // Text is kept as it is; quotation marks are added where a line needs them.
        let (text, is_absent) = match value {
            Value::Text(text) => (text.to_string(), text.as_bytes().is_empty()),
            value => (value.to_string(), value.to_string() == "-"),
        };
        if !is_absent {
            self.put(name, ColumnValue { text, is_number });
        }
    }

    fn composite(&mut self, _: &str) {
        self.depth += 1;
    }

    fn end_composite(&mut self) {
        self.depth -= 1;
    }

    fn group(&mut self, _: &str, _: usize) {
        self.depth += 1;
    }

    fn end_group(&mut self) {
        self.depth -= 1;
    }
}

/// Returns the name of an OrdStatus (39).
fn status_name(code: &str) -> &'static str {
    match code {
        "0" => "New",
        "1" => "PartiallyFilled",
        "2" => "Filled",
        "4" => "Canceled",
        "5" => "Replaced",
        "6" => "PendingCancel",
        "8" => "Rejected",
        "C" => "Expired",
        "E" => "PendingReplace",
        "U" => "Undefined",
        _ => "?",
    }
}
