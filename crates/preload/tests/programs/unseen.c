/* Uses system calls that a library in front of the C library does not see.

   unseen ADDRESS PORT tcp|udp flags: exchanges messages with an echo, changes what calls may wait
   for, and prints what they then return.

   unseen ADDRESS PORT tcp|udp epoll: waits for each answer with an epoll instance of its own. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* A system call that no library can replace. */
static long direct(long number, long a, long b, long c, long d, long e) {
    long result;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = 0;
    __asm__ volatile("syscall" : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

static void check(int done, const char *what) {
    if (!done) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(9);
    }
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

/* Receives, with nothing to receive unless `sends`. */
static void show(const char *name, int fd, int sends) {
    char bytes[16] = "0123456789abcdef";
    if (sends) check(send(fd, bytes, 16, 0) == 16, "send");
    double begin = seconds();
    errno = 0;
    long count = recv(fd, bytes, 16, 0);
    double passed = seconds() - begin;
    printf("%s: %ld, %s, %s\n", name, count, count < 0 ? strerror(errno) : "",
           passed > 0.2 ? "waited" : "at once");
}

static void set_timeout(int fd, int milliseconds) {
    struct timeval value = {milliseconds / 1000, milliseconds % 1000 * 1000};
    direct(SYS_setsockopt, fd, SOL_SOCKET, SO_RCVTIMEO, (long)&value, sizeof value);
}

static void change_flags(int fd) {
    int one = 1, zero = 0;
    direct(SYS_ioctl, fd, FIONBIO, (long)&one, 0, 0);
    show("FIONBIO", fd, 0);
    show("again", fd, 0);
    direct(SYS_ioctl, fd, FIONBIO, (long)&zero, 0, 0);
    show("cleared", fd, 1);
    set_timeout(fd, 300);
    show("timeout", fd, 0);
    set_timeout(fd, 0);
    direct(SYS_fcntl, fd, F_SETFL, O_RDWR | O_NONBLOCK, 0, 0);
    show("F_SETFL", fd, 0);
    direct(SYS_fcntl, fd, F_SETFL, O_RDWR, 0, 0);
    show("cleared", fd, 1);
    /* Seen changes after unseen ones. */
    fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
    show("seen", fd, 0);
    direct(SYS_fcntl, fd, F_SETFL, O_RDWR, 0, 0);
    show("unseen", fd, 1);
}

static void wait_unseen(int fd) {
    struct epoll_event event = {.events = EPOLLIN}, got;
    int instance = direct(SYS_epoll_create1, 0, 0, 0, 0, 0), answers = 0;
    check(!direct(SYS_epoll_ctl, instance, EPOLL_CTL_ADD, fd, (long)&event, 0), "epoll_ctl");
    char bytes[16] = "0123456789abcdef";
    for (int i = 0; i < 500; i++) {
        check(send(fd, bytes, 16, 0) == 16, "send");
        check(direct(SYS_epoll_wait, instance, (long)&got, 1, -1, 0) == 1, "wait");
        answers += recv(fd, bytes, 16, 0) == 16;
    }
    printf("%d answers\n", answers);
}

int main(int count, char **arguments) {
    if (count != 5) return 2;
    int is_tcp = !strcmp(arguments[3], "tcp"), one = 1;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[2]))};
    inet_pton(AF_INET, arguments[1], &to.sin_addr);
    int fd = socket(AF_INET, is_tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
    check(connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "connect");
    if (is_tcp) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (strcmp(arguments[4], "flags")) {
        wait_unseen(fd);
        return 0;
    }
    char bytes[16] = "0123456789abcdef", answer[16];
    for (int i = 0; i < 60; i++) {
        check(send(fd, bytes, 16, 0) == 16, "send");
        check(recv(fd, answer, 16, is_tcp ? MSG_WAITALL : 0) == 16, "recv");
    }
    change_flags(fd);
    return 0;
}
