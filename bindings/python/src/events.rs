//! The arguments of callbacks. Each is valid until its callback returns.

use hairpin::feed_handler::StatusScope;
use hairpin::{Changes, FillKind, OrderState};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::scope::{Borrowed, Scope, Scoped};
use crate::values::{Instrument, Level, Price, side_from, side_name};

/// Defines a class that holds a callback's argument.
macro_rules! scoped {
    ($(#[$doc:meta])* $class:ident, $family:ident, $of:ty) => {
        /// The type that the class borrows.
        pub(crate) struct $family;

        // SAFETY: the type only has shared references to data of its lifetime.
        unsafe impl Borrowed for $family {
            type Of<'a> = $of;
        }

        $(#[$doc])*
        #[pyclass(frozen, module = "hairpin")]
        pub(crate) struct $class(Scope<$family>);

        impl $class {
            /// Holds an argument.
            ///
            /// # Safety
            /// The object must be closed before the reference ends.
            pub(crate) unsafe fn new(target: &<$family as Borrowed>::Of<'_>) -> Self {
                // SAFETY: the caller closes the scope in time.
                Self(unsafe { Scope::new(target) })
            }
        }

        impl Scoped for $class {
            fn close(&self) {
                self.0.close();
            }
        }
    };
}

scoped!(/** A change of a book. */ BookEvent, BookFamily, hairpin::BookEvent<'a>);
scoped!(/** A trade of the market. */ TradeEvent, TradeFamily, hairpin::TradeEvent<'a>);
scoped!(/** A report on an order. */ OrderEvent, OrderFamily, hairpin::OrderEvent<'a>);
scoped!(/** A trade of an order. */ Fill, FillFamily, hairpin::Fill<'a>);
scoped!(/** A trading status. */ Status, StatusFamily, hairpin::SecurityStatus<'a>);
scoped!(/** A statistic of an instrument. */ Statistic, StatisticFamily, hairpin::Statistic<'a>);
scoped!(/** A raw market data message. */ MarketMessage, MarketFamily, hairpin::MarketMessage<'a>);
scoped!(/** A raw business message. */ OrderMessage, MessageFamily, hairpin::OrderMessage<'a>);

#[pymethods]
impl BookEvent {
    #[getter]
    fn security_id(&self) -> PyResult<i32> {
        self.0.with(|book| book.security_id().0)
    }

    #[getter]
    fn symbol(&self) -> PyResult<String> {
        self.0.with(|book| book.symbol().to_owned())
    }

    #[getter]
    fn instrument(&self) -> PyResult<Instrument> {
        self.0.with(|book| book.instrument().into())
    }

    #[getter]
    fn best_bid(&self) -> PyResult<Option<Level>> {
        self.0.with(|book| book.best_bid().map(Level::from))
    }

    #[getter]
    fn best_ask(&self) -> PyResult<Option<Level>> {
        self.0.with(|book| book.best_ask().map(Level::from))
    }

    #[getter]
    fn bid(&self) -> PyResult<String> {
        self.0.with(|book| book.bid().to_string())
    }

    #[getter]
    fn ask(&self) -> PyResult<String> {
        self.0.with(|book| book.ask().to_string())
    }

    fn level(&self, side: &str, number: usize) -> PyResult<Option<Level>> {
        let side = side_from(side)?;
        self.0.with(|book| book.level(side, number).map(Level::from))
    }

    #[getter]
    fn changes(&self) -> PyResult<Vec<&'static str>> {
        self.0.with(|book| {
            let names = CHANGES.iter().filter(|(change, _)| book.changes().contains(*change));
            names.map(|(_, name)| *name).collect()
        })
    }

    #[getter]
    fn best_price_changed(&self) -> PyResult<bool> {
        self.0.with(|book| book.best_price_changed())
    }

    #[getter]
    fn is_resent(&self) -> PyResult<bool> {
        self.0.with(|book| book.is_resent())
    }

    #[getter]
    fn transact_time(&self) -> PyResult<u64> {
        self.0.with(|book| book.transact_time().as_nanos())
    }

    #[getter]
    fn received(&self) -> PyResult<Option<u64>> {
        self.0.with(|book| book.received().map(|time| time.as_nanos()))
    }

    fn copy(&self) -> PyResult<Book> {
        self.0.with(|book| Book::from(&**book))
    }
}

/// The names of the parts of a book that change.
const CHANGES: [(Changes, &str); 8] = [
    (Changes::BOOK, "book"),
    (Changes::BEST_BID, "best_bid"),
    (Changes::BEST_ASK, "best_ask"),
    (Changes::BEST_BID_PRICE, "best_bid_price"),
    (Changes::BEST_ASK_PRICE, "best_ask_price"),
    (Changes::IMPLIED, "implied"),
    (Changes::BEST_IMPLIED_BID, "best_implied_bid"),
    (Changes::BEST_IMPLIED_ASK, "best_implied_ask"),
];

/// A copy of a book, which does not change.
#[pyclass(frozen, module = "hairpin")]
pub(crate) struct Book {
    instrument: Instrument,
    is_in_sync: bool,
    bids: Vec<Level>,
    asks: Vec<Level>,
    texts: [String; 2],
}

impl From<&hairpin::Book<'_>> for Book {
    fn from(book: &hairpin::Book<'_>) -> Self {
        let levels =
            |side| (0..).map_while(move |number| book.level(side, number).map(Level::from));
        Self {
            instrument: book.instrument().into(),
            is_in_sync: book.is_in_sync(),
            bids: levels(hairpin::Side::Buy).collect(),
            asks: levels(hairpin::Side::Sell).collect(),
            texts: [book.bid().to_string(), book.ask().to_string()],
        }
    }
}

#[pymethods]
impl Book {
    #[getter]
    fn security_id(&self) -> i32 {
        self.instrument.security_id()
    }

    #[getter]
    fn symbol(&self) -> &str {
        self.instrument.symbol()
    }

    #[getter]
    fn instrument(&self) -> Instrument {
        self.instrument.clone()
    }

    #[getter]
    fn is_in_sync(&self) -> bool {
        self.is_in_sync
    }

    #[getter]
    fn best_bid(&self) -> Option<Level> {
        self.bids.first().cloned()
    }

    #[getter]
    fn best_ask(&self) -> Option<Level> {
        self.asks.first().cloned()
    }

    #[getter]
    fn bid(&self) -> &str {
        &self.texts[0]
    }

    #[getter]
    fn ask(&self) -> &str {
        &self.texts[1]
    }

    fn level(&self, side: &str, number: usize) -> PyResult<Option<Level>> {
        let levels = match side_from(side)? {
            hairpin::Side::Buy => &self.bids,
            hairpin::Side::Sell => &self.asks,
        };
        Ok(levels.get(number).cloned())
    }
}

#[pymethods]
impl TradeEvent {
    #[getter]
    fn security_id(&self) -> PyResult<i32> {
        self.0.with(|trade| trade.security_id().0)
    }

    #[getter]
    fn symbol(&self) -> PyResult<String> {
        self.0.with(|trade| trade.instrument().symbol().to_owned())
    }

    #[getter]
    fn instrument(&self) -> PyResult<Instrument> {
        self.0.with(|trade| trade.instrument().into())
    }

    #[getter]
    fn price(&self) -> PyResult<Price> {
        self.0.with(|trade| Price(trade.price()))
    }

    #[getter]
    fn quantity(&self) -> PyResult<u64> {
        self.0.with(|trade| trade.quantity().0)
    }

    #[getter]
    fn aggressor(&self) -> PyResult<Option<&'static str>> {
        self.0.with(|trade| trade.aggressor().map(side_name))
    }

    #[getter]
    fn is_resent(&self) -> PyResult<bool> {
        self.0.with(|trade| trade.is_resent())
    }

    #[getter]
    fn transact_time(&self) -> PyResult<u64> {
        self.0.with(|trade| trade.transact_time().as_nanos())
    }
}

/// Defines the attributes that both kinds of order event have, and the given ones.
macro_rules! order_event {
    ($class:ident, $($rest:item)*) => {
        #[pymethods]
        impl $class {
            #[getter]
            fn cl_ord_id(&self) -> PyResult<String> {
                self.0.with(|event| event.cl_ord_id().to_string())
            }

            #[getter]
            fn order_id(&self) -> PyResult<Option<u64>> {
                self.0.with(|event| event.order_id().map(|id| id.0))
            }

            #[getter]
            fn security_id(&self) -> PyResult<i32> {
                self.0.with(|event| event.security_id().0)
            }

            #[getter]
            fn symbol(&self) -> PyResult<String> {
                self.0.with(|event| event.symbol().to_owned())
            }

            #[getter]
            fn side(&self) -> PyResult<&'static str> {
                self.0.with(|event| side_name(event.side()))
            }

            #[getter]
            fn price(&self) -> PyResult<Option<Price>> {
                self.0.with(|event| event.price().map(Price))
            }

            #[getter]
            fn open(&self) -> PyResult<u64> {
                self.0.with(|event| event.open().0)
            }

            #[getter]
            fn filled(&self) -> PyResult<u64> {
                self.0.with(|event| event.filled().0)
            }

            #[getter]
            fn is_redelivered(&self) -> PyResult<bool> {
                self.0.with(|event| event.is_redelivered())
            }

            fn __str__(&self) -> PyResult<String> {
                self.0.with(|event| event.to_string())
            }

            $($rest)*
        }
    };
}

order_event! {
    OrderEvent,
    #[getter]
    fn state(&self) -> PyResult<&'static str> {
        self.0.with(|order| state_name(order.state()))
    }

    #[getter]
    fn quantity(&self) -> PyResult<u64> {
        self.0.with(|order| order.quantity().0)
    }

    #[getter]
    fn reason(&self) -> PyResult<Option<String>> {
        self.0.with(|order| order.reason().map(ToString::to_string))
    }

    #[getter]
    fn reason_code(&self) -> PyResult<Option<u16>> {
        self.0.with(|order| order.reason().map(|reason| reason.code()))
    }
}

order_event! {
    Fill,
    #[getter]
    fn kind(&self) -> PyResult<&'static str> {
        self.0.with(|fill| kind_name(fill.kind()))
    }

    #[getter]
    fn last_price(&self) -> PyResult<Price> {
        self.0.with(|fill| Price(fill.last_price()))
    }

    #[getter]
    fn last_quantity(&self) -> PyResult<u64> {
        self.0.with(|fill| fill.last_quantity().0)
    }

    #[getter]
    fn exec_id(&self) -> PyResult<u64> {
        self.0.with(|fill| fill.exec_id())
    }

    #[getter]
    fn trade_date(&self) -> PyResult<Option<u16>> {
        self.0.with(|fill| fill.trade_date())
    }
}

const fn state_name(state: OrderState) -> &'static str {
    match state {
        OrderState::Working => "working",
        OrderState::PendingReplace => "pending_replace",
        OrderState::PendingCancel => "pending_cancel",
        OrderState::ReplaceRejected => "replace_rejected",
        OrderState::CancelRejected => "cancel_rejected",
        OrderState::Filled => "filled",
        OrderState::Canceled => "canceled",
        OrderState::Expired => "expired",
        OrderState::Rejected => "rejected",
        OrderState::NotApplied => "not_applied",
        _ => "unknown",
    }
}

const fn kind_name(kind: FillKind) -> &'static str {
    match kind {
        FillKind::Outright => "outright",
        FillKind::Spread => "spread",
        FillKind::SpreadLeg => "spread_leg",
        FillKind::Correction => "correction",
        FillKind::Bust => "bust",
        _ => "unknown",
    }
}

#[pymethods]
impl Status {
    #[getter]
    fn security_id(&self) -> PyResult<Option<i32>> {
        self.0.with(|status| match status.scope {
            StatusScope::Instrument { security_id, .. } => Some(security_id),
            _ => None,
        })
    }

    #[getter]
    fn security_group(&self) -> PyResult<Option<String>> {
        self.0.with(|status| match &status.scope {
            StatusScope::Group { security_group, .. } => Some(security_group.as_str().to_owned()),
            _ => None,
        })
    }

    #[getter]
    fn asset(&self) -> PyResult<Option<String>> {
        self.0.with(|status| match &status.scope {
            StatusScope::Group { asset, .. } => Some(asset.as_str().to_owned()),
            _ => None,
        })
    }

    /// SecurityTradingStatus (326): CME's name.
    #[getter]
    fn trading_status(&self) -> PyResult<Option<&'static str>> {
        self.0.with(|status| status.trading_status.and_then(|it| it.name()))
    }

    #[getter]
    fn halt_reason(&self) -> PyResult<Option<&'static str>> {
        self.0.with(|status| status.halt_reason.and_then(|it| it.name()))
    }

    #[getter]
    fn event(&self) -> PyResult<Option<&'static str>> {
        self.0.with(|status| status.event.and_then(|it| it.name()))
    }

    #[getter]
    fn transact_time(&self) -> PyResult<u64> {
        self.0.with(|status| status.transact_time.as_nanos())
    }
}

#[pymethods]
impl Statistic {
    #[getter]
    fn security_id(&self) -> PyResult<i32> {
        self.0.with(|statistic| statistic.security_id)
    }

    /// The name of the kind, such as `Settlement`.
    #[getter]
    fn kind(&self) -> PyResult<String> {
        self.0.with(|statistic| format!("{:?}", statistic.kind))
    }

    #[getter]
    fn price(&self) -> PyResult<Option<Price>> {
        self.0.with(|statistic| statistic.value.price.map(|price| Price(price.into())))
    }

    #[getter]
    fn quantity(&self) -> PyResult<Option<u64>> {
        self.0.with(|statistic| statistic.value.quantity)
    }

    #[getter]
    fn transact_time(&self) -> PyResult<u64> {
        self.0.with(|statistic| statistic.transact_time.as_nanos())
    }
}

#[pymethods]
impl MarketMessage {
    #[getter]
    fn channel(&self) -> PyResult<u32> {
        self.0.with(|it| it.channel.0)
    }

    #[getter]
    fn template_id(&self) -> PyResult<u16> {
        self.0.with(|it| it.message.header.template_id)
    }

    #[getter]
    fn sequence(&self) -> PyResult<u32> {
        self.0.with(|it| it.packet.sequence)
    }

    #[getter]
    fn sending_time(&self) -> PyResult<u64> {
        self.0.with(|it| it.packet.sending_time.as_nanos())
    }

    #[getter]
    fn received(&self) -> PyResult<Option<u64>> {
        self.0.with(|it| it.packet.received.map(|time| time.as_nanos()))
    }

    /// The message from its SBE header on.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.with(|it| PyBytes::new(py, it.message.bytes))
    }
}

#[pymethods]
impl OrderMessage {
    #[getter]
    fn segment(&self) -> PyResult<Option<u8>> {
        self.0.with(|it| it.segment)
    }

    #[getter]
    fn template_id(&self) -> PyResult<u16> {
        self.0.with(|it| it.message.header.template_id)
    }

    #[getter]
    fn seq_num(&self) -> PyResult<u32> {
        self.0.with(|it| it.message.seq_num)
    }

    #[getter]
    fn uuid(&self) -> PyResult<u64> {
        self.0.with(|it| it.message.uuid)
    }

    #[getter]
    fn is_redelivered(&self) -> PyResult<bool> {
        self.0.with(|it| it.message.redelivered)
    }

    /// The bytes after the SBE header: root block, groups and data.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.0.with(|it| PyBytes::new(py, it.message.body))
    }
}
