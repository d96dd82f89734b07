//! A mapped page of values.

use std::ffi::CStr;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicU64;

use memmap2::{MmapOptions, MmapRaw};

use crate::mapping;
use crate::page_layout::{Layout, PageError};

/// The mapping of a sealed memory file, whose size matches its layout.
#[derive(Debug)]
pub(crate) struct Page {
    memory: MmapRaw,
    pub(crate) layout: Layout,
}

impl Page {
    /// Creates a page in a memory file named `file_name`, with all values zero. The size is fixed.
    /// The caller may add further seals to forbid writing.
    ///
    /// # Errors
    /// The errors of [`Layout::check`]; the kernel's if memory or descriptors are exhausted.
    pub(crate) fn create(file_name: &CStr, layout: Layout) -> Result<(Self, File), PageError> {
        layout.check()?;
        let file = mapping::create(file_name)?;
        file.write_all_at(&layout.encode(), 0)?;
        let memory = mapping::map(&file)?;
        Ok((Self { memory, layout }, file))
    }

    /// Maps a page of another process for reading and writing.
    ///
    /// # Errors
    /// Every [`PageError`].
    pub(crate) fn open(file: &File) -> Result<Self, PageError> {
        let layout = layout_of(file)?;
        Ok(Self { memory: mapping::map(file)?, layout })
    }

    /// Maps a page of another process for reading. The file should be closed afterwards: a process
    /// that holds it appears to publish the page.
    ///
    /// # Errors
    /// Every [`PageError`].
    pub(crate) fn open_read_only(file: &File) -> Result<Self, PageError> {
        let layout = layout_of(file)?;
        Ok(Self { memory: MmapOptions::new().map_raw_read_only(file)?, layout })
    }

    /// Returns a value. A value of a page mapped for reading may only be loaded, relaxed.
    ///
    /// # Panics
    /// If there is no such value.
    #[inline]
    pub(crate) fn value(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.layout.metrics.len(), "no such value in this page");
        // SAFETY: the value is inside the mapping, whose size was checked against the layout and is
        // sealed, and which lives as long as `self`. A mapping begins on a page and offsets are
        // multiples of 8, so the value is aligned. Every process accesses it only atomically. A
        // relaxed load of 8 bytes is allowed for memory that is mapped read-only, on the supported
        // 64-bit targets (`std::sync::atomic`, "Atomic accesses to read-only memory").
        unsafe {
            AtomicU64::from_ptr(self.memory.as_mut_ptr().add(self.layout.offset(index)).cast())
        }
    }
}

/// Reads the layout of a file from another process, if the file can be mapped.
fn layout_of(file: &File) -> Result<Layout, PageError> {
    // Checked first: a file that shrinks while it is mapped kills the process.
    if !mapping::is_sealed(file) || !mapping::is_ordinary(file)? {
        return Err(PageError::NotSealed);
    }
    Layout::decode(file.metadata()?.len(), |length| {
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    })
}

const _: () = assert!(
    cfg!(target_pointer_width = "64"),
    "relaxed loads of read-only memory need a 64-bit target"
);

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::page_layout::Spacing;
    use crate::page_layout::tests::layout;

    fn sealed(image: &[u8]) -> File {
        let file = mapping::create(c"hairpin-test").unwrap();
        file.write_all_at(image, 0).unwrap();
        mapping::seal(&file).unwrap();
        file
    }

    #[test]
    fn open_rejects_unsealed_file() {
        let image = layout().encode();
        let file = mapping::create(c"hairpin-test").unwrap();
        file.write_all_at(&image, 0).unwrap();
        assert!(matches!(Page::open(&file), Err(PageError::NotSealed)));
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&image, 0).unwrap();
        assert!(matches!(Page::open_read_only(&file), Err(PageError::NotSealed)));
        assert!(Page::open_read_only(&sealed(&image)).is_ok());
    }

    #[test]
    fn open_rejects_huge_pages() {
        let Some(huge) = mapping::tests::huge() else { return };
        assert!(matches!(Page::open_read_only(&huge), Err(PageError::NotSealed)));
    }

    #[test]
    fn open_rejects_invalid_page() {
        let image = layout().encode();
        assert!(matches!(Page::open_read_only(&sealed(b"")), Err(PageError::NotPage)));
        let cut = &image[..image.len() - 64];
        assert!(matches!(Page::open_read_only(&sealed(cut)), Err(PageError::Size)));
    }

    #[test]
    fn values_do_not_overlap() {
        for spacing in [Spacing::Packed, Spacing::Apart] {
            let layout = Layout { spacing, ..layout() };
            let (page, file) = Page::create(c"hairpin-test", layout).unwrap();
            mapping::seal(&file).unwrap();
            page.value(0).store(u64::MAX, Ordering::Relaxed);
            page.value(1).store(7, Ordering::Relaxed);
            let read = Page::open_read_only(&file).unwrap();
            assert_eq!([0, 1].map(|at| read.value(at).load(Ordering::Relaxed)), [u64::MAX, 7]);
            assert_eq!(read.layout, page.layout);
            let at = |index| page.value(index).as_ptr() as usize;
            assert_eq!(
                (at(0) % 64, at(1) - at(0)),
                (0, page.layout.offset(1) - page.layout.offset(0))
            );
        }
    }

    #[test]
    #[should_panic(expected = "no such value in this page")]
    fn panics_on_unknown_value() {
        let (page, _) = Page::create(c"hairpin-test", layout()).unwrap();
        let _ = page.value(2);
    }
}
