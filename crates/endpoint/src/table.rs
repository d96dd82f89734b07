//! Memory that the kernel writes to.

use std::ptr::NonNull;

/// A cache line: no two datagrams share one.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct Line(pub(crate) [u8; 64]);

/// A heap array that is only ever reached through the one pointer it was made with.
pub(crate) struct Table<T> {
    first: NonNull<T>,
    length: usize,
}

// SAFETY: a table owns its elements, and whatever it belongs to owns everything these point to;
// nothing in it is tied to a thread.
unsafe impl<T> Send for Table<T> {}

impl<T> Table<T> {
    pub(crate) fn filled(length: usize, element: impl FnMut(usize) -> T) -> Self {
        let elements: Box<[T]> = (0..length).map(element).collect();
        let first = NonNull::from(Box::leak(elements)).cast();
        Self { first, length }
    }

    /// Elements.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// The first element, good for reaching all of them.
    #[inline]
    pub(crate) fn first(&self) -> NonNull<T> {
        self.first
    }

    #[inline]
    pub(crate) fn at(&self, index: usize) -> NonNull<T> {
        assert!(index < self.length);
        // SAFETY: the element lies within the array, as just checked.
        unsafe { self.first.add(index) }
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        let elements = NonNull::slice_from_raw_parts(self.first, self.length);
        // SAFETY: pointer and length are those of the box leaked in `filled`, which nothing else
        // has freed; a table dropped before what points to it is never followed again.
        drop(unsafe { Box::from_raw(elements.as_ptr()) });
    }
}
