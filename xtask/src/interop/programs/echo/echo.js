// Answers over TCP and UDP with what arrives: echo.js ADDRESS PORT
const [address, port] = [process.argv[2], Number(process.argv[3])];
require('net').createServer({noDelay: true}, socket => {
  socket.on('data', bytes => socket.write(bytes));
  socket.on('end', () => socket.end());
  socket.on('error', () => {});
}).listen(port, address);
const datagrams = require('dgram').createSocket('udp4');
datagrams.on('message', (bytes, from) => datagrams.send(bytes, from.port, from.address));
datagrams.bind(port, address);
