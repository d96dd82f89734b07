//! Calls of every exported function by a thread that is inside the library.

use std::ffi::{c_int, c_void};
use std::ptr::{null, null_mut};

use super::{copies, descriptors, execution, polling, receive, send, sockets, syscall, system};
use crate::{guard, slots};

const SOURCES: &[&str] = &[
    include_str!("copies.rs"),
    include_str!("descriptors.rs"),
    include_str!("execution.rs"),
    include_str!("polling.rs"),
    include_str!("receive.rs"),
    include_str!("send.rs"),
    include_str!("sockets.rs"),
    include_str!("syscall.rs"),
    include_str!("system.rs"),
];

/// Returns the exported names, except those that macros create.
fn exported() -> impl Iterator<Item = &'static str> {
    let functions = SOURCES.iter().flat_map(|source| source.split("no_mangle").skip(1));
    let names = functions.filter_map(|rest| {
        let (_, rest) = rest.split_once("extern \"C")?;
        let (_, rest) = rest.split_once("fn ")?;
        Some(rest.split_once('(')?.0)
    });
    names.filter(|name| !name.starts_with('$'))
}

/// The descriptors and buffers of the calls, and the names of the functions called.
struct Calls {
    fd: c_int,
    epoll: c_int,
    bytes: [u8; 64],
    called: Vec<&'static str>,
}

macro_rules! call {
    ($calls:ident, $module:ident::$name:ident($($argument:expr),*)) => {{
        $calls.called.push(stringify!($name));
        // SAFETY: the arguments are valid for the function, or make it fail.
        unsafe { $module::$name($($argument),*) }
    }};
}

impl Calls {
    fn transfers(&mut self) {
        let fd = self.fd;
        let buffer: *mut c_void = self.bytes.as_mut_ptr().cast();
        let mut part = libc::iovec { iov_base: buffer, iov_len: 8 };
        // SAFETY: integers and pointers, for which zero is valid.
        let mut message: libc::mmsghdr = unsafe { std::mem::zeroed() };
        (message.msg_hdr.msg_iov, message.msg_hdr.msg_iovlen) = (&raw mut part, 1);
        let (many, one) = (&raw mut message, &raw mut message.msg_hdr);
        call!(self, receive::recv(fd, buffer, 8, 0));
        call!(self, receive::recvfrom(fd, buffer, 8, 0, null_mut(), null_mut()));
        call!(self, receive::read(fd, buffer, 8));
        call!(self, receive::readv(fd, &raw const part, 1));
        for flags in [0, libc::RWF_NOWAIT] {
            call!(self, receive::preadv2(fd, &raw const part, 1, -1, flags));
            call!(self, receive::preadv64v2(fd, &raw const part, 1, -1, flags));
            call!(self, send::pwritev2(fd, &raw const part, 1, -1, flags));
            call!(self, send::pwritev64v2(fd, &raw const part, 1, -1, flags));
        }
        call!(self, receive::recvmsg(fd, one, 0));
        call!(self, receive::recvmmsg(fd, many, 1, 0, null_mut()));
        call!(self, receive::__recv_chk(fd, buffer, 8, 8, 0));
        call!(self, receive::__recvfrom_chk(fd, buffer, 8, 8, 0, null_mut(), null_mut()));
        call!(self, receive::__read_chk(fd, buffer, 8, 8));
        call!(self, send::send(fd, buffer, 8, 0));
        call!(self, send::sendto(fd, buffer, 8, 0, null(), 0));
        call!(self, send::write(fd, buffer, 8));
        call!(self, send::writev(fd, &raw const part, 1));
        call!(self, send::sendmsg(fd, one, 0));
        call!(self, send::sendmmsg(fd, many, 1, 0));
        call!(self, send::__sendmmsg(fd, many, 1, 0));
        call!(self, copies::sendfile(fd, fd, null_mut(), 1));
        call!(self, copies::sendfile64(fd, fd, null_mut(), 1));
        call!(self, copies::splice(fd, null_mut(), fd, null_mut(), 1, 0));
        let number = libc::SYS_recvfrom;
        call!(self, syscall::syscall(number, fd as usize, buffer as usize, 8, 0, 0, 0));
    }

    fn waits(&mut self) {
        let (fd, epoll) = (self.fd, self.epoll);
        let mut entry = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: 0 };
        let mut wait = libc::timeval { tv_sec: 0, tv_usec: 1 };
        let zero = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: zero is an empty set.
        let mut read: libc::fd_set = unsafe { std::mem::zeroed() };
        // SAFETY: the descriptor is below the set's size.
        unsafe { libc::FD_SET(fd, &raw mut read) };
        let (fds, events, set) = (&raw mut entry, &raw mut event, &raw mut read);
        let (none, zero) = (null_mut(), &raw const zero);
        call!(self, polling::poll(fds, 1, 0));
        call!(self, polling::__poll(fds, 1, 0));
        call!(self, polling::__poll_chk(fds, 1, 0, 8));
        call!(self, polling::ppoll(fds, 1, zero, null()));
        call!(self, polling::__ppoll_chk(fds, 1, zero, null(), 8));
        call!(self, polling::select(fd + 1, set, none, none, &raw mut wait));
        call!(self, polling::pselect(fd + 1, set, none, none, zero, null()));
        let others = [
            call!(self, polling::epoll_create(1)),
            call!(self, polling::epoll_create1(libc::EPOLL_CLOEXEC)),
        ];
        // SAFETY: the calls take integers.
        let closed = others.map(|fd| unsafe { libc::close(fd) });
        assert_eq!(closed, [0, 0]);
        call!(self, polling::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, fd, events));
        call!(self, polling::epoll_wait(epoll, events, 1, 0));
        call!(self, polling::epoll_pwait(epoll, events, 1, 0, null()));
        call!(self, polling::epoll_pwait2(epoll, events, 1, zero, null()));
    }

    fn descriptors(&mut self) {
        let fd = self.fd;
        let value: c_int = 1;
        let option = (&raw const value).cast::<c_void>();
        call!(self, sockets::bind(fd, null(), 0));
        call!(self, sockets::connect(fd, null(), 0));
        call!(self, sockets::shutdown(fd, libc::SHUT_RD));
        call!(self, sockets::hairpin_preload_is_accelerated(fd));
        call!(self, sockets::setsockopt(fd, libc::SOL_SOCKET, libc::SO_BROADCAST, option, 4));
        call!(self, sockets::ioctl(fd, libc::FIONBIO, option as usize));
        call!(self, sockets::fcntl(fd, libc::F_GETFL, 0));
        call!(self, sockets::fcntl64(fd, libc::F_GETFL, 0));
        let other = call!(self, sockets::socket(libc::AF_INET, libc::SOCK_DGRAM, 0));
        call!(self, descriptors::close(other));
        let copy = call!(self, descriptors::dup(fd));
        call!(self, descriptors::dup2(fd, copy));
        call!(self, descriptors::dup3(fd, copy, 0));
        call!(self, descriptors::close(copy));
        call!(self, descriptors::fdopen(-1, c"r".as_ptr()));
        // No descriptor of the test is that high.
        call!(self, descriptors::close_range(1 << 20, 1 << 20, 0));
        call!(self, descriptors::closefrom(1 << 20));
    }

    fn processes(&mut self) {
        let (path, missing) = (c"/nonexistent/program".as_ptr(), [null()]);
        let none = missing.as_ptr();
        let mut actions = std::mem::MaybeUninit::uninit();
        // SAFETY: the call initializes the structure.
        unsafe { libc::posix_spawn_file_actions_init(actions.as_mut_ptr()) };
        let added = actions.as_mut_ptr().cast();
        call!(self, execution::posix_spawn_file_actions_adddup2(added, self.fd, 1));
        call!(self, execution::posix_spawn_file_actions_addclose(added, self.fd));
        call!(self, execution::posix_spawn_file_actions_addclosefrom_np(added, 1 << 20));
        // SAFETY: the structure is initialized and not used any more.
        unsafe { libc::posix_spawn_file_actions_destroy(actions.as_mut_ptr()) };
        // The program does not exist, so each call fails.
        let results = [
            call!(self, execution::execve(path, none, none)),
            call!(self, execution::execv(path, none)),
            call!(self, execution::execvp(path, none)),
            call!(self, execution::execvpe(path, none, none)),
            call!(self, execution::fexecve(-1, none, none)),
            call!(self, execution::execveat(-1, path, none, none, 0)),
        ];
        assert_eq!(results, [-1; 6]);
        let (mut limit, unknown) = (libc::rlimit { rlim_cur: 0, rlim_max: 0 }, u32::MAX);
        call!(self, system::setrlimit(unknown, &raw const limit));
        call!(self, system::setrlimit64(unknown, &raw const limit));
        call!(self, system::prlimit(0, unknown, null(), &raw mut limit));
        call!(self, system::prlimit64(0, unknown, null(), &raw mut limit));
        call!(self, system::prctl(libc::PR_GET_DUMPABLE, 0, 0, 0, 0));
        end_child(call!(self, system::vfork()));
        assert_eq!(call!(self, system::system(c"exit 0".as_ptr())), 0);
        let stream = call!(self, system::popen(c"exit 0".as_ptr(), c"r".as_ptr()));
        // SAFETY: the stream is that of `popen`.
        assert_eq!(unsafe { libc::pclose(stream) }, 0);
        end_child(call!(self, system::_Fork()));
        // Without a stack the call fails.
        let (none, no_thread) = (null_mut(), null_mut());
        call!(self, system::clone(entry, none, 0, none, no_thread, none, no_thread));
        call!(self, system::sigaction(libc::SIGUSR2, null(), null_mut()));
        call!(self, system::signal(libc::SIGUSR2, libc::SIG_DFL));
        call!(self, system::siginterrupt(libc::SIGUSR2, 1));
    }
}

extern "C" fn entry(_: *mut c_void) -> c_int {
    0
}

fn end_child(child: libc::pid_t) {
    if child == 0 {
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(0) };
    }
    let mut status = 0;
    // SAFETY: the status outlives the call.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert_eq!(status, 0);
}

/// A function that entered the library would wait for a lock of its own thread.
#[test]
fn calls_from_inside_never_enter_under_any_lock() {
    // SAFETY: the calls take integers.
    let fd = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_NONBLOCK, 0) };
    // SAFETY: as above.
    let epoll = unsafe { libc::epoll_create1(0) };
    let (slot, set) = (slots::find_or_create(fd).unwrap(), slots::find_or_create(epoll).unwrap());
    slot.mark_socket();
    set.set_instance(std::sync::Arc::default());
    let inside = guard::enter().unwrap();
    let locks = [slot, set].map(|slot| (slot.socket(), slot.epoll(), slot.instances()));
    let mut calls = Calls { fd, epoll, bytes: [0; 64], called: Vec::new() };
    calls.transfers();
    calls.waits();
    calls.descriptors();
    calls.processes();
    drop((locks, inside));
    slot.set_plain();
    set.set_plain();
    let missing: Vec<_> = exported().filter(|name| !calls.called.contains(name)).collect();
    assert!(missing.is_empty(), "not called: {missing:?}");
}
