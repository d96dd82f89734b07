"""Uses sockets, descriptors and processes as hard as programs do, and fails if something is lost.

Arguments: the peer's address and port, the local address. The peer answers `N:text` with N
datagrams `0:text`, `1:text`, and so on, and `s:N` with N datagrams `0`, `1`, and so on, one per
50 microseconds.
"""

import ctypes
import os
import random
import resource
import select
import socket
import struct
import sys
import threading
import time

PEER = (sys.argv[1], int(sys.argv[2]))
LOCAL = sys.argv[3]
LIBC = ctypes.CDLL(None, use_errno=True)


def bound():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((LOCAL, 0))
    return sock


def ask(sock, text):
    sock.sendto(b"1:" + text, PEER)
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    assert poll.poll(5000)
    assert sock.recv(100) == b"0:" + text


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def many_sockets():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(10_000, hard - 100)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    # The first socket opens the interface.
    ask(bound(), b"first")
    before = descriptors()
    sockets = [bound() for _ in range(count)]
    for sock in random.sample(sockets, 20):
        ask(sock, b"many")
    for sock in sockets:
        sock.close()
    # The library opens an event per sleeping thread and one file of its own later.
    assert descriptors() <= before + 4, (before, descriptors())


def shared_sockets():
    sockets = [bound() for _ in range(8)]
    until = time.monotonic() + 2
    failures = []

    def work(seed):
        draw = random.Random(seed)
        while time.monotonic() < until:
            at = draw.randrange(len(sockets))
            sock = sockets[at]
            try:
                match draw.randrange(8):
                    case 0:
                        sockets[at] = bound()
                        sock.close()
                    case 1:
                        poll = select.poll()
                        poll.register(sock, select.POLLIN)
                        poll.poll(5)
                    case 2:
                        select.select([sock], [], [], 0.005)
                    case 3:
                        with select.epoll() as epoll:
                            epoll.register(sock, select.EPOLLIN)
                            epoll.poll(0.005)
                    case 4:
                        sock.connect(PEER)
                    case _:
                        sock.sendto(b"3:shared", PEER)
                        sock.recv(100, socket.MSG_DONTWAIT)
            except (OSError, ValueError):
                pass
            except BaseException as error:
                failures.append(error)
                raise

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert not failures
    for sock in sockets:
        sock.close()


def opened_and_closed_instances():
    """The library knows them all: in a strict run it would end the program otherwise."""
    sockets = [bound() for _ in range(4)]
    until = time.monotonic() + 3

    def work():
        while time.monotonic() < until:
            epoll = select.epoll()
            for sock in sockets:
                epoll.register(sock, select.EPOLLIN)
            copy = os.dup(epoll.fileno())
            os.dup2(epoll.fileno(), copy)
            LIBC.close_range(copy, copy, 0)
            epoll.close()

    threads = [threading.Thread(target=work) for _ in range(64)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    for sock in sockets:
        sock.close()


def closed_while_others_wait():
    sockets = [bound() for _ in range(16)]
    ends = []

    def wait(sock):
        try:
            sock.recv(100)
        except OSError:
            pass
        ends.append(sock)

    threads = []
    for sock in sockets:
        # The kernel leaves a receive waiting when another thread closes its descriptor.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 300_000))
        threads += [threading.Thread(target=wait, args=(sock,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.05)
    for sock in sockets:
        sock.close()
    for thread in threads:
        thread.join(30)
    assert len(ends) == 64


def reused_descriptors():
    before = descriptors()
    for turn in range(1_000):
        sock = bound()
        number = sock.fileno()
        if turn % 100 == 0:
            ask(sock, b"reuse")
        # Closed by a call of the C library, not of Python.
        LIBC.close(sock.detach())
        reader, writer = os.pipe()
        assert number in (reader, writer)
        os.write(writer, b"pipe")
        assert os.read(reader, 10) == b"pipe"
        os.close(reader)
        os.close(writer)
    assert descriptors() <= before + 4


def closed_ranges():
    sock = bound()
    ask(sock, b"open")
    first = sock.fileno() + 1
    assert LIBC.close_range(first, 0xFFFF_FFFF, 0) == 0
    ask(sock, b"after close_range")
    LIBC.closefrom(first)
    ask(sock, b"after closefrom")
    ask(bound(), b"another")


def replaced_standard_descriptors():
    kept = [os.dup(fd) for fd in range(3)]
    sock = bound()
    sock.sendto(b"3:standard", PEER)
    for fd in range(3):
        os.dup2(sock.fileno(), fd)
        assert os.read(fd, 100).endswith(b":standard")
        own = bound()
        os.dup2(own.fileno(), fd)
        own.sendto(b"1:own", PEER)
        assert os.read(fd, 100) == b"0:own"
    for saved, fd in zip(kept, range(3)):
        os.dup2(saved, fd)
        os.close(saved)


def daemon():
    reader, writer = os.pipe()
    sock = bound()
    sock.settimeout(60)
    sock.sendto(b"1:before", PEER)
    select.select([sock], [], [], 5)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            null = os.open("/dev/null", os.O_RDWR)
            for fd in range(3):
                os.dup2(null, fd)
            # What has arrived before, and what arrives later.
            assert sock.recv(100) == b"0:before"
            sock.sendto(b"1:daemon", PEER)
            os.write(writer, sock.recv(100))
            os._exit(0)
        os._exit(0)
    os.close(writer)
    sock.close()
    os.wait()
    assert os.read(reader, 100) == b"0:daemon"


def forks_with_datagrams_in_flight():
    count = 600
    for turn in range(5):
        sock = bound()
        # SO_RCVBUFFORCE: nothing may be dropped.
        sock.setsockopt(socket.SOL_SOCKET, 33, 16 << 20)
        sock.settimeout(60)
        sock.sendto(b"s:%d" % count, PEER)
        found = []
        children = []
        while len(found) < count:
            found.append(int(sock.recv(100)))
            if len(found) == 1 + 60 * turn:
                child = os.fork()
                if child == 0:
                    time.sleep(0.01)
                    os._exit(0)
                children.append(child)
        assert sorted(found) == list(range(count)), found
        for child in children:
            os.waitpid(child, 0)
        sock.settimeout(0.01)
        try:
            raise AssertionError(sock.recv(100))
        except TimeoutError:
            pass


PARTS = (
    many_sockets,
    shared_sockets,
    opened_and_closed_instances,
    closed_while_others_wait,
    reused_descriptors,
    closed_ranges,
    replaced_standard_descriptors,
    daemon,
    forks_with_datagrams_in_flight,
)
for part in PARTS:
    begin = time.monotonic()
    part()
    print(part.__name__, f"{time.monotonic() - begin:.2f} s", flush=True)
print("done")
