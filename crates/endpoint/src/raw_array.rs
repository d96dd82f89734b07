//! Heap arrays that the kernel writes to.

use std::ptr::NonNull;

/// A cache line. No two datagrams share a line.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(crate) struct CacheLine(pub(crate) [u8; 64]);

/// A heap array that is accessed only through the one pointer with which it was made.
pub(crate) struct RawArray<T> {
    first: NonNull<T>,
    length: usize,
}

// SAFETY: a table owns its elements, and whatever it belongs to owns everything these point to;
// nothing in it is tied to a thread.
unsafe impl<T> Send for RawArray<T> {}

impl<T> RawArray<T> {
    pub(crate) fn from_fn(length: usize, element: impl FnMut(usize) -> T) -> Self {
        let elements: Box<[T]> = (0..length).map(element).collect();
        let first = NonNull::from(Box::leak(elements)).cast();
        Self { first, length }
    }

    /// Returns the number of elements.
    #[inline]
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Returns a pointer to the first element, valid for access to all elements.
    #[inline]
    pub(crate) fn first(&self) -> NonNull<T> {
        self.first
    }

    #[inline]
    pub(crate) fn at(&self, index: usize) -> NonNull<T> {
        assert!(index < self.length);
        // SAFETY: the element is inside the array, as just checked.
        unsafe { self.first.add(index) }
    }
}

impl<T> Drop for RawArray<T> {
    fn drop(&mut self) {
        let elements = NonNull::slice_from_raw_parts(self.first, self.length);
        // SAFETY: pointer and length are those of the box leaked in `from_fn`, and nothing else has
        // freed it. An array that is dropped before others that point to it is never accessed
        // again.
        drop(unsafe { Box::from_raw(elements.as_ptr()) });
    }
}
