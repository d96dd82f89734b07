//! `Feed`, `Session` and `Trader`.

use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hairpin::feed_handler::{Filter, Text};
use hairpin::{Builder, Wait};
use pyo3::PyClassInitializer;
use pyo3::exceptions::{
    PyBrokenPipeError, PyKeyboardInterrupt, PyRuntimeError, PyTimeoutError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::context::duration;
use crate::errors::error;
use crate::strategy::PyStrategy;

/// The time between two checks for Python's signals, such as Ctrl-C.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(20);

/// Returns `true` for the exception of `print` after the reader of standard output has closed its
/// pipe, as `| head` does. What is still buffered is discarded, also at the end of the process.
fn is_closed_pipe(py: Python<'_>, exception: &PyErr) -> bool {
    let discard = || -> PyResult<bool> {
        let out = py.import("sys")?.getattr("stdout")?.call_method0("fileno")?;
        // A pipe without a reader is in error; otherwise the exception is of another descriptor.
        let poll = py.import("select")?.call_method0("poll")?;
        poll.call_method1("register", (&out, 0))?;
        if poll.call_method1("poll", (0,))?.is_empty()? {
            return Ok(false);
        }
        let os = py.import("os")?;
        let null = os.call_method1("open", (os.getattr("devnull")?, os.getattr("O_WRONLY")?))?;
        os.call_method1("dup2", (null, out))?;
        Ok(true)
    };
    exception.is_instance_of::<PyBrokenPipeError>(py) && discard().unwrap_or(false)
}

/// The trader of an object, while no call has taken it.
enum Slot {
    Open(Box<hairpin::Trader>),
    /// A call runs it.
    Running,
    Closed,
}

/// The part that the three classes share.
#[pyclass(frozen, subclass, module = "hairpin")]
pub(crate) struct Runner {
    slot: Mutex<Slot>,
    stop: hairpin::StopHandle,
    is_ready: AtomicBool,
}

/// A handle that stops a run from any thread.
#[pyclass(frozen, module = "hairpin")]
pub(crate) struct StopHandle(hairpin::StopHandle);

#[pymethods]
impl StopHandle {
    fn stop(&self) {
        self.0.stop();
    }
}

/// A trader taken from its slot. It returns when this is dropped, unless it was consumed.
struct Taken<'a> {
    runner: &'a Runner,
    trader: Option<Box<hairpin::Trader>>,
}

impl Taken<'_> {
    fn trader(&mut self) -> &mut hairpin::Trader {
        self.trader.as_mut().expect("taken until it is dropped")
    }

    /// Drops the trader. The object is closed.
    fn close(mut self) {
        self.trader = None;
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let is_panic = std::thread::panicking();
        *self.runner.slot() = match self.trader.take().filter(|_| !is_panic) {
            Some(trader) => Slot::Open(trader),
            None => Slot::Closed,
        };
    }
}

impl Runner {
    fn new(trader: hairpin::Trader) -> Self {
        let (stop, is_ready) = (trader.stop_handle(), AtomicBool::new(trader.is_ready()));
        Self { slot: Mutex::new(Slot::Open(Box::new(trader))), stop, is_ready }
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Slot> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the trader for a call.
    fn take(&self) -> PyResult<Taken<'_>> {
        let mut slot = self.slot();
        match std::mem::replace(&mut *slot, Slot::Running) {
            Slot::Open(trader) => Ok(Taken { runner: self, trader: Some(trader) }),
            Slot::Running => Err(PyRuntimeError::new_err(
                "cannot use it while it runs: inside a callback, use the context",
            )),
            Slot::Closed => {
                *slot = Slot::Closed;
                Err(PyRuntimeError::new_err("cannot use it: it is closed, or its run has ended"))
            }
        }
    }

    /// Runs one iteration without the interpreter. Returns `false` once the run has ended.
    fn turn_once(
        &self,
        py: Python<'_>,
        taken: &mut Taken<'_>,
        strategy: &mut PyStrategy,
    ) -> PyResult<bool> {
        let outcome = py.detach(|| self.turn_detached(taken.trader(), strategy));
        outcome.map_err(|cause| error(py, &cause))
    }

    fn turn_detached(
        &self,
        trader: &mut hairpin::Trader,
        strategy: &mut PyStrategy,
    ) -> hairpin::Result<bool> {
        let outcome = trader.turn(strategy);
        self.is_ready.store(trader.is_ready() && matches!(outcome, Ok(true)), Ordering::Relaxed);
        outcome
    }

    /// Turns until the run has ended, and handles Python's signals in between.
    fn run_detached(
        &self,
        trader: &mut hairpin::Trader,
        strategy: &mut PyStrategy,
    ) -> hairpin::Result<()> {
        trader.pin()?;
        let mut next = Instant::now();
        while self.turn_detached(trader, strategy)? {
            if Instant::now() < next {
                continue;
            }
            if let Some(Err(exception)) = Python::try_attach(|py| py.check_signals()) {
                strategy.fail(exception);
                self.stop.stop();
            }
            if strategy.is_interrupted_twice {
                break;
            }
            next = Instant::now() + SIGNAL_INTERVAL;
        }
        trader.save_definition_caches()
    }
}

#[pymethods]
impl Runner {
    /// Runs until the strategy or a stop handle stops it, until an exception, or until the reader
    /// of standard output closes its pipe.
    fn run(&self, strategy: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = strategy.py();
        let mut callbacks = PyStrategy::new(strategy)?;
        let mut taken = self.take()?;
        let outcome = py.detach(|| self.run_detached(taken.trader(), &mut callbacks));
        self.is_ready.store(false, Ordering::Relaxed);
        taken.close();
        match callbacks.exception.take() {
            Some(exception) if is_closed_pipe(py, &exception) => Ok(()),
            Some(exception) => Err(exception),
            None => outcome.map_err(|cause| error(py, &cause)),
        }
    }

    /// Runs one iteration. Returns `False` once the run has ended.
    fn turn(&self, strategy: &Bound<'_, PyAny>) -> PyResult<bool> {
        let py = strategy.py();
        let mut callbacks = PyStrategy::new(strategy)?;
        let mut taken = self.take()?;
        let outcome = self.turn_once(py, &mut taken, &mut callbacks);
        callbacks.exception.take().map_or(outcome, Err)
    }

    /// Runs until `condition` returns `True`, and at most some seconds.
    fn run_until(
        &self,
        condition: &Bound<'_, PyAny>,
        strategy: &Bound<'_, PyAny>,
        seconds: f64,
    ) -> PyResult<()> {
        let py = strategy.py();
        let mut callbacks = PyStrategy::new(strategy)?;
        let end = Instant::now() + Duration::from(duration(seconds)?);
        while !condition.call0()?.is_truthy()? {
            if Instant::now() >= end {
                let text = format!("the condition was not met within {seconds} s");
                return Err(PyTimeoutError::new_err(text));
            }
            let mut taken = self.take()?;
            let outcome = self.turn_once(py, &mut taken, &mut callbacks);
            let continues = callbacks.exception.take().map_or(outcome, Err)?;
            drop(taken);
            py.check_signals()?;
            if !continues {
                return Err(PyRuntimeError::new_err("the run ended before the condition was met"));
            }
        }
        Ok(())
    }

    /// Logs off without callbacks, and closes. A closed object is left as it is.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        if matches!(*self.slot(), Slot::Closed) {
            return Ok(());
        }
        let mut taken = self.take()?;
        self.stop.stop();
        let outcome = py.detach(|| {
            while taken.trader().turn(&mut Quiet)? {}
            taken.trader().save_definition_caches()
        });
        self.is_ready.store(false, Ordering::Relaxed);
        taken.close();
        outcome.map_err(|cause| error(py, &cause))
    }

    #[getter]
    fn is_ready(&self) -> bool {
        self.is_ready.load(Ordering::Relaxed)
    }

    #[getter]
    fn stop_handle(&self) -> StopHandle {
        StopHandle(self.stop.clone())
    }

    /// Stops the run gracefully on SIGINT and SIGTERM, without an exception.
    fn stop_on_signals<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let module = slf.py().import("signal")?;
        let stop = slf.get().stop.clone();
        let stop = Py::new(slf.py(), SignalHandler { stop, is_called: AtomicBool::new(false) })?;
        for signal in ["SIGINT", "SIGTERM"] {
            module.call_method1("signal", (module.getattr(signal)?, &stop))?;
        }
        Ok(slf.clone())
    }

    fn security_id(&self, py: Python<'_>, symbol: &str) -> PyResult<i32> {
        let id = self.take()?.trader().security_id(symbol);
        id.map(|id| id.0).map_err(|cause| error(py, &cause))
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> Bound<'py, Self> {
        slf.clone()
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        self.close(py)
    }
}

/// A strategy that ignores everything but orders that are left, while a closed object logs off.
struct Quiet;

impl hairpin::Strategy for Quiet {
    fn on_problem(&mut self, problem: &hairpin::Problem<'_>, _: &mut hairpin::Context<'_>) {
        if let hairpin::Problem::OrdersLeft(left) = problem {
            // A closed standard error changes nothing.
            let _ = writeln!(std::io::stderr(), "hairpin: {left}");
        }
    }
}

/// A handler for Python's `signal` module: the first signal stops the run, the second is Ctrl-C.
#[pyclass(frozen, module = "hairpin")]
struct SignalHandler {
    stop: hairpin::StopHandle,
    is_called: AtomicBool,
}

#[pymethods]
impl SignalHandler {
    fn __call__(&self, _signal: i32, _frame: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.is_called.swap(true, Ordering::Relaxed) {
            return Err(PyKeyboardInterrupt::new_err(()));
        }
        self.stop.stop();
        Ok(())
    }
}

/// A channel, several, or the only one of the file.
#[derive(FromPyObject)]
enum Channels {
    One(u32),
    Several(Vec<u32>),
}

/// Applies the settings to a builder.
fn open<T>(
    py: Python<'_>,
    mut builder: Builder<T>,
    channels: Option<Channels>,
    settings: Option<&Bound<'_, PyDict>>,
) -> PyResult<Runner>
where
    T: From<hairpin::Trader>,
    hairpin::Trader: From<T>,
    Builder<T>: Send,
{
    let channels = match channels {
        Some(Channels::One(channel)) => vec![channel],
        Some(Channels::Several(channels)) => channels,
        None => Vec::new(),
    };
    builder = channels.into_iter().fold(builder, Builder::channel);
    let mut filter = Filter::default();
    for (name, value) in settings.into_iter().flatten() {
        let name: String = name.extract()?;
        if !value.is_none() {
            filter = match &*name {
                "security_ids" => {
                    let ids: Vec<i32> = value.extract()?;
                    ids.into_iter().fold(filter, Filter::with_security_id)
                }
                "symbols" => add_names(filter, &value, Filter::with_symbol)?,
                "groups" => add_names(filter, &value, Filter::with_group)?,
                "assets" => add_names(filter, &value, Filter::with_asset)?,
                _ => {
                    builder = set(builder, &name, &value)?;
                    filter
                }
            };
        }
    }
    builder = builder.filter(filter);
    // A journal may be long to read.
    let opened = py.detach(|| builder.open().map(hairpin::Trader::from));
    opened.map(Runner::new).map_err(|cause| error(py, &cause))
}

/// Adds all names of a sequence to a filter.
fn add_names<const N: usize>(
    filter: Filter,
    names: &Bound<'_, PyAny>,
    add: impl Fn(Filter, Text<N>) -> Filter,
) -> PyResult<Filter> {
    let names: Vec<String> = names.extract()?;
    names.iter().try_fold(filter, |filter, name| {
        let error = || PyValueError::new_err(format!("'{name}' is longer than {N} characters"));
        Ok(add(filter, Text::new(name).ok_or_else(error)?))
    })
}

/// Applies one setting.
fn set<T: From<hairpin::Trader>>(
    builder: Builder<T>,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<Builder<T>> {
    let wait = || {
        let name: String = value.extract()?;
        Wait::from_str(&name).map_err(|_| PyValueError::new_err(format!("'{name}' is no wait")))
    };
    Ok(match name {
        "interfaces" => {
            let (a, b): (String, String) = value.extract()?;
            builder.interfaces(&a, &b)
        }
        "wait" => builder.wait(wait()?),
        "core" => builder.core(value.extract()?),
        "xdp" => {
            let interface: String = value.extract()?;
            builder.xdp(&interface)
        }
        "definition_cache" => builder.definition_cache(value.extract::<PathBuf>()?),
        "recording" => builder.recording(value.extract::<PathBuf>()?),
        "orders_max" => builder.orders_max(value.extract()?),
        "cancel_on_quit" => builder.cancel_on_quit(value.extract()?),
        _ => {
            let text = format!("there is no setting '{name}'");
            return Err(pyo3::exceptions::PyTypeError::new_err(text));
        }
    })
}

/// Market data for one strategy.
#[pyclass(frozen, subclass, extends = Runner, module = "hairpin")]
pub(crate) struct Feed;

#[pymethods]
impl Feed {
    #[new]
    #[pyo3(signature = (config, channel=None, **settings))]
    fn new(
        py: Python<'_>,
        config: PathBuf,
        channel: Option<Channels>,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        Ok(PyClassInitializer::from(open(py, hairpin::Feed::builder(config), channel, settings)?)
            .add_subclass(Self))
    }
}

/// Order entry for one strategy.
#[pyclass(frozen, subclass, extends = Runner, module = "hairpin")]
pub(crate) struct Session;

#[pymethods]
impl Session {
    #[new]
    #[pyo3(signature = (orders, **settings))]
    fn new(
        py: Python<'_>,
        orders: PathBuf,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        Ok(PyClassInitializer::from(open(py, hairpin::Session::builder(orders), None, settings)?)
            .add_subclass(Self))
    }
}

/// Market data and order entry for one strategy.
#[pyclass(frozen, subclass, extends = Runner, module = "hairpin")]
pub(crate) struct Trader;

#[pymethods]
impl Trader {
    #[new]
    #[pyo3(signature = (config, channel, orders, **settings))]
    fn new(
        py: Python<'_>,
        config: PathBuf,
        channel: Option<Channels>,
        orders: PathBuf,
        settings: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<PyClassInitializer<Self>> {
        Ok(PyClassInitializer::from(open(
            py,
            hairpin::Trader::builder(config, orders),
            channel,
            settings,
        )?)
        .add_subclass(Self))
    }
}
