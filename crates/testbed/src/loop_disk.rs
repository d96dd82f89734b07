//! A small ext4 file system on a loop device, for tests of failing disks.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{ptr, thread};

/// Linux's `EXT4_IOC_SHUTDOWN`.
const SHUTDOWN: libc::Ioctl = 0x8004_587D_u32 as libc::Ioctl;
/// The flag that discards what the file system's journal has not written.
const NO_LOG_FLUSH: u32 = 2;

/// An ext4 file system in a file, mounted on a loop device in a mount namespace of its own.
///
/// The namespace ends with the thread of [`run`](Self::run) and the processes that it has started.
/// The kernel then unmounts the file system and frees the loop device, however the test ends.
#[derive(Debug)]
pub struct LoopDisk {
    image: PathBuf,
    mount: PathBuf,
}

impl LoopDisk {
    /// Runs `test` in a thread with a disk of this size, below `folder`. Needs root, and
    /// `mkfs.ext4`.
    ///
    /// # Panics
    /// If the disk cannot be created, or `test` panics.
    pub fn run<T: Send>(folder: &Path, bytes: u64, test: impl FnOnce(&Self) -> T + Send) -> T {
        let disk = Self { image: folder.join("disk.img"), mount: folder.join("disk") };
        let in_namespace = || {
            disk.create(bytes).expect("a loop device needs root and mkfs.ext4");
            test(&disk)
        };
        match thread::scope(|scope| scope.spawn(in_namespace).join()) {
            Ok(outcome) => outcome,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }

    fn create(&self, bytes: u64) -> io::Result<()> {
        File::create_new(&self.image)?.set_len(bytes)?;
        std::fs::create_dir(&self.mount)?;
        let mut format = Command::new("mkfs.ext4");
        // Reserved blocks are for root only; lazy initialization writes in the background.
        format.args(["-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0"]);
        succeed(format.arg(&self.image))?;
        // SAFETY: the call changes only this thread's view of the file system.
        check(unsafe { libc::unshare(libc::CLONE_NEWNS) })?;
        let private = libc::MS_REC | libc::MS_PRIVATE;
        let nothing = ptr::null();
        // SAFETY: the string outlives the call, and null is allowed for the others.
        check(unsafe { libc::mount(nothing, c"/".as_ptr(), nothing, private, nothing.cast()) })?;
        self.attach()
    }

    fn attach(&self) -> io::Result<()> {
        let mut mount = Command::new("mount");
        mount.args(["-t", "ext4", "-o", "loop,errors=remount-ro"]);
        succeed(mount.arg(&self.image).arg(&self.mount))
    }

    /// Returns the folder of the file system.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.mount
    }

    /// Makes every further write fail with EIO, as a disk that has vanished.
    ///
    /// # Errors
    /// The kernel's.
    pub fn fail(&self) -> io::Result<()> {
        let folder = File::open(&self.mount)?;
        let flags = NO_LOG_FLUSH;
        // SAFETY: the request reads one integer, which outlives the call.
        check(unsafe { libc::ioctl(folder.as_raw_fd(), SHUTDOWN, &raw const flags) })
    }

    /// Makes the file system read-only, as the kernel does after an error of the disk.
    ///
    /// # Errors
    /// The kernel's.
    pub fn make_read_only(&self) -> io::Result<()> {
        let folder = CString::new(self.mount.as_os_str().as_bytes())?;
        let nothing = ptr::null();
        let options = c"abort,errors=remount-ro".as_ptr();
        // SAFETY: the strings outlive the call, and null is allowed for the others.
        check(unsafe {
            libc::mount(nothing, folder.as_ptr(), nothing, libc::MS_REMOUNT, options.cast())
        })
    }

    /// Unmounts the file system and mounts it again, as after a restart of the machine. All files
    /// must be closed.
    ///
    /// # Errors
    /// The kernel's, or those of `mount`.
    pub fn restart(&self) -> io::Result<()> {
        let folder = CString::new(self.mount.as_os_str().as_bytes())?;
        // SAFETY: the string outlives the call.
        check(unsafe { libc::umount2(folder.as_ptr(), 0) })?;
        self.attach()
    }
}

fn check(result: libc::c_int) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn succeed(command: &mut Command) -> io::Result<()> {
    let output = command.output()?;
    match output.status.success() {
        true => Ok(()),
        false => Err(io::Error::other(format!("{command:?}: {output:?}"))),
    }
}
