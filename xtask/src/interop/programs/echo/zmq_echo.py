# Answers requests of ZeroMQ: zmq_echo.py ADDRESS PORT
import sys
import zmq
socket = zmq.Context().socket(zmq.ROUTER)
socket.bind(f'tcp://{sys.argv[1]}:{sys.argv[2]}')
while True:
    socket.send_multipart(socket.recv_multipart())
