//! What the keeper gives up before it serves: it receives messages from programs that may attack
//! it.

use std::collections::BTreeMap;
use std::io;

use hairpin_xdp::drop_other_capabilities;
use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

/// The system calls of the keeper. Those with a rule of their own are in [`rules`].
const CALLS: &[c_long] = &[
    libc::SYS_bind,
    libc::SYS_bpf,
    libc::SYS_brk,
    libc::SYS_capget,
    libc::SYS_capset,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_close,
    libc::SYS_connect,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fallocate,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_fstatfs,
    libc::SYS_ftruncate,
    libc::SYS_futex,
    libc::SYS_getdents64,
    libc::SYS_geteuid,
    libc::SYS_getpeername,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getsockname,
    libc::SYS_getsockopt,
    libc::SYS_gettid,
    libc::SYS_ioctl,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_memfd_create,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_newfstatat,
    libc::SYS_pidfd_open,
    libc::SYS_ppoll,
    libc::SYS_pread64,
    libc::SYS_prlimit64,
    libc::SYS_read,
    libc::SYS_readlinkat,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_sendmsg,
    libc::SYS_sendto,
    libc::SYS_set_robust_list,
    libc::SYS_setsockopt,
    libc::SYS_shutdown,
    libc::SYS_sigaltstack,
    libc::SYS_statx,
    libc::SYS_tgkill,
    libc::SYS_uname,
    libc::SYS_write,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_getrlimit,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_readlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lstat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_stat,
];

/// Gives up all capabilities but those of the keeper, executing programs with more privileges, and
/// all system calls but its own: they fail with `ENOSYS`.
///
/// # Errors
/// The kernel's.
pub(super) fn confine() -> io::Result<()> {
    drop_other_capabilities()?;
    // Also sets no_new_privs.
    apply_filter(&filter()?).map_err(io::Error::other)
}

fn filter() -> io::Result<BpfProgram> {
    let calls = CALLS.iter().map(|call| (*call, Vec::new()));
    let all: BTreeMap<_, _> = calls.chain(rules()?).collect();
    let refuse = SeccompAction::Errno(libc::ENOSYS as u32);
    let architecture = std::env::consts::ARCH.try_into().map_err(io::Error::other)?;
    let filter = SeccompFilter::new(all, refuse, SeccompAction::Allow, architecture);
    filter.map_err(io::Error::other)?.try_into().map_err(io::Error::other)
}

/// Returns the calls that are limited by an argument.
fn rules() -> io::Result<[(c_long, Vec<SeccompRule>); 3]> {
    let rule = |argument, operator, value: libc::c_int| {
        let (length, value) = (SeccompCmpArgLen::Dword, u64::from(value.cast_unsigned()));
        let condition = SeccompCondition::new(argument, length, operator, value);
        SeccompRule::new(vec![condition.map_err(io::Error::other)?]).map_err(io::Error::other)
    };
    let families = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_XDP];
    let sockets = families.map(|family| rule(0, SeccompCmpOp::Eq, family));
    let only = |flag: libc::c_int| SeccompCmpOp::MaskedEq(u64::from(flag.cast_unsigned()));
    // Threads only: the C library falls back from clone3(2), whose flags no filter sees.
    let threads = rule(0, only(libc::CLONE_THREAD), libc::CLONE_THREAD)?;
    let readers = rule(2, only(libc::O_ACCMODE), libc::O_RDONLY)?;
    Ok([
        (libc::SYS_socket, sockets.into_iter().collect::<io::Result<_>>()?),
        (libc::SYS_clone, vec![threads]),
        (libc::SYS_openat, vec![readers]),
    ])
}
