//! Sessions on threads of their own.

mod body;
mod error;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use hairpin_ilink3::{Listener, Sender, Zone};
use hairpin_mapped::{Journal, Storage};
use hairpin_reactor::{CallError, Caller, Panic, Thread, Wait, calls, check_spinning, spawn};
use hairpin_time::{Duration, Now};

use body::Body;
pub use error::{ThreadError, ThreadsError};

use crate::{Connect, NamedZone, ReconnectingSession, TcpConnect};

/// Calls that may wait for a thread at once: a burst of orders, as many as may wait for a
/// connection unless set.
const CALLS_MAX: usize = 64;
/// How long sessions have to terminate when their threads are dropped.
const DROP_PATIENCE: Duration = Duration::from_secs(1);

/// A thread to be, and the sessions on it.
pub struct SessionThread<L, D: Connect = TcpConnect, J: Storage = Journal, Z: Zone = NamedZone> {
    /// Its name; `ps -L` and `top -H` show the first 15 bytes.
    pub name: String,
    /// The core it runs on, alone; `None`: wherever the kernel puts it.
    pub core: Option<usize>,
    /// How it waits.
    pub wait: Wait,
    /// Its sessions, which stay on it, and who listens to each.
    pub sessions: Vec<ThreadSession<L, D, J, Z>>,
}

/// A session of a thread, before that begins and after it has ended.
pub struct ThreadSession<L, D: Connect = TcpConnect, J: Storage = Journal, Z: Zone = NamedZone> {
    /// The session.
    pub session: ReconnectingSession<D, J, Z>,
    /// Who listens. It is called on the thread alone.
    pub listener: L,
}

/// What is called on a session's thread: with its sending half and its listener.
type Call<L> = (usize, Box<dyn FnOnce(&mut Sender<'_>, &mut L) + Send>);

/// What a thread gives back.
type Outcome<L, D, J, Z> = Result<Vec<ThreadSession<L, D, J, Z>>, ThreadError>;

/// Named threads, each pinned if that is wanted, with a reactor and sessions of its own.
///
/// A session stays on the thread it was given to, and its listener is called there alone: nothing
/// is shared and nothing locked. Other threads reach it by [`Mailbox::call`], which ends the
/// thread's wait. When this is dropped the sessions have a second to terminate, and the threads are
/// waited for.
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
/// let notes = threads.mailbox(1, 0);
/// notes.call(|sender, _| println!("{}", sender.state()))?;
/// // … until it is time to end.
/// for (name, outcome) in threads.stop(Duration::from_secs(5)) {
///     if let Err(error) = outcome {
///         eprintln!("{name}: {error}");
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SessionThreads<L, D: Connect = TcpConnect, J: Storage = Journal, Z: Zone = NamedZone> {
    threads: Vec<Threaded<L, D, J, Z>>,
}

struct Threaded<L, D: Connect, J: Storage, Z: Zone> {
    name: String,
    thread: Thread<Outcome<L, D, J, Z>>,
    caller: Caller<Call<L>>,
    /// How long the sessions have to terminate, nanoseconds.
    patience: Arc<AtomicU64>,
    sessions: usize,
}

/// Reaches a session on its thread from any other.
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
    /// Has the session's thread run something between two wakes: to send an order, say. It must be
    /// short, since all sessions of the thread wait meanwhile. Returns at once; what is found out
    /// is sent by whatever the call has with it. Calls by one mailbox, or its clones on the same
    /// thread, run in their order. Each is a box: a callback that sends needs none.
    ///
    /// # Errors
    /// [`CallError::Full`] if 64 calls wait already, [`CallError::Ended`] if the thread has ended.
    /// A call that waits when its thread ends is dropped.
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
    /// Starts the threads, and the sessions on them. `clock` makes each its clock, on the thread.
    ///
    /// # Errors
    /// [`ThreadsError::Spin`]: threads that spin would take turns on a core.
    /// [`ThreadsError::Spawn`]: a core is not to be had. [`ThreadsError::Thread`]: its wait is not.
    /// Those that were started are stopped.
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
            let (report, begun) = sync_channel(1);
            started.threads.push(start(thread, report, clock.clone())?);
            // A thread that panicked has dropped its end; join tells why.
            let begun = begun.recv().unwrap_or(Ok(()));
            begun.map_err(|error| ThreadsError::Thread { name, error })?;
        }
        Ok(started)
    }

    /// How many threads there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Reaches a session by the places of its thread and of itself there.
    ///
    /// # Panics
    /// If there is no such thread or session.
    #[must_use]
    pub fn mailbox(&self, thread: usize, session: usize) -> Mailbox<L> {
        let thread = &self.threads[thread];
        assert!(session < thread.sessions, "thread {} has no session {session}", thread.name);
        Mailbox { caller: thread.caller.clone(), session }
    }

    /// Whether a thread has ended by itself: it has panicked, or cannot wait any more.
    /// [`SessionThreads::stop`] tells why.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.threads.iter().any(|thread| thread.thread.is_finished())
    }

    /// Terminates all sessions, waits for the threads, and gives back the sessions and listeners of
    /// each, or why it has ended before: a panic with its words. A session that has not terminated
    /// after `patience` is abandoned: its [`ending`](crate::Session::ending) is not
    /// [`Finished`](crate::Ending::Finished).
    pub fn stop(mut self, patience: Duration) -> Vec<(String, Outcome<L, D, J, Z>)> {
        self.threads.iter().for_each(|thread| thread.ask_to_stop(patience));
        self.threads.drain(..).map(Threaded::join).collect()
    }
}

impl<L, D: Connect, J: Storage, Z: Zone> Drop for SessionThreads<L, D, J, Z> {
    fn drop(&mut self) {
        self.threads.iter().for_each(|thread| thread.ask_to_stop(DROP_PATIENCE));
        for thread in self.threads.drain(..) {
            // Nobody is left to be told.
            let _ = thread.join();
        }
    }
}

impl<L, D: Connect, J: Storage, Z: Zone> Threaded<L, D, J, Z> {
    fn ask_to_stop(&self, patience: Duration) {
        self.patience.store(patience.as_nanos(), Ordering::Release);
        self.caller.stop();
    }

    fn join(self) -> (String, Outcome<L, D, J, Z>) {
        let outcome = self.thread.join();
        let outcome = outcome.unwrap_or_else(|payload| Err(Panic::of(&*payload).into()));
        (self.name, outcome)
    }
}

/// Starts a thread, which reports when its sessions are started.
fn start<L, D, J, Z, C>(
    thread: SessionThread<L, D, J, Z>,
    report: SyncSender<Result<(), ThreadError>>,
    clock: impl Fn() -> C + Send + 'static,
) -> Result<Threaded<L, D, J, Z>, ThreadsError>
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
    let (patience, count) = (Arc::new(AtomicU64::new(0)), sessions.len());
    let allowed = Arc::clone(&patience);
    let thread = spawn(&name, core, move || {
        let body = Body::open(wait, sessions, called, allowed);
        let (answer, body) = match body {
            Ok(body) => (Ok(()), Some(body)),
            Err(error) => (Err(error), None),
        };
        // Whoever started the thread waits for this.
        let _ = report.send(answer);
        body.map_or(Ok(Vec::new()), |body| body.run(clock()))
    })?;
    Ok(Threaded { name, thread, caller, patience, sessions: count })
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
