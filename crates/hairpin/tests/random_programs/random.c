/* Executes random sequences of calls on sockets and prints their results.

   random OWN4 OWN6 PEER4 PEER6 CONTROL FIRST COUNT: the seeds from FIRST on, each with new sockets.
   random child FD ACT COUNT: acts on a socket that it has inherited.

   random_peer.c executes the peer's part at the same time. An operation ends when all that it has
   caused has arrived, so the results do not depend on the time. Nothing that differs by design is
   printed: numbers of descriptors, the order of events, sizes of buffers. */
#include "random.h"
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <linux/sockios.h>
#include <time.h>

enum { LINKS = 4, ALIASES = 4, INSTANCES = 3, LONGEST = 6000, OWED_MAX = 12000, WAIT_MS = 5000 };
enum kind { NONE, TCP, UDP };

/* A socket of the program, and what the peer and the program have done with it. */
struct link {
    enum kind kind;
    int index, family, id;
    /* All descriptors of the socket. The library has not seen how the unseen ones were made. */
    int fds[ALIASES], unseen[ALIASES], aliases;
    /* The bytes, or datagrams, that the peer has sent and the program has not read. */
    long unread;
    /* The bytes that the program has written and the peer has not read. */
    long owed;
    /* The last write had MSG_MORE: its end is sent when the kernel or the library sees fit. */
    int held;
    int eof, reset, peer_closed, shut_read, shut_write, nonblocking, timeout, connected;
    uint32_t written;
    uint16_t peer_port;
};

static struct link links[LINKS];
static int instances[INSTANCES][2];
static const char *own[2], *peer[2];
static int control, step, ids;
static uint64_t seed, state;
static uint8_t bytes[LARGEST];
static volatile sig_atomic_t handled;
extern char **environ;

/* The printed form of a result. */
static const char *text(long result) {
    static char line[64];
    if (result >= 0) snprintf(line, sizeof line, "%ld", result);
    else snprintf(line, sizeof line, "%ld %s", result, strerrorname_np(errno));
    return line;
}

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    printf("%lu.%d ", seed, step);
    vprintf(format, arguments);
    putchar('\n');
    fflush(stdout);
    va_end(arguments);
}

static uint32_t below(uint32_t limit) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % limit;
}

static int chance(uint32_t percent) { return below(100) < percent; }

static long amount(void) { return 1 + (chance(90) ? below(300) : below(LONGEST)); }

/* A system call that no library can replace. */
static long raw(long number, long a, long b, long c, long d, long e, long f) {
    register long fourth __asm__("r10") = d;
    register long fifth __asm__("r8") = e;
    register long sixth __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall" : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                     : "rcx", "r11", "memory");
    if (result >= 0) return result;
    errno = -result;
    return -1;
}

/* Sends a command to the peer, which executes it at once. */
static void ask(struct link *l, enum command command, uint32_t a, uint32_t b, uint32_t c) {
    struct request request = {command, l->index, a, b, c};
    if (write(control, &request, sizeof request) != sizeof request) exit(9);
}

static struct reply answer(void) {
    struct reply reply;
    char *to = (char *)&reply;
    for (size_t done = 0; done < sizeof reply;) {
        long got = read(control, to + done, sizeof reply - done);
        if (got == 0 || (got < 0 && errno != EINTR)) exit(9);
        if (got > 0) done += got;
    }
    return reply;
}

static struct reply told(struct link *l, enum command command, uint32_t a, uint32_t b, uint32_t c) {
    ask(l, command, a, b, c);
    return answer();
}

static void say_reply(struct link *l, const char *what, struct reply reply) {
    const char *error = reply.error ? strerrorname_np(reply.error) : "ok";
    say("%d: the peer %s: %ld %s %08x", l->index, what, (long)reply.result, error, reply.hash);
}

static struct link *pick(enum kind kind) {
    int first = below(LINKS);
    for (int at = 0; at < LINKS; at++) {
        struct link *l = &links[(first + at) % LINKS];
        if (l->kind != NONE && (kind == NONE || l->kind == kind)) return l;
    }
    return NULL;
}

/* A random descriptor of the socket: one that the library has seen, if there is one. */
static int seen(const struct link *l) {
    int first = below(l->aliases);
    for (int at = 0; at < l->aliases; at++) {
        int alias = (first + at) % l->aliases;
        if (!l->unseen[alias]) return l->fds[alias];
    }
    return l->fds[first];
}

static int is_seen(const struct link *l, int fd) {
    for (int at = 0; at < l->aliases; at++)
        if (l->fds[at] == fd) return !l->unseen[at];
    return 1;
}

/* Both directions are open. */
static int is_open(const struct link *l) {
    return !l->eof && !l->reset && !l->peer_closed && !l->shut_read && !l->shut_write;
}

/* A receive returns without waiting. */
static int is_ready(const struct link *l) {
    return l->unread > 0 || l->eof || l->reset || (l->shut_read && l->kind == TCP);
}

static long milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int await(int fd, int events) {
    struct pollfd one = {fd, events, 0};
    while (poll(&one, 1, WAIT_MS) < 0 && errno == EINTR) {}
    return one.revents;
}

static int queued(int fd, int request) {
    int count = -1;
    return ioctl(fd, request, &count) == 0 ? count : -1;
}

/* Waits until what the peer has sent can be read. */
static void settle(struct link *l) {
    int fd = seen(l);
    if (l->unread > 0 && (l->kind == UDP || chance(30))) await(fd, POLLIN);
    if (l->kind == UDP) return;
    long until = milliseconds() + WAIT_MS;
    while (queued(fd, FIONREAD) < l->unread && milliseconds() < until) usleep(100);
    int count = queued(fd, FIONREAD);
    if (count != l->unread) say("%d: unread %d, not %ld", l->index, count, l->unread);
    if (l->reset) await(fd, 0);
    else if (l->eof) await(fd, POLLRDHUP);
}

static int tcp_state(int fd) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length);
    return info.tcpi_state;
}

/* Takes the events of edges. A datagram that returns to the kernel is an edge once more. */
static void forget_edges(void) {
    struct epoll_event events[24];
    for (int at = 0; at < INSTANCES; at++)
        if (instances[at][0] != 0) epoll_wait(instances[at][0], events, 24, 0);
}

static const char *const PUTS[] = {"send", "write", "writev", "sendmsg", "sendto", "sendmmsg",
    "pwritev2", "raw write", "raw sendto", "dprintf", "FILE", "sendfile", "splice", "syscall"};
enum { PLAIN_PUTS = 6, ALL_PUTS = 14 };

static long put_stream(int fd, long count, int how) {
    if (how == 9) {
        for (long at = 0; at < count; at++) bytes[at] |= !bytes[at];
        return dprintf(fd, "%.*s", (int)count, bytes);
    }
    if (how == 10) {
        FILE *file = fdopen(dup(fd), "r+");
        long done = fwrite(bytes, 1, count, file);
        if (fclose(file) != 0) done = -1;
        int error = errno;
        forget_edges();
        errno = error;
        return done;
    }
    int ends[2] = {memfd_create("bytes", 0), -1};
    if (how == 12) {
        close(ends[0]);
        if (pipe(ends) != 0) return -2;
    }
    int to = how == 12 ? ends[1] : ends[0];
    if (write(to, bytes, count) != count) return -2;
    off_t start = 0;
    long done = how == 12 ? splice(ends[0], NULL, fd, NULL, count, 0)
                          : sendfile(fd, ends[0], &start, count);
    int error = errno;
    close(ends[0]);
    if (how == 12) close(ends[1]);
    errno = error;
    return done;
}

/* Writes the next bytes of the stream in one call. Returns the number of written bytes. */
static long put(struct link *l, int fd, long count, int how, int flags) {
    struct sockaddr_storage to;
    int is_named = l->kind == UDP && !l->connected;
    socklen_t length = address(&to, l->family, peer[l->family == AF_INET6], l->peer_port);
    void *name = is_named ? &to : NULL;
    if (!is_named) length = 0;
    fill(bytes, count, &l->written, l->id);
    struct iovec parts[2] = {{bytes, count / 3}, {bytes + count / 3, count - count / 3}};
    struct msghdr message = {name, length, parts, 2, NULL, 0, 0};
    if (how == 0 && is_named) how = 4;
    switch (how) {
    case 0: return send(fd, bytes, count, flags);
    case 1: return write(fd, bytes, count);
    case 2: return writev(fd, parts, 2);
    case 3: return sendmsg(fd, &message, flags);
    case 4: return sendto(fd, bytes, count, flags, name, length);
    case 5: {
        struct mmsghdr two[2] = {{message, 0}, {message, 0}};
        two[0].msg_hdr.msg_iovlen = two[1].msg_hdr.msg_iovlen = 1;
        two[1].msg_hdr.msg_iov = &parts[1];
        int sent = sendmmsg(fd, two, 2, flags);
        if (sent < 0) return -1;
        return (sent > 0 ? two[0].msg_len : 0) + (sent > 1 ? two[1].msg_len : 0);
    }
    case 6: return pwritev2(fd, parts, 2, -1, 0);
    case 7: return raw(SYS_write, fd, (long)bytes, count, 0, 0, 0);
    case 8: return raw(SYS_sendto, fd, (long)bytes, count, flags, (long)name, length);
    case 13: return syscall(SYS_sendto, fd, bytes, count, flags, name, length);
    default: return put_stream(fd, count, how);
    }
}

static const char *const GETS[] = {"recv", "read", "readv", "recvfrom", "recvmsg", "recvmmsg",
    "preadv2", "syscall", "FILE", "splice"};
enum { PLAIN_GETS = 8, ALL_GETS = 10 };

static long get_stream(int fd, uint8_t *to, long count, int how) {
    if (how == 8) {
        FILE *file = fdopen(dup(fd), "r+");
        setvbuf(file, NULL, _IOFBF, count);
        long done = fread(to, 1, count, file);
        fclose(file);
        return done;
    }
    int ends[2];
    if (pipe(ends) != 0) return -2;
    long done = splice(fd, NULL, ends[1], NULL, count, 0);
    int error = errno;
    if (done > 0 && read(ends[0], to, done) != done) done = -2;
    close(ends[0]);
    close(ends[1]);
    errno = error;
    return done;
}

static int is_peer(const struct link *l, const struct sockaddr_storage *from) {
    return from->ss_family == l->family && port_of(from) == l->peer_port;
}

/* Reads in one call. Sets `extra` to the flags and the address of a message. */
static long get(struct link *l, int fd, uint8_t *to, long count, int how, int flags, int *extra) {
    struct sockaddr_storage from = {0};
    socklen_t length = sizeof from;
    struct iovec parts[2] = {{to, count / 3}, {to + count / 3, count - count / 3}};
    char space[128];
    struct msghdr message = {&from, length, parts, 2, space, sizeof space, 0};
    *extra = 0;
    switch (how) {
    case 0: return recv(fd, to, count, flags);
    case 1: return read(fd, to, count);
    case 2: return readv(fd, parts, 2);
    case 3: {
        long got = recvfrom(fd, to, count, flags, (struct sockaddr *)&from, &length);
        *extra = is_peer(l, &from);
        return got;
    }
    case 4: {
        long got = recvmsg(fd, &message, flags);
        *extra = message.msg_flags << 1 | is_peer(l, &from);
        return got;
    }
    case 5: {
        struct mmsghdr one = {message, 0};
        int got = recvmmsg(fd, &one, 1, flags, NULL);
        *extra = one.msg_hdr.msg_flags << 1 | is_peer(l, &from);
        return got == 1 ? (long)one.msg_len : got;
    }
    case 6: return preadv2(fd, parts, 2, -1, 0);
    case 7: return syscall(SYS_recvfrom, fd, to, count, flags, NULL, NULL);
    default: return get_stream(fd, to, count, how);
    }
}

/* The bytes of the last read. */
static uint8_t received[LARGEST];

/* Reads exactly `count` bytes, or one datagram, with plain calls. Returns their hash. */
static uint32_t get_all(struct link *l, long count) {
    uint32_t all = 2166136261;
    /* The number of calls depends on the time, and must not change what is drawn later. */
    uint64_t kept = state;
    for (long done = 0; done < count;) {
        int extra, fd = seen(l), how = below(PLAIN_GETS);
        if (l->nonblocking || l->timeout || chance(20)) await(fd, POLLIN);
        long room = l->kind == UDP ? LONGEST : count - done;
        long got = get(l, fd, received, room, how, 0, &extra);
        if (got <= 0) {
            say("%d: %s %ld after %ld: %s", l->index, GETS[how], room, done, text(got));
            break;
        }
        all = hash(all, received, got);
        done = l->kind == UDP ? count : done + got;
    }
    state = kept + 1;
    return all;
}

static void arrived(struct link *l, long count) {
    l->unread += count;
    settle(l);
}

static void add_alias(struct link *l, int fd, int unseen) {
    l->fds[l->aliases] = fd;
    l->unseen[l->aliases++] = unseen;
}

static void remove_alias(struct link *l, int at) {
    l->fds[at] = l->fds[--l->aliases];
    l->unseen[at] = l->unseen[l->aliases];
}

/* After the last descriptor was closed: what the peer receives. */
static void finish(struct link *l) {
    if (l->kind == TCP && !l->peer_closed) say_reply(l, "drains", told(l, DRAIN, 0, 0, 0));
    l->kind = NONE;
}

static void peer_reads(struct link *l) {
    long count = l->owed;
    l->owed = 0;
    say_reply(l, "reads", told(l, READ, count, 0, 0));
}

static void close_alias(struct link *l, int at, int how) {
    /* A direct close is seen when socket(2) uses the number again. */
    static const char *const HOWS[] = {"close", "close_range", "dup2"};
    int fd = l->fds[at], result = 0;
    remove_alias(l, at);
    /* So does a reset because of unread bytes. */
    if (l->aliases == 0 && l->unread && l->owed && !l->peer_closed) peer_reads(l);
    if (how == 0) result = close(fd);
    else if (how == 1) result = close_range(fd, fd, 0);
    else {
        int other = open("/dev/null", O_RDWR);
        result = dup2(other, fd) == fd ? 0 : -1;
        close(other);
        close(fd);
    }
    say("%d: %s, %d left = %s", l->index, HOWS[how], l->aliases, text(result));
    if (l->aliases == 0) finish(l);
}

static void do_close(void) {
    struct link *l = pick(NONE);
    if (!l) return;
    if (l->aliases == 1 && chance(60)) return;
    if (l->kind == TCP && chance(15)) {
        /* The reset drops what is not sent yet, which depends on the time. */
        if (l->owed && !l->peer_closed) peer_reads(l);
        struct linger linger = {1, below(2)};
        say("%d: SO_LINGER = %s", l->index,
            text(setsockopt(seen(l), SOL_SOCKET, SO_LINGER, &linger, sizeof linger)));
    }
    close_alias(l, below(l->aliases), below(3));
}

/* A free link; a random one is closed if there is none. */
static struct link *fresh(enum kind kind) {
    struct link *l = &links[below(LINKS)];
    while (l->kind != NONE) close_alias(l, 0, 0);
    int index = l - links;
    memset(l, 0, sizeof *l);
    l->kind = kind;
    l->index = index;
    l->id = ++ids;
    l->family = chance(50) ? AF_INET : AF_INET6;
    return l;
}

static int flags_of_new(struct link *l) {
    l->nonblocking = chance(20);
    return (l->nonblocking ? SOCK_NONBLOCK : 0) | (chance(30) ? SOCK_CLOEXEC : 0);
}

static void do_bind(void) {
    struct link *l = fresh(UDP);
    struct sockaddr_storage at;
    int index = l->family == AF_INET6, any = chance(40);
    struct reply reply = told(l, OPEN, index, 0, 0);
    l->peer_port = reply.result;
    int fd = socket(l->family, SOCK_DGRAM | flags_of_new(l), 0);
    socklen_t length = address(&at, l->family, any ? (index ? "::" : "0.0.0.0") : own[index], 0);
    long result = bind(fd, (struct sockaddr *)&at, length);
    say("%d: bind %d %d = %s", l->index, index, any, text(result));
    add_alias(l, fd, 0);
    if (chance(60)) {
        length = address(&at, l->family, peer[index], l->peer_port);
        l->connected = 1;
        say("%d: connect = %s", l->index, text(connect(fd, (struct sockaddr *)&at, length)));
    }
}

static void say_put(struct link *l, int how, long count, int flags, long result) {
    say("%d: %s %ld %#x = %s", l->index, PUTS[how], count, flags, text(result));
}

static void peer_receives(struct link *l, int fd) {
    say_reply(l, "receives", told(l, RECEIVE, 0, local_port(fd), 0));
}

/* A datagram each way in turns. */
static void exchange_datagrams(struct link *l) {
    for (int rounds = 1 + below(6); rounds > 0; rounds--) {
        int fd = seen(l), how = below(5);
        long count = amount() % 1400;
        if (!l->connected && how != 3) how = 4;
        say_put(l, how, count, 0, put(l, fd, count, how, 0));
        peer_receives(l, fd);
        say_reply(l, "sends", told(l, DATAGRAMS, 1, local_port(fd), amount() % 1400));
        say("%d: received %08x", l->index, get_all(l, 1));
    }
}

/* Requests and answers, after which a connection is taken over. */
static void exchange(struct link *l) {
    if (l->kind == UDP) return exchange_datagrams(l);
    for (int rounds = 1 + below(8); rounds > 0; rounds--) {
        int how = chance(90) ? below(PLAIN_PUTS) : below(ALL_PUTS);
        long count = amount(), answer_count = amount();
        long sent = put(l, seen(l), count, how, 0);
        say_put(l, how, count, 0, sent);
        if (sent < 0) return;
        struct reply reply = told(l, ROUND, l->owed + sent, answer_count, 0);
        l->owed = 0;
        say_reply(l, "answers", reply);
        say("%d: received %ld %08x", l->index, answer_count, get_all(l, answer_count));
    }
}

static void do_connect(void) {
    struct link *l = fresh(TCP);
    struct sockaddr_storage to;
    int index = l->family == AF_INET6, error = -1, on = 1;
    l->peer_port = LISTENER;
    socklen_t length = address(&to, l->family, peer[index], LISTENER), size = sizeof error;
    int fd = socket(l->family, SOCK_STREAM | flags_of_new(l), 0);
    long result = connect(fd, (struct sockaddr *)&to, length);
    say("%d: connect %d = %s", l->index, index, text(result));
    if (result != 0) await(fd, POLLOUT);
    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (chance(60)) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    add_alias(l, fd, 0);
    say_reply(l, "accepts", told(l, ACCEPT, index, 0, 0));
    say("%d: connected, error %d", l->index, error);
    if (chance(70)) exchange(l);
}

static void do_accept(void) {
    struct link *l = fresh(TCP);
    struct sockaddr_storage at, from = {0};
    int index = l->family == AF_INET6, how = below(3);
    socklen_t length = address(&at, l->family, own[index], 0), size = sizeof from;
    int listener = socket(l->family, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&at, length) != 0) exit(9);
    say("%d: listen = %s", l->index, text(listen(listener, 4)));
    say_reply(l, "connects", told(l, CONNECT, index, local_port(listener), 0));
    int fd;
    if (how == 0) fd = accept(listener, (struct sockaddr *)&from, &size);
    else fd = accept4(listener, how == 1 ? (struct sockaddr *)&from : NULL, how == 1 ? &size : NULL,
                      flags_of_new(l));
    if (fd < 0) say("%d: accept = %s", l->index, text(fd));
    say("%d: accepted, family %d", l->index, how == 2 ? -1 : from.ss_family);
    size = sizeof from;
    getpeername(fd, (struct sockaddr *)&from, &size);
    l->peer_port = port_of(&from);
    close(listener);
    add_alias(l, fd, 0);
    if (chance(70)) exchange(l);
}

static void do_exchange(void) {
    struct link *l = pick(NONE);
    if (l && is_open(l) && !l->unread) exchange(l);
}

/* After a write to a socket that the peer has closed. */
static void after_put(struct link *l, int fd, long sent) {
    if (sent > 0) l->owed += sent;
    if (sent > 0 && l->peer_closed && !l->reset) {
        l->reset = l->eof = 1;
        await(fd, 0);
    }
    if (l->owed > OWED_MAX && !l->peer_closed) peer_reads(l);
}

static void do_put(void) {
    static const int FLAGS[] = {0, 0, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_MORE,
        MSG_NOSIGNAL | MSG_MORE};
    struct link *l = pick(NONE);
    if (!l) return;
    int at = below(l->aliases), fd = l->fds[at], how = below(ALL_PUTS);
    int takes_flags = how == 0 || (how >= 3 && how <= 5) || how == 8 || how == 13;
    int flags = takes_flags ? FLAGS[below(6)] : 0;
    long count = l->kind == UDP ? amount() % 1400 : amount();
    /* The library does not see that the next datagram belongs to this one. */
    if (l->kind == UDP && how == 8) flags &= ~MSG_MORE;
    long sent = put(l, fd, count, how, flags);
    say_put(l, how, count, flags, sent);
    if (l->kind == TCP) l->held = (flags & MSG_MORE) != 0;
    if (l->kind == TCP) return after_put(l, fd, sent);
    if (sent < 0) return;
    if (flags & MSG_MORE) {
        /* The next datagram without the flag is the end of this one. */
        say_put(l, 4, 10, 0, put(l, fd, 10, 4, 0));
        how = 4;
    }
    int datagrams = 1;
    if (how == 5) datagrams = 2;
    while (datagrams-- > 0) peer_receives(l, fd);
}

static void do_peer_reads(void) {
    struct link *l = pick(TCP);
    if (l && l->owed && !l->peer_closed && !l->reset) peer_reads(l);
}

static int takes_flags(int how) { return how == 0 || (how >= 3 && how <= 5) || how == 7; }

static void do_get(void) {
    static const int FLAGS[] = {0, 0, MSG_PEEK, MSG_DONTWAIT, MSG_WAITALL, MSG_TRUNC,
        MSG_PEEK | MSG_TRUNC, MSG_PEEK | MSG_DONTWAIT, MSG_PEEK | MSG_WAITALL, MSG_CMSG_CLOEXEC};
    struct link *l = pick(NONE);
    if (!l) return;
    int at = below(l->aliases), fd = l->fds[at], how = below(ALL_GETS), extra;
    int flags = FLAGS[below(10)], ready = is_ready(l);
    long count = chance(50) && l->unread > 1 && l->kind == TCP ? l->unread : amount();
    /* A direct receive may find what has arrived 100 ms later, and EPIPE if it waits then. */
    if (l->unseen[at]) return;
    if (how >= 8 && (l->kind == UDP || !l->unread || l->unread > 4000)) how = 0;
    /* A stream reads until its buffer is full. */
    if (how == 8) count = l->unread;
    if (!takes_flags(how)) flags = 0;
    if (!ready && !l->nonblocking && !l->timeout) {
        if (!takes_flags(how)) how = 0;
        flags |= MSG_DONTWAIT;
    }
    int is_limited = flags & MSG_WAITALL && l->unread && !l->eof && !l->reset;
    if (is_limited && count > l->unread) count = l->unread;
    if (l->kind == UDP && l->unread) await(fd, POLLIN);
    memset(received, 0, count);
    long got = get(l, fd, received, count, how, flags, &extra);
    int error = errno;
    long filled = got < count ? got : count;
    uint32_t all = got > 0 ? hash(2166136261, received, filled) : 0;
    /* With MSG_TRUNC the kernel does not copy the bytes of a connection. */
    if (l->kind == TCP && flags & MSG_TRUNC) all = 0;
    errno = error;
    say("%d: %s %ld %#x = %s, %d, %08x", l->index, GETS[how], count, flags, text(got), extra, all);
    if (got < 0 || flags & MSG_PEEK) return;
    l->unread -= l->kind == UDP ? 1 : got;
}

static void do_arrive(void) {
    struct link *l = pick(NONE);
    if (!l || l->eof || l->reset || l->peer_closed || l->shut_read) return;
    if (l->kind == UDP) {
        int count = 1 + below(3);
        if (l->unread + count > 8) return;
        say_reply(l, "sends", told(l, DATAGRAMS, count, local_port(seen(l)), amount() % 1400));
        return arrived(l, count);
    }
    long count = amount();
    if (l->unread + count > OWED_MAX) return;
    say_reply(l, "sends", told(l, SEND, count, chance(20) ? 1 + count / 4 : 0, 0));
    if (l->unread || chance(70)) return arrived(l, count);
    say("%d: received %ld %08x", l->index, count, get_all(l, count));
}

static void do_peer_ends(void) {
    struct link *l = pick(TCP);
    if (!l || l->peer_closed || l->reset || chance(60)) return;
    int how = below(3);
    if (how == 0) {
        if (l->eof) return;
        say_reply(l, "shuts down", told(l, SHUT, 0, 0, 0));
        l->eof = 1;
    } else {
        int reset = how == 2 || l->owed > 0;
        /* A reset after bytes that the peer has not acknowledged. It closes with FIN if they are
           still held back, and their arrival is answered with the reset. */
        if (l->owed && (l->held || chance(60))) peer_reads(l);
        reset = how == 2 || l->owed > 0;
        say_reply(l, reset ? "resets" : "closes", told(l, CLOSE, how == 2, 0, 0));
        l->peer_closed = l->eof = 1;
        l->reset = reset;
    }
    settle(l);
    if (l->shut_write) l->reset |= l->peer_closed;
}

static void do_shutdown(void) {
    struct link *l = pick(TCP);
    if (!l || chance(70)) return;
    /* A takeover ends the effect of a direct shutdown of the receiving side. */
    int fd = seen(l), how = below(3), direct = how == SHUT_WR && chance(30);
    long result = direct ? raw(SYS_shutdown, fd, how, 0, 0, 0, 0) : shutdown(fd, how);
    say("%d: %sshutdown %d = %s", l->index, direct ? "raw " : "", how, text(result));
    if (result != 0) return;
    if (how != SHUT_WR) l->shut_read = 1;
    if (how != SHUT_RD) l->shut_write = 1;
    /* The acknowledgment of FIN is an event. */
    long until = milliseconds() + WAIT_MS;
    for (int now = TCP_FIN_WAIT1; milliseconds() < until; usleep(200)) {
        now = tcp_state(fd);
        if (now != TCP_FIN_WAIT1 && now != TCP_LAST_ACK && now != TCP_CLOSING) break;
    }
}

static void do_dup(void) {
    struct link *l = pick(NONE);
    if (!l || l->aliases == ALIASES) return;
    static const char *const HOWS[] = {"dup", "F_DUPFD", "F_DUPFD_CLOEXEC", "dup2", "dup3",
        "raw dup", "SCM_RIGHTS", "dup2 of itself"};
    int at = below(l->aliases), fd = l->fds[at], how = below(8), unseen = l->unseen[at], copy = -1;
    /* Datagrams do not reach a direct duplicate. */
    if (l->kind == UDP && how == 5) how = 0;
    if (how == 0) copy = dup(fd);
    else if (how <= 2) copy = fcntl(fd, how == 1 ? F_DUPFD : F_DUPFD_CLOEXEC, 40);
    else if (how <= 4) {
        int target = open("/dev/null", O_RDWR);
        copy = how == 3 ? dup2(fd, target) : dup3(fd, target, O_CLOEXEC);
    } else if (how == 5) copy = raw(SYS_dup, fd, 0, 0, 0, 0, 0), unseen = 1;
    else if (how == 6) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) exit(9);
        char space[CMSG_SPACE(sizeof fd)] = {0}, byte = 0;
        struct iovec part = {&byte, 1};
        struct msghdr message = {NULL, 0, &part, 1, space, sizeof space, 0};
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        *rights = (struct cmsghdr){CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
        memcpy(CMSG_DATA(rights), &fd, sizeof fd);
        if (sendmsg(ends[0], &message, 0) != 1 || recvmsg(ends[1], &message, 0) != 1) exit(9);
        memcpy(&copy, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
        close(ends[0]);
        close(ends[1]);
    } else if (dup2(fd, fd) != fd) copy = -1;
    else {
        say("%d: %s", l->index, HOWS[how]);
        return;
    }
    say("%d: %s = %s", l->index, HOWS[how], text(copy < 0 ? -1 : 0));
    if (copy >= 0) add_alias(l, copy, unseen);
    forget_edges();
}

static void do_nonblocking(void) {
    struct link *l = pick(NONE);
    if (!l) return;
    int fd = l->fds[below(l->aliases)], how = below(3), on = !l->nonblocking;
    long result, flags = fcntl(fd, F_GETFL);
    say("%d: F_GETFL %#lx", l->index, flags);
    flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
    if (how == 0) result = fcntl(fd, F_SETFL, flags);
    else if (how == 1) result = ioctl(fd, FIONBIO, &on);
    else result = raw(SYS_fcntl, fd, F_SETFL, flags, 0, 0, 0);
    say("%d: nonblocking %d by %d = %s", l->index, on, how, text(result));
    l->nonblocking = on;
}

struct option {
    const char *name;
    int level, number, values[2];
};

static void do_option(void) {
    static const struct option OPTIONS[] = {
        {"TCP_NODELAY", IPPROTO_TCP, TCP_NODELAY, {0, 1}},
        {"TCP_CORK", IPPROTO_TCP, TCP_CORK, {0, 1}},
        {"TCP_QUICKACK", IPPROTO_TCP, TCP_QUICKACK, {1, 1}},
        {"TCP_USER_TIMEOUT", IPPROTO_TCP, TCP_USER_TIMEOUT, {0, 30000}},
        {"SO_KEEPALIVE", SOL_SOCKET, SO_KEEPALIVE, {0, 1}},
        {"SO_PRIORITY", SOL_SOCKET, SO_PRIORITY, {0, 3}},
        {"SO_RCVBUF", SOL_SOCKET, SO_RCVBUF, {60000, 200000}},
        {"SO_OOBINLINE", SOL_SOCKET, SO_OOBINLINE, {0, 1}},
        {"SO_TIMESTAMP", SOL_SOCKET, SO_TIMESTAMP, {0, 0}},
        {"SO_BROADCAST", SOL_SOCKET, SO_BROADCAST, {0, 1}},
        {"IP_TOS", IPPROTO_IP, IP_TOS, {0, 16}},
        {"IP_TTL", IPPROTO_IP, IP_TTL, {64, 5}},
        {"SO_REUSEADDR", SOL_SOCKET, SO_REUSEADDR, {0, 1}},
    };
    struct link *l = pick(NONE);
    if (!l) return;
    const struct option *it = &OPTIONS[below(sizeof OPTIONS / sizeof *OPTIONS)];
    int fd = seen(l), value = it->values[below(2)], now = -1;
    socklen_t length = sizeof now;
    long result = setsockopt(fd, it->level, it->number, &value, sizeof value);
    say("%d: %s %d = %s", l->index, it->name, value, text(result));
    if (result != 0 || it->number == TCP_QUICKACK) return;
    result = getsockopt(fd, it->level, it->number, &now, &length);
    say("%d: %s = %s, %d", l->index, it->name, text(result), now);
}

static void do_timeout(void) {
    struct link *l = pick(NONE);
    if (!l) return;
    l->timeout = below(2);
    int fd = l->fds[below(l->aliases)], name = chance(80) ? SO_RCVTIMEO : SO_SNDTIMEO;
    if (name == SO_SNDTIMEO) l->timeout = 0;
    struct timeval limit = {0, l->timeout ? 12000 : 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (name == SO_SNDTIMEO) limit.tv_sec = 3;
    say("%d: timeout %d, %d = %s", l->index, name, l->timeout,
        text(setsockopt(fd, SOL_SOCKET, name, &limit, sizeof limit)));
}

static void do_low_water(void) {
    struct link *l = pick(TCP);
    if (!l || l->eof || l->reset || l->peer_closed) return;
    int fd = seen(l), low = 2 + below(400), now = 0, one = 1;
    socklen_t length = sizeof now;
    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &low, sizeof low);
    getsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &now, &length);
    struct pollfd it = {fd, POLLIN, 0};
    int ready = poll(&it, 1, 2);
    say("%d: SO_RCVLOWAT %d, %d ready", l->index, now, ready);
    setsockopt(fd, SOL_SOCKET, SO_RCVLOWAT, &one, sizeof one);
}

/* What the kernel reports about the socket. */
static void do_query(void) {
    struct link *l = pick(NONE);
    if (!l) return;
    int fd = seen(l), values[4] = {-1, -1, -1, -1};
    const int NAMES[4] = {SO_TYPE, SO_DOMAIN, SO_ERROR, SO_ACCEPTCONN};
    /* An error is read once, by the operation that it belongs to. */
    for (int at = 0; at < 4; at++) {
        socklen_t length = sizeof values[at];
        if (NAMES[at] == SO_ERROR && l->reset) continue;
        getsockopt(fd, SOL_SOCKET, NAMES[at], &values[at], &length);
    }
    say("%d: type %d, domain %d, error %d, listens %d", l->index, values[0], values[1], values[2],
        values[3]);
    if (l->kind == UDP && l->unread) await(fd, POLLIN);
    say("%d: FIONREAD %d", l->index, queued(fd, FIONREAD));
    struct sockaddr_storage at = {0};
    socklen_t length = sizeof at;
    long result = getpeername(fd, (struct sockaddr *)&at, &length);
    say("%d: getpeername = %s, %d", l->index, text(result), is_peer(l, &at));
    if (l->kind == TCP && !l->reset && !l->peer_closed) {
        peer_reads(l);
        long until = milliseconds() + WAIT_MS;
        while (queued(fd, SIOCOUTQ) > 0 && milliseconds() < until) usleep(200);
        say("%d: SIOCOUTQ %d, state %d", l->index, queued(fd, SIOCOUTQ), tcp_state(fd));
    }
}

/* A random descriptor of each link. Returns their number. */
static int choose(int fds[LINKS], int positions[LINKS]) {
    int count = 0;
    for (int at = 0; at < LINKS; at++) {
        struct link *l = &links[at];
        int fd = l->kind == NONE ? -1 : seen(l);
        if (fd < 0 || chance(25) || !is_seen(l, fd)) continue;
        if (l->kind == UDP && l->unread) await(fd, POLLIN);
        positions[count] = at;
        fds[count++] = fd;
    }
    return count;
}

static void do_poll(void) {
    static const short EVENTS[] = {POLLIN, POLLOUT, POLLIN | POLLOUT, POLLRDHUP, POLLIN | POLLRDHUP,
        POLLPRI, 0, POLLRDNORM | POLLWRNORM};
    int fds[LINKS], positions[LINKS], count = choose(fds, positions), how = below(3);
    int timeout = below(3) * 3;
    struct pollfd polled[LINKS + 1];
    struct timespec time = {0, timeout * 1000000};
    for (int at = 0; at < count; at++) polled[at] = (struct pollfd){fds[at], EVENTS[below(8)], 0};
    long result = how == 0 ? poll(polled, count, timeout)
                  : how == 1 ? ppoll(polled, count, &time, NULL)
                             : raw(SYS_poll, (long)polled, count, 0, 0, 0, 0);
    /* A direct call may see what has arrived 100 ms later. */
    if (how == 2) return;
    say("poll %d %d = %s", how, count, text(result));
    for (int at = 0; at < count; at++)
        say("%d: %#x of %#x", positions[at], polled[at].revents, polled[at].events);
}

static void do_select(void) {
    int fds[LINKS], positions[LINKS], count = choose(fds, positions), most = 0;
    fd_set sets[3];
    for (int set = 0; set < 3; set++) FD_ZERO(&sets[set]);
    for (int at = 0; at < count; at++) {
        if (fds[at] >= FD_SETSIZE) return;
        most = fds[at] > most ? fds[at] : most;
        for (int set = 0; set < 3; set++)
            if (chance(60)) FD_SET(fds[at], &sets[set]);
    }
    struct timeval time = {0, below(3) * 3000};
    struct timespec precise = {0, time.tv_usec * 1000};
    long result = chance(50) ? select(most + 1, &sets[0], &sets[1], &sets[2], &time)
                             : pselect(most + 1, &sets[0], &sets[1], &sets[2], &precise, NULL);
    say("select %d = %s", count, text(result));
    for (int at = 0; at < count; at++)
        say("%d: %d%d%d", positions[at], FD_ISSET(fds[at], &sets[0]) != 0,
            FD_ISSET(fds[at], &sets[1]) != 0, FD_ISSET(fds[at], &sets[2]) != 0);
}

/* A random descriptor of a random instance, which is created if needed. */
static int instance(int at) {
    if (instances[at][0] == 0) {
        instances[at][0] = epoll_create1(chance(50) ? EPOLL_CLOEXEC : 0);
        instances[at][1] = chance(40) ? dup(instances[at][0]) : instances[at][0];
        say("instance %d, duplicate %d", at, instances[at][0] != instances[at][1]);
    }
    return instances[at][below(2)];
}

static void do_epoll_ctl(void) {
    static const uint32_t EVENTS[] = {EPOLLIN, EPOLLOUT, EPOLLIN | EPOLLOUT, EPOLLIN | EPOLLRDHUP,
        EPOLLRDHUP, 0};
    static const int CONTROLS[] = {EPOLL_CTL_ADD, EPOLL_CTL_ADD, EPOLL_CTL_MOD, EPOLL_CTL_DEL};
    struct link *l = pick(NONE);
    int at = below(INSTANCES), epoll = instance(at), how = CONTROLS[below(4)];
    uint32_t events = EVENTS[below(6)];
    if (!l || chance(8)) {
        /* An instance in an instance of a lower number: no cycle. */
        if (at == 0) return;
        int inner = below(at);
        struct epoll_event event = {EPOLLIN | (chance(30) ? EPOLLET : 0), {.u64 = 900 + inner}};
        long result = epoll_ctl(epoll, how, instance(inner), &event);
        return say("instance %d in %d: %d = %s", inner, at, how, text(result));
    }
    int alias = below(l->aliases), fd = l->fds[alias];
    if (l->unseen[alias]) return;
    if (chance(30)) events |= EPOLLET;
    if (chance(15)) events |= EPOLLONESHOT;
    if (chance(8)) events |= EPOLLEXCLUSIVE;
    /* The kernel makes an event of each datagram that a card has sent, at some time. */
    if (l->kind == UDP && events & EPOLLET) events &= ~EPOLLOUT;
    if (l->kind == UDP && l->unread) await(fd, POLLIN);
    struct epoll_event event = {events, {.u64 = l->id * 10 + alias}};
    /* The library does not see direct calls of epoll_ctl(2). */
    long result = epoll_ctl(epoll, how, fd, &event);
    say("%d: instance %d: %d %lu %#x = %s", l->index, at, how, event.data.u64, events,
        text(result));
}

static int by_data(const void *one, const void *other) {
    const struct epoll_event *a = one, *b = other;
    return a->data.u64 < b->data.u64 ? -1 : a->data.u64 > b->data.u64;
}

static void say_events(const char *what, struct epoll_event *events, long count) {
    say("%s = %s", what, text(count));
    if (count <= 0) return;
    qsort(events, count, sizeof *events, by_data);
    for (int at = 0; at < count; at++) say("  %lu %#x", events[at].data.u64, events[at].events);
}

static void do_epoll_wait(void) {
    int at = below(INSTANCES), epoll = instance(at), timeout = below(3) * 3, how = below(3);
    struct epoll_event events[24];
    struct timespec time = {0, timeout * 1000000};
    for (int link = 0; link < LINKS; link++) {
        struct link *l = &links[link];
        if (l->kind == UDP && l->unread) await(seen(l), POLLIN);
    }
    memset(events, 0, sizeof events);
    long count = how == 0   ? epoll_wait(epoll, events, 24, timeout)
                 : how == 1 ? epoll_pwait(epoll, events, 24, timeout, NULL)
                            : epoll_pwait2(epoll, events, 24, &time, NULL);
    say("instance %d:", at);
    say_events("epoll_wait", events, count);
}

static void do_epoll_close(void) {
    int at = below(INSTANCES);
    if (instances[at][0] == 0 || chance(70)) return;
    int which = below(2);
    close(instances[at][which]);
    if (instances[at][0] == instances[at][1]) instances[at][0] = instances[at][1] = 0;
    else instances[at][which] = instances[at][!which];
    say("instance %d: closed one", at);
}

enum act { NOTHING, WRITES, READS, BOTH, CLOSES, POLLS, KILLED, ACTS };

/* What a child does with an inherited socket. Returns its exit status. */
static int act(int fd, enum act act, long count, long unread) {
    if (act == WRITES || act == BOTH || act == KILLED) {
        memset(bytes, 'c', count);
        say("child: send = %s", text(send(fd, bytes, count, 0)));
    }
    if (act == READS || act == BOTH) {
        long done = 0;
        while (done < unread) {
            await(fd, POLLIN);
            long got = recv(fd, received + done, unread - done, 0);
            if (got <= 0) break;
            done += got;
        }
        say("child: received %ld %08x", done, hash(1, received, done));
    }
    if (act == POLLS) {
        struct pollfd one = {fd, POLLIN | POLLOUT | POLLRDHUP, 0};
        say("child: poll = %s, %#x", text(poll(&one, 1, 2)), one.revents);
    }
    if (act == CLOSES) say("child: close = %s", text(close(fd)));
    if (act == KILLED) raise(SIGKILL);
    return 40 + act;
}

static void bury(pid_t child) {
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    say("child: status %#x", status);
}

static void do_fork(void) {
    struct link *l = pick(NONE);
    if (!l) return;
    enum act what = below(ACTS);
    if (!is_open(l) || l->kind == UDP) what = what == CLOSES || what == POLLS ? what : NOTHING;
    int fd = seen(l), how = below(3);
    long count = amount();
    if (l->kind == UDP && l->unread) await(fd, POLLIN);
    say("%d: child acts %d", l->index, what);
    if (what == WRITES || what == BOTH || what == KILLED) l->owed += count;
    if (how == 2) {
        char number[3][24];
        long values[3] = {fd, what, count};
        for (int at = 0; at < 3; at++) snprintf(number[at], sizeof *number, "%ld", values[at]);
        char unread[24], name[] = "random", child_name[] = "child";
        snprintf(unread, sizeof unread, "%ld", l->unread);
        char *arguments[] = {name, child_name, number[0], number[1], number[2], unread, NULL};
        fcntl(fd, F_SETFD, 0);
        pid_t child;
        if (posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ) != 0) exit(9);
        bury(child);
    } else {
        pid_t child = fork();
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            alarm(30);
            int status = act(fd, what, count, l->unread);
            if (how == 1) exit(status);
            _exit(status);
        }
        bury(child);
    }
    if (what == READS || what == BOTH) l->unread = 0;
    forget_edges();
    if (l->owed > OWED_MAX && is_open(l)) peer_reads(l);
}

static void do_spawn(void) {
    int how = below(4);
    if (chance(60)) return;
    if (how == 0) {
        pid_t child = vfork();
        if (child == 0) _exit(7);
        bury(child);
    } else if (how == 1) {
        char *arguments[] = {(char *)"true", NULL};
        pid_t child;
        if (posix_spawnp(&child, "true", NULL, NULL, arguments, environ) != 0) exit(9);
        bury(child);
    } else if (how == 2) {
        say("system = %s", text(system("exit 3")));
    } else {
        char line[16] = "";
        FILE *output = popen("echo word", "r");
        if (!fgets(line, sizeof line, output)) say("popen: nothing");
        say("popen: %.4s, %d", line, pclose(output));
    }
    forget_edges();
}

static void on_signal(int signal) { (void)signal; handled++; }

/* A thread that disturbs or feeds the main thread while it waits. */
struct helper {
    pthread_t waiting;
    struct link *link;
    int restart;
    long count;
    volatile int done;
};

static void *interrupt(void *argument) {
    struct helper *it = argument;
    int before = handled;
    while (!it->done) {
        usleep(500);
        pthread_kill(it->waiting, SIGUSR1);
        if (it->restart && handled - before >= 2) {
            ask(it->link, SEND, it->count, 0, 0);
            break;
        }
    }
    return NULL;
}

/* Waits for an event of the socket. */
static long wait_once(int fd, int how) {
    fd_set set;
    struct pollfd one = {fd, POLLIN, 0};
    struct epoll_event event = {EPOLLIN, {.u64 = 1}};
    struct timeval time = {WAIT_MS / 1000, 0};
    if (how == 0) return poll(&one, 1, WAIT_MS);
    if (how == 1) return ppoll(&one, 1, NULL, NULL);
    if (how == 2) {
        FD_ZERO(&set);
        FD_SET(fd, &set);
        return select(fd + 1, &set, NULL, NULL, &time);
    }
    int epoll = epoll_create1(0), error;
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    long result = epoll_wait(epoll, &event, 1, how == 3 ? WAIT_MS : -1);
    error = errno;
    close(epoll);
    errno = error;
    return result;
}

/* A link on which a receive waits. */
static struct link *waiting_link(void) {
    struct link *l = pick(chance(75) ? TCP : UDP);
    if (!l || !is_open(l) || l->unread || l->nonblocking || l->timeout) return NULL;
    return is_seen(l, seen(l)) ? l : NULL;
}

static void do_interrupt(void) {
    struct link *l = waiting_link();
    if (!l || chance(50)) return;
    int fd = seen(l), how = below(9), extra;
    int restart = l->kind == TCP && how < 4 && chance(50);
    struct helper helper = {pthread_self(), l, restart, 1 + below(300), 0};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = restart ? SA_RESTART : 0};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t thread;
    handled = 0;
    pthread_create(&thread, NULL, interrupt, &helper);
    long result = how < 4 ? get(l, fd, received, 300, how == 2 ? 4 : how, 0, &extra)
                          : wait_once(fd, how - 4);
    int error = errno;
    helper.done = 1;
    pthread_join(thread, NULL);
    if (restart) say_reply(l, "sends", answer());
    errno = error;
    say("%d: interrupted %d, restarts %d = %s, handled %d", l->index, how, restart, text(result),
        handled > 0);
    signal(SIGUSR1, SIG_IGN);
    l->unread += restart ? helper.count - result : 0;
}

/* A pending signal and a mask that admits it. */
static void do_mask(void) {
    struct link *l = pick(NONE);
    if (!l || chance(60) || l->unread || is_ready(l)) return;
    sigset_t blocked, none;
    sigemptyset(&none);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    signal(SIGUSR1, on_signal);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    handled = 0;
    raise(SIGUSR1);
    int fd = seen(l), how = below(3);
    struct pollfd one = {fd, POLLIN, 0};
    struct timespec time = {1, 0};
    struct epoll_event event = {EPOLLIN, {.u64 = 1}};
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    int epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
    long result = how == 0   ? ppoll(&one, 1, &time, &none)
                  : how == 1 ? pselect(fd + 1, &set, NULL, NULL, &time, &none)
                             : epoll_pwait(epoll, &event, 1, 1000, &none);
    say("%d: masked wait %d = %s, handled %d", l->index, how, text(result), handled);
    close(epoll);
    signal(SIGUSR1, SIG_IGN);
    pthread_sigmask(SIG_UNBLOCK, &blocked, NULL);
}

struct blocked {
    struct link *link;
    int fd, how;
    long count, result;
    int error;
    volatile int started;
};

static void *block(void *argument) {
    static uint8_t space[LONGEST];
    struct blocked *it = argument;
    int extra;
    it->started = 1;
    if (it->how < 5) it->result = wait_once(it->fd, it->how);
    else if (it->how == 5) it->result = recv(it->fd, space, it->count, MSG_WAITALL);
    else it->result = get(it->link, it->fd, space, LONGEST, it->how - 6, 0, &extra);
    it->error = errno;
    return NULL;
}

/* Another thread waits while the peer sends, or while this thread uses the socket. */
static void do_thread(void) {
    struct link *l = waiting_link();
    if (!l || chance(40)) return;
    int how = below(12), end = l->kind == TCP && chance(15);
    long count = 1 + below(300);
    struct blocked it = {l, seen(l), how, count, 0, 0, 0};
    pthread_t thread;
    pthread_create(&thread, NULL, block, &it);
    while (!it.started) sched_yield();
    usleep(below(3) * 400);
    if (l->kind == TCP && chance(40)) {
        long sent = put(l, seen(l), 50, below(PLAIN_PUTS), 0);
        say("%d: sent %s", l->index, text(sent));
        l->owed += sent > 0 ? sent : 0;
    }
    if (end) {
        shutdown(seen(l), SHUT_RD);
        l->shut_read = 1;
    } else if (l->kind == TCP) {
        say_reply(l, "sends", told(l, SEND, count, 0, 0));
    } else {
        say_reply(l, "sends", told(l, DATAGRAMS, 1, local_port(it.fd), count));
    }
    pthread_join(thread, NULL);
    errno = it.error;
    say("%d: thread %d, %d = %s", l->index, how, end, text(it.result));
    if (end) return;
    if (how < 5 || it.result < 0) it.result = 0;
    arrived(l, l->kind == UDP ? how < 5 : count - it.result);
}

/* More than the buffers hold. */
static void do_bulk(void) {
    struct link *l = pick(TCP);
    if (!l || !is_open(l) || l->unread || chance(60)) return;
    long count = 20000 + below(200000);
    if (chance(50)) {
        ask(l, SEND, count, 0, 0);
        say("%d: bulk %ld %08x", l->index, count, get_all(l, count));
        return say_reply(l, "sends", answer());
    }
    ask(l, READ, l->owed + count, 0, 0);
    l->owed = 0;
    uint64_t kept = state;
    for (long done = 0; done < count;) {
        int fd = seen(l);
        long rest = count - done < 65536 ? count - done : 65536;
        await(fd, POLLOUT);
        uint32_t before = l->written;
        long sent = put(l, fd, rest, below(5), 0);
        if (sent < 0 && errno != EAGAIN) say("%d: after %ld: %s", l->index, done, text(sent));
        if (sent < 0 && errno != EAGAIN) break;
        l->written = before + (sent > 0 ? sent : 0);
        done += sent > 0 ? sent : 0;
    }
    state = kept + 1;
    say_reply(l, "reads", answer());
}

/* Datagrams to a closed port, and a socket without a peer. */
static void do_refused(void) {
    if (chance(70)) return;
    struct sockaddr_storage to;
    int index = below(2), family = index ? AF_INET6 : AF_INET, how = below(3), error = 0;
    socklen_t length = address(&to, family, peer[index], LISTENER + 1), size = sizeof error;
    int fd = socket(family, SOCK_DGRAM, 0);
    connect(fd, (struct sockaddr *)&to, length);
    say("refused: send = %s", text(send(fd, "abc", 3, 0)));
    say("refused: poll %#x", await(fd, POLLIN));
    if (how == 0) say("refused: recv = %s", text(recv(fd, received, 9, 0)));
    else if (how == 1) say("refused: send = %s", text(send(fd, "abc", 3, 0)));
    else getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    say("refused: error %d", error);
    to.ss_family = AF_UNSPEC;
    say("refused: disconnect = %s", text(connect(fd, (struct sockaddr *)&to, length)));
    say("refused: send = %s", text(send(fd, "abc", 3, 0)));
    close(fd);
}

static const struct {
    void (*run)(void);
    uint32_t weight;
} OPERATIONS[] = {
    {do_connect, 5}, {do_accept, 5}, {do_bind, 5}, {do_exchange, 30}, {do_put, 16}, {do_get, 16},
    {do_arrive, 16}, {do_peer_reads, 5}, {do_peer_ends, 6}, {do_shutdown, 5}, {do_close, 8},
    {do_dup, 8}, {do_nonblocking, 4}, {do_option, 6}, {do_timeout, 4}, {do_low_water, 2},
    {do_query, 6}, {do_poll, 8}, {do_select, 5}, {do_epoll_ctl, 16}, {do_epoll_wait, 12},
    {do_epoll_close, 2}, {do_fork, 5}, {do_spawn, 3}, {do_interrupt, 6}, {do_mask, 4},
    {do_thread, 8}, {do_bulk, 3}, {do_refused, 3},
};

static void run(void) {
    uint32_t all = 0, kinds = sizeof OPERATIONS / sizeof *OPERATIONS;
    for (uint32_t at = 0; at < kinds; at++) all += OPERATIONS[at].weight;
    state = seed;
    step = ids = 0;
    alarm(25);
    for (int at = 0; at < LINKS; at++) links[at].kind = NONE;
    /* The peer listens when it has answered. */
    do_bind();
    do_connect();
    for (int steps = 30 + below(91); steps > 0; steps--) {
        uint32_t drawn = below(all), at = 0;
        while (drawn >= OPERATIONS[at].weight) drawn -= OPERATIONS[at++].weight;
        step++;
        OPERATIONS[at].run();
    }
    for (int at = 0; at < LINKS; at++)
        while (links[at].kind != NONE) close_alias(&links[at], 0, 0);
    for (int at = 0; at < INSTANCES; at++) {
        if (instances[at][0] == 0) continue;
        close(instances[at][0]);
        if (instances[at][0] != instances[at][1]) close(instances[at][1]);
        instances[at][0] = instances[at][1] = 0;
    }
    say("end");
}

int main(int count, char **arguments) {
    if (count == 6 && strcmp(arguments[1], "child") == 0)
        return act(atoi(arguments[2]), atoi(arguments[3]), atol(arguments[4]), atol(arguments[5]));
    if (count != 8) return 8;
    for (int index = 0; index < 2; index++) {
        own[index] = arguments[1 + index];
        peer[index] = arguments[3 + index];
    }
    control = atoi(arguments[5]);
    fcntl(control, F_SETFD, FD_CLOEXEC);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGUSR1, SIG_IGN);
    uint64_t first = strtoull(arguments[6], NULL, 10), seeds = strtoull(arguments[7], NULL, 10);
    for (seed = first; seed < first + seeds; seed++) run();
    return 0;
}
