"""Counts how often threads that sleep in receives are woken by the datagrams of another thread.

Arguments: the local address. The main thread receives at port 5000 until `end`, three others at
5001 to 5003. Prints the number of datagrams and of the others' sleeps.
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
count = 0
before = 0
while True:
    data = sockets[0].recv(100)
    if data == b"end":
        break
    if count == 0:
        before = sum(map(sleeps, threads))
    count += 1
after = sum(map(sleeps, threads))
print("counted", count - 1, after - before, flush=True)
for thread in threads:
    thread.join(20)
print("received", sorted(received), flush=True)
