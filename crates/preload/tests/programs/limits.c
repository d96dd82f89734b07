/* A program that limits itself or ends its threads while its connection is taken over.

   limits ADDRESS PORT WHAT: exchanges messages with an echo, does WHAT, exchanges messages again over
   the same connection and over a new one, and prints "ok". */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *address, *port;
static int fd, cleaned;

static void check(int done, const char *what) {
    if (!done) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(9);
    }
}

static int connected(void) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    inet_pton(AF_INET, address, &to.sin_addr);
    int new = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    check(connect(new, (struct sockaddr *)&to, sizeof to) == 0, "connect");
    setsockopt(new, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return new;
}

static void exchange(int on, int count) {
    char bytes[16] = "0123456789abcdef", answer[16];
    for (int i = 0; i < count; i++) {
        check(send(on, bytes, 16, 0) == 16, "send");
        check(recv(on, answer, 16, MSG_WAITALL) == 16, "recv");
    }
}

static void limit(int resource, rlim_t to) {
    struct rlimit limit = {to, to};
    check(setrlimit(resource, &limit) == 0, "setrlimit");
}

static void clean(void *_) {
    (void)_;
    cleaned++;
}

static void *wait_for_bytes(void *how) {
    char byte;
    pthread_cleanup_push(clean, 0);
    if (!strcmp(how, "recv")) {
        recv(fd, &byte, 1, 0);
    } else if (!strcmp(how, "read")) {
        read(fd, &byte, 1);
    } else if (!strcmp(how, "recvmsg")) {
        struct iovec part = {&byte, 1};
        struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
        recvmsg(fd, &message, 0);
    } else if (!strcmp(how, "poll")) {
        struct pollfd entry = {fd, POLLIN, 0};
        poll(&entry, 1, -1);
    } else {
        struct epoll_event event = {.events = EPOLLIN};
        int epoll = epoll_create1(0);
        epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
        epoll_wait(epoll, &event, 1, -1);
    }
    pthread_cleanup_pop(0);
    return 0;
}

/* Ends threads that wait: each runs its cleanup handler, and no lock stays locked. */
static void cancel(const char *how) {
    for (int i = 0; i < 5; i++) {
        pthread_t thread;
        void *result;
        check(pthread_create(&thread, 0, wait_for_bytes, (void *)how) == 0, "pthread_create");
        usleep(i * 40000);
        pthread_cancel(thread);
        check(pthread_join(thread, &result) == 0, "pthread_join");
        check(result == PTHREAD_CANCELED, "not canceled");
        exchange(fd, 20);
    }
    check(cleaned == 5, "cleanup");
}

/* Permits the calls of this program only. */
static void filter(int by_syscall) {
    int calls[] = {SYS_read,   SYS_write,       SYS_recvfrom,      SYS_sendto, SYS_poll,
                   SYS_close,  SYS_socket,      SYS_connect,       SYS_futex,  SYS_setsockopt,
                   SYS_exit,   SYS_epoll_wait,  SYS_epoll_create1, SYS_mmap,   SYS_epoll_ctl,
                   SYS_munmap, SYS_exit_group,  SYS_brk,           SYS_fstat,  SYS_newfstatat};
    int count = sizeof calls / sizeof *calls, at = 0;
    struct sock_filter code[64];
    int number = offsetof(struct seccomp_data, nr);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, number);
    for (int i = 0; i < count; i++) {
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i], count - i, 0);
    }
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {at, code};
    check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
    long failed = by_syscall ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                             : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
    check(failed == 0, "seccomp");
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0);
    check(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
    check(epoll_wait(epoll, &event, 1, 10) == 0, "epoll_wait");
    struct pollfd entry = {fd, POLLIN, 0};
    check(poll(&entry, 1, 10) == 0, "poll");
}

int main(int count, char **words) {
    check(count == 4, "usage");
    (void)count;
    address = words[1], port = words[2];
    const char *what = words[3];
    fd = connected();
    exchange(fd, 60);
    int one = 1, idle = 1, timeout = 2000;
    if (!strcmp(what, "address-space")) {
        limit(RLIMIT_AS, 120 << 20);
    } else if (!strcmp(what, "data")) {
        limit(RLIMIT_DATA, 60 << 20);
    } else if (!strcmp(what, "descriptors")) {
        limit(RLIMIT_NOFILE, 8);
    } else if (!strcmp(what, "prctl") || !strcmp(what, "seccomp")) {
        filter(!strcmp(what, "seccomp"));
    } else if (!strcmp(what, "keepalive")) {
        setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
        setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    } else if (!strcmp(what, "user-timeout")) {
        setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
    } else {
        cancel(what);
    }
    exchange(fd, 60);
    if (!strcmp(what, "descriptors")) {
        close(fd);
    }
    int other = connected();
    exchange(other, 60);
    check(write(1, "ok\n", 3) == 3, "write");
    _exit(0);
}
