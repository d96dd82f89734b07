//! References that Python objects hold while a callback runs.
//!
//! A callback's arguments borrow from the loop. Python may keep the objects that stand for them, in
//! an attribute for example, or pass them to another thread. So each object holds a [`Scope`],
//! which checks both before every access.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;
use std::thread::ThreadId;

use pyo3::PyClass;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;

/// A type with one lifetime parameter, in which it is covariant.
///
/// # Safety
/// `Of` must be covariant in its lifetime.
pub(crate) unsafe trait Borrowed {
    /// The type.
    type Of<'a>;
}

/// A pointer that is valid until [`close`](Self::close), on the thread that created it.
struct ThreadScope {
    target: Cell<Option<NonNull<()>>>,
    thread: ThreadId,
}

// SAFETY: `target` is accessed only after a comparison of the calling thread with `thread`, which
// never changes.
unsafe impl Send for ThreadScope {}
// SAFETY: as for `Send`.
unsafe impl Sync for ThreadScope {}

impl ThreadScope {
    fn new(target: NonNull<()>) -> Self {
        Self { target: Cell::new(Some(target)), thread: std::thread::current().id() }
    }

    fn check_thread(&self) -> PyResult<()> {
        if self.thread == std::thread::current().id() {
            return Ok(());
        }
        Err(PyRuntimeError::new_err("cannot use the argument of a callback in another thread"))
    }

    fn target(&self) -> PyResult<NonNull<()>> {
        self.check_thread()?;
        let closed = "cannot use the argument of a callback that has returned: copy what you need";
        self.target.get().ok_or_else(|| PyRuntimeError::new_err(closed))
    }

    fn close(&self) {
        // The thread that opened the scope also closes it.
        if self.check_thread().is_ok() {
            self.target.set(None);
        }
    }
}

/// A shared reference to a callback's argument.
pub(crate) struct Scope<B>(ThreadScope, PhantomData<fn(B)>);

impl<B: Borrowed> Scope<B> {
    /// Holds a reference until [`close`](Self::close).
    ///
    /// # Safety
    /// The scope must be closed before the reference ends.
    pub(crate) unsafe fn new(target: &B::Of<'_>) -> Self {
        Self(ThreadScope::new(NonNull::from(target).cast()), PhantomData)
    }

    /// Calls `read` with the argument.
    ///
    /// # Errors
    /// `RuntimeError` after the callback and in another thread.
    #[inline]
    pub(crate) fn with<R>(&self, read: impl for<'a> FnOnce(&'a B::Of<'a>) -> R) -> PyResult<R> {
        let target = self.0.target()?;
        // SAFETY: the target was created from a reference in `new`, which is valid until `close`
        // empties the cell. `read` cannot keep the reference, whose lifetime it does not know; a
        // covariant type may be used with a shorter lifetime.
        Ok(read(unsafe { target.cast::<B::Of<'_>>().as_ref() }))
    }
}

/// An exclusive reference to the context of a callback.
pub(crate) struct ContextScope(ThreadScope);

impl ContextScope {
    /// Holds a reference until it is closed.
    ///
    /// # Safety
    /// The scope must be closed before the reference ends, and the reference not be used before.
    pub(crate) unsafe fn new(target: &mut hairpin::Context<'_>) -> Self {
        Self(ThreadScope::new(NonNull::from(target).cast()))
    }

    /// Calls `with` with the context. Meanwhile the scope is empty, so that a nested access is an
    /// error.
    ///
    /// # Errors
    /// `RuntimeError` after the callback, in another thread, and inside another access.
    pub(crate) fn with<R>(
        &self,
        with: impl for<'a, 'b> FnOnce(&'a mut hairpin::Context<'b>) -> R,
    ) -> PyResult<R> {
        let target = self.0.target()?;
        self.0.target.set(None);
        // SAFETY: the target was created from an exclusive reference in `new`, which is valid until
        // `close` empties the cell. The cell is empty during the call, so that there is no second
        // reference. `with` cannot keep it, whose lifetimes it does not know.
        let outcome = with(unsafe { target.cast::<hairpin::Context<'_>>().as_mut() });
        self.0.target.set(Some(target));
        Ok(outcome)
    }
}

/// A Python class that holds the argument of a callback.
pub(crate) trait Scoped: PyClass<Frozen = True> + Sync {
    /// Ends the access to the argument.
    fn close(&self);
}

impl<B> Scope<B> {
    pub(crate) fn close(&self) {
        self.0.close();
    }
}

impl ContextScope {
    pub(crate) fn close(&self) {
        self.0.close();
    }
}

/// Closes the scope of an object when it is dropped, after the callback.
pub(crate) struct Closing<'a, T: Scoped>(pub(crate) &'a Py<T>);

impl<T: Scoped> Drop for Closing<'_, T> {
    fn drop(&mut self) {
        self.0.get().close();
    }
}
