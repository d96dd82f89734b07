"""Calls on a connected UDP socket that the kernel refuses, or that end with an error.

Arguments: the address of this host, the address of an echo server, any port, and that of UDP. The
server ends after `quit`. Prints the error of each call."""

import ctypes
import errno
import os
import resource
import socket
import struct
import sys
import time

CLOSED = 900
HIGH = 600
libc = ctypes.CDLL(None, use_errno=True)


def outcome(name, *arguments):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*arguments)
    return name, result, errno.errorcode.get(ctypes.get_errno()) if result < 0 else None


def open_socket():
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.bind((sys.argv[1], 0))
    opened.connect((sys.argv[2], int(sys.argv[4])))
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 60, 0))
    for number in range(20):
        opened.send(bytes([number]))
        assert opened.recv(100) == bytes([number])
    return opened


def refused(opened, name, *arguments):
    opened.send(b"kept")
    # The answer has arrived before the call.
    time.sleep(0.1)
    print(*outcome(name, *arguments))
    assert opened.recv(100) == b"kept"


def message(parts):
    """Returns a message of many parts, and its header."""
    room = ctypes.create_string_buffer(parts)
    at = ctypes.addressof(room)
    vector = struct.pack("PN" * parts, *(value for part in range(parts) for value in (at + part, 1)))
    vector = ctypes.create_string_buffer(vector, len(vector))
    header = struct.pack("PIPNPNi4x", 0, 0, ctypes.addressof(vector), parts, 0, 0, 0)
    return vector, ctypes.create_string_buffer(header, len(header)), room


# Sockets take the lowest free number.
fillers = [os.open("/dev/null", os.O_RDONLY) for _ in range(HIGH)]
connected = open_socket()
fd = connected.fileno()
assert fd >= HIGH
for filler in fillers:
    os.close(filler)
refused(connected, "dup2", CLOSED, fd)
refused(connected, "dup3", CLOSED, fd, os.O_CLOEXEC)
vector, header, room = message(1_025)
for name in ["readv", "writev"]:
    refused(connected, name, fd, vector, 1_025)
for name in ["preadv2", "pwritev2"]:
    refused(connected, name, fd, vector, 1_025, ctypes.c_long(-1), 0)
for name in ["recvmsg", "sendmsg"]:
    refused(connected, name, fd, header, 0)
resource.setrlimit(resource.RLIMIT_NOFILE, (HIGH, 4_096))
refused(connected, "dup2", 0, fd)
refused(connected, "dup3", 0, fd, 0)

# Without a descriptor to wait for, a receive still sleeps.
connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 2, 0))
resource.setrlimit(resource.RLIMIT_NOFILE, (0, 4_096))
begin = time.monotonic(), time.process_time()
try:
    connected.recv(100)
except BlockingIOError as error:
    waited, used = time.monotonic() - begin[0], time.process_time() - begin[1]
    print("waits", waited > 1.9, used < waited / 2, errno.errorcode[error.errno])
resource.setrlimit(resource.RLIMIT_NOFILE, (4_096, 4_096))

# The order of a datagram and an error is not defined, and none is lost.
connected.send(b"quit")
time.sleep(0.3)
connected.send(b"nobody receives this")
time.sleep(0.3)
size = struct.calcsize("PIPNPNi4xI4x")
vector, header, room = message(64)
messages = ctypes.create_string_buffer((header.raw + bytes(8)) * 2, size * 2)
begin = time.monotonic(), time.process_time()
found = [outcome("recvmmsg", fd, messages, 2, 0, None) for _ in range(3)]
waited, used = time.monotonic() - begin[0], time.process_time() - begin[1]
print(*sorted(found, key=str), waited > 1.9, used < waited / 2)
