"""A program that is killed: it sends bytes that follow from their position, and records how many
bytes `send` has accepted.

Run with the role (accept or connect), the address, the port, the behavior after the first
messages (echo, push or sleep) and the file of the record.
"""

import mmap
import os
import socket
import struct
import sys
import time

ROLE, ADDRESS, PORT, BEHAVIOR, RECORD = sys.argv[1:]
LENGTH = 64
PUSHED = 16_384

with open(RECORD, "r+b") as file:
    record = mmap.mmap(file.fileno(), 8)


def pattern(start, length):
    first = start // 4
    block = b"".join(struct.pack(">I", at) for at in range(first, first + length // 4 + 2))
    return block[start % 4 : start % 4 + length]


def read(connection):
    rest = LENGTH
    while rest:
        part = connection.recv(rest)
        if not part:
            sys.exit(0)
        rest -= len(part)


if ROLE == "accept":
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((ADDRESS, int(PORT)))
    listener.listen()
    if int(PORT) < 1024:
        os.setuid(65_534)
    print("listening", flush=True)
    connection, _ = listener.accept()
else:
    connection = socket.create_connection((ADDRESS, int(PORT)))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
sent = 0


def send(length):
    global sent
    rest = pattern(sent, length)
    while rest:
        count = connection.send(rest)
        rest = rest[count:]
        sent += count
        record[0:8] = struct.pack("=Q", sent)


for _ in range(8):
    read(connection)
    send(LENGTH)
if BEHAVIOR == "sleep":
    time.sleep(60)
while BEHAVIOR == "push":
    send(PUSHED)
while BEHAVIOR == "echo":
    read(connection)
    send(LENGTH)
