//! Channels on threads of their own.

mod body;
mod error;

use std::fmt;
use std::sync::mpsc::{Receiver, sync_channel};

use hairpin_mdp3::{Filter, Listener, Settings};
use hairpin_reactor::{CallError, Caller, Panic, Thread, Wait, calls, check_spinning, spawn};
use hairpin_time::Now;

use body::Body;
pub use error::{ThreadError, ThreadsError};

use crate::{FeedHandlers, Multicast, SocketEngine};

/// Calls that may wait for a thread at once.
const CALLS_MAX: usize = 16;
/// Errors that are kept until somebody asks for them.
const ERRORS_MAX: usize = 64;

/// A thread to be, and the channels on it.
#[derive(Debug)]
pub struct FeedThread<L> {
    /// Its name; `ps -L` and `top -H` show the first 15 bytes.
    pub name: String,
    /// The core it runs on, alone; `None`: wherever the kernel puts it.
    pub core: Option<usize>,
    /// How it waits.
    pub wait: Wait,
    /// Its channels, and who listens to each.
    pub channels: Vec<ThreadChannel<L>>,
}

/// A channel of a thread.
#[derive(Debug)]
pub struct ThreadChannel<L> {
    /// How large it is and how patient.
    pub settings: Settings,
    /// Which of its instruments are wanted.
    pub filter: Filter,
    /// Where its feeds are.
    pub addresses: Multicast,
    /// Who listens. It lives on the thread until that ends.
    pub listener: L,
}

/// What runs on a thread when it is called ([`FeedThreads::call`]).
type Call<L> = Box<dyn FnOnce(&mut FeedHandlers<SocketEngine>, &mut [L]) + Send>;

/// Named threads, each pinned if that is wanted, with a reactor, an engine and channels of its own.
///
/// Nothing is shared between them. A call, or that an end is asked for, ends a thread's wait. When
/// this is dropped the threads are stopped and waited for.
///
/// ```no_run
/// use hairpin_feed_handler::{
///     FeedThread, FeedThreads, Filter, Listener, Multicast, Settings, ThreadChannel,
/// };
/// use hairpin_reactor::Wait;
/// # use hairpin_time::Now;
/// # fn addresses(_: &str) -> Multicast { unreachable!() }
/// # struct Clock;
/// # impl Clock { fn new() -> Self { Clock } fn now(&self) -> Now { unreachable!() } }
///
/// struct Strategy;
/// impl Listener for Strategy {}
///
/// let channel = |id: &str| ThreadChannel {
///     settings: Settings::default(),
///     filter: Filter::default(),
///     addresses: addresses(id),
///     listener: Strategy,
/// };
/// let threads = [("equities", 2, ["310", "318"]), ("rates", 3, ["344", "360"])];
/// let threads = threads.map(|(name, core, channels)| FeedThread {
///     name: name.to_owned(),
///     core: Some(core),
///     wait: Wait::Epoll,
///     channels: channels.map(channel).into(),
/// });
/// let threads = FeedThreads::spawn(threads.into(), || {
///     let clock = Clock::new();
///     move || clock.now()
/// })?;
/// // … until it is time to end.
/// for (name, outcome) in threads.stop() {
///     if let Err(error) = outcome {
///         eprintln!("{name}: {error}");
///     }
/// }
/// # Ok::<(), hairpin_feed_handler::ThreadsError>(())
/// ```
pub struct FeedThreads<L> {
    threads: Vec<Threaded<L>>,
}

struct Threaded<L> {
    name: String,
    thread: Thread<Result<Vec<L>, ThreadError>>,
    caller: Caller<Call<L>>,
    errors: Receiver<ThreadError>,
}

impl<L: Listener + Send + 'static> FeedThreads<L> {
    /// Starts the threads, and returns when all of them have opened their lines. `clock` makes each
    /// its clock, on the thread.
    ///
    /// # Errors
    /// [`ThreadsError::Spin`]: threads that spin would take turns on a core.
    /// [`ThreadsError::Spawn`]: a core is not to be had. [`ThreadsError::Thread`]: a channel cannot
    /// be opened. Those that were started are stopped.
    pub fn spawn<C>(
        threads: Vec<FeedThread<L>>,
        clock: impl Fn() -> C + Clone + Send + 'static,
    ) -> Result<Self, ThreadsError>
    where
        C: FnMut() -> Now,
    {
        check_spinning(threads.iter().map(|it| (it.name.as_str(), it.core, it.wait)))?;
        let mut started = Self { threads: Vec::with_capacity(threads.len()) };
        let mut outcomes = Vec::new();
        for thread in threads {
            let (threaded, outcome) = start(thread, clock.clone())?;
            started.threads.push(threaded);
            outcomes.push(outcome);
        }
        for (threaded, outcome) in started.threads.iter().zip(outcomes) {
            // A thread that panicked has dropped its end; join tells why.
            let opened = outcome.recv().unwrap_or(Ok(()));
            let name = threaded.name.clone();
            opened.map_err(|error| ThreadsError::Thread { name, error })?;
        }
        Ok(started)
    }

    /// How many threads there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Has a thread run something between two turns: to read its books and statistics, say. It
    /// must be short, since packets wait meanwhile. Returns at once; what is found out is sent by
    /// whatever the call has with it.
    ///
    /// # Errors
    /// [`CallError::Full`] if 16 calls wait already, [`CallError::Ended`] if the thread has ended.
    ///
    /// # Panics
    /// If there is no such thread.
    pub fn call(
        &self,
        thread: usize,
        call: impl FnOnce(&mut FeedHandlers<SocketEngine>, &mut [L]) + Send + 'static,
    ) -> Result<(), CallError> {
        self.threads[thread].caller.call(Box::new(call))
    }

    /// What has gone wrong since somebody asked, with the threads' names; 64 of each thread are
    /// kept. None of these has ended a thread.
    pub fn errors(&self) -> impl Iterator<Item = (&str, ThreadError)> {
        self.threads
            .iter()
            .flat_map(|thread| thread.errors.try_iter().map(|error| (thread.name.as_str(), error)))
    }

    /// Whether a thread has ended by itself: it has panicked, or cannot wait any more.
    /// [`FeedThreads::stop`] tells why.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.threads.iter().any(|thread| thread.thread.is_finished())
    }

    /// Stops all threads, waits for them, and gives back the listeners of each, or why it has ended
    /// before: a panic with its words.
    pub fn stop(mut self) -> Vec<(String, Result<Vec<L>, ThreadError>)> {
        self.threads.iter().for_each(|thread| thread.caller.stop());
        self.threads.drain(..).map(Threaded::join).collect()
    }
}

impl<L> Drop for FeedThreads<L> {
    fn drop(&mut self) {
        self.threads.iter().for_each(|thread| thread.caller.stop());
        for thread in self.threads.drain(..) {
            // Nobody is left to be told.
            let _ = thread.join();
        }
    }
}

impl<L> fmt::Debug for FeedThreads<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.threads.iter().map(|thread| &thread.name)).finish()
    }
}

impl<L> Threaded<L> {
    fn join(self) -> (String, Result<Vec<L>, ThreadError>) {
        let outcome = self.thread.join();
        let outcome = outcome.unwrap_or_else(|payload| Err(Panic::of(&*payload).into()));
        (self.name, outcome)
    }
}

/// What a thread says when its lines are open.
type Opened = Receiver<Result<(), ThreadError>>;

/// Starts a thread.
fn start<L, C>(
    thread: FeedThread<L>,
    clock: impl Fn() -> C + Send + 'static,
) -> Result<(Threaded<L>, Opened), ThreadsError>
where
    L: Listener + Send + 'static,
    C: FnMut() -> Now,
{
    let FeedThread { name, core, wait, channels } = thread;
    let refused = |error| {
        let (name, error) = (name.clone(), ThreadError::Wait(error));
        ThreadsError::Thread { name, error }
    };
    let (caller, called) = calls(CALLS_MAX, wait).map_err(refused)?;
    let (tell, errors) = sync_channel(ERRORS_MAX);
    let (report, outcome) = sync_channel(1);
    let thread = spawn(&name, core, move || {
        let opened = Body::open(wait, channels, called, tell);
        let (answer, body) = match opened {
            Ok(body) => (Ok(()), Some(body)),
            Err(error) => (Err(error), None),
        };
        // Whoever started the thread waits for this.
        let _ = report.send(answer);
        body.map_or(Ok(Vec::new()), |body| body.run(clock()))
    })?;
    Ok((Threaded { name, thread, caller, errors }, outcome))
}
