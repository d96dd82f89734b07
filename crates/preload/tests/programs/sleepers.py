"""Counts how often threads that sleep in receives are woken by the datagrams of another thread.

Arguments: the local address, the number of batches. The main thread receives batches that end with
`end` at port 5000, three others receive at 5001 to 5003. Prints the number of datagrams and of the
others' sleeps of each batch.
"""

import socket
import sys
import threading
import time


def bound(port):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((sys.argv[1], port))
    return sock


def sleeps(thread):
    with open(f"/proc/self/task/{thread.native_id}/status") as status:
        lines = dict(line.split(":", 1) for line in status)
    return int(lines["voluntary_ctxt_switches"])


def counted():
    """Receives until `end`. Returns the number of datagrams after the first, and the sleeps."""
    count, before = -1, 0
    while sockets[0].recv(100) != b"end":
        if count < 0:
            before = sum(map(sleeps, threads))
        count += 1
    return count, sum(map(sleeps, threads)) - before


sockets = [bound(port) for port in range(5_000, 5_004)]
received = []
threads = [
    threading.Thread(target=lambda sock=sock: received.append(sock.recv(100)), daemon=True)
    for sock in sockets[1:]
]
for thread in threads:
    thread.start()
time.sleep(0.3)
print("ready", flush=True)
for _ in range(int(sys.argv[2])):
    print("counted", *counted(), flush=True)
for thread in threads:
    thread.join(60)
print("received", sorted(received), flush=True)
