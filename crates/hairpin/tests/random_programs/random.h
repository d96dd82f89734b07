/* The commands of a random program to its peer, over a Unix socket, one at a time. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LISTENER = 7000, SLOTS = 8, LARGEST = 1 << 20 };

/* The peer's sockets have the numbers of the program's. */
enum command {
    ACCEPT, /* accepts a connection of family a */
    CONNECT, /* connects to port b, of family a */
    SEND, /* sends a bytes, in writes of b bytes; from b on if not 0: UDP to port b */
    READ, /* reads a bytes, or up to the end */
    ROUND, /* reads a bytes and sends b */
    DRAIN, /* reads up to the end, and closes */
    SHUT, /* shuts down the sending side */
    CLOSE, /* closes; with a set, resets */
    OPEN, /* binds a UDP socket of family a; its port is the result */
    DATAGRAMS, /* sends a datagrams to port b of the program, of c bytes and more */
    RECEIVE, /* receives a datagram, whose source must be port b */
};

struct request {
    uint32_t command, slot, a, b, c;
};

struct reply {
    int64_t result;
    int32_t error;
    uint32_t hash;
};

static inline uint32_t hash(uint32_t before, const uint8_t *bytes, long count) {
    for (long at = 0; at < count; at++) before = (before ^ bytes[at]) * 16777619;
    return before;
}

/* The bytes of a stream follow from their position. */
static inline void fill(uint8_t *bytes, long count, uint32_t *position, uint32_t salt) {
    for (long at = 0; at < count; at++, ++*position)
        bytes[at] = *position * 167 + (*position >> 8) * 13 + salt;
}

static inline socklen_t address(struct sockaddr_storage *to, int family, const char *text,
                                uint16_t port) {
    memset(to, 0, sizeof *to);
    to->ss_family = family;
    if (family == AF_INET) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)to;
        v4->sin_port = htons(port);
        inet_pton(family, text, &v4->sin_addr);
        return sizeof *v4;
    }
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;
    v6->sin6_port = htons(port);
    inet_pton(family, text, &v6->sin6_addr);
    return sizeof *v6;
}

/* Both families have the port at the same place. */
static inline uint16_t port_of(const struct sockaddr_storage *at) {
    return ntohs(((const struct sockaddr_in *)at)->sin_port);
}

static inline uint16_t local_port(int fd) {
    struct sockaddr_storage at = {0};
    socklen_t length = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &length);
    return port_of(&at);
}
