"""Waits in every way for datagrams that do not arrive. Arguments: the local address."""

import select
import socket
import sys
import threading


def bound():
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((sys.argv[1], 0))
    return sock


def poll():
    poll = select.poll()
    poll.register(bound(), select.POLLIN)
    poll.poll()


def epoll():
    sock = bound()
    epoll = select.epoll()
    epoll.register(sock, select.EPOLLIN)
    epoll.poll()


for wait in (lambda: bound().recv(1), lambda: select.select([bound()], [], []), poll, epoll):
    threading.Thread(target=wait, daemon=True).start()
print("waiting", flush=True)
bound().recv(1)
