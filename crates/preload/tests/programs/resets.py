"""Blocking receives of connections that the peer resets.

`server ADDRESS`: accepts connections, answers each byte, and prints how each thread's connection
ended. `client ADDRESS`: exchanges bytes over all connections, and resets them."""

import collections
import errno
import os
import socket
import struct
import sys
import threading
import time

PORT = 7_701
CONNECTIONS = 64
ROUNDS = 8
EXCHANGES = 20
ends = []


def answer(connection):
    last = b""
    try:
        for _ in range(EXCHANGES):
            connection.sendall(connection.recv(1))
        # The bytes before the reset end a receive that waits for more.
        last = connection.recv(100, socket.MSG_WAITALL)
        ends.append(last.decode() + " " + repr(connection.recv(1)))
    except OSError as error:
        ends.append(last.decode() + " " + errno.errorcode[error.errno])


def server(address):
    listener = socket.create_server((address, PORT), backlog=CONNECTIONS)
    for _ in range(ROUNDS):
        threads = []
        for _ in range(CONNECTIONS):
            threads.append(threading.Thread(target=answer, args=[listener.accept()[0]]))
            threads[-1].start()
        for thread in threads:
            thread.join()
    print(sorted(collections.Counter(ends).items()))


def client(address):
    for _ in range(ROUNDS):
        if os.fork() == 0:
            exchange(address)
            os._exit(0)
        assert os.wait()[1] == 0


def exchange(address):
    connections = [socket.create_connection((address, PORT)) for _ in range(CONNECTIONS)]
    for number in range(EXCHANGES):
        for connection in connections:
            connection.sendall(bytes([number]))
        for connection in connections:
            assert connection.recv(1) == bytes([number])
    for connection in connections[::2]:
        connection.sendall(b"last")
    # All threads of the server sleep. The end of the process resets all connections in one burst.
    time.sleep(0.2)
    for connection in connections:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


{"server": server, "client": client}[sys.argv[1]](sys.argv[2])
