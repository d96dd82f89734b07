//! Sessions on dedicated threads.

mod error;
mod worker;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use hairpin_ilink3::{Listener, Sender, Zone};
use hairpin_mapped::{Journal, Storage};
use hairpin_reactor::{CallError, Caller, Panic, Thread, Wait, calls, check_spinning, spawn};
use hairpin_time::{Duration, Now};

pub use error::{ThreadError, ThreadsError};
use worker::Worker;

use crate::{Connect, NamedZone, ReconnectingSession, TcpConnect};

/// The number of calls that can wait for a thread: a burst of orders, like the default number of
/// messages that can wait for a connection.
const CALLS_MAX: usize = 64;
/// The time that sessions have to terminate when their threads are dropped.
const DROP_TIMEOUT: Duration = Duration::from_secs(1);

/// A thread to spawn, with its sessions.
pub struct SessionThread<L, D: Connect = TcpConnect, J: Storage = Journal, Z: Zone = NamedZone> {
    /// The thread name; `ps -L` and `top -H` show the first 15 bytes.
    pub name: String,
    /// The core to pin the thread to, or `None` for the scheduler's choice.
    pub core: Option<usize>,
    /// The wait of the thread's reactor.
    pub wait: Wait,
    /// The thread's sessions with their listeners.
    pub sessions: Vec<ThreadSession<L, D, J, Z>>,
}

/// A session of a thread, before the thread starts and after it has ended.
pub struct ThreadSession<L, D: Connect = TcpConnect, J: Storage = Journal, Z: Zone = NamedZone> {
    /// The session.
    pub session: ReconnectingSession<D, J, Z>,
    /// The session's listener, called on the thread only.
    pub listener: L,
}

/// A call to a session's thread: the session's index, and a function of its sender and listener.
type Call<L> = (usize, Box<dyn FnOnce(&mut Sender<'_>, &mut L) + Send>);

/// The result of a thread.
type Outcome<L, D, J, Z> = Result<Vec<ThreadSession<L, D, J, Z>>, ThreadError>;

/// Named threads, optionally pinned, each with its own reactor and sessions.
///
/// A session stays on its thread, and its listener is called on that thread only. No state is
/// shared or locked. Other threads reach a session through [`Mailbox::call`], which interrupts the
/// thread's wait. Dropping this value gives the sessions one second to terminate, and waits for the
/// threads.
///
/// ```no_run
/// use hairpin_order_entry::{Listener, SessionThread, SessionThreads, ThreadSession};
/// # use hairpin_order_entry::ReconnectingSession;
/// use hairpin_reactor::Wait;
/// use hairpin_time::{Duration, Now};
/// # fn kept_session(_: &str) -> ReconnectingSession { unreachable!() }
/// # struct Clock;
/// # impl Clock { fn new() -> Self { Clock } fn now(&self) -> Now { unreachable!() } }
///
/// struct Strategy;
/// impl Listener for Strategy {}
///
/// let session = |file| ThreadSession { session: kept_session(file), listener: Strategy };
/// let thread = |name: &str, core, files: [&'static str; 2]| SessionThread {
///     name: name.to_owned(),
///     core: Some(core),
///     wait: Wait::Epoll,
///     sessions: files.map(session).into(),
/// };
/// let threads = vec![
///     thread("equities", 2, ["es.toml", "nq.toml"]),
///     thread("rates", 3, ["zn.toml", "zb.toml"]),
/// ];
/// let threads = SessionThreads::spawn(threads, || {
///     let clock = Clock::new();
///     move || clock.now()
/// })?;
/// let mailbox = threads.mailbox(1, 0);
/// mailbox.call(|sender, _| println!("{}", sender.state()))?;
/// // … until it is time to stop.
/// for (name, outcome) in threads.stop(Duration::from_secs(5)) {
///     if let Err(error) = outcome {
///         eprintln!("{name}: {error}");
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SessionThreads<L, D: Connect = TcpConnect, J: Storage = Journal, Z: Zone = NamedZone> {
    threads: Vec<RunningThread<L, D, J, Z>>,
}

struct RunningThread<L, D: Connect, J: Storage, Z: Zone> {
    name: String,
    thread: Thread<Outcome<L, D, J, Z>>,
    caller: Caller<Call<L>>,
    /// The time that the sessions have to terminate, in nanoseconds.
    stop_timeout: Arc<AtomicU64>,
    sessions: usize,
}

/// A handle to call a session from other threads.
pub struct Mailbox<L> {
    caller: Caller<Call<L>>,
    session: usize,
}

impl<L> Clone for Mailbox<L> {
    fn clone(&self) -> Self {
        Self { caller: self.caller.clone(), session: self.session }
    }
}

impl<L> Mailbox<L> {
    /// Runs a function on the session's thread between two wakeups, for example to send an order.
    ///
    /// The function delays all sessions of the thread, so it must be short. Returns at once; the
    /// function sends its result itself. Calls through one mailbox, or its clones on the same
    /// thread, run in order. Each call allocates a box; sending from a callback does not.
    ///
    /// # Errors
    /// [`CallError::Full`] if 64 calls are waiting, [`CallError::Ended`] if the thread has ended.
    /// Calls that wait when the thread ends are dropped.
    pub fn call(
        &self,
        call: impl FnOnce(&mut Sender<'_>, &mut L) + Send + 'static,
    ) -> Result<(), CallError> {
        self.caller.call((self.session, Box::new(call)))
    }
}

impl<L, D, J, Z> SessionThreads<L, D, J, Z>
where
    L: Listener + Send + 'static,
    D: Connect<Stream: Send> + Send + 'static,
    J: Storage + Send + 'static,
    Z: Zone + Send + 'static,
{
    /// Spawns the threads and starts their sessions. Each thread calls `clock` to create its clock.
    ///
    /// # Errors
    /// [`ThreadsError::Spin`]: more spinning threads than cores. [`ThreadsError::Spawn`]: a thread
    /// cannot be spawned or pinned. [`ThreadsError::Thread`]: the wait is not available. Threads
    /// that were started are stopped.
    pub fn spawn<C>(
        threads: Vec<SessionThread<L, D, J, Z>>,
        clock: impl Fn() -> C + Clone + Send + 'static,
    ) -> Result<Self, ThreadsError>
    where
        C: FnMut() -> Now,
    {
        check_spinning(threads.iter().map(|it| (it.name.as_str(), it.core, it.wait)))?;
        let mut started = Self { threads: Vec::with_capacity(threads.len()) };
        for thread in threads {
            let name = thread.name.clone();
            let (report, startup) = sync_channel(1);
            started.threads.push(start(thread, report, clock.clone())?);
            // A thread that panicked has dropped its sender; join returns the panic.
            let startup = startup.recv().unwrap_or(Ok(()));
            startup.map_err(|error| ThreadsError::Thread { name, error })?;
        }
        Ok(started)
    }

    /// Returns the number of threads.
    #[must_use]
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Returns a handle to a session, by the index of its thread and its index on the thread.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn mailbox(&self, thread: usize, session: usize) -> Mailbox<L> {
        let thread = &self.threads[thread];
        assert!(session < thread.sessions, "thread {} has no session {session}", thread.name);
        Mailbox { caller: thread.caller.clone(), session }
    }

    /// Returns `true` if a thread has ended unexpectedly: it panicked, or its wait failed.
    /// [`SessionThreads::stop`] returns the cause.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.threads.iter().any(|thread| thread.thread.is_finished())
    }

    /// Terminates all sessions and waits for the threads. Returns each thread's sessions and
    /// listeners, or the error that ended the thread earlier, such as a panic with its message.
    ///
    /// A session that has not terminated after `timeout` is closed: its
    /// [`ending`](crate::Session::ending) is not [`Finished`](crate::Ending::Finished).
    pub fn stop(mut self, timeout: Duration) -> Vec<(String, Outcome<L, D, J, Z>)> {
        self.threads.iter().for_each(|thread| thread.request_stop(timeout));
        self.threads.drain(..).map(RunningThread::join).collect()
    }
}

impl<L, D: Connect, J: Storage, Z: Zone> Drop for SessionThreads<L, D, J, Z> {
    fn drop(&mut self) {
        self.threads.iter().for_each(|thread| thread.request_stop(DROP_TIMEOUT));
        for thread in self.threads.drain(..) {
            // The value is dropped, so there is no caller to report to.
            let _ = thread.join();
        }
    }
}

impl<L, D: Connect, J: Storage, Z: Zone> RunningThread<L, D, J, Z> {
    fn request_stop(&self, timeout: Duration) {
        self.stop_timeout.store(timeout.as_nanos(), Ordering::Release);
        self.caller.stop();
    }

    fn join(self) -> (String, Outcome<L, D, J, Z>) {
        let outcome = self.thread.join();
        let outcome = outcome.unwrap_or_else(|payload| Err(Panic::from_payload(&*payload).into()));
        (self.name, outcome)
    }
}

/// Starts a thread that reports when its sessions are started.
fn start<L, D, J, Z, C>(
    thread: SessionThread<L, D, J, Z>,
    report: SyncSender<Result<(), ThreadError>>,
    clock: impl Fn() -> C + Send + 'static,
) -> Result<RunningThread<L, D, J, Z>, ThreadsError>
where
    L: Listener + Send + 'static,
    D: Connect<Stream: Send> + Send + 'static,
    J: Storage + Send + 'static,
    Z: Zone + Send + 'static,
    C: FnMut() -> Now,
{
    let SessionThread { name, core, wait, sessions } = thread;
    let refused = |error| {
        let (name, error) = (name.clone(), ThreadError::Wait(error));
        ThreadsError::Thread { name, error }
    };
    let (caller, called) = calls(CALLS_MAX, wait).map_err(refused)?;
    let (stop_timeout, count) = (Arc::new(AtomicU64::new(0)), sessions.len());
    let thread_timeout = Arc::clone(&stop_timeout);
    let thread = spawn(&name, core, move || {
        let worker = Worker::open(wait, sessions, called, thread_timeout);
        let (answer, worker) = match worker {
            Ok(worker) => (Ok(()), Some(worker)),
            Err(error) => (Err(error), None),
        };
        // The spawning thread waits for this result.
        let _ = report.send(answer);
        worker.map_or(Ok(Vec::new()), |worker| worker.run(clock()))
    })?;
    Ok(RunningThread { name, thread, caller, stop_timeout, sessions: count })
}

impl<L, D: Connect, J: Storage, Z: Zone> fmt::Debug for SessionThread<L, D, J, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut it = f.debug_struct("SessionThread");
        it.field("name", &self.name).field("core", &self.core).field("wait", &self.wait);
        it.field("sessions", &self.sessions.len()).finish()
    }
}

impl<L, D: Connect, J: Storage, Z: Zone> fmt::Debug for ThreadSession<L, D, J, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let progress = self.session.session().progress();
        f.debug_struct("ThreadSession").field("progress", &progress).finish_non_exhaustive()
    }
}

impl<L, D: Connect, J: Storage, Z: Zone> fmt::Debug for SessionThreads<L, D, J, Z> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.threads.iter().map(|thread| &thread.name)).finish()
    }
}

impl<L> fmt::Debug for Mailbox<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mailbox").field("session", &self.session).finish_non_exhaustive()
    }
}
