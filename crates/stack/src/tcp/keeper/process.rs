//! The start of the keeper's process.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::panic::AssertUnwindSafe;

use super::confine::confine;
use super::message;
use super::server::Server;
use super::vault::Vault;
use crate::run_summary::LastLine;
use crate::tcp::injector::Injector;

/// The most times that a killed keeper is replaced.
const REPLACEMENTS: u32 = 1_000;
/// The lowest number of the descriptor that a run's processes inherit, if it cannot be beyond the
/// limit of descriptors: out of the way of programs.
const DESCRIPTOR: libc::c_int = 900;
/// The most descriptors that a run's processes inherit, also in a run within a run.
const INHERITED_MAX: libc::rlim_t = 16;
/// The highest limit of descriptors to go beyond: each process has a table up to the number.
const LIMIT_MAX: libc::rlim_t = 4_096;
const NAME: &CStr = c"hairpin-keeper";

/// Starts a keeper in the network namespace of this process, as a child of init: two processes, of
/// which one waits for the other and replaces it if it is killed. The keeper opens no other
/// interfaces than these for the programs of the run, and serves only processes of this user and of
/// `users`. It prints `last_line` when it ends.
///
/// Returns the descriptor for [`KeeperClient::connect`](super::KeeperClient::connect): not
/// close-on-exec, so that the programs of a run inherit it. The keeper ends when the last process
/// that has the descriptor has ended.
///
/// # Errors
/// The kernel's, and `Unsupported` if this process has more than one thread: a copy of it could not
/// allocate.
pub fn start_keeper(
    interfaces: &[String],
    users: &[u32],
    last_line: Option<LastLine>,
) -> io::Result<OwnedFd> {
    if std::fs::read_dir("/proc/self/task")?.count() != 1 {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let [ours, theirs] = message::pair()?;
    // SAFETY: this process has one thread, so the child's memory is consistent.
    let child = match unsafe { libc::fork() } {
        -1 => return Err(io::Error::last_os_error()),
        0 => {
            drop(ours);
            detach(theirs, interfaces, users, last_line);
            // SAFETY: ends the child without the exit handlers of its parent.
            unsafe { libc::_exit(0) };
        }
        child => child,
    };
    drop(theirs);
    // SAFETY: no status is requested; the child ends at once.
    while unsafe { libc::waitpid(child, std::ptr::null_mut(), 0) } < 0
        && io::Error::last_os_error().kind() == io::ErrorKind::Interrupted
    {}
    if message::receive(ours.as_fd(), 0)?.is_none() {
        return Err(io::Error::other("cannot open raw sockets, or cannot fork"));
    }
    inheritable(&ours)
}

/// Duplicates a descriptor for the programs of a run: not close-on-exec, to a number out of their
/// way.
///
/// # Errors
/// The kernel's.
pub fn inheritable(descriptor: &OwnedFd) -> io::Result<OwnedFd> {
    duplicate_beyond_limit(descriptor)
        .or_else(|_| duplicate(descriptor, DESCRIPTOR))
        // The limit of descriptors may be lower.
        .or_else(|_| duplicate(descriptor, 3))
}

/// Duplicates a descriptor, not close-on-exec, to the first free number from `from` on.
fn duplicate(descriptor: &OwnedFd, from: libc::c_int) -> io::Result<OwnedFd> {
    // SAFETY: the call takes integers.
    let number = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD, from) };
    if number < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Duplicates a descriptor to a number beyond the limit of descriptors (`RLIMIT_NOFILE`), which the
/// program does not find when it examines all numbers up to the limit.
fn duplicate_beyond_limit(descriptor: &OwnedFd) -> io::Result<OwnedFd> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the kernel writes the structure.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) };
    if !(1..=LIMIT_MAX).contains(&limit.rlim_cur) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let rlim_cur = limit.rlim_cur + INHERITED_MAX;
    let raised = libc::rlimit { rlim_cur, rlim_max: limit.rlim_max.max(rlim_cur) };
    // SAFETY: the kernel reads the structure.
    let set = |limit: &libc::rlimit| unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, limit) };
    if set(&raised) != 0 {
        return Err(io::Error::last_os_error());
    }
    let duplicated = duplicate(descriptor, limit.rlim_cur as libc::c_int);
    set(&limit);
    duplicated
}

/// Forks the keeper, in a child that ends at once: its parent becomes init.
fn detach(
    registration: OwnedFd,
    interfaces: &[String],
    users: &[u32],
    last_line: Option<LastLine>,
) {
    // SAFETY: this process has one thread.
    if unsafe { libc::fork() } != 0 {
        return;
    }
    let Ok(vault) = Vault::new() else { return };
    let mut kept = vec![registration.as_raw_fd()];
    kept.extend(vault.descriptors());
    kept.extend(last_line.iter().flat_map(LastLine::descriptors));
    isolate(kept);
    // A panic must not continue in code of the parent.
    let _ = std::panic::catch_unwind(|| {
        // A forked process does not inherit them.
        if Injector::open().is_ok()
            && message::send(registration.as_fd(), [0; 4], &[], &[], 0).is_ok()
            && is_server()
            && let Ok(injector) = Injector::open()
            && confine().is_ok()
        {
            // SAFETY: the call takes no argument.
            let users = [users, &[unsafe { libc::geteuid() }]].concat();
            let names = interfaces.to_vec();
            let mut server = Server::new(registration, injector, names, users, vault);
            if std::panic::catch_unwind(AssertUnwindSafe(|| server.run())).is_err() {
                // A death, after which this process is replaced.
                std::process::abort();
            }
            if let Some(last_line) = last_line {
                last_line.print();
            }
        }
    });
}

/// Forks the process that serves, again if it was killed. Returns `true` in that process, and
/// `false` in this one when the other has ended in order.
fn is_server() -> bool {
    for _ in 0..REPLACEMENTS {
        // SAFETY: this process has one thread.
        let child = match unsafe { libc::fork() } {
            0 => return true,
            child => child,
        };
        let mut status = 0;
        // SAFETY: the status outlives the call.
        while unsafe { libc::waitpid(child, &raw mut status, 0) } < 0 {
            if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted {
                return false;
            }
        }
        if !libc::WIFSIGNALED(status) {
            return false;
        }
    }
    false
}

/// Overwrites the command line, which other users can read and which has the program's arguments.
fn hide_arguments() {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // arg_start and arg_end are the fields 48 and 49 (proc_pid_stat(5)). The second one may contain
    // blanks and ends with a bracket.
    let mut fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').skip(45);
    let mut next = || fields.next()?.parse::<usize>().ok();
    let (Some(start), Some(end)) = (next(), next()) else { return };
    let name = NAME.to_bytes();
    if end.saturating_sub(start) < name.len() {
        return;
    }
    let start = start as *mut u8;
    // SAFETY: the kernel has placed the arguments there, in writable memory of this process, which
    // has one thread and reads them no more.
    unsafe {
        start.write_bytes(0, end - start as usize);
        start.copy_from_nonoverlapping(name.as_ptr(), name.len());
    }
}

/// Gives up what the keeper shares with the program: arguments, terminal, folder, signals and all
/// descriptors but these.
fn isolate(mut kept: Vec<RawFd>) {
    hide_arguments();
    // SAFETY: the calls take integers, constant strings and local variables. No value of this
    // process uses the descriptors that are closed or replaced.
    unsafe {
        libc::setsid();
        libc::chdir(c"/".as_ptr());
        libc::prctl(libc::PR_SET_NAME, NAME.as_ptr());
        libc::prctl(libc::PR_SET_DUMPABLE, 0);
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
        kept.sort_unstable();
        let mut begin = 3;
        for fd in kept {
            // An empty range is an error without effect.
            libc::syscall(libc::SYS_close_range, begin, fd - 1, 0);
            begin = fd + 1;
        }
        libc::syscall(libc::SYS_close_range, begin, libc::c_int::MAX, 0);
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR | libc::O_CLOEXEC);
        for standard in 0..3 {
            libc::dup2(null, standard);
        }
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}
