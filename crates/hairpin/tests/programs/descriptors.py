"""Prints which descriptors the program has, and what TCP_INFO counts, beside the sockets it uses.

As a server: echoes over TCP and UDP. As a client it prints the same with and without `hairpin run`.
"""

import fcntl
import os
import select
import socket
import struct
import sys
import termios
import threading

LENGTH = 16
GROUP = "239.7.7.7"


def serve(address, port):
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind((address, port))
    listener = socket.create_server((address, port))
    print("listening", flush=True)

    def echo_datagrams():
        while True:
            data, peer = udp.recvfrom(2_000)
            udp.sendto(data, peer)

    threading.Thread(target=echo_datagrams, daemon=True).start()
    connection, _ = listener.accept()
    while data := connection.recv(65_536):
        connection.sendall(data)


def is_open(call):
    try:
        call()
        return True
    except OSError:
        return False


def descriptors():
    """Returns the number of descriptors that fcntl(2) finds."""
    return sum(is_open(lambda: fcntl.fcntl(fd, fcntl.F_GETFD)) for fd in range(1_000))


def duplicable():
    """Returns the number of descriptors that dup(2) finds."""
    return sum(is_open(lambda: os.close(os.dup(fd))) for fd in range(1_000))


def markable():
    """Returns the number of descriptors that a child program can be made to inherit."""
    return sum(is_open(lambda: fcntl.ioctl(fd, termios.FIONCLEX)) for fd in range(1_000))


def counts(connection):
    """Returns the bytes acknowledged, received, sent for the first time, and unsent."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 232)
    acknowledged, received = struct.unpack_from("<QQ", info, 120)
    sent, again = struct.unpack_from("<QQ", info, 200)
    unsent, = struct.unpack_from("<I", info, 144)
    return [acknowledged, received, sent - again, unsent]


def exchange(connection, rounds):
    for _ in range(rounds):
        connection.sendall(bytes(LENGTH))
        received = 0
        while received < LENGTH:
            received += len(connection.recv(LENGTH - received))


def main(address, port):
    connection = socket.create_connection((address, port))
    exchange(connection, 30)
    before = counts(connection)

    def show(what, of=connection):
        print(what, [value - start for value, start in zip(counts(of), before)])

    exchange(connection, 100)
    show("exchanged")
    start = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 100)
    assert len(start) == 100 and len(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)) == 1
    assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 4)[0] == start[0] == 1
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.connect((address, port))
    for _ in range(30):
        udp.send(b"datagram")
        udp.settimeout(5)
        udp.recv(100)
    member = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    member.bind((GROUP, 7_777))
    name = socket.inet_aton(GROUP) + socket.inet_aton(udp.getsockname()[0])
    member.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, name)
    instance = select.epoll()
    instance.register(connection, select.EPOLLIN)
    instance.register(udp, select.EPOLLIN)
    exchange(connection, 30)
    show("taken over")
    print("descriptors", descriptors(), markable())
    # Bytes that are unread when the connection returns to the kernel.
    connection.sendall(bytes(LENGTH))
    instance.poll(10)
    show("unread")
    copy = connection.dup()
    show("duplicated")
    show("the duplicate", copy)
    assert len(connection.recv(100)) == LENGTH
    exchange(connection, 50)
    show("exchanged by the kernel")
    copy.close()
    print("duplicable", duplicable())
    # The number of a connection may be another socket's next.
    connection.close()
    other = socket.socket()
    print("another", other.fileno() == 3, counts(other))


role, address, port = sys.argv[1:]
serve(address, int(port)) if role == "server" else main(address, int(port))
