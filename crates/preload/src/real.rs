//! The C library's own functions behind the exported ones.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

use libc::{
    epoll_event, fd_set, iovec, mmsghdr, msghdr, nfds_t, off_t, pid_t, pollfd, rlimit, sigset_t,
    size_t, sockaddr, socklen_t, ssize_t, timespec, timeval,
};

/// Returns the address of the next definition of a function after this library's.
#[cold]
fn resolve(name: &CStr, address: &AtomicPtr<c_void>) -> *mut c_void {
    // SAFETY: the name ends with zero; RTLD_NEXT is valid in a loaded library.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if found.is_null() {
        crate::log::fatal(&format!("cannot find {name:?} in the C library"));
    }
    address.store(found, Ordering::Release);
    found
}

macro_rules! real {
    ($(fn $name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        /// Calls the C library's function of this name.
        ///
        /// # Safety
        /// As for that function.
        #[inline]
        #[allow(non_snake_case, reason = "the C library's name")]
        pub(crate) unsafe fn $name($($argument: $kind),*) -> $result {
            static ADDRESS: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            let mut address = ADDRESS.load(Ordering::Acquire);
            if address.is_null() {
                const NAME: &CStr = match CStr::from_bytes_with_nul(
                    concat!(stringify!($name), "\0").as_bytes(),
                ) {
                    Ok(name) => name,
                    Err(_) => panic!("a name without zero"),
                };
                address = resolve(NAME, &ADDRESS);
            }
            // SAFETY: the address is that of the C library's function, which has this signature;
            // the caller passes valid arguments.
            unsafe {
                let call: unsafe extern "C-unwind" fn($($kind),*) -> $result =
                    std::mem::transmute(address);
                call($($argument),*)
            }
        }
    )*};
}

real! {
    fn accept4(fd: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int;
    fn bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    fn close(fd: c_int) -> c_int;
    fn close_range(first: u32, last: u32, flags: c_int) -> c_int;
    fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int;
    fn dup(fd: c_int) -> c_int;
    fn dup2(from: c_int, to: c_int) -> c_int;
    fn dup3(from: c_int, to: c_int, flags: c_int) -> c_int;
    fn epoll_create(size: c_int) -> c_int;
    fn epoll_create1(flags: c_int) -> c_int;
    fn epoll_ctl(epoll: c_int, operation: c_int, fd: c_int, event: *mut epoll_event) -> c_int;
    fn epoll_wait(epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int;
    fn epoll_pwait(
        epoll: c_int, events: *mut epoll_event, most: c_int, timeout: c_int, mask: *const sigset_t
    ) -> c_int;
    fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int;
    fn fdopen(fd: c_int, mode: *const c_char) -> *mut libc::FILE;
    fn getsockopt(
        fd: c_int, level: c_int, name: c_int, value: *mut c_void, length: *mut socklen_t
    ) -> c_int;
    fn ioctl(fd: c_int, request: libc::c_ulong, argument: usize) -> c_int;
    fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int;
    fn ppoll(
        fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t
    ) -> c_int;
    fn pselect(
        count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set,
        timeout: *const timespec, mask: *const sigset_t
    ) -> c_int;
    fn preadv2(
        fd: c_int, parts: *const iovec, count: c_int, offset: off_t, flags: c_int
    ) -> ssize_t;
    fn pwritev2(
        fd: c_int, parts: *const iovec, count: c_int, offset: off_t, flags: c_int
    ) -> ssize_t;
    fn read(fd: c_int, buffer: *mut c_void, length: size_t) -> ssize_t;
    fn readv(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t;
    fn recv(fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int) -> ssize_t;
    fn recvfrom(
        fd: c_int, buffer: *mut c_void, length: size_t, flags: c_int, name: *mut sockaddr,
        name_length: *mut socklen_t
    ) -> ssize_t;
    fn recvmmsg(
        fd: c_int, messages: *mut mmsghdr, count: u32, flags: c_int, timeout: *mut timespec
    ) -> c_int;
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    fn select(
        count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set,
        timeout: *mut timeval
    ) -> c_int;
    fn send(fd: c_int, buffer: *const c_void, length: size_t, flags: c_int) -> ssize_t;
    fn sendmmsg(fd: c_int, messages: *mut mmsghdr, count: u32, flags: c_int) -> c_int;
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    fn sendto(
        fd: c_int, buffer: *const c_void, length: size_t, flags: c_int, name: *const sockaddr,
        name_length: socklen_t
    ) -> ssize_t;
    fn setsockopt(
        fd: c_int, level: c_int, name: c_int, value: *const c_void, length: socklen_t
    ) -> c_int;
    fn shutdown(fd: c_int, how: c_int) -> c_int;
    fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int;
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn write(fd: c_int, buffer: *const c_void, length: size_t) -> ssize_t;
    fn writev(fd: c_int, parts: *const iovec, count: c_int) -> ssize_t;
    fn execve(
        path: *const c_char, arguments: *const *const c_char, variables: *const *const c_char
    ) -> c_int;
    fn execv(path: *const c_char, arguments: *const *const c_char) -> c_int;
    fn execvp(file: *const c_char, arguments: *const *const c_char) -> c_int;
    fn execvpe(
        file: *const c_char, arguments: *const *const c_char, variables: *const *const c_char
    ) -> c_int;
    fn fexecve(
        fd: c_int, arguments: *const *const c_char, variables: *const *const c_char
    ) -> c_int;
    fn execveat(
        folder: c_int, path: *const c_char, arguments: *const *const c_char,
        variables: *const *const c_char, flags: c_int
    ) -> c_int;
    fn posix_spawn(
        process: *mut pid_t, path: *const c_char, actions: *const c_void,
        attributes: *const c_void, arguments: *const *const c_char,
        variables: *const *const c_char
    ) -> c_int;
    fn posix_spawnp(
        process: *mut pid_t, path: *const c_char, actions: *const c_void,
        attributes: *const c_void, arguments: *const *const c_char,
        variables: *const *const c_char
    ) -> c_int;
    fn posix_spawn_file_actions_addclose(actions: *mut c_void, fd: c_int) -> c_int;
    fn posix_spawn_file_actions_addclosefrom_np(actions: *mut c_void, first: c_int) -> c_int;
    fn posix_spawn_file_actions_adddup2(actions: *mut c_void, from: c_int, to: c_int) -> c_int;
    fn sendfile(to: c_int, from: c_int, offset: *mut off_t, length: size_t) -> ssize_t;
    fn splice(
        from: c_int, from_offset: *mut off_t, to: c_int, to_offset: *mut off_t, length: size_t,
        flags: c_uint
    ) -> ssize_t;
    fn clone(
        entry: extern "C" fn(*mut c_void) -> c_int, stack: *mut c_void, flags: c_int,
        argument: *mut c_void, parent: *mut pid_t, tls: *mut c_void, child: *mut pid_t
    ) -> c_int;
    fn setrlimit(resource: c_uint, limit: *const rlimit) -> c_int;
    fn prlimit(process: pid_t, resource: c_uint, new: *const rlimit, old: *mut rlimit) -> c_int;
    fn prctl(option: c_int, a: usize, b: usize, c: usize, d: usize) -> c_int;
    fn fork() -> pid_t;
    fn system(command: *const c_char) -> c_int;
    fn popen(command: *const c_char, kind: *const c_char) -> *mut libc::FILE;
    fn _Fork() -> pid_t;
    fn syscall(
        number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize
    ) -> c_long;
}
