//! Threads of an ordinary user with chosen capabilities, see capabilities(7).

use std::io;

/// A capability, by its number in linux/capability.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Capability {
    /// CAP_NET_ADMIN: network configuration.
    NetAdmin = 12,
    /// CAP_NET_RAW: raw and packet sockets.
    NetRaw = 13,
    /// CAP_IPC_LOCK: locked memory.
    IpcLock = 14,
    /// CAP_SYS_ADMIN: namespaces, and many other operations.
    SysAdmin = 21,
    /// CAP_BPF: privileged BPF operations.
    Bpf = 39,
}

/// The user `nobody`, with limits of its own on locked memory and processes.
const NOBODY: libc::uid_t = 65_534;
/// `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;

/// Makes the calling thread an ordinary user (`nobody`) with exactly these capabilities.
///
/// Programs that the thread starts inherit both. The change is permanent and affects no other
/// thread. Call this as root on a thread that ends afterwards, such as that of
/// [`Host::run`](crate::Host::run).
///
/// For the kernel, the whole process has changed its user: until it executes a program, its files
/// in `/proc/self` belong to root.
///
/// # Errors
/// The kernel's: the thread is not root's, or lacks one of the capabilities.
pub fn become_ordinary_user(capabilities: &[Capability]) -> io::Result<()> {
    let mask = capabilities.iter().fold(0, |mask, &capability| mask | 1 << capability as u64);
    // SAFETY: the calls take integers. The list of groups is empty and not read. Made directly and
    // not through libc, the calls affect this thread only.
    unsafe {
        check(libc::prctl(libc::PR_SET_KEEPCAPS, 1 as libc::c_ulong).into())?;
        check(libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()))?;
        check(libc::syscall(libc::SYS_setresgid, NOBODY, NOBODY, NOBODY))?;
        check(libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY))?;
    }
    set(mask)?;
    capabilities.iter().try_for_each(|&capability| raise_ambient(capability))
}

/// Sets the effective, permitted and inheritable capabilities of the thread.
fn set(mask: u64) -> io::Result<()> {
    let header = [VERSION, 0];
    let sets = [mask as u32, (mask >> 32) as u32].map(|word| [word; 3]);
    // SAFETY: both have the layout of linux/capability.h, live during the call and are only read:
    // version and thread (0 is the calling thread); the low and the high words of the effective,
    // permitted and inheritable sets.
    check(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) })
}

/// Passes a capability to programs that the thread starts.
fn raise_ambient(capability: Capability) -> io::Result<()> {
    let [raise, number] = [libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong, capability as _];
    let none: libc::c_ulong = 0;
    // SAFETY: the call takes integers of the width that the kernel reads, and accesses no memory of
    // the process.
    let result = unsafe { libc::prctl(libc::PR_CAP_AMBIENT, raise, number, none, none) };
    check(result.into())
}

fn check(result: libc::c_long) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
