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

// SAFETY: an array owns its elements like a `Box<[T]>`, and is `Send` under the same condition.
unsafe impl<T: Send> Send for RawArray<T> {}

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

#[cfg(test)]
mod tests {
    use std::marker::PhantomData;
    use std::rc::Rc;

    use super::*;

    /// A probe for `T: Send`: the inherent function exists only then and takes precedence.
    struct Probe<T>(PhantomData<T>);

    impl<T: Send> Probe<T> {
        fn is_send(&self) -> bool {
            true
        }
    }

    trait NotSend {
        fn is_send(&self) -> bool {
            false
        }
    }

    impl<T> NotSend for Probe<T> {}

    #[test]
    fn is_send_only_with_send_elements() {
        assert!(Probe::<RawArray<u8>>(PhantomData).is_send());
        assert!(!Probe::<RawArray<Rc<u8>>>(PhantomData).is_send());
        assert!(!Probe::<RawArray<*mut u8>>(PhantomData).is_send());
    }
}
