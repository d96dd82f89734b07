/* Wrong uses of handles, tables and contexts: each is an error code. Runs in a folder with the two
 * files of `hairpin exchange`. */
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "check.h"

/* A table of a newer header. */
typedef struct {
    hairpin_callbacks known;
    int (*on_something_new)(void*, hairpin_context*);
} longer_callbacks;

static int count(void* user, const hairpin_book_event* book, hairpin_context* context) {
    (void)book;
    ++*(int*)user;
    return hairpin_stop_run(context);
}

static int must_not_be_called(void* user, hairpin_context* context) {
    (void)user, (void)context;
    fputs("called a callback of a newer header\n", stderr);
    exit(1);
}

/* Few instruments, because sanitizers make memory expensive. */
static int try_open_feed(hairpin_trader* feed) {
    static const uint32_t channel = 310;
    hairpin_settings settings = {.size = sizeof settings,
                                 .config = "config.xml",
                                 .channels = &channel,
                                 .channel_count = 1,
                                 .max_instruments = 16};
    return hairpin_open(&settings, feed);
}

static hairpin_trader open_feed(void) {
    hairpin_trader feed;
    CHECK(try_open_feed(&feed) == 0 && feed.id != 0);
    return feed;
}

static void null_arguments(void) {
    hairpin_trader feed = {0};
    hairpin_price price;
    int32_t id;
    CHECK_ERROR(hairpin_feed_open(NULL, 310, &feed), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_feed_open("config.xml", 310, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_session_open(NULL, &feed), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_trader_open(NULL, 310, "order.toml", &feed), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_trader_open("config.xml", 310, NULL, &feed), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_open(NULL, &feed), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_price_parse(NULL, &price), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_price_parse("1", NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_price_text(1, NULL, 8), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_is_ready(NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_buy(NULL, 1, 1, 1, NULL), HAIRPIN_ERROR_NULL);
    CHECK(feed.id == 0);
    feed = open_feed();
    CHECK_ERROR(hairpin_trader_run(feed, NULL, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_trader_security_id(feed, NULL, &id), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_trader_security_id(feed, "NONE", &id), HAIRPIN_ERROR_UNKNOWN_SYMBOL);
    CHECK(hairpin_trader_close(feed) == 0);
}

static void impossible_sizes(void) {
    static const size_t sizes[] = {0, 4, 7, 9, sizeof(hairpin_callbacks) + 1, SIZE_MAX, 1 << 20};
    hairpin_trader feed = open_feed();
    hairpin_trader other;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        hairpin_callbacks callbacks = {.size = sizes[i]};
        hairpin_settings settings = {.size = sizes[i], .config = "config.xml"};
        CHECK_ERROR(hairpin_trader_run(feed, &callbacks, NULL), HAIRPIN_ERROR_SIZE);
        CHECK_ERROR(hairpin_trader_turn(feed, &callbacks, NULL), HAIRPIN_ERROR_SIZE);
        CHECK_ERROR(hairpin_open(&settings, &other), HAIRPIN_ERROR_SIZE);
    }
    CHECK(hairpin_trader_close(feed) == 0);
}

static void invalid_settings(void) {
    static const uint32_t channel = 310;
    hairpin_trader trader;
    hairpin_settings neither = {.size = sizeof neither};
    CHECK_ERROR(hairpin_open(&neither, &trader), HAIRPIN_ERROR_NULL);
    hairpin_settings wait = {.size = sizeof wait, .config = "config.xml", .wait = 99};
    CHECK_ERROR(hairpin_open(&wait, &trader), HAIRPIN_ERROR_ARGUMENT);
    hairpin_settings count = {.size = sizeof count, .config = "config.xml", .channel_count = 1};
    CHECK_ERROR(hairpin_open(&count, &trader), HAIRPIN_ERROR_NULL);
    const char* long_group = "LONGER THAN SIX";
    hairpin_settings group = {.size = sizeof group,
                              .config = "config.xml",
                              .channels = &channel,
                              .channel_count = 1,
                              .security_groups = &long_group,
                              .security_group_count = 1};
    CHECK_ERROR(hairpin_open(&group, &trader), HAIRPIN_ERROR_ARGUMENT);
    hairpin_settings utf8 = {.size = sizeof utf8, .config = "\xff\xfe"};
    CHECK_ERROR(hairpin_open(&utf8, &trader), HAIRPIN_ERROR_ARGUMENT);
    hairpin_settings side = {.size = sizeof side, .config = "config.xml", .interface_b = "lo"};
    CHECK_ERROR(hairpin_open(&side, &trader), HAIRPIN_ERROR_NULL);
}

static void shorter_and_longer_tables(void) {
    int calls = 0;
    hairpin_callbacks shorter;
    memset(&shorter, 0xff, sizeof shorter); /* what is beyond the size is not read */
    shorter.size = offsetof(hairpin_callbacks, on_trade);
    shorter.on_ready = NULL;
    shorter.on_not_ready = NULL;
    shorter.on_book = count;
    CHECK(hairpin_trader_run(open_feed(), &shorter, &calls) == 0 && calls >= 1);

    longer_callbacks longer = {.known = {.size = sizeof longer, .on_book = count},
                               .on_something_new = must_not_be_called};
    calls = 0;
    CHECK(hairpin_trader_run(open_feed(), &longer.known, &calls) == 0 && calls >= 1);

    /* Settings of an older header, which ended after the path. */
    hairpin_settings settings = {
        .size = offsetof(hairpin_settings, orders), .config = "config.xml", .wait = 99};
    hairpin_trader feed;
    CHECK(hairpin_open(&settings, &feed) == 0 && hairpin_trader_close(feed) == 0);
}

static void closed_handles(void) {
    hairpin_callbacks callbacks = {.size = sizeof callbacks};
    const hairpin_trader never[] = {{0}, {1}, {UINT64_MAX}, {12345678}};
    int32_t id;
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) {
        CHECK_ERROR(hairpin_trader_run(never[i], &callbacks, NULL), HAIRPIN_ERROR_CLOSED);
        CHECK_ERROR(hairpin_trader_close(never[i]), HAIRPIN_ERROR_CLOSED);
        CHECK(hairpin_stop(never[i]) == HAIRPIN_ERROR_CLOSED);
    }
    hairpin_trader first = open_feed();
    CHECK(hairpin_trader_close(first) == 0);
    CHECK_ERROR(hairpin_trader_close(first), HAIRPIN_ERROR_CLOSED);
    hairpin_trader second = open_feed(); /* in the same slot */
    CHECK(first.id != second.id);
    CHECK_ERROR(hairpin_trader_turn(first, &callbacks, NULL), HAIRPIN_ERROR_CLOSED);
    CHECK_ERROR(hairpin_trader_is_ready(first), HAIRPIN_ERROR_CLOSED);
    CHECK_ERROR(hairpin_trader_security_id(first, "X", &id), HAIRPIN_ERROR_CLOSED);
    CHECK_ERROR(hairpin_trader_stop_on_signals(first), HAIRPIN_ERROR_CLOSED);
    CHECK(hairpin_stop(first) == HAIRPIN_ERROR_CLOSED);
    CHECK(hairpin_trader_turn(second, &callbacks, NULL) == 1); /* not stopped by the first handle */
    CHECK(hairpin_stop(second) == 0 && hairpin_trader_run(second, &callbacks, NULL) == 0);
    CHECK_ERROR(hairpin_trader_run(second, &callbacks, NULL), HAIRPIN_ERROR_CLOSED);
}

static void all_slots(void) {
    hairpin_trader open[65];
    int count = 0;
    int code;
    while ((code = try_open_feed(&open[count])) == 0) {
        CHECK(++count <= 64);
    }
    CHECK_ERROR(code, HAIRPIN_ERROR_TOO_MANY_HANDLES);
    CHECK(count == 64);
    while (count > 0) CHECK(hairpin_trader_close(open[--count]) == 0);
}

/* The trader whose callback runs, and its context. */
typedef struct {
    hairpin_trader trader;
    hairpin_context* context;
    hairpin_context* kept;
    int books;
} running;

static void* use_on_another_thread(void* argument) {
    running* run = argument;
    hairpin_callbacks callbacks = {.size = sizeof callbacks};
    CHECK_ERROR(hairpin_is_ready(run->context), HAIRPIN_ERROR_CONTEXT);
    CHECK_ERROR(hairpin_stop_run(run->context), HAIRPIN_ERROR_CONTEXT);
    CHECK_ERROR(hairpin_buy(run->context, 1001, 1, 1, NULL), HAIRPIN_ERROR_CONTEXT);
    CHECK_ERROR(hairpin_trader_run(run->trader, &callbacks, NULL), HAIRPIN_ERROR_BUSY);
    CHECK_ERROR(hairpin_trader_turn(run->trader, &callbacks, NULL), HAIRPIN_ERROR_BUSY);
    CHECK_ERROR(hairpin_trader_close(run->trader), HAIRPIN_ERROR_BUSY);
    CHECK_ERROR(hairpin_trader_is_ready(run->trader), HAIRPIN_ERROR_BUSY);
    return NULL;
}

static void null_arguments_in_callback(hairpin_context* context) {
    char text[8];
    CHECK_ERROR(hairpin_now(context, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_security_id(context, NULL, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_symbol(context, 1001, NULL, 8), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_cancel(context, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_replace(context, NULL, 1, 1, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_send_order(context, NULL, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_batch(context, NULL, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_position(context, 1001, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_find_order(context, NULL, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_find_instrument(context, 1001, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_find_instrument(context, 5, NULL), HAIRPIN_ERROR_NOT_FOUND);
    CHECK_ERROR(hairpin_book_level(context, 1001, 1, 0, NULL), HAIRPIN_ERROR_NULL);
    CHECK_ERROR(hairpin_book_level(context, 5, 1, 0, NULL), HAIRPIN_ERROR_NOT_FOUND);
    CHECK_ERROR(hairpin_best_text(context, 1001, 3, text, sizeof text), HAIRPIN_ERROR_ARGUMENT);
    CHECK_ERROR(hairpin_event_text(context, text, sizeof text), HAIRPIN_ERROR_NOT_FOUND);
    CHECK(hairpin_reason_text(context, text, sizeof text) == 0);
    CHECK(hairpin_symbol(context, 1001, NULL, 0) == 5);
}

static int use_wrongly(void* user, const hairpin_book_event* book, hairpin_context* context) {
    running* run = user;
    hairpin_callbacks callbacks = {.size = sizeof callbacks};
    pthread_t thread;
    (void)book;
    if (run->books++ > 0) {
        CHECK(run->kept != context);
        CHECK_ERROR(hairpin_is_ready(run->kept), HAIRPIN_ERROR_CONTEXT);
        return 1;
    }
    run->context = run->kept = context;
    CHECK_ERROR(hairpin_trader_run(run->trader, &callbacks, NULL), HAIRPIN_ERROR_IN_CALLBACK);
    CHECK_ERROR(hairpin_trader_turn(run->trader, &callbacks, NULL), HAIRPIN_ERROR_IN_CALLBACK);
    CHECK_ERROR(hairpin_trader_close(run->trader), HAIRPIN_ERROR_IN_CALLBACK);
    hairpin_trader other = open_feed();
    CHECK_ERROR(hairpin_trader_run(other, &callbacks, NULL), HAIRPIN_ERROR_IN_CALLBACK);
    CHECK(hairpin_trader_close(other) == 0);
    CHECK(pthread_create(&thread, NULL, use_on_another_thread, run) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    null_arguments_in_callback(context);
    return 0;
}

static int must_not_follow(void* user, uint64_t timer, hairpin_context* context) {
    (void)timer;
    return must_not_be_called(user, context);
}

static void wrong_uses_in_callbacks(void) {
    running run = {.trader = open_feed()};
    hairpin_callbacks callbacks = {
        .size = sizeof callbacks, .on_book = use_wrongly, .on_timer = must_not_follow};
    CHECK_ERROR(hairpin_trader_run(run.trader, &callbacks, &run), HAIRPIN_ERROR_CALLBACK);
    CHECK(run.books == 2); /* no callback after the one that has ended the run */
    CHECK_ERROR(hairpin_is_ready(run.kept), HAIRPIN_ERROR_CONTEXT);
    CHECK_ERROR(hairpin_trader_close(run.trader), HAIRPIN_ERROR_CLOSED);
}

static hairpin_trader stopped;

static void stop_in_handler(int signal) {
    (void)signal;
    hairpin_stop(stopped);
}

static void* stop_on_another_thread(void* argument) {
    usleep(50000);
    CHECK(hairpin_stop(*(hairpin_trader*)argument) == 0);
    return NULL;
}

static void stopping(void) {
    hairpin_callbacks callbacks = {.size = sizeof callbacks};
    pthread_t thread;
    stopped = open_feed();
    struct sigaction action = {.sa_handler = stop_in_handler};
    CHECK(sigaction(SIGALRM, &action, NULL) == 0);
    ualarm(50000, 0);
    CHECK(hairpin_trader_run(stopped, &callbacks, NULL) == 0);

    stopped = open_feed();
    CHECK(pthread_create(&thread, NULL, stop_on_another_thread, &stopped) == 0);
    CHECK(hairpin_trader_run(stopped, &callbacks, NULL) == 0);
    CHECK(pthread_join(thread, NULL) == 0);

    /* A caller's own loop. */
    hairpin_trader feed = open_feed();
    int status;
    CHECK(hairpin_stop(feed) == 0);
    while ((status = hairpin_trader_turn(feed, &callbacks, NULL)) == 1) continue;
    CHECK(status == 0 && hairpin_trader_turn(feed, &callbacks, NULL) == 0 &&
          hairpin_trader_close(feed) == 0);
}

int main(void) {
    CHECK(hairpin_last_error()[0] == '\0');
    null_arguments();
    impossible_sizes();
    invalid_settings();
    shorter_and_longer_tables();
    closed_handles();
    all_slots();
    wrong_uses_in_callbacks();
    stopping();
    CHECK(hairpin_is_accelerated(0) == 0 && hairpin_is_accelerated(-1) == 0);
    puts("done");
    return 0;
}
