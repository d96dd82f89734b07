//! Memory files, and the preparation of any file before it is mapped: allocated blocks, sealed
//! size, present pages.

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::time::{Duration, Instant};

use memmap2::{Advice, MmapRaw};

/// The seals of a memory file: it cannot shrink, grow, or lose its seals.
const SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// Creates a memory file, which exists until its last descriptor is closed. Close-on-exec.
pub(crate) fn create(name: &CStr) -> io::Result<File> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: `name` is a NUL-terminated string that outlives the call.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and no other code owns it.
    Ok(File::from(unsafe { OwnedFd::from_raw_fd(fd) }))
}

/// Creates a memory file with these bytes, which no process can change. Close-on-exec.
///
/// # Errors
/// The kernel's.
pub fn sealed_copy(name: &CStr, bytes: &[u8]) -> io::Result<File> {
    let mut file = create(name)?;
    file.write_all(bytes)?;
    seal_bytes(&file)?;
    Ok(file)
}

/// The longest wait for pages that the kernel still uses.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Forbids every change of a memory file. The kernel refuses this as long as anything else refers
/// to a page, which includes its own lists of pages on a busy machine: it waits about 150 ms and
/// then reports EBUSY (fcntl(2), F_SEAL_WRITE).
fn seal_bytes(file: &File) -> io::Result<()> {
    let start = Instant::now();
    loop {
        match add_seals(file, SEALS | libc::F_SEAL_WRITE) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                if start.elapsed() > MAX_WAIT {
                    return Err(error);
                }
            }
            result => return result,
        }
    }
}

/// The seals of a size.
const SIZE_SEALS: libc::c_int = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW;

/// Keeps the seals of a memory file as they are, which marks it as one of this project.
pub(crate) fn seal_seals(file: &File) -> io::Result<()> {
    add_seals(file, libc::F_SEAL_SEAL)
}

/// Returns `true` for a memory file whose seals stay as they are.
pub(crate) fn is_seal_sealed(file: &File) -> bool {
    has_seals(file, libc::F_SEAL_SEAL)
}

/// Seals the size of a memory file for its lifetime.
pub(crate) fn seal(file: &File) -> io::Result<()> {
    add_seals(file, SEALS)
}

/// Seals the size of a memory file. Further seals may be added.
pub(crate) fn seal_size(file: &File) -> io::Result<()> {
    add_seals(file, SIZE_SEALS)
}

/// Forbids writable mappings, writes and seals from now on, once in the file's lifetime. Existing
/// mappings stay writable.
///
/// # Errors
/// `PermissionDenied` if it was called before; `Unsupported` before kernel 5.1.
pub(crate) fn seal_writer(file: &File) -> io::Result<()> {
    let seals = libc::F_SEAL_FUTURE_WRITE | libc::F_SEAL_SEAL;
    add_seals(file, seals).map_err(|error| match error.raw_os_error() {
        Some(libc::EINVAL) => io::ErrorKind::Unsupported.into(),
        _ => error,
    })
}

fn add_seals(file: &File, seals: libc::c_int) -> io::Result<()> {
    // SAFETY: F_ADD_SEALS takes an integer and accesses no memory of this process.
    match unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Seals the size and forbids future writable mappings and writes: only the existing mapping can
/// change the page.
///
/// A kernel before 5.1 does not support the second seal; then only the size is sealed.
pub(crate) fn seal_for_readers(file: &File) -> io::Result<()> {
    match add_seals(file, SEALS | libc::F_SEAL_FUTURE_WRITE) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => seal(file),
        sealed => sealed,
    }
}

/// Returns `true` if the file's size is sealed, `false` for anything but a sealed memory file.
pub(crate) fn is_sealed(file: &File) -> bool {
    has_seals(file, SEALS)
}

/// Returns `true` if the size is sealed, also if further seals may be added.
pub(crate) fn is_size_sealed(file: &File) -> bool {
    has_seals(file, SIZE_SEALS)
}

fn has_seals(file: &File, expected: libc::c_int) -> bool {
    // SAFETY: F_GET_SEALS takes no argument and accesses no memory of this process.
    let seals = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_GET_SEALS) };
    seals >= 0 && seals & expected == expected
}

/// Returns `false` for a memory file of huge pages. Access to an unpopulated huge page kills the
/// reader if no huge page is free, and another process may pass such a file.
pub(crate) fn is_ordinary(file: &File) -> io::Result<bool> {
    // SAFETY: all zeros is a valid value of this plain structure.
    let mut statistics: libc::statfs = unsafe { std::mem::zeroed() };
    // SAFETY: the call takes a descriptor and fills the structure, which outlives the call.
    match unsafe { libc::fstatfs(file.as_raw_fd(), &raw mut statistics) } {
        0 => Ok(statistics.f_type == libc::TMPFS_MAGIC),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Allocates blocks for `length` bytes, so that no later store can find the disk full.
///
/// # Errors
/// `StorageFull`, `FileTooLarge` and other errors of the file system.
pub(crate) fn allocate(file: &File, length: u64) -> io::Result<()> {
    let length =
        libc::off_t::try_from(length).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    loop {
        // SAFETY: the call takes a descriptor and two integers and accesses no memory of this
        // process.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
            0 => return Ok(()),
            libc::EINTR => {}
            errno => return Err(io::Error::from_raw_os_error(errno)),
        }
    }
}

/// Maps the whole file shared, with every page present and writable.
pub(crate) fn map(file: &File) -> io::Result<MmapRaw> {
    let memory = MmapRaw::map_raw(file)?;
    populate(&memory)?;
    Ok(memory)
}

/// Returns the error of an earlier writeback of a file by the kernel, once per descriptor. Waits
/// for writeback in progress, and starts none.
pub(crate) fn check_writeback(file: &File) -> io::Result<()> {
    let flags = libc::SYNC_FILE_RANGE_WAIT_BEFORE;
    // SAFETY: the call takes a descriptor and integers and accesses no memory of this process.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), 0, 0, flags) } {
        0 => Ok(()),
        _ => match io::Error::last_os_error() {
            // Not supported by this file system.
            error
                if [libc::EINVAL, libc::ESPIPE, libc::ENOSYS]
                    .map(Some)
                    .contains(&error.raw_os_error()) =>
            {
                Ok(())
            }
            error => Err(error),
        },
    }
}

/// Makes every page of a new mapping present and writable.
pub(crate) fn populate(memory: &MmapRaw) -> io::Result<()> {
    match memory.advise(Advice::PopulateWrite) {
        // Kernels before 5.14 do not support the advice.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            touch(memory);
            Ok(())
        }
        outcome => outcome,
    }
}

/// Takes the write fault of every page by writing its current content back.
#[cold]
fn touch(memory: &MmapRaw) {
    const SMALLEST_PAGE: usize = 4096;
    for offset in (0..memory.len()).step_by(SMALLEST_PAGE) {
        // SAFETY: `offset` is inside the mapping, which is readable and writable. No other code has
        // the mapping, since `map` has not returned it yet.
        unsafe {
            let byte = memory.as_mut_ptr().add(offset);
            byte.write_volatile(byte.read_volatile());
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::ptr::null_mut;

    use super::*;

    /// Returns a sealed file of huge pages, if the kernel supports them.
    pub(crate) fn huge() -> Option<File> {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING | libc::MFD_HUGETLB;
        // SAFETY: the name is a NUL-terminated string that outlives the call.
        let fd = unsafe { libc::memfd_create(c"hairpin-test".as_ptr(), flags) };
        if fd < 0 {
            println!("skipped: no huge pages: {}", io::Error::last_os_error());
            return None;
        }
        // SAFETY: the descriptor is new, and no other code owns it.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
        file.set_len(2 << 20).unwrap();
        seal(&file).unwrap();
        Some(file)
    }

    #[test]
    fn sealed_copy_cannot_change() {
        use std::os::unix::fs::FileExt;

        let file = sealed_copy(c"hairpin-test", b"four").unwrap();
        let refused = |result: io::Result<()>| result.unwrap_err().kind();
        assert_eq!(refused(file.write_all_at(b"more", 0)), io::ErrorKind::PermissionDenied);
        assert_eq!(refused(file.set_len(8)), io::ErrorKind::PermissionDenied);
        assert_eq!(refused(file.set_len(0)), io::ErrorKind::PermissionDenied);
        let mut bytes = [0; 4];
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"four");
    }

    #[test]
    fn sealing_waits_for_pages_in_use() {
        use std::io::{Read, pipe};

        let mut file = create(c"hairpin-test").unwrap();
        file.write_all(b"four").unwrap();
        let (mut reader, writer) = pipe().unwrap();
        let mut offset = 0;
        let (source, target) = (file.as_raw_fd(), writer.as_raw_fd());
        // SAFETY: `offset` outlives the call. The pipe refers to the file's page afterwards.
        let moved = unsafe { libc::splice(source, &mut offset, target, null_mut(), 4, 0) };
        assert_eq!(moved, 4);
        let refused = add_seals(&file, SEALS | libc::F_SEAL_WRITE).unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::ResourceBusy);
        std::thread::scope(|threads| {
            let sealing = threads.spawn(|| seal_bytes(&file));
            std::thread::sleep(Duration::from_millis(500));
            assert!(!sealing.is_finished());
            let mut bytes = [0; 4];
            reader.read_exact(&mut bytes).unwrap();
            sealing.join().unwrap().unwrap();
        });
    }

    #[test]
    fn sealed_file_cannot_change_size() {
        let file = create(c"hairpin-test").unwrap();
        allocate(&file, 4096).unwrap();
        assert!(!is_sealed(&file));
        seal(&file).unwrap();
        assert!(is_sealed(&file));
        assert!(file.set_len(0).is_err());
        assert!(file.set_len(8192).is_err());
        assert!(seal(&file).is_err());
    }

    #[test]
    fn file_sealed_for_readers_rejects_new_writers() {
        use std::os::unix::fs::FileExt;
        let file = create(c"hairpin-test").unwrap();
        file.write_all_at(&[0; 4096], 0).unwrap();
        let memory = map(&file).unwrap();
        seal_for_readers(&file).unwrap();
        assert!(is_sealed(&file));
        assert!(file.write_all_at(b"x", 0).is_err());
        assert!(MmapRaw::map_raw(&file).is_err());
        // SAFETY: the first byte of a mapping that no other code writes.
        unsafe { memory.as_mut_ptr().write_volatile(7) };
        let mut read = [0];
        file.read_exact_at(&mut read, 0).unwrap();
        assert_eq!(read, [7]);
    }

    #[test]
    fn huge_pages_are_not_ordinary() {
        assert!(is_ordinary(&create(c"hairpin-test").unwrap()).unwrap());
        let Some(huge) = huge() else { return };
        assert!(is_sealed(&huge));
        assert!(!is_ordinary(&huge).unwrap());
    }

    #[test]
    fn plain_file_is_never_sealed() {
        assert!(!is_sealed(&tempfile::tempfile().unwrap()));
    }

    #[test]
    fn allocation_larger_than_disk_fails() {
        let file = tempfile::tempfile().unwrap();
        assert!(allocate(&file, u64::MAX).is_err());
        assert!(allocate(&file, 1 << 60).is_err());
    }

    #[test]
    fn touch_keeps_content() {
        let file = create(c"hairpin-test").unwrap();
        allocate(&file, 3 * 4096).unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, b"kept", 4096).unwrap();
        let memory = map(&file).unwrap();
        touch(&memory);
        let mut read = [0; 4];
        std::os::unix::fs::FileExt::read_exact_at(&file, &mut read, 4096).unwrap();
        assert_eq!(&read, b"kept");
    }

    /// Returns the number of minor page faults of this thread.
    fn faults() -> i64 {
        // SAFETY: all zeros is a valid value of this plain structure, which outlives the call.
        unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            assert_eq!(libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage), 0);
            usage.ru_minflt
        }
    }

    fn faults_of_filling(memory: &MmapRaw) -> i64 {
        let before = faults();
        // SAFETY: the range is the whole mapping, which no other code uses.
        unsafe { memory.as_mut_ptr().write_bytes(0x55, memory.len()) };
        faults() - before
    }

    #[test]
    fn map_populates_all_pages() {
        const PAGES: u64 = 256;
        let file = create(c"hairpin-test").unwrap();
        allocate(&file, PAGES * 4096).unwrap();
        // Other sources may cause a few faults: the stack, a page that migrates between nodes.
        assert!(faults_of_filling(&map(&file).unwrap()) < 16);
        let touched = MmapRaw::map_raw(&file).unwrap();
        touch(&touched);
        assert!(faults_of_filling(&touched) < 16);
        assert!(faults_of_filling(&MmapRaw::map_raw(&file).unwrap()) >= 16);
    }
}
