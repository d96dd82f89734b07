//! Channels on dedicated threads.

mod error;
mod worker;

use std::fmt;
use std::sync::mpsc::{Receiver, sync_channel};

use hairpin_mdp3::{Filter, Listener, Settings};
use hairpin_reactor::{CallError, Caller, Panic, Thread, Wait, calls, check_spinning, spawn};
use hairpin_time::Now;

pub use error::{ThreadError, ThreadsError};
use worker::Worker;

use crate::{FeedHandlers, Multicast, SocketEngine};

/// The number of calls that can wait for a thread.
const CALLS_MAX: usize = 16;
/// The number of errors kept per thread until they are read.
const ERRORS_MAX: usize = 64;

/// A thread to spawn, with its channels.
#[derive(Debug)]
pub struct FeedThread<L> {
    /// The thread name; `ps -L` and `top -H` show the first 15 bytes.
    pub name: String,
    /// The core to pin the thread to, or `None` for the scheduler's choice.
    pub core: Option<usize>,
    /// The wait of the thread's reactor.
    pub wait: Wait,
    /// The thread's channels with their listeners.
    pub channels: Vec<ThreadChannel<L>>,
}

/// A channel of a thread.
#[derive(Debug)]
pub struct ThreadChannel<L> {
    /// The channel's sizes and timeouts.
    pub settings: Settings,
    /// The filter of the channel's instruments.
    pub filter: Filter,
    /// The addresses of the channel's feeds.
    pub addresses: Multicast,
    /// The channel's listener. It stays on the thread until the thread ends.
    pub listener: L,
}

/// A function to run on a thread ([`FeedThreads::call`]).
type Call<L> = Box<dyn FnOnce(&mut FeedHandlers<SocketEngine>, &mut [L]) + Send>;

/// Named threads, optionally pinned, each with its own reactor, engine and channels.
///
/// Threads share no state. A call or a stop request interrupts a thread's wait. Dropping this value
/// stops the threads and waits for them.
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
/// // … until it is time to stop.
/// for (name, outcome) in threads.stop() {
///     if let Err(error) = outcome {
///         eprintln!("{name}: {error}");
///     }
/// }
/// # Ok::<(), hairpin_feed_handler::ThreadsError>(())
/// ```
pub struct FeedThreads<L> {
    threads: Vec<RunningThread<L>>,
}

struct RunningThread<L> {
    name: String,
    thread: Thread<Result<Vec<L>, ThreadError>>,
    caller: Caller<Call<L>>,
    errors: Receiver<ThreadError>,
}

impl<L: Listener + Send + 'static> FeedThreads<L> {
    /// Spawns the threads, and returns when all of them have opened their lines. Each thread calls
    /// `clock` to create its clock.
    ///
    /// # Errors
    /// [`ThreadsError::Spin`]: more spinning threads than cores. [`ThreadsError::Spawn`]: a thread
    /// cannot be spawned or pinned. [`ThreadsError::Thread`]: a channel cannot be opened. Threads
    /// that were started are stopped.
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
            // A thread that panicked has dropped its sender; join returns the panic.
            let opened = outcome.recv().unwrap_or(Ok(()));
            let name = threaded.name.clone();
            opened.map_err(|error| ThreadsError::Thread { name, error })?;
        }
        Ok(started)
    }

    /// Returns the number of threads.
    #[must_use]
    pub fn count(&self) -> usize {
        self.threads.len()
    }

    /// Runs a function on a thread between two wakeups, for example to read books and counters.
    ///
    /// The function delays packet processing, so it must be short. Returns at once; the function
    /// sends its result itself.
    ///
    /// # Errors
    /// [`CallError::Full`] if 16 calls are waiting, [`CallError::Ended`] if the thread has ended.
    ///
    /// # Panics
    /// If `thread` is out of range.
    pub fn call(
        &self,
        thread: usize,
        call: impl FnOnce(&mut FeedHandlers<SocketEngine>, &mut [L]) + Send + 'static,
    ) -> Result<(), CallError> {
        self.threads[thread].caller.call(Box::new(call))
    }

    /// Returns the errors since the last call, with the threads' names. Keeps at most 64 per
    /// thread. None of these errors has ended a thread.
    pub fn errors(&self) -> impl Iterator<Item = (&str, ThreadError)> {
        self.threads
            .iter()
            .flat_map(|thread| thread.errors.try_iter().map(|error| (thread.name.as_str(), error)))
    }

    /// Returns `true` if a thread has ended unexpectedly: it panicked, or its wait failed.
    /// [`FeedThreads::stop`] returns the cause.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.threads.iter().any(|thread| thread.thread.is_finished())
    }

    /// Stops all threads and waits for them. Returns each thread's listeners, or the error that
    /// ended the thread earlier, such as a panic with its message.
    pub fn stop(mut self) -> Vec<(String, Result<Vec<L>, ThreadError>)> {
        self.threads.iter().for_each(|thread| thread.caller.stop());
        self.threads.drain(..).map(RunningThread::join).collect()
    }
}

impl<L> Drop for FeedThreads<L> {
    fn drop(&mut self) {
        self.threads.iter().for_each(|thread| thread.caller.stop());
        for thread in self.threads.drain(..) {
            // The value is dropped, so there is no caller to report to.
            let _ = thread.join();
        }
    }
}

impl<L> fmt::Debug for FeedThreads<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.threads.iter().map(|thread| &thread.name)).finish()
    }
}

impl<L> RunningThread<L> {
    fn join(self) -> (String, Result<Vec<L>, ThreadError>) {
        let outcome = self.thread.join();
        let outcome = outcome.unwrap_or_else(|payload| Err(Panic::from_payload(&*payload).into()));
        (self.name, outcome)
    }
}

/// The receiver of a thread's startup result.
type Opened = Receiver<Result<(), ThreadError>>;

/// Starts a thread.
fn start<L, C>(
    thread: FeedThread<L>,
    clock: impl Fn() -> C + Send + 'static,
) -> Result<(RunningThread<L>, Opened), ThreadsError>
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
    let (error_sender, errors) = sync_channel(ERRORS_MAX);
    let (report, outcome) = sync_channel(1);
    let thread = spawn(&name, core, move || {
        let opened = Worker::open(wait, channels, called, error_sender);
        let (answer, worker) = match opened {
            Ok(worker) => (Ok(()), Some(worker)),
            Err(error) => (Err(error), None),
        };
        // The spawning thread waits for this result.
        let _ = report.send(answer);
        worker.map_or(Ok(Vec::new()), |worker| worker.run(clock()))
    })?;
    Ok((RunningThread { name, thread, caller, errors }, outcome))
}
