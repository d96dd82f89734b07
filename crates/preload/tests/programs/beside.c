/* Writes to a connection that is taken over by calls that a library in front of the C library does
   not see.

   beside ADDRESS PORT HOW END: exchanges messages with an echo, sends "first", writes "hidden" as
   HOW says, and ends as END says. The peer receives the bytes in the order of the writes. */
#define _GNU_SOURCE
#include <aio.h>
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void check(int done, const char *what) {
    if (!done) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(9);
    }
}

/* A system call that no library can replace. */
static long direct(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return result;
}

static int connected(const char *address, const char *port) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(port))};
    inet_pton(AF_INET, address, &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    check(connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void exchange(int fd, int count) {
    char bytes[16] = "0123456789abcdef", answer[16];
    for (int i = 0; i < count; i++) {
        check(send(fd, bytes, 16, 0) == 16, "send");
        check(recv(fd, answer, 16, MSG_WAITALL) == 16, "recv");
    }
}

static void hide(int fd, const char *how) {
    static const char text[] = "hidden";
    struct iovec part = {(void *)text, 6};
    if (!strcmp(how, "direct")) {
        check(direct(SYS_write, fd, (long)text, 6) == 6, "write");
    } else if (!strcmp(how, "long")) {
        size_t length = 1 << 20, done = 0;
        char *bytes = calloc(1, length);
        while (done < length) {
            long count = direct(SYS_write, fd, (long)(bytes + done), length - done);
            check(count > 0, "write");
            done += count;
        }
    } else if (!strcmp(how, "dprintf")) {
        check(dprintf(fd, "%s", text) == 6, "dprintf");
    } else if (!strcmp(how, "dlsym")) {
        void *library = dlopen("libc.so.6", RTLD_NOW);
        ssize_t (*put)(int, const void *, size_t) = (ssize_t(*)(int, const void *, size_t))dlsym(library, "write");
        check(put(fd, text, 6) == 6, "write of the C library");
    } else if (!strcmp(how, "pwritev2")) {
        check(pwritev2(fd, &part, 1, -1, 0) == 6, "pwritev2");
    } else if (!strcmp(how, "aio")) {
        struct aiocb block = {.aio_fildes = fd, .aio_buf = (void *)text, .aio_nbytes = 6};
        const struct aiocb *list[] = {&block};
        check(aio_write(&block) == 0, "aio_write");
        while (aio_error(&block) == EINPROGRESS) aio_suspend(list, 1, NULL);
        check(aio_return(&block) == 6, "aio_return");
    } else if (!strcmp(how, "system")) {
        char command[64];
        snprintf(command, sizeof command, "printf hidden >&%d", fd);
        check(system(command) == 0, "system");
    } else if (!strcmp(how, "vfork")) {
        volatile int seen = 0;
        pid_t child = vfork();
        if (child == 0) {
            direct(SYS_write, fd, (long)text, 6);
            close(fd);
            seen = 1;
            _exit(7);
        }
        int status = 0;
        check(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7, "vfork");
        check(seen, "the parent sees what the child has stored");
    } else if (!strcmp(how, "vfork-exec")) {
        volatile int error = 0;
        char *none[] = {"/nonexistent", NULL};
        pid_t child = vfork();
        if (child == 0) {
            execve(none[0], none, environ);
            error = errno;
            _exit(7);
        }
        int status = 0;
        check(waitpid(child, &status, 0) == child && error == ENOENT, "vfork and execve");
        check(direct(SYS_write, fd, (long)text, 6) == 6, "write");
    } else {
        check(0, how);
    }
}

int main(int count, char **arguments) {
    if (count != 5) return 8;
    const char *how = arguments[3], *end = arguments[4];
    int fd = connected(arguments[1], arguments[2]);
    exchange(fd, 60);
    check(send(fd, "first", 5, 0) == 5, "send");
    hide(fd, how);
    if (!strcmp(end, "send")) {
        check(send(fd, "last", 4, 0) == 4, "send");
        close(fd);
    } else if (!strcmp(end, "answer")) {
        /* The peer answers the hidden bytes: they must arrive without another call. */
        char byte;
        check(recv(fd, &byte, 1, MSG_WAITALL) == 1, "recv");
        close(fd);
    } else if (!strcmp(end, "shutdown")) {
        check(direct(SYS_shutdown, fd, SHUT_WR, 0) == 0, "shutdown");
        char byte;
        while (recv(fd, &byte, 1, 0) > 0) {}
    } else if (!strcmp(end, "close")) {
        close(fd);
    } else if (!strcmp(end, "fork")) {
        pid_t child = fork();
        if (child == 0) {
            send(fd, "child", 5, 0);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
    } else if (!strcmp(end, "kill")) {
        kill(getpid(), SIGKILL);
    }
    return 0;
}
