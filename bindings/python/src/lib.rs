//! The Python package `hairpin`: the crate `hairpin` for CPython 3.11 and newer.
//!
//! Each callback of a strategy becomes a call of a Python method. The interpreter is attached only
//! for these calls, and only for methods that the strategy overrides; otherwise other threads of
//! the program run. The arguments of a callback are views that become invalid when it returns.
//!
//! | file | contents |
//! |---|---|
//! | `trader.rs` | `Feed`, `Session` and `Trader` |
//! | `strategy.rs` | the callbacks |
//! | `context.rs`, `requests.rs` | the context of a callback, and requests for orders |
//! | `events.rs`, `values.rs` | the arguments of callbacks, and values that Python owns |
//! | `scope.rs` | views that are valid in one callback |
//! | `exchange.rs` | a simulated exchange for tests |
//! | `read.rs`, `columns.rs` | captures as columns |
//! | `accelerated.rs` | whether a socket bypasses the kernel |
//! | `errors.rs` | exceptions |
//!
//! The classes `Strategy` and `Error` are in `python/hairpin`. The user's guide is
//! `docs/guide/programs.md`.

mod accelerated;
mod columns;
mod context;
mod errors;
mod events;
mod exchange;
mod read;
mod requests;
mod scope;
mod strategy;
mod trader;
mod values;

/// The native part of the package.
#[pyo3::pymodule]
mod _native {
    #[pymodule_export]
    use crate::accelerated::is_accelerated;
    #[pymodule_export]
    use crate::columns::Column;
    #[pymodule_export]
    use crate::context::Context;
    #[pymodule_export]
    use crate::events::{
        Book, BookEvent, Fill, MarketMessage, OrderEvent, OrderMessage, Statistic, Status,
        TradeEvent,
    };
    #[pymodule_export]
    use crate::exchange::Exchange;
    #[pymodule_export]
    use crate::read::CaptureReader;
    #[pymodule_export]
    use crate::requests::{CancelOrder, MassCancel, NewOrder, ReplaceOrder};
    #[pymodule_export]
    use crate::trader::{Feed, Runner, Session, StopHandle, Trader};
    #[pymodule_export]
    use crate::values::{Instrument, Level, Order, Price};
}
