// Answers over TCP and UDP with what arrives, by one Selector: Echo ADDRESS PORT
import java.net.*;
import java.nio.*;
import java.nio.channels.*;

class Echo {
    public static void main(String[] arguments) throws Exception {
        var address = new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1]));
        var selector = Selector.open();
        var listener = ServerSocketChannel.open().bind(address);
        listener.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
        var datagrams = DatagramChannel.open().bind(address);
        datagrams.configureBlocking(false).register(selector, SelectionKey.OP_READ);
        var buffer = ByteBuffer.allocateDirect(65536);
        while (true) {
            selector.select();
            for (var keys = selector.selectedKeys().iterator(); keys.hasNext(); ) {
                var key = keys.next();
                keys.remove();
                buffer.clear();
                if (key.isAcceptable()) {
                    var stream = listener.accept();
                    stream.setOption(StandardSocketOptions.TCP_NODELAY, true);
                    stream.configureBlocking(false).register(selector, SelectionKey.OP_READ);
                } else if (key.channel() == datagrams) {
                    var from = datagrams.receive(buffer);
                    if (from != null) datagrams.send(buffer.flip(), from);
                } else {
                    var stream = (SocketChannel) key.channel();
                    try {
                        if (stream.read(buffer) < 0) {
                            stream.close();
                            continue;
                        }
                        buffer.flip();
                        while (buffer.hasRemaining()) stream.write(buffer);
                    } catch (java.io.IOException error) {
                        stream.close();
                    }
                }
            }
        }
    }
}
