"""Waits on epoll instances in every way that the library has to follow.

Arguments: the local address, the peer's address, the port at which it echoes over TCP and UDP.
Prints a line per case. The C library is called directly: the data of events are chosen.
"""

import array
import ctypes
import fcntl
import os
import select
import socket
import sys
import threading
import time

LOCAL, PEER, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])
IN, EDGE = select.EPOLLIN, select.EPOLLET
ADD, DELETE, MODIFY = 1, 2, 3
MESSAGES = 40

libc = ctypes.CDLL(None, use_errno=True)


class Event(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("events", ctypes.c_uint32), ("data", ctypes.c_uint64)]


def create():
    return libc.epoll_create1(0)


def control(epoll, operation, fd, events=IN, data=0):
    event = Event(events, data)
    if libc.epoll_ctl(epoll, operation, fd, ctypes.byref(event)) != 0:
        raise OSError(ctypes.get_errno(), "epoll_ctl")


def wait(epoll, seconds=60):
    """Returns the events, at most eight, as pairs of bits and data."""
    events = (Event * 8)()
    count = libc.epoll_wait(epoll, events, 8, seconds * 1000)
    return [(event.events, event.data) for event in events[: max(count, 0)]]


def connected():
    """Connects, and exchanges as many messages as a takeover needs."""
    sock = socket.create_connection((PEER, PORT))
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(60):
        echo(sock)
    return sock


def echo(sock):
    sock.sendall(b"0123456789abcdef")
    assert sock.recv(16, socket.MSG_WAITALL) == b"0123456789abcdef"


def events_of(sock, epoll, data):
    """Returns how many of the echoes were events with these data."""
    count = 0
    for _ in range(MESSAGES):
        sock.sendall(b"0123456789abcdef")
        found = wait(epoll)
        count += [pair[1] for pair in found] == [data] and bool(found[0][0] & IN)
        assert sock.recv(16, socket.MSG_WAITALL) == b"0123456789abcdef"
    return count


def received_copy(fd):
    """Sends a descriptor to this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        socket.send_fds(ours, [b"x"], [fd])
        return socket.recv_fds(theirs, 1, 1)[1][0]


def replaced_copy(fd):
    spare = os.open("/dev/null", os.O_RDONLY)
    libc.dup2(fd, spare)
    return spare


COPIES = {
    "dup": lambda fd: libc.dup(fd),
    "dup2": replaced_copy,
    "fcntl": lambda fd: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3),
    "received": received_copy,
}


def duplicates():
    for name, copy in COPIES.items():
        for adds_by_copy in (True, False):
            with connected() as sock:
                epoll = create()
                other = copy(epoll)
                adds, waits = (other, epoll) if adds_by_copy else (epoll, other)
                control(adds, ADD, sock.fileno(), IN | EDGE, 77)
                count = events_of(sock, waits, 77)
                # The instance lives on without the descriptor that was used first.
                os.close(adds)
                count += events_of(sock, waits, 77)
                os.close(waits)
            print(f"{name}, added by the {'copy' if adds_by_copy else 'first'}: {count} events")


def changes():
    with connected() as sock:
        epoll = create()
        control(epoll, ADD, sock.fileno(), IN, 1)
        count = events_of(sock, epoll, 1)
        control(epoll, MODIFY, sock.fileno(), IN, 2)
        count += events_of(sock, epoll, 2)
        control(epoll, DELETE, sock.fileno())
        sock.sendall(b"0123456789abcdef")
        print("deleted:", wait(epoll, 0), flush=True)
        for operation in (MODIFY, DELETE):
            try:
                control(epoll, operation, sock.fileno())
            except OSError as error:
                print("deleted:", error.errno)
        control(epoll, ADD, sock.fileno(), IN, 3)
        print("added again:", wait(epoll), flush=True)
        try:
            control(epoll, ADD, sock.fileno())
        except OSError as error:
            print("added twice:", error.errno)
        sock.recv(16, socket.MSG_WAITALL)
        count += events_of(sock, epoll, 3)
        os.close(epoll)
    print(f"changed: {count} events")


def same_data():
    """Both connections of one instance have the same data, and are ready at once."""
    with connected() as one, connected() as two:
        epoll = create()
        for sock in (one, two):
            control(epoll, ADD, sock.fileno(), IN, 5)
        for sock in (one, two):
            sock.sendall(b"0123456789abcdef")
        found = []
        while len(found) < 2:
            time.sleep(0.05)
            found = wait(epoll)
        for sock in (one, two):
            assert sock.recv(16, socket.MSG_WAITALL) == b"0123456789abcdef"
        os.close(epoll)
    print("same data:", sorted(data for _, data in found))


class Sleeper:
    """A thread that waits on an instance of which only an eventfd is a member."""

    def __init__(self, wait):
        self.event = os.eventfd(0, os.EFD_NONBLOCK)
        self.epoll = create()
        control(self.epoll, ADD, self.event, IN, 1)
        self.found = []
        self.wakes = threading.Semaphore(0)
        self.goes = threading.Semaphore(0)
        self.thread = threading.Thread(target=self.run, args=(wait,), daemon=True)
        self.thread.start()
        time.sleep(0.2)

    def run(self, wait):
        while 1 not in self.found:
            self.found = wait(self.epoll)
            self.wakes.release()
            self.goes.acquire()

    def next(self):
        """Returns what the thread has found. It waits again after `go`."""
        assert self.wakes.acquire(timeout=60), "the thread sleeps"
        return self.found

    def go(self):
        self.goes.release()

    def end(self):
        os.eventfd_write(self.event, 1)
        assert self.next() == [1]
        self.go()
        self.thread.join(60)
        os.close(self.epoll)
        os.close(self.event)


def data_of(epoll):
    return [data for _, data in wait(epoll)]


def polled(epoll):
    """Waits by poll(2) on the instance, as an outer loop does."""
    poll = select.poll()
    poll.register(epoll, select.POLLIN)
    poll.poll(60_000)
    return [data for _, data in wait(epoll, 0)]


def sleepers():
    for name, how in (("epoll", data_of), ("poll", polled)):
        sleeper, found = Sleeper(how), []
        with connected() as sock:
            for _ in range(10):
                control(sleeper.epoll, ADD, sock.fileno(), IN, 77)
                sock.sendall(b"0123456789abcdef")
                found += sleeper.next()
                control(sleeper.epoll, DELETE, sock.fileno())
                assert sock.recv(16, socket.MSG_WAITALL) == b"0123456789abcdef"
                sleeper.go()
                time.sleep(0.02)
                for _ in range(20):
                    echo(sock)
        sleeper.end()
        print(f"TCP added while a thread sleeps in {name}: {found}")


def datagrams():
    for name, how in (("epoll", data_of), ("poll", polled)):
        for binds_first in (True, False):
            sleeper, found = Sleeper(how), []
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
                if binds_first:
                    sock.bind((LOCAL, 0))
                control(sleeper.epoll, ADD, sock.fileno(), IN, 77)
                if not binds_first:
                    sock.bind((LOCAL, 0))
                for _ in range(10):
                    sock.sendto(b"datagram", (PEER, PORT))
                    found += sleeper.next()
                    assert sock.recv(100) == b"datagram"
                    sleeper.go()
                    time.sleep(0.02)
                control(sleeper.epoll, DELETE, sock.fileno())
            sleeper.end()
            order = "bound and added" if binds_first else "added and bound"
            print(f"UDP {order} while a thread sleeps in {name}: {found}")


def many_sleepers():
    """More threads than the library has ever been used with sleep at once."""
    sleepers = [Sleeper(data_of) for _ in range(3)]
    epolls = [create() for _ in range(300)]
    for epoll in epolls:
        control(epoll, ADD, sleepers[0].event, IN, 1)
    found = []
    threads = [threading.Thread(target=lambda at=at: found.append(data_of(at))) for at in epolls]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    os.eventfd_write(sleepers[0].event, 1)
    for thread in threads:
        thread.join(60)
    # Only now: the close of the event would remove it from the instances.
    for sleeper in sleepers:
        sleeper.end()
    for epoll in epolls:
        os.close(epoll)
    print("many:", found == [[1]] * len(epolls))


for case in (duplicates, changes, same_data, sleepers, datagrams, many_sleepers):
    case()
    sys.stdout.flush()
