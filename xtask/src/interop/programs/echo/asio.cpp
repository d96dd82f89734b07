// Answers over TCP and UDP with what arrives, on two threads: asio ADDRESS PORT
// Debian's Boost uses std::exchange without this header.
#include <utility>

#include <array>
#include <boost/asio.hpp>
#include <memory>
#include <thread>

using namespace boost::asio;

struct Stream : std::enable_shared_from_this<Stream> {
    explicit Stream(ip::tcp::socket socket) : socket(std::move(socket)) {}
    void receive() {
        socket.async_read_some(buffer(bytes), [self = shared_from_this()](auto error, auto length) {
            if (error) return;
            async_write(self->socket, buffer(self->bytes, length), [self](auto error, auto) {
                if (!error) self->receive();
            });
        });
    }
    ip::tcp::socket socket;
    std::array<char, 65536> bytes;
};

struct Datagrams {
    Datagrams(io_context& context, ip::udp::endpoint at) : socket(context, at) {}
    void receive() {
        socket.async_receive_from(buffer(bytes), from, [this](auto error, auto length) {
            if (error) return receive();
            socket.async_send_to(buffer(bytes, length), from, [this](auto, auto) { receive(); });
        });
    }
    ip::udp::socket socket;
    ip::udp::endpoint from;
    std::array<char, 65536> bytes;
};

struct Listener {
    Listener(io_context& context, ip::tcp::endpoint at) : context(context), acceptor(context, at) {}
    void accept() {
        acceptor.async_accept(make_strand(context), [this](auto error, ip::tcp::socket socket) {
            if (!error) {
                socket.set_option(ip::tcp::no_delay(true));
                std::make_shared<Stream>(std::move(socket))->receive();
            }
            accept();
        });
    }
    io_context& context;
    ip::tcp::acceptor acceptor;
};

int main(int, char** arguments) {
    io_context context;
    auto address = ip::make_address(arguments[1]);
    auto port = static_cast<unsigned short>(std::stoi(arguments[2]));
    Listener listener(context, {address, port});
    Datagrams datagrams(context, {address, port});
    listener.accept();
    datagrams.receive();
    std::thread second([&] { context.run(); });
    context.run();
}
