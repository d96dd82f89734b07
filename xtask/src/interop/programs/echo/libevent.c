// Answers over TCP and UDP with what arrives: libevent ADDRESS PORT
#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>

static void on_bytes(struct bufferevent* stream, void* unused) {
    (void)unused;
    bufferevent_write_buffer(stream, bufferevent_get_input(stream));
}

static void on_end(struct bufferevent* stream, short what, void* unused) {
    (void)unused;
    if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) bufferevent_free(stream);
}

static void on_stream(struct evconnlistener* listener, evutil_socket_t fd, struct sockaddr* from,
                      int length, void* unused) {
    (void)from, (void)length, (void)unused;
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct event_base* base = evconnlistener_get_base(listener);
    struct bufferevent* stream = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE);
    bufferevent_setcb(stream, on_bytes, NULL, on_end, NULL);
    bufferevent_enable(stream, EV_READ | EV_WRITE);
}

static void on_datagram(evutil_socket_t fd, short what, void* unused) {
    (void)what, (void)unused;
    static char bytes[65536];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    ssize_t count = recvfrom(fd, bytes, sizeof bytes, 0, (struct sockaddr*)&from, &length);
    if (count >= 0) sendto(fd, bytes, count, 0, (struct sockaddr*)&from, length);
}

int main(int count, char** arguments) {
    if (count != 3) return 2;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[2]))};
    inet_pton(AF_INET, arguments[1], &at.sin_addr);
    struct event_base* base = event_base_new();
    int flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE;
    if (!evconnlistener_new_bind(base, on_stream, NULL, flags, -1, (void*)&at, sizeof at)) return 1;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    if (bind(fd, (void*)&at, sizeof at)) return 1;
    event_add(event_new(base, fd, EV_READ | EV_PERSIST, on_datagram, NULL), NULL);
    return event_base_dispatch(base);
}
