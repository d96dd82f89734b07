/* Display prices in every format of CME: the table in examples/tests, and round trips. Runs in a
 * folder with the config.xml of `hairpin exchange --display-formats`. */
#include "check.h"

#define FIRST_INSTRUMENT 2001
#define INSTRUMENTS 8
#define ROUND_TRIPS 10000
#define MIN_ROWS 30

/* Prices at many distances from zero are displayed and parsed back. */
static void round_trips(hairpin_context* context, int32_t id) {
    hairpin_instrument instrument;
    char text[48];
    CHECK(hairpin_find_instrument(context, id, &instrument) == 0);
    for (int64_t step = -ROUND_TRIPS / 2; step < ROUND_TRIPS / 2; step++) {
        /* Few instruments trade below zero, but all may. */
        hairpin_price price = hairpin_price_multiply(instrument.min_price_increment, 7 * step);
        hairpin_price parsed, next;
        CHECK(hairpin_instrument_display(context, id, price, text, sizeof text) > 0);
        CHECK(hairpin_instrument_parse(context, id, text, &parsed) == 0 && parsed == price);
        if (step % 16 != 0) continue;
        CHECK(hairpin_instrument_is_on_tick(context, id, price) == 1);
        CHECK(hairpin_instrument_add_ticks(context, id, price, 7, &next) == 0);
        CHECK(next == price + 7 * instrument.min_price_increment);
        CHECK(hairpin_instrument_is_on_tick(context, id, price + 1) == 0);
    }
    hairpin_price sum;
    CHECK_ERROR(hairpin_instrument_add_ticks(context, id, INT64_MAX - 1, INT64_MAX, &sum),
                HAIRPIN_ERROR_PRICE);
}

/* Checks one row: the text of an instrument has this wire price, or this error. */
static void check_row(hairpin_context* context, const char* symbol, const char* text,
                      const char* expected) {
    int32_t id;
    hairpin_price price = 7, wire;
    CHECK(hairpin_security_id(context, symbol, &id) == 0);
    int code = hairpin_instrument_parse(context, id, text, &price);
    if (expected[0] == '!') {
        if (code != HAIRPIN_ERROR_PRICE || strcmp(hairpin_last_error(), expected + 2) != 0) {
            fprintf(stderr, "%s %s: %d %s\n", symbol, text, code, hairpin_last_error());
            exit(1);
        }
        CHECK(price == 7);
    } else {
        CHECK(code == 0 && hairpin_price_parse(expected, &wire) == 0 && price == wire);
    }
}

static int on_ready(void* user, hairpin_context* context) {
    FILE* table = fopen(user, "r");
    CHECK(table != NULL);
    char line[256];
    int rows = 0;
    while (fgets(line, sizeof line, table) != NULL) {
        if (line[0] == '#') continue;
        line[strcspn(line, "\n")] = '\0';
        char *text = strchr(line, '|'), *expected = strrchr(line, '|');
        CHECK(text != NULL && text != expected);
        *text = *expected = '\0';
        check_row(context, line, text + 1, expected + 1);
        rows++;
    }
    fclose(table);
    CHECK(rows >= MIN_ROWS);
    for (int32_t id = FIRST_INSTRUMENT; id < FIRST_INSTRUMENT + INSTRUMENTS; id++)
        round_trips(context, id);
    return hairpin_stop_run(context);
}

int main(int argc, char** argv) {
    hairpin_trader feed;
    hairpin_callbacks callbacks = {.size = sizeof callbacks, .on_ready = on_ready};
    CHECK(argc == 2);
    CHECK(hairpin_feed_open("config.xml", 310, &feed) == 0);
    CHECK(hairpin_trader_run(feed, &callbacks, argv[1]) == 0);
    return 0;
}
