"""Uses sockets bound to any address on two interfaces, and prints what a program sees.

Arguments: the address and port of a peer on each interface, and the local addresses there.
"""

import socket
import struct
import sys

PEERS = [(sys.argv[1], int(sys.argv[2])), (sys.argv[3], int(sys.argv[4]))]
LOCALS = sys.argv[5:7]
COUNT = 200


def show(name, *values):
    print(name, *values, flush=True)


def any_socket(family, address):
    sock = socket.socket(family, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # IP_PKTINFO
    sock.setsockopt(socket.IPPROTO_IP, 8, 1)
    sock.bind((address, 0))
    sock.settimeout(60)
    return sock


def exchange(sock, mapped):
    for number in range(COUNT):
        for peer in PEERS:
            to = ("::ffff:" + peer[0], peer[1]) if mapped else peer
            sock.sendto(b"1:%d" % number, to)
        received = sorted(sock.recvmsg(100, 200)[::3] for _ in PEERS)
        expected = sorted(peer[0] for peer in PEERS)
        assert [data for data, _ in received] == [b"0:%d" % number] * 2, received
        found = sorted(address[0].replace("::ffff:", "") for _, address in received)
        assert found == expected, received


def interface_of(sock, peer):
    sock.sendto(b"1:info", peer)
    _, control, _, _ = sock.recvmsg(100, 200)
    for level, kind, value in control:
        index, _, destination = struct.unpack("I4s4s", value)
        show(level, kind, socket.if_indextoname(index), socket.inet_ntoa(destination))


for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
    sock = any_socket(family, address)
    exchange(sock, family == socket.AF_INET6)
    if family == socket.AF_INET:
        for peer in PEERS:
            interface_of(sock, peer)
    # Restricted to one interface: the other peer's answers do not arrive.
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, b"veth1\0")
    sock.settimeout(0.05)
    for peer in PEERS:
        to = ("::ffff:" + peer[0], peer[1]) if family == socket.AF_INET6 else peer
        try:
            sock.sendto(b"1:bound", to)
            show("bound to veth1", sock.recv(100))
        except OSError as error:
            show("bound to veth1", type(error).__name__)
    sock.close()

# A group on each interface, by one socket.
group = "239.8.8.8"
sock = any_socket(socket.AF_INET, "0.0.0.0")
port = sock.getsockname()[1]
for local in LOCALS:
    sock.setsockopt(
        socket.IPPROTO_IP,
        socket.IP_ADD_MEMBERSHIP,
        socket.inet_aton(group) + socket.inet_aton(local),
    )
for peer in PEERS:
    # The answer to the group comes before that to the second datagram.
    sock.sendto(f"m:{group}:{port}:group".encode(), peer)
    sock.sendto(b"1:after", peer)
    show("group", *sorted(sock.recvmsg(100, 200)[0] for _ in range(2)))
print("done", flush=True)
sys.stdin.read()
