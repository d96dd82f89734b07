//! `Exchange`: a simulated exchange in a thread of the process, for tests.

use std::fs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use hairpin::Wait;
use hairpin::feed_handler::TcpLines;
use hairpin::feed_handler::config::{ChannelConfig, Config};
use hairpin::time::{Duration, Instant, Now};
use hairpin_exchange::{
    Addresses, ConnectionId, Credentials, ExchangeSettings, FeedLine, GatewayCounters, Instrument,
    Listener, OrderId, Pace, SimulatedMarketSettings, TcpFeed,
};
use hairpin_host::Clock;
use hairpin_reactor::Reactor;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tempfile::TempDir;

const LOCAL: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0);
const CHANNEL: &str = "310";
/// A published test vector.
const TEST_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";
/// The connections that the gateway accepts: one that is closed is open a little longer.
const CONNECTIONS: u32 = 8;
/// The longest wait for a command.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// The time for which the loops of definitions and snapshots run flat out for a new receiver.
const JOIN_TIME: Duration = Duration::from_millis(500);

/// A function that the exchange's thread calls.
type Command = Box<dyn FnOnce(&mut Running) -> io::Result<()> + Send>;

/// The exchange in its thread.
struct Running {
    exchange: hairpin_exchange::Exchange,
    reactor: Reactor,
    clock: Clock,
    fills: FillNext,
    /// Ticks whose packets are lost on both lines.
    drops: u32,
    receivers: usize,
    /// The time at which the loops slow down.
    joined: Option<Instant>,
}

/// Remembers the orders to fill.
#[derive(Default)]
struct FillNext {
    /// The number of orders to fill.
    count: u32,
    orders: Vec<OrderId>,
}

impl Listener for FillNext {
    fn on_acknowledged(&mut self, _: ConnectionId, _: &[u8], order: OrderId) {
        if self.count > 0 {
            self.count -= 1;
            self.orders.push(order);
        }
    }
}

impl Running {
    fn open(instruments: Vec<Instrument>, seed: u64) -> io::Result<Self> {
        let account = Credentials::new("HAIRPIN-TRADER-00001", TEST_KEY, "H01", "HPIN0");
        let settings = ExchangeSettings {
            market: SimulatedMarketSettings {
                instruments,
                seed,
                ..SimulatedMarketSettings::default()
            },
            matching: true,
            accounts: vec![account.map_err(io::Error::other)?],
            connections: CONNECTIONS,
            transport: Default::default(),
            addresses: Addresses {
                multicast: None,
                tcp: Some(TcpFeed::new(LOCAL, LOCAL)),
                gateway: LOCAL,
            },
        };
        let (clock, mut reactor) = (Clock::new(), Reactor::new(Wait::Epoll)?);
        let exchange = hairpin_exchange::Exchange::new(settings, clock.now(), &mut reactor)?;
        let mut running = Self {
            exchange,
            reactor,
            clock,
            fills: FillNext::default(),
            drops: 0,
            receivers: 0,
            joined: None,
        };
        let now = running.clock.now();
        running.exchange.set_pace(Pace::Paced, now);
        Ok(running)
    }

    /// Writes config.xml and order.toml.
    fn write_files(&self, instruments: &[Instrument], folder: &Path) -> io::Result<()> {
        let no_feed = || io::Error::other("no market data over TCP");
        let side = |side| self.exchange.tcp_feed_address(side).ok_or_else(no_feed);
        let lines = TcpLines::both(side(FeedLine::A)?, side(FeedLine::B)?);
        let channel = ChannelConfig::from_addresses(CHANNEL, "Hairpin", &lines.into());
        let config = Config { channels: vec![channel], ..Config::default() };
        let instruments: String =
            instruments.iter().map(|it| format!("{} = {}\n", it.symbol, it.security_id)).collect();
        let order = format!(
            "[gateway]\nprimary = [\"{}\"]\n[logon]\naccess_key_id = \"HAIRPIN-TRADER-00001\"\n\
             secret_file = \"order.key\"\nsession = \"H01\"\nfirm = \"HPIN0\"\n\
             system_name = \"Hairpin\"\nsystem_version = \"1\"\nsystem_vendor = \"Hairpin\"\n\
             [operator]\nsender_id = \"TRADER\"\nlocation = \"US,IL\"\n\
             [journal]\nfolder = \"journal\"\n[instruments]\n{instruments}",
            self.exchange.gateway_address(),
        );
        fs::write(folder.join("config.xml"), config.to_string())?;
        // A key file that other users can read is refused.
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        let mut key = options.open(folder.join("order.key"))?;
        key.write_all(TEST_KEY.as_bytes())?;
        fs::write(folder.join("order.toml"), order)
    }

    /// Runs until the sender of commands is dropped.
    fn run(&mut self, commands: &Receiver<Command>) -> io::Result<()> {
        loop {
            loop {
                match commands.try_recv() {
                    Ok(command) => command(self)?,
                    Err(std::sync::mpsc::TryRecvError::Empty) => break,
                    Err(std::sync::mpsc::TryRecvError::Disconnected) => return Ok(()),
                }
            }
            self.step()?;
        }
    }

    /// Runs one iteration of the exchange's loop.
    fn step(&mut self) -> io::Result<()> {
        let before = self.clock.instant();
        let deadline = self.exchange.poll_timeout().unwrap_or(before + POLL_INTERVAL);
        let ready = self.reactor.wait(before, Some(deadline.min(before + POLL_INTERVAL)))?;
        let now = self.clock.now();
        self.exchange.step(now, ready, &mut self.reactor, &mut self.fills)?;
        for order in std::mem::take(&mut self.fills.orders) {
            self.exchange.fill(now, order, &mut self.fills)?;
        }
        self.set_pace(now);
        Ok(())
    }

    /// Runs the loops of definitions and snapshots flat out while a new receiver joins.
    fn set_pace(&mut self, now: Now) {
        let receivers = self.exchange.tcp_feed_connections(FeedLine::A);
        if receivers > self.receivers {
            self.exchange.set_pace(Pace::FlatOut, now);
            self.joined = Some(now.monotonic + JOIN_TIME);
        }
        self.receivers = receivers;
        if self.joined.take_if(|until| now.monotonic >= *until).is_some() {
            self.exchange.set_pace(Pace::Paced, now);
        }
    }

    fn tick(&mut self) -> io::Result<()> {
        let now = self.clock.now();
        let is_lost = self.drops > 0;
        self.drops -= u32::from(is_lost);
        FeedLine::ALL.into_iter().for_each(|line| self.exchange.set_muted(line, is_lost));
        let outcome = self.exchange.tick(now, now.monotonic, &mut self.fills);
        FeedLine::ALL.into_iter().for_each(|line| self.exchange.set_muted(line, false));
        outcome.map(drop)
    }
}

/// The thread of an open exchange, and its files.
struct Open {
    commands: Sender<Command>,
    thread: JoinHandle<io::Result<()>>,
    folder: TempDir,
}

/// A simulated exchange on loopback, in a thread of its own. Use it in a `with` statement.
#[pyclass(frozen, module = "hairpin")]
pub(crate) struct Exchange {
    instruments: Vec<Instrument>,
    seed: u64,
    open: Mutex<Option<Open>>,
}

impl Exchange {
    /// Calls `command` in the exchange's thread, and returns its result.
    fn call<R: Send + 'static>(
        &self,
        py: Python<'_>,
        command: impl FnOnce(&mut Running) -> io::Result<R> + Send + 'static,
    ) -> PyResult<R> {
        let commands = self.with_open(|open| open.commands.clone())?;
        let (sender, receiver) = channel();
        let run = move |running: &mut Running| {
            // The caller may have been interrupted.
            let _ = sender.send(command(running).map_err(|error| error.to_string()));
            Ok(())
        };
        let ended = || PyOSError::new_err("the exchange's thread has ended");
        let answer = py.detach(move || {
            commands.send(Box::new(run)).ok()?;
            receiver.recv().ok()
        });
        answer.ok_or_else(ended)?.map_err(PyOSError::new_err)
    }

    fn with_open<R>(&self, read: impl FnOnce(&Open) -> R) -> PyResult<R> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = "the exchange is not running: use it in a `with` statement";
        open.as_ref().map(read).ok_or_else(|| PyRuntimeError::new_err(closed))
    }

    fn count(
        &self,
        py: Python<'_>,
        read: impl FnOnce(&GatewayCounters) -> u64 + Send + 'static,
    ) -> PyResult<u64> {
        self.call(py, |running| Ok(read(running.exchange.gateway_counters())))
    }
}

#[pymethods]
impl Exchange {
    #[new]
    #[pyo3(signature = (*, instruments=100, seed=1, display_formats=false))]
    fn new(instruments: u32, seed: u64, display_formats: bool) -> PyResult<Self> {
        if !(1..=2_000).contains(&instruments) {
            return Err(PyValueError::new_err("instruments must be from 1 to 2000"));
        }
        let instruments = match display_formats {
            true => Instrument::display_formats(),
            false => Instrument::numbered(instruments),
        };
        Ok(Self { instruments, seed, open: Mutex::new(None) })
    }

    fn __enter__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let this = slf.get();
        if this.with_open(drop_ref).is_ok() {
            return Err(PyRuntimeError::new_err("the exchange is running already"));
        }
        let mut running = Running::open(this.instruments.clone(), this.seed)?;
        let folder = tempfile::tempdir()?;
        running.write_files(&this.instruments, folder.path())?;
        let (commands, receiver) = channel();
        let run = move || running.run(&receiver);
        let thread = std::thread::Builder::new().name("exchange".to_owned()).spawn(run)?;
        let mut open = this.open.lock().unwrap_or_else(PoisonError::into_inner);
        *open = Some(Open { commands, thread, folder });
        Ok(slf.clone())
    }

    /// Ends the exchange and removes its files.
    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) -> PyResult<()> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Open { commands, thread, folder }) = open else { return Ok(()) };
        drop(commands);
        let ended = py.detach(|| thread.join());
        folder.close()?;
        match ended {
            Ok(outcome) => Ok(outcome?),
            Err(_) => Err(PyOSError::new_err("the exchange's thread has panicked")),
        }
    }

    /// The path of config.xml.
    #[getter]
    fn config(&self) -> PyResult<PathBuf> {
        self.with_open(|open| open.folder.path().join("config.xml"))
    }

    /// The path of order.toml.
    #[getter]
    fn orders(&self) -> PyResult<PathBuf> {
        self.with_open(|open| open.folder.path().join("order.toml"))
    }

    /// Publishes matching events, each of which changes a best price.
    #[pyo3(signature = (count=1))]
    fn tick(&self, py: Python<'_>, count: u32) -> PyResult<()> {
        self.call(py, move |running| (0..count).try_for_each(|_| running.tick()))
    }

    /// Fills the next orders completely, as soon as they are accepted.
    #[pyo3(signature = (count=1))]
    fn fill_next(&self, py: Python<'_>, count: u32) -> PyResult<()> {
        self.call(py, move |running| {
            running.fills.count += count;
            Ok(())
        })
    }

    /// Rejects the next orders.
    #[pyo3(signature = (count=1))]
    fn reject_next(&self, py: Python<'_>, count: u32) -> PyResult<()> {
        self.call(py, move |running| {
            (0..count).for_each(|_| running.exchange.gateway_mut().reject_next_order());
            Ok(())
        })
    }

    /// Closes the connections of all sessions without a Terminate.
    fn disconnect(&self, py: Python<'_>) -> PyResult<()> {
        self.call(py, |running| {
            let Running { exchange, reactor, fills, .. } = running;
            exchange.disconnect(reactor, fills)
        })
    }

    /// Loses the packets of the next ticks on both sides.
    #[pyo3(signature = (count=1))]
    fn drop_packets(&self, py: Python<'_>, count: u32) -> PyResult<()> {
        self.call(py, move |running| {
            running.drops += count;
            Ok(())
        })
    }

    /// The number of ticks.
    #[getter]
    fn ticks(&self, py: Python<'_>) -> PyResult<u64> {
        self.call(py, |running| Ok(running.exchange.counters().ticks))
    }

    /// The number of orders received.
    #[getter]
    fn received_orders(&self, py: Python<'_>) -> PyResult<u64> {
        self.count(py, |counters| counters.orders)
    }

    /// The number of orders accepted.
    #[getter]
    fn accepted_orders(&self, py: Python<'_>) -> PyResult<u64> {
        self.count(py, |counters| counters.acknowledgements)
    }

    /// The number of orders rejected.
    #[getter]
    fn rejected_orders(&self, py: Python<'_>) -> PyResult<u64> {
        self.count(py, |counters| counters.order_rejects)
    }

    /// The number of orders canceled.
    #[getter]
    fn cancels(&self, py: Python<'_>) -> PyResult<u64> {
        self.count(py, |counters| counters.cancelled)
    }

    /// The number of trades reported to sessions.
    #[getter]
    fn fills(&self, py: Python<'_>) -> PyResult<u64> {
        self.count(py, |counters| counters.fills)
    }
}

fn drop_ref(_: &Open) {}
