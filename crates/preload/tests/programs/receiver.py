"""Prints what its sockets receive: socket, source address, source port and payload, in a line each.

usage: receiver.py OWN PEER OWN6 PEER6 GROUP PEER_PORT PORT...
"""
import select
import signal
import socket
import sys

# A datagram that is missing ends the program, instead of a wait without limit.
signal.alarm(120)
own, peer, own6, peer6, group = sys.argv[1:6]
peer_port, *ports = map(int, sys.argv[6:])
V4, V6 = socket.AF_INET, socket.AF_INET6
bound = [(V4, "0.0.0.0"), (V4, own), (V6, "::"), (V4, own), (V6, own6), (V4, "0.0.0.0")]
poll = select.poll()
sockets = {}
for number, ((family, address), port) in enumerate(zip(bound, ports)):
    endpoint = socket.socket(family, socket.SOCK_DGRAM)
    endpoint.bind((address, port))
    endpoint.setblocking(False)
    sockets[endpoint.fileno()] = (number, endpoint)
    poll.register(endpoint, select.POLLIN)
every = [endpoint for _, endpoint in sockets.values()]
every[3].connect((peer, peer_port))
every[4].connect((peer6, peer_port))
member = socket.inet_aton(group) + socket.inet_aton(own)
every[5].setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
print("ready", flush=True)
while True:
    for descriptor, _ in poll.poll():
        number, endpoint = sockets[descriptor]
        while True:
            try:
                payload, source = endpoint.recvfrom(2048)
            except BlockingIOError:
                break
            except OSError:
                continue
            address = source[0].split("%")[0]
            print(number, address, source[1], payload.hex(), flush=True)
