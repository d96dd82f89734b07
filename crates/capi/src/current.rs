//! The callback that runs on this thread.

use core::fmt::Display;
use core::ptr::null_mut;
use std::cell::Cell;

use hairpin::{Context, Reason};

use crate::error::{Outcome, catch, fail, hairpin_error};

/// Books, orders and sessions inside one callback. The pointer is a number: it is valid in the call
/// that received it, on its thread, and an error elsewhere. Do not dereference it.
pub enum hairpin_context {}

/// The lazily formatted texts of an event.
#[derive(Clone, Copy)]
pub(crate) struct Texts {
    pub(crate) line: Option<*const (dyn Display + 'static)>,
    pub(crate) reason: Option<*const Reason>,
}

impl Texts {
    /// The texts of an event without any.
    pub(crate) const NONE: Self = Self { line: None, reason: None };
}

/// A call of a callback.
#[derive(Clone, Copy)]
struct Call {
    /// The number of the call; 0 while no callback runs.
    number: usize,
    context: *mut Context<'static>,
    texts: Texts,
}

impl Call {
    const NONE: Self = Self { number: 0, context: null_mut(), texts: Texts::NONE };
}

/// The state of a thread.
pub(crate) struct Thread {
    call: Cell<Call>,
    /// The number of the last call.
    last: Cell<usize>,
    /// `true` if a function that the current callback called has panicked.
    panicked: Cell<bool>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread { call: Cell::new(Call::NONE), last: Cell::new(0), panicked: Cell::new(false) }
    };
}

/// Returns `true` if a callback runs on this thread.
pub(crate) fn is_in_callback() -> bool {
    THREAD.with(|thread| thread.call.get().number != 0)
}

/// Returns a number that only this thread has, other than 0.
pub(crate) fn thread_number() -> usize {
    THREAD.with(|thread| core::ptr::from_ref(thread).addr())
}

/// Runs `call` with a context for C. Returns an error if it returns a number other than 0, or if a
/// function that it called has panicked.
#[inline]
pub(crate) fn enter(
    context: &mut Context<'_>,
    texts: Texts,
    call: impl FnOnce(*mut hairpin_context) -> i32,
) -> Result<(), hairpin_error> {
    THREAD.with(|thread| {
        let number = thread.last.get().wrapping_add(1).max(1);
        thread.last.set(number);
        let context = core::ptr::from_mut(context).cast();
        // A batch runs inside another call.
        let outer = thread.call.replace(Call { number, context, texts });
        let status = call(core::ptr::without_provenance_mut(number));
        thread.call.set(outer);
        if thread.panicked.get() {
            if outer.number == 0 {
                thread.panicked.set(false);
            }
            return Err(hairpin_error::Panic);
        }
        if status == 0 { Ok(()) } else { Err(hairpin_error::Callback) }
    })
}

/// Runs the body of a function with the context that `context` names. A panic poisons the trader.
#[inline]
pub(crate) fn with_context(
    context: *mut hairpin_context,
    body: impl FnOnce(&mut Context<'_>) -> Outcome,
) -> i32 {
    with_call(context, |context, _| body(context))
}

/// As [`with_context`], with the texts of the event.
#[inline]
pub(crate) fn with_call(
    context: *mut hairpin_context,
    body: impl FnOnce(&mut Context<'_>, Texts) -> Outcome,
) -> i32 {
    THREAD.with(|thread| {
        let call = thread.call.get();
        if call.number == 0 || call.number != context.addr() {
            return wrong_context(context) as i32;
        }
        // SAFETY: `enter` has set the pointer from a reference that it does not use while the
        // callback runs, and removes it when the callback returns. The callback's functions use
        // it one after the other: a batch, which calls another callback, replaces the call.
        let context = unsafe { &mut *call.context };
        let code = catch(|| body(context, call.texts));
        if code == hairpin_error::Panic as i32 {
            thread.panicked.set(true);
        }
        code
    })
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
