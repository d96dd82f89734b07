//! A page of values, mapped.

use std::ffi::CStr;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicU64;

use memmap2::{MmapOptions, MmapRaw};

use crate::layout::{Layout, PageError};
use crate::memory;

/// The mapping of a sealed memory file whose size is what its layout promises.
#[derive(Debug)]
pub(crate) struct Page {
    memory: MmapRaw,
    pub(crate) layout: Layout,
}

impl Page {
    /// Makes a page in a memory file called `file_name`, all values at zero. Its size is fixed;
    /// whether others may write the caller decides, who can still seal more.
    ///
    /// # Errors
    /// Those of [`Layout::check`]; the kernel's for want of memory or descriptors.
    pub(crate) fn create(file_name: &CStr, layout: Layout) -> Result<(Self, File), PageError> {
        layout.check()?;
        let file = memory::create(file_name)?;
        file.write_all_at(&layout.encode(), 0)?;
        let memory = memory::map(&file)?;
        Ok((Self { memory, layout }, file))
    }

    /// Maps a page that another process has made, to be read and written.
    ///
    /// # Errors
    /// Every [`PageError`].
    pub(crate) fn open(file: &File) -> Result<Self, PageError> {
        let layout = layout_of(file)?;
        Ok(Self { memory: memory::map(file)?, layout })
    }

    /// Maps a page that another process has made, to be read. The file need not be kept, and is
    /// better not: who holds it seems to publish it.
    ///
    /// # Errors
    /// Every [`PageError`].
    pub(crate) fn open_read_only(file: &File) -> Result<Self, PageError> {
        let layout = layout_of(file)?;
        Ok(Self { memory: MmapOptions::new().map_raw_read_only(file)?, layout })
    }

    /// A value. Of a page that is mapped to be read it is only ever to be loaded, relaxed.
    ///
    /// # Panics
    /// If there is no such value.
    #[inline]
    pub(crate) fn value(&self, index: usize) -> &AtomicU64 {
        assert!(index < self.layout.metrics.len(), "a value of another page");
        // SAFETY: the value lies inside the mapping, whose size was checked against the layout and
        // is sealed, and which lives as long as `self`. A mapping begins on a page and offsets are
        // multiples of 8, so it is aligned. Every process reaches it atomically only. A relaxed
        // load of 8 bytes is allowed of memory that is mapped to be read only, on the 64-bit
        // targets that there are (`std::sync::atomic`, "Atomic accesses to read-only memory").
        unsafe {
            AtomicU64::from_ptr(self.memory.as_mut_ptr().add(self.layout.offset(index)).cast())
        }
    }
}

/// What a stranger's file says of itself, if it can be mapped.
fn layout_of(file: &File) -> Result<Layout, PageError> {
    // Before anything else: a file that can shrink kills whoever maps it.
    if !memory::is_sealed(file) || !memory::is_ordinary(file)? {
        return Err(PageError::NotSealed);
    }
    Layout::decode(file.metadata()?.len(), |length| {
        let mut bytes = vec![0; length];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(bytes)
    })
}

const _: () = assert!(cfg!(target_pointer_width = "64"), "loads from memory that is read only");

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;
    use crate::layout::Spacing;
    use crate::layout::tests::layout;

    fn sealed(image: &[u8]) -> File {
        let file = memory::create(c"hairpin-test").unwrap();
        file.write_all_at(image, 0).unwrap();
        memory::seal(&file).unwrap();
        file
    }

    #[test]
    fn what_is_not_sealed_is_not_mapped() {
        let image = layout().encode();
        let file = memory::create(c"hairpin-test").unwrap();
        file.write_all_at(&image, 0).unwrap();
        assert!(matches!(Page::open(&file), Err(PageError::NotSealed)));
        let file = tempfile::tempfile().unwrap();
        file.write_all_at(&image, 0).unwrap();
        assert!(matches!(Page::open_read_only(&file), Err(PageError::NotSealed)));
        assert!(Page::open_read_only(&sealed(&image)).is_ok());
    }

    #[test]
    fn a_file_of_huge_pages_is_not_mapped() {
        let Some(huge) = memory::tests::huge() else { return };
        assert!(matches!(Page::open_read_only(&huge), Err(PageError::NotSealed)));
    }

    #[test]
    fn what_is_no_page_is_not_mapped() {
        let image = layout().encode();
        assert!(matches!(Page::open_read_only(&sealed(b"")), Err(PageError::NotPage)));
        let cut = &image[..image.len() - 64];
        assert!(matches!(Page::open_read_only(&sealed(cut)), Err(PageError::Size)));
    }

    #[test]
    fn every_value_is_its_own() {
        for spacing in [Spacing::Packed, Spacing::Apart] {
            let layout = Layout { spacing, ..layout() };
            let (page, file) = Page::create(c"hairpin-test", layout).unwrap();
            memory::seal(&file).unwrap();
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
    #[should_panic(expected = "a value of another page")]
    fn a_value_that_is_not_there_is_a_defect() {
        let (page, _) = Page::create(c"hairpin-test", layout()).unwrap();
        let _ = page.value(2);
    }
}
