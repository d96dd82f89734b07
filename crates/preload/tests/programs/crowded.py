"""Exchanges numbered messages over TCP with an echo server, without end: it waits in epoll_wait(2)
for each answer. Prints a line and ends if one differs. Arguments: the address and the port."""

import select
import socket
import sys

connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
connection.setblocking(False)
epoll = select.epoll()
epoll.register(connection, select.EPOLLIN)
number = 0
while True:
    message = number.to_bytes(8, "big")
    connection.send(message)
    answer = b""
    while len(answer) < len(message):
        epoll.poll()
        answer += connection.recv(8 - len(answer))
    if answer != message:
        sys.exit(f"{answer} instead of {message}")
    number += 1
