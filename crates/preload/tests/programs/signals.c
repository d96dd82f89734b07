/* Counts signals that arrive while a thread exchanges messages: none is lost, their order and their
   information are those of the kernel, and the mask of a handler holds.

   signals ADDRESS PORT: the peer echoes messages of 16 bytes. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { BURSTS = 400, BURST = 10, PAIRS = 400, TICKS = 100 };

static atomic_int queued, disordered, nested, one, two, ticks, overruns, wrong, ends;
static atomic_int depth;
static pthread_t main_thread;

static void on_queued(int signal, siginfo_t *info, void *context) {
    static int next;
    sigset_t mask;
    if (atomic_fetch_add(&depth, 1) != 0) nested++;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    /* Its own signal and that of its mask are blocked. */
    if (!sigismember(&mask, signal) || !sigismember(&mask, SIGUSR1)) wrong++;
    if (info->si_code != SI_QUEUE || info->si_signo != signal || info->si_pid != getpid()) wrong++;
    if (((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP] == 0) wrong++;
    if (info->si_value.sival_int != next++) disordered++;
    queued++;
    depth--;
}

static void on_one(int signal) { (void)signal; one++; }
static void on_two(int signal) { (void)signal; two++; }

static void on_tick(int signal, siginfo_t *info, void *context) {
    (void)signal, (void)context;
    if (info->si_code != SI_TIMER) wrong++;
    overruns += info->si_overrun;
    ticks++;
}

static void pause_us(long us) {
    struct timespec time = {us / 1000000, us % 1000000 * 1000};
    while (nanosleep(&time, &time) != 0 && errno == EINTR) {}
}

static void *send_signals(void *unused) {
    int value = 0;
    for (int burst = 0; burst < BURSTS; burst++) {
        for (int i = 0; i < BURST; i++) {
            union sigval number = {.sival_int = value++};
            while (pthread_sigqueue(main_thread, SIGRTMIN + 3, number) == EAGAIN) pause_us(100);
        }
        pause_us(200);
    }
    for (int pair = 0; pair < PAIRS; pair++) {
        pthread_kill(main_thread, SIGUSR1);
        pthread_kill(main_thread, SIGUSR2);
        while (one <= pair || two <= pair) pause_us(50);
    }
    while (ticks + overruns < TICKS) pause_us(1000);
    ends = 1;
    return unused;
}

static void check(int done, const char *what) {
    if (!done) {
        fprintf(stderr, "%s: %s\n", what, strerror(errno));
        exit(9);
    }
}

int main(int count, char **arguments) {
    if (count != 3) return 8;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(atoi(arguments[2]))};
    inet_pton(AF_INET, arguments[1], &to.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    check(connect(fd, (struct sockaddr *)&to, sizeof to) == 0, "connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct sigaction action = {.sa_sigaction = on_queued, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaddset(&action.sa_mask, SIGUSR1);
    sigaction(SIGRTMIN + 3, &action, NULL);
    sigemptyset(&action.sa_mask);
    action.sa_sigaction = on_tick;
    sigaction(SIGRTMIN + 4, &action, NULL);
    signal(SIGUSR1, on_one);
    signal(SIGUSR2, on_two);
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 4};
    timer_t timer;
    check(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
    struct itimerspec each = {{0, 1000000}, {0, 1000000}};
    main_thread = pthread_self();
    pthread_t sender;
    long messages = 0;
    int begun = 0;
    while (!ends) {
        char bytes[16] = "0123456789abcdef", answer[16];
        check(send(fd, bytes, 16, 0) == 16, "send");
        size_t done = 0;
        while (done < 16) {
            ssize_t received = recv(fd, answer + done, 16 - done, 0);
            check(received > 0, "recv");
            done += received;
        }
        if (++messages == 60 && !begun++) {
            timer_settime(timer, 0, &each, NULL);
            pthread_create(&sender, NULL, send_signals, NULL);
        }
    }
    timer_delete(timer);
    pthread_join(sender, NULL);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    for (int signal = 1; signal < 64; signal++) wrong += sigismember(&mask, signal) == 1;
    printf("%d queued, %d out of order, %d nested, %d and %d, %s, %d wrong\n", queued, disordered,
           nested, one, two, ticks + overruns >= TICKS ? "ticks" : "no ticks", wrong);
    return 0;
}
