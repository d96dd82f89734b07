"""Scenarios of TCP connections. The server does what the first line of a connection names."""

import array
import ctypes
import errno
import fcntl
import hashlib
import os
import queue
import select
import socket
import struct
import sys
import tempfile
import termios
import threading
import time
import traceback

PORT = 7700
# The socket module has no name for it.
TCP_INQ = 36


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def pattern(length, start=0):
    """Bytes that follow from their position."""
    block = b"".join(struct.pack(">I", at) for at in range(start // 4, (start + length) // 4 + 2))
    skipped = start % 4
    return block[skipped : skipped + length]


def read_exactly(connection, length):
    parts = []
    while length:
        part = connection.recv(min(length, 65536))
        assert part, f"end of the stream, {length} bytes missing"
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def read_line(connection):
    line = b""
    while not line.endswith(b"\n"):
        byte = connection.recv(1)
        if not byte:
            return line
        line += byte
    return line


def read_all(connection):
    parts = []
    while part := connection.recv(65536):
        parts.append(part)
    return b"".join(parts)


stored = queue.Queue()


def serve(connection):
    try:
        answer(connection)
    except ConnectionError:
        # The client has closed its end with bytes unread.
        pass
    except BaseException:
        # The test finds that the server has ended.
        traceback.print_exc()
        os._exit(1)


def answer(connection):
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while request := read_line(connection):
            words = request.decode().split()
            if words[0] == "echo":
                connection.sendall(read_exactly(connection, int(words[1])))
            elif words[0] == "send":
                connection.sendall(pattern(int(words[1])))
            elif words[0] == "slowly":
                for byte in pattern(int(words[1])):
                    connection.sendall(bytes([byte]))
                    time.sleep(0.001)
            elif words[0] == "hash":
                connection.sendall(hashlib.sha256(read_all(connection)).hexdigest().encode())
                return
            elif words[0] == "close":
                connection.sendall(b"last")
                return
            elif words[0] == "store":
                stored.put(hashlib.sha256(read_all(connection)).hexdigest())
                return
            elif words[0] == "recall":
                connection.sendall(stored.get(timeout=60).encode())
                return
            elif words[0] == "late":
                time.sleep(float(words[1]))
                connection.sendall(b"late")
            elif words[0] == "sleep":
                time.sleep(float(words[1]))
                connection.sendall(hashlib.sha256(read_exactly(connection, int(words[2]))).digest())


def server(address):
    listener = socket.socket(family(address), socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, PORT))
    listener.listen(64)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


class Scenario:
    def __init__(self, address):
        self.address = address

    def connect(self):
        """Connects, and exchanges enough messages to be taken over."""
        connection = socket.create_connection((self.address, PORT), timeout=None)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number in range(12):
            text = b"%04d" % number
            connection.sendall(b"echo 4\n" + text)
            assert read_exactly(connection, 4) == text
        return connection

    def echo(self):
        with self.connect() as connection:
            digest = hashlib.sha256()
            for number in range(200):
                data = pattern(number * 37 % 5000 + 1, number)
                connection.sendall(b"echo %d\n" % len(data))
                connection.sendall(data)
                digest.update(read_exactly(connection, len(data)))
            return digest.hexdigest()

    def partial_reads(self):
        with self.connect() as connection:
            connection.sendall(b"send 1000\n")
            parts = [connection.recv(7) for _ in range(3)]
            first = b"".join(parts)
            return (first + read_exactly(connection, 1000 - len(first))) == pattern(1000)

    def peek_and_queue(self):
        with self.connect() as connection:
            connection.sendall(b"send 100\n")
            select.select([connection], [], [])
            while len(connection.recv(200, socket.MSG_PEEK)) < 100:
                pass
            unread = array.array("i", [0])
            fcntl.ioctl(connection, termios.FIONREAD, unread)
            peeked = connection.recv(50, socket.MSG_PEEK)
            read = connection.recv(200)
            return unread[0], peeked == read[:50], len(read)

    def waitall(self):
        with self.connect() as connection:
            connection.sendall(b"slowly 100\n")
            first = connection.recv(60, socket.MSG_WAITALL)
            peeked = connection.recv(40, socket.MSG_PEEK | socket.MSG_WAITALL)
            second = connection.recv(40, socket.MSG_WAITALL)
            return len(first), peeked == second, first + second == pattern(100)

    def truncated(self):
        with self.connect() as connection:
            connection.sendall(b"send 100\n")
            libc_recv = connection.recv(60, socket.MSG_WAITALL | socket.MSG_TRUNC)
            return len(libc_recv), connection.recv(40, socket.MSG_WAITALL) == pattern(40, 60)

    def vectors(self):
        with self.connect() as connection:
            connection.sendmsg([b"echo 9", b"\n", b"abc", b"defghi"])
            parts = [bytearray(2), bytearray(5), bytearray(50)]
            read_into = 0
            while read_into == 0:
                read_into, ancillary, flags, address = connection.recvmsg_into(parts)
            return read_into, bytes(parts[0] + parts[1] + parts[2][:2]), ancillary, flags

    def nonblocking(self):
        with self.connect() as connection:
            connection.setblocking(False)
            try:
                connection.recv(10)
                return "no error"
            except BlockingIOError:
                pass
            connection.setblocking(True)
            try:
                connection.recv(10, socket.MSG_DONTWAIT)
                return "no error"
            except BlockingIOError:
                pass
            # Nothing is read there: the send buffer and the peer's window fill up.
            connection.sendall(b"sleep 0.2 8000000\n")
            data = pattern(8_000_000)
            connection.setblocking(False)
            sent = 0
            poller = select.poll()
            poller.register(connection, select.POLLOUT)
            while sent < len(data):
                try:
                    sent += connection.send(data[sent : sent + 300_000])
                except BlockingIOError:
                    assert poller.poll(10_000)
            connection.setblocking(True)
            answer = read_exactly(connection, 32)
            # The kernel may buffer everything.
            return answer == hashlib.sha256(data).digest()

    def timeouts(self):
        with self.connect() as connection:
            connection.setsockopt(
                socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", 0, 50_000)
            )
            try:
                connection.recv(1)
                return "no error"
            except BlockingIOError:
                pass
            connection.settimeout(0.05)
            try:
                connection.recv(1)
                return "no error"
            except TimeoutError:
                pass
            connection.settimeout(None)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", 5, 0))
            connection.sendall(b"late 0.02\n")
            return connection.recv(4, socket.MSG_WAITALL)

    def waits(self):
        found = []
        with self.connect() as connection:
            connection.sendall(b"late 0.1\n")
            poller = select.poll()
            poller.register(connection, select.POLLIN)
            found.append(poller.poll(5_000)[0][1])
            found.append(read_exactly(connection, 4))
            found.append(poller.poll(0))
            connection.sendall(b"late 0.3\n")
            found.append([len(it) for it in select.select([connection], [connection], [], 5)])
            found.append([len(it) for it in select.select([connection], [], [], 5)])
            found.append(read_exactly(connection, 4))
            found.append([len(it) for it in select.select([connection], [], [], 0)])
        return found

    def epoll_edges(self):
        found = []
        with self.connect() as connection, select.epoll() as epoll:
            epoll.register(connection, select.EPOLLIN | select.EPOLLET)
            for _ in range(3):
                connection.sendall(b"send 100\n")
                found.append([events for _, events in epoll.poll(5)])
                # The peer's bytes may arrive in parts; the rest is not an edge.
                time.sleep(0.02)
                epoll.poll(0)
                found.append(epoll.poll(0))
                found.append(len(read_exactly(connection, 100)))
            epoll.modify(connection, select.EPOLLIN | select.EPOLLONESHOT)
            connection.sendall(b"send 100\n")
            found.append([events for _, events in epoll.poll(5)])
            found.append(epoll.poll(0.02))
            epoll.modify(connection, select.EPOLLIN)
            found.append([events for _, events in epoll.poll(5)])
            found.append(len(read_exactly(connection, 100)))
            epoll.modify(connection, select.EPOLLIN | select.EPOLLOUT)
            found.append([events for _, events in epoll.poll(5)])
            epoll.modify(connection, select.EPOLLIN | select.EPOLLRDHUP)
            connection.sendall(b"close\n")
            time.sleep(0.1)
            found.append([events for _, events in epoll.poll(5)])
            found.append(read_all(connection))
        return found

    def edges_of_room(self):
        """What arrives is no edge for a member that waits for room only."""
        with self.connect() as connection, select.epoll() as epoll:
            epoll.register(connection, select.EPOLLOUT | select.EPOLLET)
            found = [events for _, events in epoll.poll(5)]
            connection.sendall(b"send 100\n")
            select.select([connection], [], [], 5)
            found.append(epoll.poll(0.02))
            return found, len(read_exactly(connection, 100))

    def half_close(self):
        with self.connect() as connection:
            data = pattern(300_000)
            connection.sendall(b"hash\n")
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            return read_all(connection).decode() == hashlib.sha256(data).hexdigest()

    def peer_closes(self):
        with self.connect() as connection:
            connection.sendall(b"close\n")
            return read_all(connection), connection.recv(1)

    def error_before_unread_bytes(self):
        """recvmmsg(2) reports an error first, other calls last."""
        with self.connect() as connection:
            # The server resets, because it closes with bytes unread.
            connection.sendall(b"close\nunread")
            poller = select.poll()
            poller.register(connection, 0)
            found = [poller.poll(60_000)[0][1]]
            libc = ctypes.CDLL(None, use_errno=True)
            message = ctypes.create_string_buffer(64)
            flags = socket.MSG_DONTWAIT
            found.append(libc.recvmmsg(connection.fileno(), message, 1, flags, None))
            return found, ctypes.get_errno(), connection.recv(10)

    def duplicates(self):
        with self.connect() as connection:
            copy = connection.dup()
            copy.sendall(b"echo 3\nabc")
            found = read_exactly(connection, 3)
            connection.close()
            copy.sendall(b"echo 3\ndef")
            found += read_exactly(copy, 3)
            copy.close()
            return found

    def file(self):
        with self.connect() as connection, connection.makefile("rwb") as file:
            file.write(b"echo 6\nabcdef")
            file.flush()
            return file.read(6)

    def forks(self):
        with self.connect() as connection:
            connection.sendall(b"send 50000\n")
            child = os.fork()
            if child == 0:
                ok = read_exactly(connection, 50_000) == pattern(50_000)
                connection.sendall(b"echo 5\nchild")
                ok = ok and read_exactly(connection, 5) == b"child"
                os._exit(0 if ok else 1)
            status = os.waitpid(child, 0)[1]
            connection.sendall(b"echo 6\nparent")
            return status, read_exactly(connection, 6)

    def options(self):
        with self.connect() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            found = [connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)]
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 33)
            for number in range(30):
                connection.sendall(b"echo 1\nx")
                assert connection.recv(1) == b"x"
            found.append(connection.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE))
            found.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE))
            found.append(connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR))
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
            connection.sendall(b"echo 2\n")
            connection.sendall(b"yz")
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 0)
            found.append(read_exactly(connection, 2))
            connection.send(b"echo 2\n", socket.MSG_MORE)
            connection.send(b"yz")
            found.append(read_exactly(connection, 2))
            return found

    def corks(self):
        """Short parts wait for others, at most 200 ms."""
        found = []
        cork = socket.IPPROTO_TCP, socket.TCP_CORK
        with self.connect() as connection:
            for number in range(30):
                connection.sendall(b"echo 1\nx")
                assert connection.recv(1) == b"x"

            # The kernel waits only until the next acknowledgment arrives.
            connection.send(b"echo 2\nyz", socket.MSG_MORE)
            found.append(read_exactly(connection, 2))
            connection.setsockopt(*cork, 1)
            found.append(connection.getsockopt(*cork))
            begin = time.monotonic()
            connection.sendall(b"echo 2\nyz")
            found.append((read_exactly(connection, 2), time.monotonic() - begin > 0.15))
            connection.sendall(b"echo 2\nyz")
            # A handback keeps the option, and the bytes.
            connection.setsockopt(socket.IPPROTO_TCP, TCP_INQ, 1)
            connection.setsockopt(socket.IPPROTO_TCP, TCP_INQ, 0)
            found.append(connection.getsockopt(*cork))
            connection.setsockopt(*cork, 0)
            found.append(read_exactly(connection, 2))
            connection.setsockopt(*cork, 1)
            for number in range(30):
                connection.sendall(b"echo 1\nx")
                connection.setsockopt(*cork, 0)
                connection.setsockopt(*cork, 1)
                assert connection.recv(1) == b"x"
            found.append(connection.getsockopt(*cork))
        return found

    def files(self):
        """Parts of a file by sendfile(2), from a position and from that of the file."""
        found = []
        with self.connect() as connection, tempfile.TemporaryFile() as file:
            for number in range(30):
                connection.sendall(b"echo 1\nx")
                assert connection.recv(1) == b"x"
            file.write(pattern(100_000))
            file.flush()
            parts = [(0, 1), (7, 20_000), (90_000, 20_000), (100_000, 9), (5, 60_000)]
            for position, length in parts:
                os.lseek(file.fileno(), 3, os.SEEK_SET)
                left = min(length, 100_000 - position)
                connection.sendall(b"echo %d\n" % left)
                sent = 0
                while sent < left or left == 0:
                    at, rest = position + sent, length - sent
                    count = os.sendfile(connection.fileno(), file.fileno(), at, rest)
                    sent += count
                    if count == 0:
                        break
                same = read_exactly(connection, left) == pattern(left, position)
                found.append((sent, same, os.lseek(file.fileno(), 0, os.SEEK_CUR)))
            connection.sendall(b"echo 5000\n")
            found.append(os.sendfile(connection.fileno(), file.fileno(), None, 5_000))
            found.append(os.lseek(file.fileno(), 0, os.SEEK_CUR))
            found.append(read_exactly(connection, 5_000) == pattern(5_000, 3))
            try:
                os.sendfile(connection.fileno(), file.fileno(), -5, 10)
            except OSError as error:
                found.append(errno.errorcode[error.errno])
        return found

    def threads(self):
        """One thread sends, another receives."""
        with self.connect() as connection:
            def send():
                for number in range(300):
                    connection.sendall(b"echo 100\n" + pattern(100, number * 100))

            sender = threading.Thread(target=send)
            sender.start()
            data = read_exactly(connection, 30_000)
            sender.join()
            return data == pattern(30_000)

    def epoll_changes(self):
        """Changes of a member while its connection is taken over, and after a handback."""
        found = []

        def attempt(call, *arguments):
            try:
                call(*arguments)
                found.append("ok")
            except OSError as error:
                found.append(errno.errorcode[error.errno])

        def events(timeout):
            found.append([events for _, events in epoll.poll(timeout)])

        def bypass():
            for _ in range(20):
                connection.sendall(b"echo 1\nx")
                assert connection.recv(1) == b"x"

        with self.connect() as connection, select.epoll() as epoll, select.epoll() as other:
            epoll.register(connection, select.EPOLLIN)
            bypass()
            attempt(epoll.register, connection, select.EPOLLOUT)
            events(0)
            attempt(epoll.modify, connection, select.EPOLLOUT)
            events(5)
            attempt(epoll.unregister, connection)
            attempt(epoll.unregister, connection)
            attempt(epoll.modify, connection, select.EPOLLIN)
            events(0.02)
            attempt(epoll.register, connection, select.EPOLLIN | select.EPOLLOUT)
            events(5)
            # A removal and a change that the kernel learns of at the handback.
            attempt(other.register, connection, select.EPOLLIN | select.EPOLLET)
            attempt(epoll.unregister, connection)
            bypass()
            connection.setsockopt(socket.IPPROTO_TCP, TCP_INQ, 1)
            connection.setsockopt(socket.IPPROTO_TCP, TCP_INQ, 0)
            other.poll(0)
            connection.sendall(b"echo 1\ny")
            found.append([events for _, events in other.poll(5)])
            events(0)
            attempt(epoll.unregister, connection)
            attempt(epoll.register, connection, select.EPOLLIN)
            events(5)
            found.append(connection.recv(1))
            exclusive = 1 << 28
            bypass()
            attempt(epoll.modify, connection, select.EPOLLIN | exclusive)
            attempt(epoll.unregister, connection)
            attempt(epoll.register, connection, select.EPOLLIN | exclusive)
            bypass()
            attempt(epoll.modify, connection, select.EPOLLIN)
        return found

    def many(self, count=20):
        """Connections in one epoll instance, which are checked when they have something."""
        connections = [self.connect() for _ in range(count)]
        with select.epoll() as epoll:
            by_descriptor = {it.fileno(): it for it in connections}
            for connection in connections:
                epoll.register(connection, select.EPOLLIN)
                connection.sendall(b"echo 4\nmany")
            answered = 0
            for _ in range(1000):
                for descriptor, _ in epoll.poll(5):
                    assert read_exactly(by_descriptor[descriptor], 4) == b"many"
                    by_descriptor[descriptor].sendall(b"echo 4\nmany")
                    answered += 1
        for connection in connections:
            connection.close()
        return answered >= 1000


def push(address, length, how):
    """Sends bytes and exits at once, without a close."""
    connection = Scenario(address).connect()
    connection.sendall(b"store\n")
    connection.sendall(pattern(int(length)))
    if how == "_exit":
        os._exit(0)
    sys.exit(0)


def strict(address):
    """Calls that only the kernel can do fail in a strict run."""
    with Scenario(address).connect() as connection:
        for call in (
            lambda: connection.send(b"x", socket.MSG_OOB),
            lambda: connection.setsockopt(socket.IPPROTO_TCP, TCP_INQ, 1),
            lambda: connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 10),
        ):
            try:
                call()
                print("no error")
            except OSError as error:
                print(error.errno == errno.EOPNOTSUPP)
        connection.sendall(b"echo 3\nabc")
        print(read_exactly(connection, 3))


def recall(address):
    """Returns what the server has received from `push`."""
    with Scenario(address).connect() as connection:
        connection.sendall(b"recall\n")
        print(read_all(connection).decode())


def client(address):
    names = [name for name in vars(Scenario) if not name.startswith("_") and name != "connect"]
    for name in names:
        started = time.monotonic()
        result = getattr(Scenario(address), name)()
        print(name, result)
        print(f"{name} took {time.monotonic() - started:.3f} s", file=sys.stderr)


def loopback(port):
    with socket.create_connection(("127.0.0.1", int(port))) as connection:
        for number in range(50):
            text = b"%04d" % number
            connection.sendall(text)
            assert read_exactly(connection, 4) == text


if __name__ == "__main__":
    roles = [server, client, loopback, push, recall, strict]
    {role.__name__: role for role in roles}[sys.argv[1]](*sys.argv[2:])
