//! Forks and signals.

use std::ffi::{c_char, c_int, c_uint, c_void};

use libc::{pid_t, rlimit, sigaction as SigAction, sighandler_t};

use crate::errno::fail;
use crate::{guard, memory, process, real, signals};

/// # Safety
/// As for sigaction(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn sigaction(
    signal: c_int,
    new: *const SigAction,
    old: *mut SigAction,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe { signals::set_action(signal, new, old) }
}

/// # Safety
/// As for signal(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn signal(
    signal: c_int,
    handler: sighandler_t,
) -> sighandler_t {
    signals::set_handler(signal, handler, libc::SA_RESTART)
}

/// # Safety
/// As for siginterrupt(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn siginterrupt(signal: c_int, interrupts: c_int) -> c_int {
    signals::set_interrupt(signal, interrupts != 0)
}

/// The child shares the memory of the parent's thread, which waits: until the child has ended or
/// runs another program, its calls go to the C library, because the table of descriptors is the
/// parent's.
///
/// # Safety
/// As for vfork(2).
#[cfg(target_arch = "x86_64")]
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub(crate) unsafe extern "C" fn vfork() -> pid_t {
    std::arch::naked_asm!(
        "sub rsp, 8",
        "call {before}",
        "add rsp, 8",
        // The child overwrites the stack, also the return address.
        "pop rdi",
        "mov eax, {number}",
        "syscall",
        "push rdi",
        "test rax, rax",
        "jz 2f",
        "mov rdi, rax",
        "sub rsp, 8",
        "call {after}",
        "add rsp, 8",
        "2:",
        "ret",
        before = sym before_vfork,
        number = const libc::SYS_vfork,
        after = sym after_vfork,
    )
}

#[cfg(target_arch = "x86_64")]
extern "C" fn before_vfork() {
    process::before_fork();
    guard::lend();
}

#[cfg(target_arch = "x86_64")]
extern "C" fn after_vfork(result: libc::c_long) -> pid_t {
    guard::end_loan();
    process::after_fork();
    if result < 0 { fail(-result as c_int) as pid_t } else { result as pid_t }
}

/// Does the same as fork(2).
///
/// # Safety
/// As for vfork(2).
#[cfg(not(target_arch = "x86_64"))]
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn vfork() -> pid_t {
    // SAFETY: as for fork(2).
    unsafe { real::fork() }
}

/// # Safety
/// As for system(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn system(command: *const c_char) -> c_int {
    process::before_exec(false);
    // SAFETY: the program's argument.
    let result = unsafe { real::system(command) };
    process::after_exec();
    result
}

/// # Safety
/// As for popen(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn popen(
    command: *const c_char,
    kind: *const c_char,
) -> *mut libc::FILE {
    process::before_exec(false);
    // SAFETY: the program's arguments.
    let result = unsafe { real::popen(command, kind) };
    process::after_exec();
    result
}

/// Returns all sockets to the kernel before a limit of memory that leaves the library too little.
///
/// # Safety
/// As for setrlimit(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn setrlimit(resource: c_uint, limit: *const rlimit) -> c_int {
    // SAFETY: the program passes a structure, null or a wrong pointer.
    let new = unsafe { memory::optional(limit) }.flatten();
    if !new.is_none_or(|limit| process::accept_limit(resource, limit)) {
        return fail(libc::EPERM) as c_int;
    }
    // SAFETY: the program's arguments.
    unsafe { real::setrlimit(resource, limit) }
}

/// # Safety
/// As for setrlimit(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn setrlimit64(
    resource: c_uint,
    limit: *const rlimit,
) -> c_int {
    // SAFETY: the program's arguments; on 64-bit systems both structures are the same.
    unsafe { setrlimit(resource, limit) }
}

/// # Safety
/// As for prlimit(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn prlimit(
    process: pid_t,
    resource: c_uint,
    new: *const rlimit,
    old: *mut rlimit,
) -> c_int {
    let is_own = process == 0 || process.cast_unsigned() == std::process::id();
    // SAFETY: the program passes a structure, null or a wrong pointer.
    let limit = unsafe { memory::optional(new) }.flatten().filter(|_| is_own);
    if !limit.is_none_or(|limit| process::accept_limit(resource, limit)) {
        return fail(libc::EPERM) as c_int;
    }
    // SAFETY: the program's arguments.
    unsafe { real::prlimit(process, resource, new, old) }
}

/// # Safety
/// As for prlimit(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn prlimit64(
    process: pid_t,
    resource: c_uint,
    new: *const rlimit,
    old: *mut rlimit,
) -> c_int {
    // SAFETY: the program's arguments; on 64-bit systems both structures are the same.
    unsafe { prlimit(process, resource, new, old) }
}

/// Returns all sockets to the kernel before a filter of system calls is installed: it may not list
/// those of the library.
///
/// # Safety
/// As for prctl(2). The C library passes as many arguments on.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn prctl(
    option: c_int,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
) -> c_int {
    if option == libc::PR_SET_SECCOMP && !process::leave_for_filter() {
        return fail(libc::EPERM) as c_int;
    }
    // SAFETY: the program's arguments.
    unsafe { real::prctl(option, a, b, c, d) }
}

/// Does the same as _Fork(3), or the same as fork(2) once an interface is open: handlers of
/// pthread_atfork(3) keep its descriptors out of the child.
///
/// # Safety
/// As for _Fork(3).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn _Fork() -> pid_t {
    // SAFETY: as for _Fork(3).
    unsafe { if process::open_stacks().is_empty() { real::_Fork() } else { real::fork() } }
}

/// The function that a cloned process begins with.
type Entry = extern "C" fn(*mut c_void) -> c_int;

/// The arguments of [`with_forgotten_sockets`], in memory that the copy has too.
struct Copy {
    entry: Entry,
    argument: *mut c_void,
}

extern "C" fn with_forgotten_sockets(copy: *mut c_void) -> c_int {
    // SAFETY: `clone` passes this structure, and the child's copy of its memory is not shared.
    let Copy { entry, argument } = unsafe { copy.cast::<Copy>().read() };
    hairpin_stack::after_copy_in_child();
    process::after_fork_in_child();
    entry(argument)
}

/// A child with memory of its own is a fork: it has no socket of the parent's. Nothing changes for
/// a thread, or for a child that shares the memory until it executes a program.
///
/// # Safety
/// As for clone(2).
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C-unwind" fn clone(
    entry: Entry,
    stack: *mut c_void,
    flags: c_int,
    argument: *mut c_void,
    parent: *mut pid_t,
    tls: *mut c_void,
    child: *mut pid_t,
) -> c_int {
    if flags & libc::CLONE_VM != 0 || process::open_stacks().is_empty() || guard::is_inside() {
        // SAFETY: the program's arguments.
        return unsafe { real::clone(entry, stack, flags, argument, parent, tls, child) };
    }
    process::before_fork();
    hairpin_stack::before_copy();
    let mut copy = Copy { entry, argument };
    let place = (&raw mut copy).cast();
    // SAFETY: the program's arguments; the child's copy of the structure exists as long as the
    // child.
    let result =
        unsafe { real::clone(with_forgotten_sockets, stack, flags, place, parent, tls, child) };
    hairpin_stack::after_copy_in_parent();
    process::after_fork();
    result
}
