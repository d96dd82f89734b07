/* The peer of random.c: executes its commands with sockets of the kernel.

   random_peer OWN4 OWN6 OTHER4 OTHER6 CONTROL */
#include "random.h"
#include <sched.h>

static struct {
    int fd;
    int family;
    uint32_t sent;
} slots[SLOTS];
static const char *own[2], *other[2];
static int listeners[2];
static uint8_t bytes[LARGEST];

static void limit_waits(int fd) {
    struct timeval limit = {5, 0};
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
}

static int bound(int type, int index) {
    struct sockaddr_storage at;
    int family = index ? AF_INET6 : AF_INET, on = 1;
    socklen_t length = address(&at, family, own[index], type == SOCK_STREAM ? LISTENER : 0);
    int fd = socket(family, type, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&at, length) != 0) {
        perror("bind");
        exit(9);
    }
    return fd;
}

static void end(uint32_t slot, int reset) {
    struct linger now = {1, 0};
    if (slots[slot].fd <= 0) return;
    if (reset) setsockopt(slots[slot].fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(slots[slot].fd);
    slots[slot].fd = 0;
}

static void start(uint32_t slot, int fd, int family) {
    end(slot, 1);
    slots[slot].fd = fd;
    slots[slot].family = family;
    slots[slot].sent = 0;
    limit_waits(fd);
}

static void read_up_to(struct reply *reply, int fd, long count) {
    reply->hash = 2166136261;
    int on = 1;
    while (reply->result < count) {
        /* A delayed acknowledgment would hold back the program's next short segment for 40 ms. */
        setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
        long rest = count - reply->result;
        long got = recv(fd, bytes, rest < LARGEST ? rest : LARGEST, 0);
        if (got < 0) reply->error = errno;
        if (got <= 0) return;
        reply->hash = hash(reply->hash, bytes, got);
        reply->result += got;
    }
}

static void send_all(struct reply *reply, uint32_t slot, long count, long piece) {
    fill(bytes, count, &slots[slot].sent, slot);
    for (long done = 0; done < count;) {
        long rest = count - done;
        long part = piece && piece < rest ? piece : rest;
        long sent = send(slots[slot].fd, bytes + done, part, MSG_NOSIGNAL);
        if (sent < 0) {
            reply->error = errno;
            return;
        }
        done += sent;
    }
}

static void connect_to(struct reply *reply, const struct request *it, int family) {
    struct sockaddr_storage to;
    socklen_t length = address(&to, family, other[it->a], it->b);
    start(it->slot, socket(family, SOCK_STREAM, 0), family);
    reply->result = connect(slots[it->slot].fd, (struct sockaddr *)&to, length);
    reply->error = errno;
}

static void send_datagrams(struct reply *reply, const struct request *it) {
    struct sockaddr_storage to;
    int family = slots[it->slot].family, index = family == AF_INET6;
    socklen_t length = address(&to, family, other[index], it->b);
    for (uint32_t at = 0; at < it->a; at++) {
        long count = it->c + at;
        fill(bytes, count, &slots[it->slot].sent, at);
        if (sendto(slots[it->slot].fd, bytes, count, 0, (struct sockaddr *)&to, length) < 0)
            reply->error = errno;
    }
}

static void receive(struct reply *reply, const struct request *it) {
    struct sockaddr_storage from = {0};
    socklen_t length = sizeof from;
    int fd = slots[it->slot].fd;
    reply->result = recvfrom(fd, bytes, LARGEST, 0, (struct sockaddr *)&from, &length);
    if (reply->result < 0) {
        reply->error = errno;
        return;
    }
    reply->hash = hash(2166136261, bytes, reply->result);
    if (port_of(&from) != it->b) reply->error = EADDRNOTAVAIL;
}

static void execute(struct reply *reply, const struct request *it) {
    int fd = slots[it->slot].fd, family = it->a ? AF_INET6 : AF_INET;
    switch (it->command) {
    case ACCEPT: start(it->slot, accept(listeners[it->a], NULL, NULL), family); break;
    case CONNECT: connect_to(reply, it, family); break;
    case SEND: send_all(reply, it->slot, it->a, it->b); break;
    case READ: read_up_to(reply, fd, it->a); break;
    case ROUND:
        read_up_to(reply, fd, it->a);
        send_all(reply, it->slot, it->b, 0);
        break;
    case DRAIN:
        read_up_to(reply, fd, LARGEST * 8L);
        end(it->slot, 0);
        break;
    case SHUT: shutdown(fd, SHUT_WR); break;
    case CLOSE: end(it->slot, it->a); break;
    case OPEN:
        start(it->slot, bound(SOCK_DGRAM, it->a), family);
        reply->result = local_port(slots[it->slot].fd);
        break;
    case DATAGRAMS: send_datagrams(reply, it); break;
    case RECEIVE: receive(reply, it); break;
    }
}

int main(int count, char **arguments) {
    if (count != 6) return 8;
    for (int index = 0; index < 2; index++) {
        own[index] = arguments[1 + index];
        other[index] = arguments[3 + index];
        listeners[index] = bound(SOCK_STREAM, index);
        listen(listeners[index], 8);
        limit_waits(listeners[index]);
    }
    /* The kernel keeps the order of the datagrams of one core. */
    cpu_set_t cores;
    CPU_ZERO(&cores);
    CPU_SET(sched_getcpu(), &cores);
    sched_setaffinity(0, sizeof cores, &cores);
    int control = atoi(arguments[5]);
    struct request request;
    while (recv(control, &request, sizeof request, MSG_WAITALL) == sizeof request) {
        struct reply reply = {0};
        errno = 0;
        execute(&reply, &request);
        send(control, &reply, sizeof reply, MSG_NOSIGNAL);
    }
    return 0;
}
