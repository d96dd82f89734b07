# Exchanges messages on several connections, and datagrams: client.py tcp|udp ADDRESS PORT
#
# Each message has a length and bytes that follow from its number. Each connection has one message
# in flight, and all are served by one epoll instance.
import hashlib
import selectors
import socket
import sys
import time

kind, to = sys.argv[1], (sys.argv[2], int(sys.argv[3]))
CONNECTIONS, MESSAGES = 8, 1500


def message(connection, number):
    seed = b'%d %d ' % (connection, number)
    length = 1 + (number * 7919 + connection * 104729) % 1400
    return (seed * (length // len(seed) + 1))[:length]


def streams():
    chosen, state = selectors.DefaultSelector(), {}
    for connection in range(CONNECTIONS):
        stream = socket.create_connection(to)
        stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        stream.setblocking(False)
        chosen.register(stream, selectors.EVENT_READ, connection)
        state[connection] = [0, b'', hashlib.sha256()]
        stream.sendall(message(connection, 0))
    open_streams = CONNECTIONS
    while open_streams:
        ready = chosen.select(10)
        if not ready:
            break
        for key, _ in ready:
            connection, stream = key.data, key.fileobj
            number, received, digest = state[connection]
            received += stream.recv(65536)
            expected = message(connection, number)
            if len(received) < len(expected):
                state[connection][1] = received
                continue
            digest.update(received)
            state[connection][:2] = number + 1, b''
            if number + 1 == MESSAGES:
                chosen.unregister(stream)
                stream.close()
                open_streams -= 1
            else:
                stream.sendall(message(connection, number + 1))
    digest = hashlib.sha256(b''.join(state[each][2].digest() for each in sorted(state)))
    return sum(each[0] for each in state.values()), digest


def datagrams():
    digest, answers = hashlib.sha256(), 0
    socket_of = [socket.socket(type=socket.SOCK_DGRAM) for _ in range(CONNECTIONS)]
    for each in socket_of:
        each.connect(to)
        each.settimeout(10)
    for number in range(MESSAGES):
        for connection, each in enumerate(socket_of):
            each.send(message(connection, number))
        for each in socket_of:
            digest.update(each.recv(65536))
            answers += 1
    return answers, digest


answers, digest = streams() if kind == 'tcp' else datagrams()
print(answers, 'answers, sha256', digest.hexdigest()[:16])
# The counters are published at most a second later.
time.sleep(1.2)
