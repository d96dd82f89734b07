# Sends requests of ZeroMQ, several at once: zmq_client.py ADDRESS PORT
import hashlib
import sys
import zmq
context, digest, answers = zmq.Context(), hashlib.sha256(), 0
sockets = []
for _ in range(4):
    socket = context.socket(zmq.DEALER)
    socket.connect(f'tcp://{sys.argv[1]}:{sys.argv[2]}')
    sockets.append(socket)
for number in range(3000):
    for socket in sockets:
        socket.send_multipart([b'', b'%06d' % number + b'z' * (number % 500)])
    for socket in sockets:
        if socket.poll(10_000):
            digest.update(socket.recv_multipart()[1])
            answers += 1
print(answers, 'answers, sha256', digest.hexdigest()[:16])
context.destroy(linger=0)
