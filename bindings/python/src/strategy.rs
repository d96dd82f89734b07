//! The callbacks of a Python strategy.

use hairpin as sdk;
use pyo3::PyClassInitializer;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;

use crate::context::Context;
use crate::events::{
    BookEvent, Fill, MarketMessage, OrderEvent, OrderMessage, Statistic, Status, TradeEvent,
};
use crate::scope::{Closing, Scoped};
use crate::values::Instrument;

/// The callbacks, in the order of their names.
#[derive(Clone, Copy)]
enum Callback {
    Ready,
    NotReady,
    Book,
    Trade,
    Instrument,
    Status,
    Statistic,
    Order,
    Fill,
    Timer,
    Problem,
    MarketMessage,
    OrderMessage,
}

impl Callback {
    /// Returns `true` if it reports on orders or on the session.
    const fn is_report(self) -> bool {
        matches!(
            self,
            Self::NotReady | Self::Order | Self::Fill | Self::Problem | Self::OrderMessage
        )
    }
}

const NAMES: [&str; 13] = [
    "on_ready",
    "on_not_ready",
    "on_book",
    "on_trade",
    "on_instrument",
    "on_status",
    "on_statistic",
    "on_order",
    "on_fill",
    "on_timer",
    "on_problem",
    "on_market_message",
    "on_order_message",
];

/// A Python strategy in the loop. It attaches to the interpreter only to call a method that the
/// strategy overrides.
pub(crate) struct PyStrategy {
    /// The overridden methods, bound to the strategy.
    methods: [Option<Py<PyAny>>; NAMES.len()],
    /// The exception that ends the run.
    pub(crate) exception: Option<PyErr>,
    /// Nothing more is called.
    is_over: bool,
    /// Ctrl-C was pressed again during the log-off.
    pub(crate) is_interrupted_twice: bool,
}

impl PyStrategy {
    /// Finds the methods that a strategy overrides.
    ///
    /// # Errors
    /// `TypeError` if it is not a `hairpin.Strategy`.
    pub(crate) fn new(strategy: &Bound<'_, PyAny>) -> PyResult<Self> {
        let base = strategy.py().import("hairpin")?.getattr("Strategy")?;
        if !strategy.is_instance(&base)? {
            let name = strategy.get_type().name()?;
            let error = format!("the strategy is of the class {name}, not of a hairpin.Strategy");
            return Err(PyTypeError::new_err(error));
        }
        let mut methods = [const { None }; NAMES.len()];
        for (name, method) in NAMES.iter().zip(&mut methods) {
            let bound = strategy.getattr(*name)?;
            let function = bound.getattr("__func__").ok();
            let is_base = function.is_some_and(|it| base.getattr(*name).is_ok_and(|b| it.is(&b)));
            *method = (!is_base).then(|| bound.unbind());
        }
        Ok(Self { methods, exception: None, is_over: false, is_interrupted_twice: false })
    }

    fn overrides(&self, callback: Callback) -> bool {
        self.methods[callback as usize].is_some()
    }

    /// Calls a method if it is overridden, with a context.
    fn call(
        &mut self,
        callback: Callback,
        ctx: &mut sdk::Context<'_>,
        invoke: impl FnOnce(Python<'_>, &Py<PyAny>, &Py<Context>) -> PyResult<Py<PyAny>>,
    ) {
        let Some(method) = &self.methods[callback as usize] else { return };
        if self.is_over || self.exception.is_some() && !callback.is_report() {
            return;
        }
        let outcome = Python::try_attach(|py| {
            // SAFETY: `Closing` closes the object before `ctx` is used again.
            let context = Py::new(py, unsafe { Context::new(ctx) })?;
            let _closing = Closing(&context);
            invoke(py, method, &context).map(drop)
        });
        match outcome {
            Some(Ok(())) => {}
            Some(Err(exception)) => {
                self.fail(exception);
                ctx.stop();
            }
            // The interpreter ends.
            None => ctx.stop(),
        }
    }

    /// Calls a method if it is overridden, with an argument that Python owns, and a context.
    fn call_with<A>(&mut self, callback: Callback, ctx: &mut sdk::Context<'_>, argument: A)
    where
        A: for<'py> IntoPyObject<'py>,
    {
        self.call(callback, ctx, |py, method, context| method.call1(py, (argument, context)));
    }

    /// Records an exception that ends the run. After Ctrl-C, the reports on orders are still
    /// delivered while the session logs off; a later exception is the cause of the first.
    pub(crate) fn fail(&mut self, exception: PyErr) {
        Python::attach(|py| {
            let is_interrupt = exception.is_instance_of::<PyKeyboardInterrupt>(py);
            match &self.exception {
                None => {
                    self.is_over = !is_interrupt;
                    self.exception = Some(exception);
                }
                Some(_) if is_interrupt => self.is_interrupted_twice = true,
                Some(first) => {
                    self.is_over = true;
                    first.set_cause(py, Some(exception));
                }
            }
        });
    }
}

/// Calls a method with an argument that is closed after the call.
fn invoke<T: Scoped + Into<PyClassInitializer<T>>>(
    py: Python<'_>,
    method: &Py<PyAny>,
    argument: T,
    context: &Py<Context>,
) -> PyResult<Py<PyAny>> {
    let argument = Py::new(py, argument)?;
    let _closing = Closing(&argument);
    method.call1(py, (&argument, context))
}

/// Implements callbacks whose argument is borrowed.
macro_rules! borrowed_callbacks {
    ($($name:ident($argument:ty) => $callback:ident, $class:ident;)*) => {$(
        #[inline]
        fn $name(&mut self, argument: &$argument, ctx: &mut sdk::Context<'_>) {
            self.call(Callback::$callback, ctx, |py, method, context| {
                // SAFETY: `invoke` closes the object before it returns.
                invoke(py, method, unsafe { $class::new(argument) }, context)
            });
        }
    )*};
}

impl sdk::Strategy for PyStrategy {
    fn is_called(&self, callback: sdk::Callback) -> bool {
        self.overrides(match callback {
            sdk::Callback::Book => Callback::Book,
            sdk::Callback::Trade => Callback::Trade,
            sdk::Callback::MarketMessage => Callback::MarketMessage,
            sdk::Callback::OrderMessage => Callback::OrderMessage,
        })
    }

    borrowed_callbacks! {
        on_book(sdk::BookEvent<'_>) => Book, BookEvent;
        on_trade(sdk::TradeEvent<'_>) => Trade, TradeEvent;
        on_status(sdk::SecurityStatus<'_>) => Status, Status;
        on_statistic(sdk::Statistic<'_>) => Statistic, Statistic;
        on_order(sdk::OrderEvent<'_>) => Order, OrderEvent;
        on_fill(sdk::Fill<'_>) => Fill, Fill;
        on_market_message(sdk::MarketMessage<'_>) => MarketMessage, MarketMessage;
        on_order_message(sdk::OrderMessage<'_>) => OrderMessage, OrderMessage;
    }

    fn on_ready(&mut self, ctx: &mut sdk::Context<'_>) {
        self.call(Callback::Ready, ctx, |py, method, context| method.call1(py, (context,)));
    }

    fn on_not_ready(&mut self, reason: sdk::NotReady, ctx: &mut sdk::Context<'_>) {
        self.call_with(Callback::NotReady, ctx, reason.to_string());
    }

    fn on_instrument(&mut self, instrument: &sdk::Instrument<'_>, ctx: &mut sdk::Context<'_>) {
        if self.overrides(Callback::Instrument) {
            self.call_with(Callback::Instrument, ctx, Instrument::from(*instrument));
        }
    }

    fn on_timer(&mut self, timer: u64, ctx: &mut sdk::Context<'_>) {
        self.call_with(Callback::Timer, ctx, timer);
    }

    fn on_problem(&mut self, problem: &sdk::Problem<'_>, ctx: &mut sdk::Context<'_>) {
        if self.overrides(Callback::Problem) {
            self.call_with(Callback::Problem, ctx, problem.to_string());
        } else {
            Default.on_problem(problem, ctx);
        }
    }
}

/// The default callbacks.
struct Default;

impl sdk::Strategy for Default {}
