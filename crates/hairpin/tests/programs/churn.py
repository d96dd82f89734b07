"""Does to TCP connections under load what only the kernel can do: fork, exec, dup2, SCM_RIGHTS,
fdopen, splice, sendfile, shutdown of one half. Checks that each stream comes back unchanged.

Run as `churn.py server ADDRESS PORT`, which echoes, or as
`churn.py client ADDRESS PORT THREADS CONNECTIONS ROUNDS`.
"""

import array
import ctypes
import hashlib
import os
import random
import resource
import select
import selectors
import socket
import subprocess
import sys
import threading
import time

ROLE, ADDRESS, PORT = sys.argv[1], sys.argv[2], int(sys.argv[3])
# The longest wait for bytes that the peer owes.
PATIENCE = 60
LONGEST = 6_000

soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def serve():
    listener = socket.create_server((ADDRESS, PORT), backlog=4_096)
    listener.setblocking(False)
    events = selectors.DefaultSelector()
    events.register(listener, selectors.EVENT_READ, None)
    print("listening", flush=True)
    while True:
        for key, _ in events.select():
            if key.data is None:
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.settimeout(PATIENCE)
                events.register(connection, selectors.EVENT_READ, True)
                continue
            try:
                received = key.fileobj.recv(65_536)
                key.fileobj.sendall(received)
            except OSError:
                received = b""
            if not received:
                events.unregister(key.fileobj)
                key.fileobj.close()


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.fdopen.restype = ctypes.c_void_p
for name, kinds in [
    ("fwrite", [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p]),
    ("fread", [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p]),
    ("fflush", [ctypes.c_void_p]),
    ("fclose", [ctypes.c_void_p]),
]:
    getattr(LIBC, name).argtypes = kinds
    getattr(LIBC, name).restype = ctypes.c_size_t


class Stream:
    """A connection and the hashes of what was sent and received."""

    def __init__(self):
        self.socket = socket.create_connection((ADDRESS, PORT), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.hashes = [hashlib.blake2b(), hashlib.blake2b()]

    def sent(self, data):
        self.hashes[0].update(data)

    def receive(self, length):
        while length:
            part = self.socket.recv(length)
            assert part, "end of the stream"
            self.hashes[1].update(part)
            length -= len(part)

    def await_room(self):
        """Waits by select(2), or by poll(2) if the descriptor is too large for it."""
        if self.socket.fileno() < 1_024:
            select.select([], [self.socket], [], PATIENCE)
        else:
            poll = select.poll()
            poll.register(self.socket, select.POLLOUT)
            poll.poll(PATIENCE * 1_000)

    def exchange(self, draw, data):
        """Sends and receives by a random pair of calls."""
        match draw.randrange(4):
            case 0:
                self.socket.sendall(data)
            case 1:
                rest = data
                while rest:
                    rest = rest[self.socket.sendmsg([rest[:100], rest[100:]]) :]
            case 2:
                rest = data
                while rest:
                    self.await_room()
                    rest = rest[self.socket.send(rest) :]
            case _:
                rest = data
                while rest:
                    try:
                        rest = rest[os.write(self.socket.fileno(), rest) :]
                    except BlockingIOError:
                        self.await_room()
        self.sent(data)
        match draw.randrange(3):
            case 0:
                poll = select.poll()
                poll.register(self.socket, select.POLLIN)
                assert poll.poll(PATIENCE * 1_000), "silence"
            case 1:
                with select.epoll() as epoll:
                    epoll.register(self.socket, select.EPOLLIN)
                    assert epoll.poll(PATIENCE), "silence"
        self.receive(len(data))

    def fork(self, data):
        """A child uses the connection, and the parent continues."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                self.socket.sendall(data)
                echo = b""
                while len(echo) < len(data):
                    echo += self.socket.recv(len(data) - len(echo))
                status = int(echo != data)
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0, "the child"
        for stream in self.hashes:
            stream.update(data)

    def exec(self, data):
        """Another program reads the echo."""
        self.socket.sendall(data)
        self.sent(data)
        # The program reads from a descriptor that blocks.
        self.socket.setblocking(True)
        command = ["/usr/bin/head", "-c", str(len(data))]
        found = subprocess.run(command, stdin=self.socket, stdout=subprocess.PIPE, check=True)
        self.socket.settimeout(PATIENCE)
        assert len(found.stdout) == len(data), "the program"
        self.hashes[1].update(found.stdout)

    def duplicate(self, data):
        """Another descriptor replaces that of the connection."""
        spare = os.open("/dev/null", os.O_RDONLY)
        os.dup2(self.socket.fileno(), spare)
        self.replace(socket.socket(fileno=spare))
        self.socket.sendall(data)
        self.sent(data)
        self.receive(len(data))

    def pass_on(self, data):
        """The descriptor is passed to another process, which is this one."""
        with_rights = array.array("i", [self.socket.fileno()])
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, with_rights)])
            self.socket.sendall(data)
            self.sent(data)
            _, control, _, _ = theirs.recvmsg(1, socket.CMSG_SPACE(4))
            number = array.array("i", control[0][2][:4])[0]
        self.replace(socket.socket(fileno=number))
        self.receive(len(data))

    def replace(self, new):
        old, self.socket = self.socket, new
        old.close()
        self.socket.settimeout(PATIENCE)

    def stdio(self, data):
        """A stream of the C library, on a descriptor of its own."""
        self.socket.setblocking(True)
        number = os.dup(self.socket.fileno())
        file = LIBC.fdopen(number, b"r+b")
        assert file
        assert LIBC.fwrite(data, 1, len(data), file) == len(data) and LIBC.fflush(file) == 0
        self.sent(data)
        buffer = ctypes.create_string_buffer(len(data))
        assert LIBC.fread(buffer, 1, len(data), file) == len(data)
        self.hashes[1].update(buffer.raw)
        LIBC.fclose(file)
        self.socket.settimeout(PATIENCE)

    def splice(self, data):
        """From a pipe to the connection, and back."""
        self.socket.setblocking(True)
        reader, writer = os.pipe()
        number = self.socket.fileno()
        os.write(writer, data)
        rest = len(data)
        while rest:
            rest -= os.splice(reader, number, rest)
        self.sent(data)
        rest = len(data)
        while rest:
            rest -= os.splice(number, writer, rest)
        rest = len(data)
        while rest:
            part = os.read(reader, rest)
            self.hashes[1].update(part)
            rest -= len(part)
        os.close(reader)
        os.close(writer)
        self.socket.settimeout(PATIENCE)

    def sendfile(self, data, file):
        self.socket.setblocking(True)
        at = os.lseek(file, 0, os.SEEK_SET)
        os.write(file, data)
        while at < len(data):
            at += os.sendfile(self.socket.fileno(), file, at, len(data) - at)
        self.sent(data)
        self.socket.settimeout(PATIENCE)
        self.receive(len(data))

    def shut_down(self, data):
        """Ends one half while the echo is on its way, and reads to the end."""
        self.socket.sendall(data)
        self.sent(data)
        self.socket.shutdown(socket.SHUT_WR)
        while part := self.socket.recv(65_536):
            self.hashes[1].update(part)
        self.socket.close()
        sent, received = (stream.digest() for stream in self.hashes)
        assert sent == received, "the hashes differ"


OPERATIONS = ["duplicate", "pass_on", "stdio", "splice", "sendfile", "shut_down"]
# These hand back all connections, so they are rare.
FORKS = ["fork", "exec"]
done = dict.fromkeys([*OPERATIONS, *FORKS, "exchange"], 0)
failures = []


def work(seed, streams, rounds, forks):
    draw = random.Random(seed)
    file = os.memfd_create("churn")
    try:
        for turn in range(rounds):
            at = draw.randrange(len(streams))
            stream = streams[at]
            for _ in range(draw.randrange(12)):
                stream.exchange(draw, draw.randbytes(draw.randrange(1, LONGEST)))
                done["exchange"] += 1
            data = draw.randbytes(draw.randrange(1, LONGEST))
            forks_now = forks and turn == rounds // 2
            name = draw.choice(FORKS if forks_now else OPERATIONS)
            arguments = [data, file] if name == "sendfile" else [data]
            try:
                getattr(stream, name)(*arguments)
            except BaseException as error:
                error.add_note(f"during {name}")
                raise
            done[name] += 1
            if name == "shut_down":
                streams[at] = Stream()
    except BaseException as error:
        failures.append(f"{seed}: {error!r} {getattr(error, '__notes__', '')}")
    os.close(file)


def use(all_streams, rounds, forks):
    threads = [
        threading.Thread(target=work, args=(seed, streams, rounds, forks and seed % 8 == 0))
        for seed, streams in enumerate(all_streams)
    ]
    for thread in threads:
        thread.start()
    until = time.monotonic() + 10 * PATIENCE
    for thread in threads:
        thread.join(max(0, until - time.monotonic()))
        assert not thread.is_alive(), "a thread hangs"
    assert not failures, failures


def descriptors():
    """Returns the number of events, and of other descriptors."""
    events = others = 0
    for name in os.listdir("/proc/self/fd"):
        try:
            is_event = os.readlink(f"/proc/self/fd/{name}") == "anon_inode:[eventfd]"
        except FileNotFoundError:
            # The list's own descriptor.
            is_event = False
        events += is_event
        others += not is_event
    return events, others


def memory():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS:"))


def run(threads, connections, rounds):
    def open_all():
        return [[Stream() for _ in range(connections // threads)] for _ in range(threads)]

    def close_all(all_streams):
        for streams in all_streams:
            for stream in streams:
                stream.shut_down(b"end")

    # The first turns open the interface and fill the library's pools.
    figures = []
    for forks in [False, True, True]:
        all_streams = open_all()
        use(all_streams, rounds, forks)
        close_all(all_streams)
        figures.append((descriptors(), memory()))
    print(done)
    print("events and other descriptors, memory in KiB:", figures)
    (_, before), ((_, fewer), _), ((events, more), after) = figures
    assert more <= fewer + 8, "descriptors are left"
    # The library keeps an event for each thread that has slept while the others did.
    assert events <= threads + 8, "events are left"
    assert after <= before + 50_000, "memory is left"
    assert all(done.values()), "an operation is missing"
    print("done", flush=True)


if ROLE == "server":
    serve()
else:
    run(*map(int, sys.argv[4:7]))
