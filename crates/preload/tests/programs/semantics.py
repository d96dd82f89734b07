"""Exercises UDP sockets against a peer and prints what a program sees.

Run with the peer's and the local address. The output must be the same with and without
acceleration. The peer answers `N:text` with N datagrams `0:text`, `1:text`, and so on, and
`m:GROUP:PORT:text` with a datagram to the group.
"""

import array
import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import tempfile
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
    sock.settimeout(60)
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
    sock.settimeout(60)
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
    again.settimeout(60)
    again.sendto(b"1:again", PEER)
    show("same port", again.recv(100))
    attempt("in use", lambda: socket.socket(FAMILY, socket.SOCK_DGRAM).bind(local))
    again.close()
    unbound = socket.socket(FAMILY, socket.SOCK_DGRAM)
    attempt("no destination", lambda: unbound.send(b"x"))
    unbound.sendto(b"2:auto", PEER)
    unbound.settimeout(60)
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


def control_messages():
    sock = bound()
    if FAMILY == socket.AF_INET:
        # IP_RECVTTL, IP_RECVTOS
        level, names = socket.IPPROTO_IP, (12, 13)
    else:
        level, names = socket.IPPROTO_IPV6, (socket.IPV6_RECVHOPLIMIT, socket.IPV6_RECVTCLASS)
    for name in names:
        sock.setsockopt(level, name, 1)
    # SO_RXQ_OVFL: no message while nothing is dropped.
    sock.setsockopt(socket.SOL_SOCKET, 40, 1)
    sock.sendto(b"1:fields", PEER)
    show("fields", sock.recvmsg(100, 200)[:3])
    sock.sendto(b"1:cut", PEER)
    show("cut", sock.recvmsg(100, 20)[:3])
    for name, value in (("SO_TIMESTAMP", 29), ("SO_TIMESTAMPNS", 35), ("SO_TIMESTAMPING", 37)):
        sock = bound()
        # Software receive timestamps.
        sock.setsockopt(socket.SOL_SOCKET, value, 24 if value == 37 else 1)
        until = time.monotonic() + 5
        while time.monotonic() < until:
            # The kernel stamps no packets until a moment after the first such option.
            sock.sendto(b"1:stamped", PEER)
            if sock.recvmsg(100, 200)[1]:
                break
        sock.sendto(b"2:stamp", PEER)
        settle()
        for _ in range(2):
            before = time.time()
            data, control, flags, _ = sock.recvmsg(100, 200)
            for level, kind, value in control:
                seconds, fraction = struct.unpack_from("ll", value)
                near = abs(seconds - before) < 30
                rest = any(value[16:])
                show(name, data, flags, level, kind, len(value), near, fraction >= 0, rest)


def overflow():
    """Leaves datagrams unread until the queue is full; SO_RXQ_OVFL reports exactly the lost ones."""
    sock = bound()
    sock.setsockopt(socket.SOL_SOCKET, 40, 1)
    requests = 600
    for number in range(requests):
        sock.sendto(b"9:more", PEER)
        if number % 10 == 9:
            settle()
    settle()
    received, reports = 0, []
    sock.setblocking(False)
    while True:
        try:
            _, control, _, _ = sock.recvmsg(100, 200)
        except BlockingIOError:
            break
        received += 1
        reports += control
    sock.settimeout(60)
    sock.sendto(b"1:last", PEER)
    data, control, _, _ = sock.recvmsg(100, 200)
    ((level, kind, value),) = control
    dropped = struct.unpack("I", value)[0]
    show("overflow", data, level, kind, dropped > 0, received + dropped - 9 * requests)
    show("overflow before", reports)


def anywhere():
    any_address = "0.0.0.0" if FAMILY == socket.AF_INET else "::"
    sock = socket.socket(FAMILY, socket.SOCK_DGRAM)
    sock.bind((any_address, 0))
    sock.settimeout(60)
    sock.sendto(b"2:any", PEER)
    show("any", sock.recvfrom(100)[1][:2] == PEER, sock.recv(100), sock.getsockname()[0])
    if FAMILY == socket.AF_INET6:
        return
    # IPv4 through an IPv6 socket.
    dual = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    dual.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
    dual.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVPKTINFO, 1)
    dual.bind(("::", 0))
    dual.settimeout(60)
    mapped = ("::ffff:" + PEER[0], PEER[1])
    dual.sendto(b"2:dual", mapped)
    data, control, flags, address = dual.recvmsg(100, 200)
    info = [(level, kind, value[:16]) for level, kind, value in control]
    show("dual", data, flags, info, address[:2] == mapped)
    show("dual again", dual.recv(10))
    dual.connect(mapped)
    dual.send(b"1:connected")
    data, address = dual.recvfrom(100)
    show("dual connected", data, address[:2] == mapped, dual.getsockname()[0])
    dual_stack(mapped)


def dual_stack(mapped):
    def opened(only_v6, address):
        sock = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, only_v6)
        sock.bind((address, 0))
        sock.settimeout(60)
        return sock

    only = opened(1, "::")
    attempt("only IPv6 sends", lambda: only.sendto(b"1:only", mapped))
    # The kernel refuses a datagram to its port.
    SYNC.send(f"u:{LOCAL}:{only.getsockname()[1]}:only".encode())
    settle()
    only.settimeout(0.02)
    attempt("only IPv6 receives", lambda: only.recv(10))
    dual = opened(0, "::")
    SYNC.send(f"u:{LOCAL}:{dual.getsockname()[1]}:dual".encode())
    show("dual receives", dual.recv(10))
    # The options of both families: IP_PKTINFO, IP_RECVTTL, IP_RECVTOS.
    for name in (8, 12, 13):
        dual.setsockopt(socket.IPPROTO_IP, name, 1)
    names = (socket.IPV6_RECVPKTINFO, socket.IPV6_RECVHOPLIMIT, socket.IPV6_RECVTCLASS)
    for name in names:
        dual.setsockopt(socket.IPPROTO_IPV6, name, 1)
    dual.sendto(b"1:fields", mapped)
    show("dual fields", dual.recvmsg(100, 300)[:3])
    dual.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 9)
    show("another TTL", dual.sendto(b"1:ttl", mapped), dual.recv(100))
    dual.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 64)
    dual.sendto(b"3:kept", mapped)
    settle()
    copy = socket.socket(fileno=os.dup(dual.fileno()))
    copy.settimeout(60)
    show("dual dup", [copy.recvfrom(10)[1][:2] == mapped for _ in range(3)])
    host = opened(0, "::ffff:" + LOCAL)
    host.sendto(b"1:host", mapped)
    data, address = host.recvfrom(10)
    show("bound to a mapped address", data, address[:2] == mapped)
    group = "239.9.9.8"
    dual = opened(0, "::")
    member = socket.inet_aton(group) + socket.inet_aton(LOCAL)
    dual.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
    SYNC.send(f"m:{group}:{dual.getsockname()[1]}:dual".encode())
    data, address = dual.recvfrom(10)
    show("dual member", data, address[0] == mapped[0])


def groups_v6():
    """Joins and leaves a group, by each option and with source filters."""
    group = "ff15::99"
    sock = socket.socket(FAMILY, socket.SOCK_DGRAM)
    sock.bind(("::", 0))
    sock.settimeout(60)
    port = sock.getsockname()[1]
    index = socket.if_nametoindex("veth0")

    def storage(address):
        """Returns a sockaddr_storage."""
        start = struct.pack("@HHI", socket.AF_INET6, 0, 0)
        return (start + socket.inet_pton(socket.AF_INET6, address)).ljust(128, b"\0")

    def request(text):
        # The answer follows the datagram to the group.
        SYNC.send(f"m:{group}:{port}:{text}".encode())
        settle()
        sock.sendto(b"1:" + text.encode(), PEER)
        return sock.recv(100)

    def received(text, arrives):
        first = request(text)
        assert arrives == (first == text.encode()), (text, first)
        sock.settimeout(0.02)
        attempt(text, lambda: (first, sock.recv(100)))
        sock.settimeout(60)

    received("not a member", False)
    member = socket.inet_pton(socket.AF_INET6, group) + struct.pack("i", index)
    for join, leave, request_of, is_member in (
        (socket.IPV6_JOIN_GROUP, socket.IPV6_LEAVE_GROUP, member, True),
        # MCAST_JOIN_GROUP, MCAST_LEAVE_GROUP
        (42, 45, struct.pack("Q", index) + storage(group), True),
        # MCAST_JOIN_SOURCE_GROUP, MCAST_LEAVE_SOURCE_GROUP
        (46, 47, struct.pack("Q", index) + storage(group) + storage(PEER[0]), True),
        (46, 47, struct.pack("Q", index) + storage(group) + storage("fd99::99"), False),
    ):
        sock.setsockopt(socket.IPPROTO_IPV6, join, request_of)
        received(f"joined by {join}", is_member)
        sock.setsockopt(socket.IPPROTO_IPV6, leave, request_of)
        received(f"left by {leave}", False)


def groups():
    if FAMILY == socket.AF_INET6:
        groups_v6()
        return
    group = "239.9.9.9"
    sock = socket.socket(FAMILY, socket.SOCK_DGRAM)
    sock.bind(("0.0.0.0", 0))
    sock.settimeout(60)
    port = sock.getsockname()[1]

    def request(text):
        # The answer follows the datagram to the group.
        SYNC.send(f"m:{group}:{port}:{text}".encode())
        settle()
        sock.sendto(b"1:" + text.encode(), PEER)
        return sock.recv(100)

    show("not a member", request("before"))
    index = socket.if_nametoindex("veth0")
    member = socket.inet_aton(group) + bytes(4) + struct.pack("i", index)
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
    show("member", request("in"), sock.recv(100))
    sock.setsockopt(socket.IPPROTO_IP, socket.IP_DROP_MEMBERSHIP, member)
    show("left", request("after"))
    for source in (PEER[0], "10.99.99.99"):
        # IP_ADD_SOURCE_MEMBERSHIP, IP_DROP_SOURCE_MEMBERSHIP
        member = socket.inet_aton(group) + socket.inet_aton(LOCAL) + socket.inet_aton(source)
        sock.setsockopt(socket.IPPROTO_IP, 39, member)
        first = request("source")
        sock.settimeout(0.02)
        attempt("source", lambda: (first, sock.recv(100)))
        sock.settimeout(60)
        sock.setsockopt(socket.IPPROTO_IP, 40, member)
    members()


def members():
    """Two members of a group at one port, with and without source filters."""
    group = "239.9.9.7"
    here = socket.inet_aton(LOCAL)

    def opened(port):
        sock = socket.socket(FAMILY, socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # IP_MULTICAST_ALL, IP_PKTINFO
        sock.setsockopt(socket.IPPROTO_IP, 49, 0)
        sock.setsockopt(socket.IPPROTO_IP, 8, 1)
        sock.bind(("0.0.0.0", port))
        return sock

    def pending(sock):
        found = []
        sock.settimeout(0.05)
        try:
            while True:
                data, control, _, address = sock.recvmsg(100, 200)
                info = [(kind, value[4:]) for _, kind, value in control]
                found.append((data, info, address[0] == PEER[0]))
        except TimeoutError:
            return found

    one = opened(0)
    port = one.getsockname()[1]
    two = opened(port)
    # IP_ADD_MEMBERSHIP, IP_DROP_MEMBERSHIP, IP_ADD_SOURCE_MEMBERSHIP, IP_DROP_SOURCE_MEMBERSHIP
    steps = (
        ("one", one, 35, ()),
        ("two", two, 35, ()),
        ("one left", one, 36, ()),
        ("one with the source", one, 39, (PEER[0],)),
        ("two left", two, 36, ()),
        ("two with another source", two, 39, ("10.99.99.99",)),
        ("two with both", two, 39, (PEER[0],)),
        ("two without the source", two, 40, (PEER[0],)),
        ("one without the source", one, 40, (PEER[0],)),
    )
    for name, sock, option, sources in steps:
        member = socket.inet_aton(group) + here
        member += b"".join(map(socket.inet_aton, sources))
        sock.setsockopt(socket.IPPROTO_IP, option, member)
        for number in range(3):
            SYNC.send(f"m:{group}:{port}:{number}".encode())
        settle()
        show("members", name, pending(one), pending(two))
    # A socket that is no member receives what another one has joined.
    one.setsockopt(socket.IPPROTO_IP, 49, 1)
    for option in (36, 35):
        two.setsockopt(socket.IPPROTO_IP, option, socket.inet_aton(group) + here)
    SYNC.send(f"m:{group}:{port}:all".encode())
    settle()
    show("members", "all", pending(one), pending(two))


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
    for wait in (
        lambda sock: sock.recv(100),
        lambda sock: (select.select([sock], [], [], 5), sock.recv(100))[1],
        lambda sock: (epoll_of(sock, select.EPOLLIN).poll(5), sock.recv(100))[1],
    ):
        # The wait begins before the first send binds the socket.
        early = socket.socket(FAMILY, socket.SOCK_DGRAM)
        early.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", 5, 0))
        reader = threading.Thread(target=lambda: found.append(wait(early)))
        reader.start()
        time.sleep(0.02)
        early.sendto(b"1:early", PEER)
        reader.join(10)
        show("bound while a thread waits", found[1:])
    found = found[:1]
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
    copy.settimeout(60)
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
        os._exit(3 if own.recv(10) == b"0:child" else 4)
    show("child's own socket", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    cloned = bound()
    cloned.sendto(b"3:clone", PEER)
    settle()

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
    def entry(_):
        own = bound()
        own.sendto(b"1:clone", PEER)
        return 3 if own.recv(10) == b"0:clone" else 4

    stack = ctypes.create_string_buffer(1 << 20)
    top = ctypes.c_void_p((ctypes.addressof(stack) + (1 << 20)) & ~15)
    # With the lock of the interpreter, which the child's copy holds too.
    child = ctypes.PyDLL(None).clone(entry, top, signal.SIGCHLD, None)
    show("cloned", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    show("datagrams of the parent", [cloned.recv(10) for _ in range(3)])

    one, two = socket.socketpair()
    passed = bound()
    passed.sendto(b"1:passed", PEER)
    settle()
    socket.send_fds(one, [b"x"], [passed.fileno()])
    _, fds, _, _ = socket.recv_fds(two, 1, 1)
    received = socket.socket(fileno=fds[0])
    received.settimeout(60)
    show("arrived before", passed.recv(10))
    passed.sendto(b"1:new", PEER)
    show("passed descriptor", received.recv(10))


def found_by_random_programs():
    """Sequences in which a program has seen something else than with the kernel."""
    sock = bound()
    sock.connect(PEER)
    sock.send(b"1:begin ", socket.MSG_MORE)
    sock.send(b"end")
    show("send after MSG_MORE", sock.recv(100))

    sock.send(b"1:events")
    settle()
    poller = select.poll()
    poller.register(sock, select.POLLRDNORM | select.POLLWRNORM)
    show("poll", poller.poll(60_000)[0][1])
    events = select.EPOLLIN | select.EPOLLOUT | select.EPOLLONESHOT
    show("one shot", epoll_of(sock, events).poll(60)[0][1])
    show("recvmsg", sock.recvmsg(100, 0, socket.MSG_CMSG_CLOEXEC))

    refused = bound()
    refused.connect((PEER[0], 9))
    refused.send(b"x")
    poller = select.poll()
    poller.register(refused, 0)
    show("error", poller.poll(60_000)[0][1])
    attempt("send after an error", lambda: refused.send(b"x"))

    for make in (bound, lambda: socket.socket(FAMILY, socket.SOCK_DGRAM)):
        original = make()
        original.settimeout(60)
        copy = socket.socket(fileno=os.dup(original.fileno()))
        copy.sendto(b"1:dup", PEER)
        show("sent by a duplicate", original.recv(10))
        original = make()
        original.settimeout(60)
        ends = socket.socketpair()
        socket.send_fds(ends[0], [b"x"], [original.fileno()])
        copy = socket.socket(fileno=socket.recv_fds(ends[1], 1, 1)[1][0])
        copy.sendto(b"1:passed", PEER)
        show("sent by a received descriptor", original.recv(10))


def copies():
    sock = bound()
    sock.connect(PEER)
    with tempfile.TemporaryFile() as file:
        file.write(b"1:file")
        file.flush()
        show("sendfile", os.sendfile(sock.fileno(), file.fileno(), 0, 6), sock.recv(10))
    reader, writer = os.pipe()
    os.write(writer, b"2:pipe")
    show("splice to", os.splice(reader, sock.fileno(), 6), sock.recv(10))
    sock.setblocking(True)
    show("splice from", os.splice(sock.fileno(), writer, 6), os.read(reader, 10))


def system_calls():
    sock = bound()
    sock.connect(PEER)
    sock.setblocking(True)
    libc = ctypes.CDLL(None, use_errno=True)
    buffer = ctypes.create_string_buffer(b"1:number")
    # sendto, recvfrom, read, close
    show("sendto", libc.syscall(44, sock.fileno(), buffer, 8, 0, None, 0))
    show("recvfrom", libc.syscall(45, sock.fileno(), buffer, 8, 0, None, None), buffer.value)
    show("read", libc.syscall(0, -1, buffer, 8), ctypes.get_errno())
    number = sock.detach()
    show("close", libc.syscall(3, number), libc.syscall(3, number), ctypes.get_errno())


READER = """
import socket, sys
sock = socket.socket(fileno=int(sys.argv[1]))
sock.settimeout(60)
print("executed", [sock.recv(10) for _ in range(3)], flush=True)
"""


def inherited():
    """Returns arguments of a program that reads three unread datagrams."""
    sock = bound()
    os.set_inheritable(sock.fileno(), True)
    sock.sendto(b"3:exec", PEER)
    settle()
    return sock, [sys.executable, "-S", "-E", "-c", READER, str(sock.fileno())]


def exit_status(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def executing():
    sock, arguments = inherited()
    show("spawned", exit_status(os.posix_spawn(arguments[0], arguments, os.environ)))
    sock.sendto(b"1:parent", PEER)
    show("parent", sock.recv(10))
    sock, arguments = inherited()
    show("vfork", subprocess.run(arguments, pass_fds=[sock.fileno()]).returncode)
    sock = bound()
    sock.sendto(b"3:exec", PEER)
    settle()
    arguments[-1] = "0"
    actions = [(os.POSIX_SPAWN_DUP2, sock.fileno(), 0)]
    child = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=actions)
    show("spawned with dup2", exit_status(child))
    sock = bound()
    sock.sendto(b"3:exec", PEER)
    settle()
    show("spawned without the socket", exit_status(os.posix_spawn("/bin/true", ["true"], {})))
    show("kept", [sock.recv(10) for _ in range(3)])
    libc = ctypes.CDLL(None)
    words = [str(number).encode() for number in range(9)]
    child = os.fork()
    if child == 0:
        libc.execl(b"/bin/echo", b"echo", *words, None)
    show("execl", exit_status(child))
    child = os.fork()
    if child == 0:
        libc.execlp(b"echo", b"echo", b"found", None)
    show("execlp", exit_status(child))
    child = os.fork()
    if child == 0:
        variables = (ctypes.c_char_p * 2)(b"NAME=value", None)
        libc.execle(b"/usr/bin/printenv", b"printenv", b"NAME", None, variables)
    show("execle", exit_status(child))


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
    control_messages,
    overflow,
    anywhere,
    groups,
    waiting,
    epolls,
    threads,
    signals,
    sharing,
    found_by_random_programs,
    copies,
    system_calls,
    executing,
    closing,
):
    show("#", part.__name__)
    part()

_kept, ARGUMENTS = inherited()
os.execv(ARGUMENTS[0], ARGUMENTS)
