"""Calls that the kernel refuses, with a connection and an epoll instance that stay usable.

Arguments: the address and the port of an echo server. Prints the error of each call."""

import ctypes
import errno
import os
import select
import signal
import socket
import sys

CLOSED = 900
libc = ctypes.CDLL(None, use_errno=True)


def exchange(count=1):
    for number in range(count):
        connection.sendall(bytes([number]))
        assert epoll.poll(60) == [(fd, select.EPOLLIN)]
        assert connection.recv(100) == bytes([number])


def refused(name, *arguments):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*arguments)
    print(name, result, errno.errorcode.get(ctypes.get_errno()))
    exchange()


def pair(first, second):
    return (ctypes.c_long * 2)(first, second)


connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
fd = connection.fileno()
epoll = select.epoll()
epoll.register(connection, select.EPOLLIN)
exchange(20)
for to in [fd, epoll.fileno()]:
    refused("dup2", CLOSED, to)
    refused("dup3", CLOSED, to, os.O_CLOEXEC)
    refused("dup3", 0, to, 64)
    refused("close_range", to, to, 64)
refused("close_range", fd, fd - 1, 0)
received = ctypes.create_string_buffer(64)
for timeout in [pair(-1, 0), pair(0, -1), pair(0, 1_000_000_000)]:
    refused("recvmmsg", fd, received, 1, socket.MSG_DONTWAIT, timeout)
members = (ctypes.c_ulong * 16)()
for timeout in [pair(-1, 0), pair(0, -1)]:
    members[fd // 64] = 1 << fd % 64
    refused("select", fd + 1, members, None, None, timeout)
refused("signal", signal.SIGUSR1, ctypes.c_void_p(-1))
handler = ctypes.CFUNCTYPE(None, ctypes.c_int)(lambda _: None)
action = ctypes.create_string_buffer(bytes(ctypes.c_void_p.from_buffer(handler)), 152)
refused("sigaction", 0, action, None)
refused("sigaction", 65, action, None)
