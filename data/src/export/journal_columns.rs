//! The columns of orders and fills.

use std::io;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, Date32Builder, Int64Builder, RecordBatch, StringBuilder, TimestampNanosecondBuilder,
    UInt64Builder,
};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use hairpin_mapped::{Direction, Entry};

use crate::ilink::OrderMessage;

/// Where a column comes from.
#[derive(Debug, Clone, Copy)]
enum Source {
    /// The time at which the record was journaled.
    JournalTime,
    /// `out` for a message of ours, `in` for one of the exchange.
    Direction,
    /// CME's name of the message.
    Message,
    /// The UUID of the session.
    Uuid,
    /// The sequence number of the message.
    SeqNum,
    /// The first of these tags that the message has, as FIX writes it.
    Text(&'static [u16]),
    /// A number without sign.
    Number(u16),
    /// A number with sign.
    Signed(u16),
    /// A wire price in units of 10^-9.
    Price(u16),
    /// A time in nanoseconds since 1970.
    Time(u16),
    /// A date in days since 1970.
    Date(u16),
}

/// A column of a file.
#[derive(Debug)]
pub(super) struct JournalColumn {
    name: &'static str,
    source: Source,
}

const fn column(name: &'static str, source: Source) -> JournalColumn {
    JournalColumn { name, source }
}

/// The columns of `orders.parquet`.
pub(super) const ORDERS: &[JournalColumn] = &[
    column("journal_time", Source::JournalTime),
    column("direction", Source::Direction),
    column("message", Source::Message),
    column("uuid", Source::Uuid),
    column("seq_num", Source::SeqNum),
    column("sending_time", Source::Time(5297)),
    column("transact_time", Source::Time(60)),
    column("sender_id", Source::Text(&[5392])),
    column("location", Source::Text(&[9537])),
    column("party_details_list_req_id", Source::Number(1505)),
    column("cl_ord_id", Source::Text(&[11])),
    column("order_request_id", Source::Number(2422)),
    column("order_id", Source::Number(37)),
    column("exec_id", Source::Text(&[17])),
    column("exec_type", Source::Text(&[150])),
    column("ord_status", Source::Text(&[39])),
    column("security_id", Source::Signed(48)),
    column("side", Source::Text(&[54])),
    column("ord_type", Source::Text(&[40])),
    column("time_in_force", Source::Text(&[59])),
    column("price", Source::Price(44)),
    column("stop_px", Source::Price(99)),
    column("order_qty", Source::Number(38)),
    column("min_qty", Source::Number(110)),
    column("display_qty", Source::Number(1138)),
    column("cum_qty", Source::Number(14)),
    column("leaves_qty", Source::Number(151)),
    column("expire_date", Source::Date(432)),
    column("reject_reason", Source::Text(&[103, 102, 380])),
    column("text", Source::Text(&[58])),
];

/// The columns of `fills.parquet`.
pub(super) const FILLS: &[JournalColumn] = &[
    column("journal_time", Source::JournalTime),
    column("message", Source::Message),
    column("uuid", Source::Uuid),
    column("seq_num", Source::SeqNum),
    column("sending_time", Source::Time(5297)),
    column("transact_time", Source::Time(60)),
    column("sender_id", Source::Text(&[5392])),
    column("location", Source::Text(&[9537])),
    column("party_details_list_req_id", Source::Number(1505)),
    column("cl_ord_id", Source::Text(&[11])),
    column("order_id", Source::Number(37)),
    column("exec_id", Source::Text(&[17])),
    column("sec_exec_id", Source::Number(527)),
    column("exec_type", Source::Text(&[150])),
    column("ord_status", Source::Text(&[39])),
    column("security_id", Source::Signed(48)),
    column("side", Source::Text(&[54])),
    column("last_px", Source::Price(31)),
    column("last_qty", Source::Number(32)),
    column("cum_qty", Source::Number(14)),
    column("leaves_qty", Source::Number(151)),
    column("trade_date", Source::Date(75)),
    column("aggressor_indicator", Source::Text(&[1057])),
    column("md_trade_entry_id", Source::Number(37711)),
    column("side_trade_id", Source::Number(1506)),
];

impl JournalColumn {
    fn field(&self) -> Field {
        let utc = || DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
        let kind = match self.source {
            Source::JournalTime | Source::Time(_) => utc(),
            Source::Direction | Source::Message | Source::Text(_) => DataType::Utf8,
            Source::Uuid | Source::SeqNum | Source::Number(_) => DataType::UInt64,
            Source::Signed(_) | Source::Price(_) => DataType::Int64,
            Source::Date(_) => DataType::Date32,
        };
        Field::new(self.name, kind, true)
    }
}

/// The values of a column.
enum Values {
    Text(StringBuilder),
    Number(UInt64Builder),
    Signed(Int64Builder),
    Time(TimestampNanosecondBuilder),
    Date(Date32Builder),
}

impl Values {
    fn new(kind: &DataType) -> Self {
        match kind {
            DataType::Utf8 => Self::Text(StringBuilder::new()),
            DataType::UInt64 => Self::Number(UInt64Builder::new()),
            DataType::Date32 => Self::Date(Date32Builder::new()),
            DataType::Timestamp(..) => {
                Self::Time(TimestampNanosecondBuilder::new().with_timezone("UTC"))
            }
            _ => Self::Signed(Int64Builder::new()),
        }
    }

    fn push(&mut self, source: Source, entry: &Entry, message: &OrderMessage<'_>) {
        let tag = &entry.tag;
        let nanos = |nanos: u64| i64::try_from(nanos).ok();
        match self {
            Self::Text(values) => match source {
                Source::Direction if tag.direction == Direction::Inbound => {
                    values.append_value("in");
                }
                Source::Direction => values.append_value("out"),
                Source::Text(tags) => {
                    values.append_option(tags.iter().find_map(|&tag| message.text(tag)));
                }
                _ => values.append_value(message.layout.name),
            },
            Self::Number(values) => values.append_option(match source {
                Source::Uuid => Some(tag.uuid),
                Source::Number(tag) => message.number(tag),
                _ => Some(u64::from(tag.seq_num)),
            }),
            Self::Signed(values) => values.append_option(match source {
                Source::Price(tag) => message.wire_price(tag),
                Source::Signed(tag) => message.signed(tag),
                _ => None,
            }),
            Self::Time(values) => values.append_option(match source {
                Source::Time(tag) => message.number(tag).and_then(nanos),
                _ => nanos(tag.now.utc.as_nanos()),
            }),
            Self::Date(values) => values.append_option(match source {
                Source::Date(tag) => message.number(tag).and_then(|it| i32::try_from(it).ok()),
                _ => None,
            }),
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Self::Text(values) => Arc::new(values.finish()),
            Self::Number(values) => Arc::new(values.finish()),
            Self::Signed(values) => Arc::new(values.finish()),
            Self::Time(values) => Arc::new(values.finish()),
            Self::Date(values) => Arc::new(values.finish()),
        }
    }
}

/// Rows that become a batch.
pub(super) struct RowBuilder {
    columns: &'static [JournalColumn],
    values: Vec<Values>,
    schema: SchemaRef,
}

impl RowBuilder {
    pub(super) fn new(columns: &'static [JournalColumn]) -> Self {
        let fields: Vec<Field> = columns.iter().map(JournalColumn::field).collect();
        let values = fields.iter().map(|field| Values::new(field.data_type())).collect();
        Self { columns, values, schema: Arc::new(Schema::new(fields)) }
    }

    pub(super) fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    /// Adds a message.
    pub(super) fn push(&mut self, entry: &Entry, message: &OrderMessage<'_>) {
        for (column, values) in self.columns.iter().zip(&mut self.values) {
            values.push(column.source, entry, message);
        }
    }

    /// Returns the rows that were added, and starts again.
    pub(super) fn finish(&mut self) -> io::Result<RecordBatch> {
        let arrays = self.values.iter_mut().map(Values::finish).collect();
        RecordBatch::try_new(self.schema.clone(), arrays).map_err(io::Error::other)
    }
}
