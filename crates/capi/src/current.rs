//! The callback that runs on this thread.

use core::fmt::Display;
use core::ptr::null_mut;
use std::cell::Cell;

use hairpin::order_entry::SecurityId;
use hairpin::{Book, Context, Reason};

use crate::error::{Outcome, catch, fail, hairpin_error};

/// Books, orders and sessions inside one callback. The pointer is a number: it is valid in the call
/// that received it, on its thread, and an error elsewhere. Do not dereference it.
pub enum hairpin_context {}

/// The event of a callback, for functions that the callback calls. The pointers are valid while it
/// runs.
#[derive(Clone, Copy)]
pub(crate) enum Event {
    /// An event without a text and without a book.
    None,
    /// The book that has changed, which need not be looked up.
    Book(*const Book<'static>),
    /// An event with a text.
    Text {
        /// The event in one line.
        line: *const (dyn Display + 'static),
        /// The reason for a reject.
        reason: Option<*const Reason>,
    },
}

/// The state of a thread.
pub(crate) struct Thread {
    /// The number of the callback's call; 0 while no callback runs.
    number: Cell<usize>,
    context: Cell<*mut Context<'static>>,
    event: Cell<Event>,
    /// The number of the last call: odd, so never 0.
    last: Cell<usize>,
    /// `true` if a function that the current callback called has panicked.
    panicked: Cell<bool>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread {
            number: Cell::new(0),
            context: Cell::new(null_mut()),
            event: Cell::new(Event::None),
            last: Cell::new(1),
            panicked: Cell::new(false),
        }
    };
}

/// Returns the state of this thread. A closure for it would be a function of its own, with its
/// captures in memory: 10 to 20 instructions.
#[inline]
fn thread() -> &'static Thread {
    // SAFETY: the state has no destructor, so it exists as long as its thread. No reference to it
    // leaves the thread: it is not `Sync`.
    THREAD.with(|thread| unsafe { &*core::ptr::from_ref(thread) })
}

/// Returns `true` if a callback runs on this thread.
pub(crate) fn is_in_callback() -> bool {
    thread().number.get() != 0
}

/// Returns a number that only this thread has, other than 0.
pub(crate) fn thread_number() -> usize {
    core::ptr::from_ref(thread()).addr()
}

/// Runs `call` with a context for C. Returns an error if it returns a number other than 0, or if a
/// function that it called has panicked.
#[inline]
pub(crate) fn enter(
    context: &mut Context<'_>,
    event: Event,
    call: impl FnOnce(*mut hairpin_context) -> i32,
) -> Result<(), hairpin_error> {
    let thread = thread();
    let number = thread.last.get().wrapping_add(2);
    thread.last.set(number);
    thread.number.set(number);
    thread.context.set(core::ptr::from_mut(context).cast());
    thread.event.set(event);
    let status = call(core::ptr::without_provenance_mut(number));
    thread.number.set(0);
    let panicked = thread.panicked.get();
    if status == 0 && !panicked {
        return Ok(());
    }
    thread.panicked.set(false);
    Err(if panicked { hairpin_error::Panic } else { hairpin_error::Callback })
}

/// Runs `call` with a context of its own inside a callback, whose context is valid again after it.
pub(crate) fn enter_batch(context: &mut Context<'_>, call: impl FnOnce(*mut hairpin_context)) {
    let thread = thread();
    let outer = (thread.number.get(), thread.context.get(), thread.event.get());
    let panicked = thread.panicked.get();
    let outcome = enter(context, Event::None, |context| {
        call(context);
        0
    });
    thread.number.set(outer.0);
    thread.context.set(outer.1);
    thread.event.set(outer.2);
    // The callback's own call reports a panic.
    thread.panicked.set(panicked || outcome.is_err());
}

/// Runs the body of a function with the context that `context` names. A panic poisons the trader.
#[inline]
pub(crate) fn with_context(
    context: *mut hairpin_context,
    body: impl FnOnce(&mut Context<'_>) -> Outcome,
) -> i32 {
    with_event(context, |context, _| body(context))
}

/// As [`with_context`], with the event of the callback.
#[inline]
pub(crate) fn with_event(
    context: *mut hairpin_context,
    body: impl FnOnce(&mut Context<'_>, &Cell<Event>) -> Outcome,
) -> i32 {
    let thread = thread();
    if context.is_null() || thread.number.get() != context.addr() {
        return wrong_context(context) as i32;
    }
    // SAFETY: `enter` has set the pointer from a reference that it does not use while the
    // callback runs, and the number is 0 when the callback has returned. The callback's
    // functions use the pointer one after the other: a batch, which calls another function of
    // the program, has another number until that function returns.
    let context = unsafe { &mut *thread.context.get() };
    let code = catch(|| body(context, &thread.event));
    if code == hairpin_error::Panic as i32 {
        thread.panicked.set(true);
    }
    code
}

/// Returns the book of an instrument: that of the event, or else one that is looked up.
#[inline]
pub(crate) fn book<'a>(
    context: &Context<'a>,
    event: &Cell<Event>,
    security_id: i32,
) -> Option<Book<'a>> {
    if let Event::Book(book) = event.get() {
        // SAFETY: the event's book lives while its callback runs, during which `event` has it.
        let book: Book<'a> = unsafe { *book };
        if book.security_id().0 == security_id {
            return Some(book);
        }
    }
    context.book(SecurityId(security_id))
}

#[cold]
fn wrong_context(context: *mut hairpin_context) -> hairpin_error {
    if context.is_null() {
        return crate::error::null("context");
    }
    fail(
        hairpin_error::Context,
        "the context is valid only inside its callback, on the thread of the callback",
    )
}
