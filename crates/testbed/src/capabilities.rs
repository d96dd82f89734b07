//! An ordinary user with just the capabilities that it is given, see capabilities(7).

use std::io;

/// A capability, by its number in linux/capability.h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Capability {
    /// To change what the network is like.
    NetAdmin = 12,
    /// To send and receive whole packets.
    NetRaw = 13,
    /// To lock memory.
    IpcLock = 14,
    /// To enter namespaces, among much else.
    SysAdmin = 21,
    /// To make privileged use of BPF.
    Bpf = 39,
}

/// `nobody`, whose locked memory and processes are counted apart.
const NOBODY: libc::uid_t = 65_534;
/// `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;

/// Makes the calling thread, and no other, an ordinary user (`nobody`) who has these capabilities.
///
/// So do the programs that it starts from now on; there is no way back. To be called by root, on a
/// thread that ends thereafter: [`Host::run`](crate::Host::run) has one.
///
/// The kernel takes the whole process for one that has changed its user: until a program is
/// executed, files in `/proc/self` are root's.
///
/// # Errors
/// The kernel's: the thread is not root's, or has not got them itself.
pub fn become_ordinary_user(capabilities: &[Capability]) -> io::Result<()> {
    let mask = capabilities.iter().fold(0, |mask, &capability| mask | 1 << capability as u64);
    // SAFETY: takes integers and no memory; made directly, the calls concern this thread alone.
    // The list of groups is empty and is not read.
    unsafe {
        done(libc::prctl(libc::PR_SET_KEEPCAPS, 1 as libc::c_ulong).into())?;
        done(libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()))?;
        done(libc::syscall(libc::SYS_setresgid, NOBODY, NOBODY, NOBODY))?;
        done(libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY))?;
    }
    set(mask)?;
    capabilities.iter().try_for_each(|&capability| hand_on(capability))
}

/// Sets what the thread may, and what it may hand on, to just this.
fn set(mask: u64) -> io::Result<()> {
    let header = [VERSION, 0];
    let sets = [mask as u32, (mask >> 32) as u32].map(|word| [word; 3]);
    // SAFETY: both are as linux/capability.h has them, live through the call and are only read:
    // version and thread (0, this one); the low and the high words of effective, permitted and
    // inheritable.
    done(unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), sets.as_ptr()) })
}

/// Leaves a capability to programs that the thread starts.
fn hand_on(capability: Capability) -> io::Result<()> {
    let [raise, number] = [libc::PR_CAP_AMBIENT_RAISE as libc::c_ulong, capability as _];
    let none: libc::c_ulong = 0;
    // SAFETY: takes integers, as wide as the kernel reads them, and touches no memory of ours.
    let result = unsafe { libc::prctl(libc::PR_CAP_AMBIENT, raise, number, none, none) };
    done(result.into())
}

fn done(result: libc::c_long) -> io::Result<()> {
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
