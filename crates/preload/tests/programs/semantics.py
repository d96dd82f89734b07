"""Exercises UDP sockets against a peer and prints what a program sees.

Run with the peer's and the local address. The output must be the same with and without
acceleration. The peer answers `N:text` with N datagrams `0:text`, `1:text`, and so on.
"""

import array
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import termios
import threading
import time

PEER = (sys.argv[1], int(sys.argv[2]))
LOCAL = sys.argv[3]
FAMILY = socket.AF_INET6 if ":" in LOCAL else socket.AF_INET


def show(name, *values):
    print(name, *values, flush=True)


def attempt(name, call):
    try:
        show(name, call())
    except OSError as error:
        show(name, type(error).__name__, error.errno)


def bound():
    sock = socket.socket(FAMILY, socket.SOCK_DGRAM)
    sock.bind((LOCAL, 0))
    sock.settimeout(5)
    # Resolves the neighbor, and shows that the path works.
    sock.sendto(b"1:warm", PEER)
    assert sock.recv(100) == b"0:warm"
    return sock


def settle():
    """Waits until the answers to all earlier datagrams have arrived: the peer answers in order."""
    SYNC.send(b"1:sync")
    assert SYNC.recv(100) == b"0:sync"


SYNC = bound()
SYNC.connect(PEER)


def receive_calls():
    sock = bound()
    sock.sendto(b"3:abcdef", PEER)
    settle()
    show("peek", sock.recv(100, socket.MSG_PEEK), sock.recv(3, socket.MSG_PEEK))
    show("trunc", len(sock.recv(3)), sock.recvmsg(4)[0:3:2])
    size = array.array("i", [0])
    fcntl.ioctl(sock.fileno(), termios.FIONREAD, size)
    show("fionread", size[0])
    data, address = sock.recvfrom(100)
    show("recvfrom", data, address[:2] == PEER)
    # With a timeout, Python waits before each call.
    sock.settimeout(None)
    attempt("dontwait", lambda: sock.recv(1, socket.MSG_DONTWAIT))
    sock.setblocking(False)
    attempt("nonblocking", lambda: sock.recv(1))
    sock.settimeout(0.05)
    attempt("timeout", lambda: sock.recv(1))
    sock.setblocking(True)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 0, 50_000))
    begin = time.monotonic()
    attempt("rcvtimeo", lambda: sock.recv(1))
    show("rcvtimeo passed", time.monotonic() - begin >= 0.05)
    sock.sendto(b"1:", PEER)
    sock.sendto(b"", PEER)
    show("readv", os.readv(sock.fileno(), [bytearray(1), bytearray(9)]))
    sock.close()


def scatter_and_gather():
    sock = bound()
    sock.sendmsg([b"1:", b"ab", b"", b"cd"], [], 0, PEER)
    parts = [bytearray(3), bytearray(2), bytearray(10)]
    length, _, flags, address = sock.recvmsg_into(parts)
    show("recvmsg_into", length, [bytes(part) for part in parts], flags, address[:2] == PEER)
    sock.connect(PEER)
    sock.setblocking(True)
    show("write", os.write(sock.fileno(), b"1:w"), os.read(sock.fileno(), 10))
    show("writev", os.writev(sock.fileno(), [b"1:", b"v"]), os.read(sock.fileno(), 10))
    sock.settimeout(5)
    attempt("too long", lambda: sock.send(bytes(70_000)))
    show("fragments", sock.send(b"1:" + bytes(4_000)), len(sock.recv(10_000)))
    sock.close()


def connections():
    sock = bound()
    sock.connect(PEER)
    show("connected", sock.getpeername()[:2] == PEER, sock.send(b"1:c"), sock.recv(10))
    sock.connect((PEER[0], PEER[1] + 1))
    sock.send(b"nothing listens")
    attempt("refused", lambda: sock.recv(1))
    sock.connect(PEER)
    show("reconnected", sock.send(b"1:r"), sock.recv(10))
    attempt("sendto while connected", lambda: sock.sendto(b"1:s", PEER))
    show("answer", sock.recv(10))
    local = sock.getsockname()
    sock.close()
    again = socket.socket(FAMILY, socket.SOCK_DGRAM)
    again.bind(local)
    again.settimeout(5)
    again.sendto(b"1:again", PEER)
    show("same port", again.recv(100))
    attempt("in use", lambda: socket.socket(FAMILY, socket.SOCK_DGRAM).bind(local))
    again.close()
    unbound = socket.socket(FAMILY, socket.SOCK_DGRAM)
    attempt("no destination", lambda: unbound.send(b"x"))
    unbound.sendto(b"2:auto", PEER)
    unbound.settimeout(5)
    show("bound by a send", unbound.recv(10), unbound.recv(10))


def packet_info():
    sock = bound()
    if FAMILY == socket.AF_INET:
        sock.setsockopt(socket.IPPROTO_IP, 8, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    sock.sendto(b"1:info", PEER)
    data, control, flags, _ = sock.recvmsg(100, 200)
    index = socket.if_nametoindex("veth0")
    own = socket.inet_pton(FAMILY, LOCAL)
    if FAMILY == socket.AF_INET:
        expected = struct.pack("i", index) + own + own
    else:
        expected = own + struct.pack("i", index)
    show("pktinfo", data, [(level, kind, value == expected) for level, kind, value in control], flags)
    sock.sendto(b"1:info", PEER)
    show("no room", sock.recvmsg(100, 8)[2] == socket.MSG_CTRUNC)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 9) if FAMILY == socket.AF_INET else None
    sock.sendto(b"1:ttl", PEER)
    show("after an option", sock.recv(100))
    sock.setsockopt(socket.SOL_SOCKET, 29, 1)
    sock.sendto(b"1:stamp", PEER)
    data, control, _, _ = sock.recvmsg(100, 200)
    show("timestamp", data, sorted(kind for _, kind, _ in control))


def waiting():
    sock = bound()
    other, pipe = os.pipe()
    show("select empty", select.select([sock], [], [], 0.02)[0])
    show("select writable", select.select([], [sock], [], 1)[1] == [sock])
    sock.sendto(b"1:s", PEER)
    show("select", select.select([sock, other], [], [], 5)[0] == [sock], sock.recv(10))
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    poll.register(other, select.POLLIN)
    show("poll empty", poll.poll(20))
    sock.sendto(b"1:p", PEER)
    show("poll", poll.poll(5000) == [(sock.fileno(), select.POLLIN)], sock.recv(10))
    os.write(pipe, b"x")
    show("poll pipe", poll.poll(5000) == [(other, select.POLLIN)], os.read(other, 1))
    poll.modify(sock, select.POLLIN | select.POLLOUT)
    show("poll out", poll.poll(5000) == [(sock.fileno(), select.POLLOUT)])


def epoll_of(sock, events):
    epoll = select.epoll()
    epoll.register(sock, events)
    return epoll


def epolls():
    sock = bound()
    level = epoll_of(sock, select.EPOLLIN)
    edge = epoll_of(sock, select.EPOLLIN | select.EPOLLET)
    once = epoll_of(sock, select.EPOLLIN | select.EPOLLONESHOT)
    both = epoll_of(sock, select.EPOLLIN | select.EPOLLOUT)
    outer = select.epoll()
    outer.register(level, select.EPOLLIN)
    show("epoll empty", level.poll(0.02), edge.poll(0), once.poll(0), outer.poll(0))
    show("epoll out", [events for _, events in both.poll(0)])
    sock.sendto(b"2:e", PEER)
    settle()
    for name, epoll in (("level", level), ("edge", edge), ("once", once), ("both", both)):
        show("epoll", name, [[events for _, events in epoll.poll(1)] for _ in range(1)])
        show("epoll again", name, [[events for _, events in epoll.poll(0.02)] for _ in range(1)])
    show("nested", len(outer.poll(1)), select.select([level], [], [], 1)[0] == [level])
    once.modify(sock, select.EPOLLIN | select.EPOLLONESHOT)
    show("armed again", len(once.poll(1)), len(once.poll(0)))
    show("drained", sock.recv(10), sock.recv(10), level.poll(0.02), outer.poll(0))
    sock.sendto(b"1:next", PEER)
    show("next edge", len(edge.poll(5)), len(edge.poll(0.02)), sock.recv(10))
    other, pipe = os.pipe()
    level.register(other, select.EPOLLIN)
    os.write(pipe, b"x")
    sock.sendto(b"1:mixed", PEER)
    settle()
    show("mixed", sorted(fd == other for fd, _ in level.poll(1)))
    level.unregister(sock)
    os.read(other, 1)
    show("unregistered", level.poll(0.02), sock.recv(10))
    early = socket.socket(FAMILY, socket.SOCK_DGRAM)
    before = epoll_of(early, select.EPOLLIN)
    early.bind((LOCAL, 0))
    early.sendto(b"1:early", PEER)
    show("registered before bind", len(before.poll(5)), early.recv(10))
    early.close()
    show("closed", before.poll(0.02))


def threads():
    sock = bound()
    found = []
    reader = threading.Thread(target=lambda: found.append(sock.recv(100)))
    reader.start()
    time.sleep(0.02)
    sock.sendto(b"1:thread", PEER)
    reader.join(5)
    show("thread", found)
    epoll = epoll_of(sock, select.EPOLLIN)
    reader = threading.Thread(target=lambda: found.append(len(epoll.poll(5))))
    reader.start()
    time.sleep(0.02)
    sock.sendto(b"1:thread", PEER)
    reader.join(5)
    show("epoll thread", found, sock.recv(100))


class Alarm(Exception):
    pass


def signals():
    sock = bound()
    sock.settimeout(None)

    def handler(number, frame):
        raise Alarm(number)

    signal.signal(signal.SIGALRM, handler)
    for name, wait in (
        ("recv", lambda: sock.recv(1)),
        ("select", lambda: select.select([sock], [], [], 10)),
        ("epoll", lambda: epoll_of(sock, select.EPOLLIN).poll(10)),
    ):
        try:
            # The first may arrive before the wait begins.
            signal.setitimer(signal.ITIMER_REAL, 0.02, 0.1)
            wait()
            show("not interrupted", name)
        except Alarm as alarm:
            show("interrupted", name, alarm)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        except Alarm:
            pass
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    sock.sendto(b"1:after", PEER)
    show("after signals", sock.recv(100))


def sharing():
    sock = bound()
    sock.sendto(b"3:dup", PEER)
    settle()
    copy = socket.socket(fileno=os.dup(sock.fileno()))
    copy.settimeout(5)
    show("dup", sock.recv(10))
    sock.sendto(b"1:later", PEER)
    show("kept", sock.recv(10), sock.recv(10), sock.recv(10))
    sock.sendto(b"1:copy", PEER)
    show("copy", copy.recv(10))

    forking = bound()
    forking.sendto(b"3:fork", PEER)
    settle()
    child = os.fork()
    if child == 0:
        os._exit(7)
    show("child", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    show("datagrams of the parent", [forking.recv(10) for _ in range(3)])
    forking.sendto(b"1:f", PEER)
    show("parent", forking.recv(10))
    forking.settimeout(None)
    attempt("no duplicate", lambda: forking.recv(10, socket.MSG_DONTWAIT))

    child = os.fork()
    if child == 0:
        own = bound()
        own.sendto(b"1:child", PEER)
        os._exit(own.recv(10) == b"0:child")
    show("child's own socket", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    one, two = socket.socketpair()
    passed = bound()
    passed.sendto(b"1:passed", PEER)
    settle()
    socket.send_fds(one, [b"x"], [passed.fileno()])
    _, fds, _, _ = socket.recv_fds(two, 1, 1)
    received = socket.socket(fileno=fds[0])
    received.settimeout(5)
    show("arrived before", passed.recv(10))
    passed.sendto(b"1:new", PEER)
    show("passed descriptor", received.recv(10))


def closing():
    kept = [os.dup(fd) for fd in (0, 1, 2)]
    sock = bound()
    os.closerange(max(kept + [sock.fileno()]) + 1, 4096)
    sock.sendto(b"1:open", PEER)
    show("after closerange", sock.recv(10))
    number = sock.fileno()
    sock.close()
    attempt("closed", lambda: os.read(number, 1))
    reader, writer = os.pipe()
    os.dup2(reader, number)
    os.write(writer, b"pipe")
    show("reused number", os.read(number, 10))
    for _ in range(300):
        again = socket.socket(FAMILY, socket.SOCK_DGRAM)
        again.bind((LOCAL, 0))
        again.close()
    show("reopened 300 times", bound().fileno() < 100)


for part in (
    receive_calls,
    scatter_and_gather,
    connections,
    packet_info,
    waiting,
    epolls,
    threads,
    signals,
    sharing,
    closing,
):
    show("#", part.__name__)
    part()
