//! Handles of traders.

use core::cell::UnsafeCell;
use core::ffi::{c_char, c_void};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::panic::{AssertUnwindSafe, catch_unwind};

use hairpin::{Strategy, Trader};

use crate::callbacks::{Table, hairpin_callbacks};
use crate::current::{is_in_callback, thread_number};
use crate::error::{Outcome, catch, fail, failed, hairpin_error, panicked};
use crate::text::{text_from, write_out};

/// A handle of market data, of order entry, or of both: a slot and a generation. The use of a
/// closed handle is an error. One thread at a time uses a handle.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct hairpin_trader {
    /// The number; 0 is no handle.
    pub id: u64,
}

/// The slots: the most handles that are open at once.
const SLOTS: usize = 64;

/// The state of an open slot.
enum State {
    Open(Box<Trader>),
    Poisoned,
}

/// A place for a trader. Static, so that `hairpin_stop` reads it in a signal handler.
struct Slot {
    /// The number of the open handle; 0 if the slot is free.
    id: AtomicU64,
    /// The number of the handle to stop.
    stop: AtomicU64,
    /// The number of the thread that uses the slot; 0 if no thread does.
    user: AtomicUsize,
    /// The last generation; only the user changes it.
    generation: AtomicU64,
    /// Read and written only by the user.
    state: UnsafeCell<Option<State>>,
}

// SAFETY: only the thread that has set `user` from 0 accesses `state`, and a trader may move
// between threads.
unsafe impl Sync for Slot where Box<Trader>: Send {}

static TABLE: [Slot; SLOTS] = [const {
    Slot {
        id: AtomicU64::new(0),
        stop: AtomicU64::new(0),
        user: AtomicUsize::new(0),
        generation: AtomicU64::new(0),
        state: UnsafeCell::new(None),
    }
}; SLOTS];

/// Exclusive access to a slot.
struct Access(&'static Slot);

impl Access {
    /// Takes a slot for this thread.
    #[inline]
    fn try_new(slot: &'static Slot) -> Option<Self> {
        let me = thread_number();
        let taken = slot.user.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed);
        taken.is_ok().then(|| Self(slot))
    }

    /// Takes the slot of an open handle.
    #[inline]
    fn new(trader: hairpin_trader) -> Outcome<Self> {
        let slot = slot(trader).ok_or_else(closed)?;
        let Some(access) = Self::try_new(slot) else { return Err(in_use(slot)) };
        // The slot may have been closed before it was taken.
        if slot.id.load(Ordering::Relaxed) == trader.id { Ok(access) } else { Err(closed()) }
    }

    fn state(&mut self) -> &mut Option<State> {
        // SAFETY: `self` is the only access to the slot, by `try_new`.
        unsafe { &mut *self.0.state.get() }
    }

    fn trader(&mut self) -> Outcome<&mut Trader> {
        match self.state() {
            Some(State::Open(trader)) => Ok(trader),
            Some(State::Poisoned) => Err(poisoned()),
            None => Err(closed()),
        }
    }

    /// Closes the handle and returns its state.
    fn close(&mut self) -> Option<State> {
        self.0.id.store(0, Ordering::Relaxed);
        self.state().take()
    }

    fn stop_requested(&self) -> bool {
        self.0.stop.load(Ordering::Relaxed) == self.0.id.load(Ordering::Relaxed)
    }
}

impl Drop for Access {
    fn drop(&mut self) {
        self.0.user.store(0, Ordering::Release);
    }
}

/// Returns the slot of an open handle.
#[inline]
fn slot(trader: hairpin_trader) -> Option<&'static Slot> {
    let slot = TABLE.get((trader.id % SLOTS as u64) as usize)?;
    (trader.id != 0 && slot.id.load(Ordering::Relaxed) == trader.id).then_some(slot)
}

#[cold]
fn closed() -> hairpin_error {
    fail(hairpin_error::Closed, "the handle is closed, or was never opened")
}

#[cold]
fn in_use(slot: &Slot) -> hairpin_error {
    if slot.user.load(Ordering::Relaxed) == thread_number() {
        return in_callback();
    }
    fail(hairpin_error::Busy, "another thread uses the handle")
}

#[cold]
fn in_callback() -> hairpin_error {
    fail(hairpin_error::InCallback, "the function cannot be called inside a callback")
}

#[cold]
fn poisoned() -> hairpin_error {
    fail(hairpin_error::Poisoned, "an earlier failure has poisoned the handle: close it")
}

/// Stores a trader in a free slot.
pub(crate) fn store(trader: Trader) -> Outcome<hairpin_trader> {
    for (number, slot) in TABLE.iter().enumerate() {
        if slot.id.load(Ordering::Relaxed) != 0 {
            continue;
        }
        let Some(mut access) = Access::try_new(slot) else { continue };
        if slot.id.load(Ordering::Relaxed) != 0 {
            continue;
        }
        let generation = slot.generation.load(Ordering::Relaxed) + 1;
        slot.generation.store(generation, Ordering::Relaxed);
        let id = generation * SLOTS as u64 + number as u64;
        *access.state() = Some(State::Open(Box::new(trader)));
        slot.id.store(id, Ordering::Relaxed);
        return Ok(hairpin_trader { id });
    }
    Err(fail(hairpin_error::TooManyHandles, format_args!("{SLOTS} handles are open already")))
}

/// Runs `use_trader`. A panic poisons the handle.
fn guard<T>(access: &mut Access, use_trader: impl FnOnce(&mut Access) -> Outcome<T>) -> Outcome<T> {
    match catch_unwind(AssertUnwindSafe(|| use_trader(access))) {
        Ok(Err(hairpin_error::Panic)) | Err(_) => {
            poison(access);
            Err(panicked())
        }
        Ok(outcome) => outcome,
    }
}

#[cold]
fn poison(access: &mut Access) {
    let state = access.state().replace(State::Poisoned);
    // The connection closes with the trader. A second panic changes nothing.
    let _ = catch_unwind(AssertUnwindSafe(|| drop(state)));
}

/// A strategy of a turn.
pub(crate) trait Turn {
    /// Runs one turn.
    fn turn(&mut self, trader: &mut Trader) -> hairpin::Result<bool>;
}

impl<S: Strategy> Turn for S {
    fn turn(&mut self, trader: &mut Trader) -> hairpin::Result<bool> {
        trader.turn(self)
    }
}

/// Runs one turn, after a requested stop.
#[inline]
fn turn(access: &mut Access, strategy: &mut impl Turn) -> Outcome<bool> {
    let stop_requested = access.stop_requested();
    let trader = access.trader()?;
    if stop_requested {
        trader.stop_handle().stop();
    }
    strategy.turn(trader).map_err(|error| failed(&error))
}

fn run<S: Turn>(
    trader: hairpin_trader,
    strategy: &mut S,
    failure: impl Fn(&S) -> Option<hairpin_error>,
) -> Outcome {
    if is_in_callback() {
        return Err(in_callback());
    }
    let mut access = Access::new(trader)?;
    let outcome = guard(&mut access, |access| {
        access.trader()?.pin().map_err(|error| failed(&error))?;
        while turn(access, strategy)? {}
        if let Some(failure) = failure(strategy) {
            return Err(callback_failed(failure));
        }
        access.trader()?.save_definition_caches().map_err(|error| failed(&error))?;
        Ok(0)
    });
    if !matches!(access.state(), Some(State::Poisoned)) {
        let state = access.close();
        let _ = catch_unwind(AssertUnwindSafe(|| drop(state)));
    }
    outcome
}

/// Records the reason for which a strategy has ended the run.
#[cold]
fn callback_failed(failure: hairpin_error) -> hairpin_error {
    match failure {
        hairpin_error::Callback => fail(failure, "a callback has ended the run"),
        failure => failure,
    }
}

/// Runs until the strategy or `hairpin_stop` stops it, or until an error. Terminates the sessions
/// gracefully, and closes the handle. Returns 0, or an error.
///
/// # Safety
/// `callbacks` points to a table whose callbacks have the types of the header, and which exists
/// until the function returns.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_trader_run(
    trader: hairpin_trader,
    callbacks: *const hairpin_callbacks,
    user: *mut c_void,
) -> i32 {
    catch(|| {
        let mut place = MaybeUninit::uninit();
        // SAFETY: by the caller's contract.
        let mut table = unsafe { Table::new(callbacks, &mut place, user) }?;
        run(trader, &mut table, |table| table.failure)
    })
}

/// Runs one iteration, for callers with their own loop: waits at most 100 ms, processes what has
/// arrived, and sends what the strategy decides. Returns 1 to continue, 0 once the run has ended,
/// or an error. After `HAIRPIN_ERROR_CALLBACK` further calls terminate the sessions.
///
/// # Safety
/// As `hairpin_trader_run`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_trader_turn(
    trader: hairpin_trader,
    callbacks: *const hairpin_callbacks,
    user: *mut c_void,
) -> i32 {
    let run = || {
        let mut place = MaybeUninit::uninit();
        // SAFETY: by the caller's contract.
        let mut table = unsafe { Table::new(callbacks, &mut place, user) }?;
        if is_in_callback() {
            return Err(in_callback());
        }
        let mut access = Access::new(trader)?;
        guard(&mut access, |access| {
            let has_more = turn(access, &mut table)?;
            table.failure.map_or(Ok(i32::from(has_more)), |it| Err(callback_failed(it)))
        })
    };
    // The guard catches panics; what is before it has none.
    run().unwrap_or_else(|code| code as i32)
}

/// Requests the end of the run: sessions terminate gracefully, then `hairpin_trader_run` returns.
/// The loop reads the request within 100 ms. Can be called from any thread, in callbacks and in
/// signal handlers. Returns 0, or `HAIRPIN_ERROR_CLOSED` without a text.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_stop(trader: hairpin_trader) -> i32 {
    // Only atomics: a text would need the thread's memory, which a signal handler must not touch.
    match slot(trader) {
        Some(slot) => {
            slot.stop.store(trader.id, Ordering::Relaxed);
            0
        }
        None => hairpin_error::Closed as i32,
    }
}

/// Stops the run gracefully on SIGINT and SIGTERM. The same signal again, at least 200 ms later,
/// ends the process at once.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_trader_stop_on_signals(trader: hairpin_trader) -> i32 {
    with_trader(trader, |trader| {
        trader.stop_handle().stop_on_signals().map_err(|error| failed(&error))?;
        Ok(0)
    })
}

/// Closes a handle. A session that is established is left without a Terminate: call `hairpin_stop`
/// and run on for a graceful end. Returns 0, or an error.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_trader_close(trader: hairpin_trader) -> i32 {
    catch(|| {
        let mut access = Access::new(trader)?;
        drop(access.close());
        Ok(0)
    })
}

/// Returns 1 if all books are in sync and all sessions established, 0 if not, or an error.
#[unsafe(no_mangle)]
pub extern "C" fn hairpin_trader_is_ready(trader: hairpin_trader) -> i32 {
    with_trader(trader, |trader| Ok(i32::from(trader.is_ready())))
}

/// Finds the instrument with a symbol: of `[instruments]` in order.toml, or of a received
/// definition.
///
/// # Safety
/// `symbol` ends with a NUL; `security_id` is valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hairpin_trader_security_id(
    trader: hairpin_trader,
    symbol: *const c_char,
    security_id: *mut i32,
) -> i32 {
    with_trader(trader, |trader| {
        // SAFETY: by the caller's contract.
        let symbol = unsafe { text_from(symbol, "symbol") }?;
        let id = trader.security_id(symbol).map_err(|error| failed(&error))?;
        // SAFETY: by the caller's contract.
        unsafe { write_out(security_id, "security_id", id.0) }
    })
}

fn with_trader(trader: hairpin_trader, body: impl FnOnce(&mut Trader) -> Outcome) -> i32 {
    catch(|| {
        let mut access = Access::new(trader)?;
        guard(&mut access, |access| body(access.trader()?))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
mod tests {
    use hairpin::{BookEvent, Context, Feed};

    use super::*;
    use crate::current::{Event, enter, with_context};
    use crate::support::Venue;

    fn open(venue: &Venue) -> hairpin_trader {
        let feed = Feed::open(venue.folder.path().join("config.xml"), 310).unwrap();
        store(feed.into()).unwrap()
    }

    /// Runs turns until an error, and lets the exchange run.
    fn run_turns(venue: &mut Venue, trader: hairpin_trader, it: &mut impl Turn) -> hairpin_error {
        loop {
            venue.step();
            let mut access = Access::new(trader).unwrap();
            if let Err(error) = guard(&mut access, |access| turn(access, it)) {
                return error;
            }
        }
    }

    fn check_poisoned(trader: hairpin_trader) {
        assert_eq!(hairpin_trader_is_ready(trader), hairpin_error::Poisoned as i32);
        assert_eq!(run(trader, &mut Panics, |_| None), Err(hairpin_error::Poisoned));
        assert_eq!(hairpin_trader_close(trader), 0);
        assert_eq!(hairpin_trader_close(trader), hairpin_error::Closed as i32);
    }

    struct Panics;

    impl Strategy for Panics {
        fn on_book(&mut self, _: &BookEvent<'_>, _: &mut Context<'_>) {
            panic!("a failure of the library");
        }
    }

    #[test]
    fn panic_poisons_the_handle() {
        let mut venue = Venue::open("in_memory = true");
        let trader = open(&venue);
        assert_eq!(run_turns(&mut venue, trader, &mut Panics), hairpin_error::Panic);
        check_poisoned(trader);
    }

    /// A strategy whose callback calls a function that panics.
    #[derive(Default)]
    struct CallsPanic(Option<hairpin_error>);

    impl Strategy for CallsPanic {
        fn on_book(&mut self, _: &BookEvent<'_>, context: &mut Context<'_>) {
            let call = |raw| {
                let code = with_context(raw, |_| panic!("a failure of the library"));
                assert_eq!(code, hairpin_error::Panic as i32);
                0 // C ignores the error.
            };
            self.0 = enter(context, Event::None, call).err();
            context.stop();
        }
    }

    #[test]
    fn panic_in_a_function_ends_the_run_although_c_ignores_it() {
        let mut venue = Venue::open("in_memory = true");
        let trader = open(&venue);
        let mut strategy = CallsPanic::default();
        while strategy.0.is_none() {
            venue.step();
            let mut access = Access::new(trader).unwrap();
            guard(&mut access, |access| turn(access, &mut strategy)).unwrap();
        }
        assert_eq!(strategy.0, Some(hairpin_error::Panic));
        assert_eq!(run(trader, &mut strategy, |it| it.0), Err(hairpin_error::Panic));
        check_poisoned(trader);
    }

    #[test]
    fn handle_of_a_reused_slot_is_another_one() {
        let venue = Venue::open("in_memory = true");
        let first = open(&venue);
        assert_eq!(hairpin_trader_close(first), 0);
        let second = open(&venue);
        assert_ne!(first, second);
        assert_eq!(hairpin_stop(first), hairpin_error::Closed as i32);
        assert!(!Access::new(second).unwrap().stop_requested());
        assert_eq!(hairpin_trader_close(second), 0);
    }
}
