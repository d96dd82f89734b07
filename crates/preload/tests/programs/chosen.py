"""Exchanges messages with two ports over TCP and UDP, and asks which sockets are accelerated.

Arguments: the address of the peer, and the ports.
"""

import ctypes
import socket
import sys

address, *ports = sys.argv[1:]
is_accelerated = ctypes.CDLL(None).hairpin_preload_is_accelerated
for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
    for port in ports:
        with socket.socket(socket.AF_INET, kind) as sock:
            before = is_accelerated(sock.fileno())
            sock.connect((address, int(port)))
            for number in range(50):
                sock.send(b"%2d" % number)
                assert sock.recv(100) == b"%2d" % number
            print(kind.name, ports.index(port), before, is_accelerated(sock.fileno()))
print("no socket", is_accelerated(0), is_accelerated(-1), is_accelerated(10**6))
