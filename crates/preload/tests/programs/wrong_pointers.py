"""Calls with wrong pointers on a connection, a UDP socket and an epoll instance, all in use.

Arguments: the address of this host, and the address, TCP port and UDP port of echo servers. Prints
the outcome of each call. What the call has left in the socket is received afterwards."""

import ctypes
import errno
import mmap
import os
import resource
import select
import socket
import struct
import sys
import time

PAGE = mmap.PAGESIZE
DONTWAIT = socket.MSG_DONTWAIT
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]


def pages(*protections):
    begin = libc.mmap(None, PAGE * len(protections), 3, 0x22, -1, 0)
    for at, protection in enumerate(protections):
        ctypes.memset(begin + at * PAGE, 0x61, PAGE)
        address = ctypes.c_void_p(begin + at * PAGE)
        assert libc.mprotect(address, ctypes.c_size_t(PAGE), protection) == 0
    return begin


unmapped = pages(3)
assert libc.munmap(ctypes.c_void_p(unmapped), ctypes.c_size_t(PAGE)) == 0
WRONG = {
    "null": 0,
    "small": 8,
    "last": 2**64 - 1,
    "kernel": 2**64 - 2**40,
    "none": pages(0),
    "unmapped": unmapped,
}
READ_ONLY = {"read_only": pages(1)}
WRITE_ONLY = pages(2)
# Ten bytes, then a page that is wrong.
CUT, SENT = (pages(3, 0) + PAGE - 10 for _ in range(2))


def stack():
    """Returns an address of the stack that it has not grown to yet."""
    with open("/proc/self/maps") as maps:
        line = next(line for line in maps if "[stack]" in line)
    return int(line.split("-")[0], 16) - 3 * PAGE


class Ends:
    def __init__(self, kind, port):
        self.kind, self.port = kind, int(port)
        self.epoll = select.epoll()
        self.open()
        self.fd = self.socket.fileno()

    def open(self):
        self.socket = socket.socket(socket.AF_INET, self.kind)
        self.socket.bind((sys.argv[1], 0))
        self.socket.connect((sys.argv[2], self.port))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 60, 0))
        self.epoll.register(self.socket, select.EPOLLIN)

    def exchange(self, text=b"text", count=20):
        for _ in range(count):
            self.socket.send(text)
            assert self.socket.recv(100) == text

    def call(self, text, name, *arguments):
        """Calls with a message of 20 bytes waiting."""
        if self.kind == socket.SOCK_STREAM:
            # A connection that was handed back is not taken over again at once.
            self.socket.close()
            self.open()
            assert self.socket.fileno() == self.fd
        self.exchange()
        self.socket.send(b"a message of 20 byte")
        select.select([self.socket], [], [], 60)
        time.sleep(0.01)
        ctypes.set_errno(0)
        result = getattr(libc, name)(*[
            ctypes.c_void_p(it) if isinstance(it, int) and it > 2**31 else it for it in arguments
        ])
        number = errno.errorcode.get(ctypes.get_errno()) if result < 0 else None
        # What the call has sent comes back.
        sent = max(result, 0) if name.startswith(("send", "write")) else 0
        left = b""
        while len(left) < 20 + sent:
            if not select.select([self.socket], [], [], 60 if sent else 0.05)[0]:
                break
            left += self.socket.recv(100)
        print(self.kind.name, name, text, result, number, left)


def vector(*parts):
    return ctypes.create_string_buffer(b"".join(struct.pack("QQ", *part) for part in parts))


def header(parts=0, count=0, name=0, control=0):
    named, controlled = (16 if name else 0), (64 if control else 0)
    return ctypes.create_string_buffer(
        struct.pack("QIxxxxQQQQixxxx", name, named, parts, count, control, controlled, 0)
    )


def run(ends):
    fd = ends.fd
    good = ctypes.create_string_buffer(100)
    at = ctypes.addressof(good)
    for text, pointer in (WRONG | READ_ONLY).items():
        ends.call(text, "recv", fd, pointer, 50, 0)
        ends.call(text, "read", fd, pointer, 50)
        ends.call(text, "recvfrom", fd, at, 50, DONTWAIT, at, pointer)
        parts = vector((at, 5), (pointer, 50))
        ends.call(text, "readv", fd, parts, 2)
        ends.call(text, "recvmsg", fd, header(ctypes.addressof(parts), 2), 0)
        if text != "read_only":
            ends.call(text, "readv", fd, pointer, 2)
        ends.call(text, "recvmsg", fd, pointer, 0)
        ends.call(text, "recvmmsg", fd, pointer, 1, DONTWAIT, None)
    for text, pointer in WRONG.items():
        ends.call(text, "send", fd, pointer, 50, 0)
        ends.call(text, "write", fd, pointer, 50)
        parts = vector((pointer, 50))
        ends.call(text, "writev", fd, parts, 1)
        ends.call(text, "writev", fd, pointer, 1)
        ends.call(text, "sendmsg", fd, header(ctypes.addressof(parts), 1), 0)
        ends.call(text, "sendmsg", fd, pointer, 0)
        ends.call(text, "sendmmsg", fd, pointer, 1, 0)
        for name in ["poll", "ppoll"]:
            ends.call(text, name, *((pointer, 1, 0) if name == "poll" else (pointer, 1, None, None)))
        if pointer:
            ends.call(text, "select", fd + 1, pointer, None, None, None)
    for name in ["recv", "read", "recvfrom"]:
        ends.call("stack", name, fd, stack(), 50, *([] if name == "read" else [0]), *[None] * 2)
        ends.call("write_only", name, fd, WRITE_ONLY, 50, 0, None, None)
    parts = vector((stack(), 5), (at, 50))
    ends.call("stack", "recvmsg", fd, header(ctypes.addressof(parts), 1), 0)
    ends.call("stack", "recvmsg", fd, header(ctypes.addressof(parts), 2, stack(), stack()), 0)
    ends.call("stack", "send", fd, stack(), 50, 0)
    for text, pointer in (WRONG | READ_ONLY).items():
        # FIONREAD.
        ends.call(text, "ioctl", fd, 0x541B, pointer)
        if text != "read_only":
            ends.call(text, "setsockopt", fd, socket.SOL_SOCKET, socket.SO_KEEPALIVE, pointer, 4)
        ends.call(text, "getsockopt", fd, socket.SOL_SOCKET, socket.SO_KEEPALIVE, at, pointer)
        if pointer:
            ends.call(text, "sendfile", fd, os.open("/proc/self/exe", os.O_RDONLY), pointer, 50)
            ends.call(text, "setrlimit", resource.RLIMIT_NOFILE, pointer)
    ends.call("cut", "recv", fd, CUT, 50, 0)
    ends.call("cut", "send", fd, SENT, 10, 0)
    ends.call("cut", "send", fd, SENT, 50, 0)
    ends.call("cut", "recv", fd, CUT, 50, DONTWAIT | socket.MSG_PEEK)
    # The pages were used before.
    ends.call("cut", "recv", fd, CUT + 5, 5, 0)
    epoll = ends.epoll
    for text, pointer in (WRONG | READ_ONLY).items():
        ends.call(text, "epoll_wait", epoll.fileno(), pointer, 5, 1_000 % 99)
        if text != "read_only":
            ends.call(text, "epoll_ctl", epoll.fileno(), 3, fd, pointer)
    ends.exchange()


run(Ends(socket.SOCK_STREAM, sys.argv[3]))
run(Ends(socket.SOCK_DGRAM, sys.argv[4]))
os._exit(0)
