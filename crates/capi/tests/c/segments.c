/* Two channels, the sessions of two market segments and definition caches in one trader. Runs
 * twice in a folder with the files of two exchanges; with an argument, the caches exist. */
#include "check.h"

#define INSTRUMENTS 2

/* An instrument of each channel. */
static const char* const symbols[INSTRUMENTS] = {"HP001", "ZN"};

typedef struct {
    int32_t ids[INSTRUMENTS];
    int working, canceled;
} state;

static int on_ready(void* user, hairpin_context* context) {
    state* it = user;
    for (int i = 0; i < INSTRUMENTS; i++) {
        hairpin_level bid;
        hairpin_price price;
        CHECK(hairpin_security_id(context, symbols[i], &it->ids[i]) == 0);
        CHECK(hairpin_book_level(context, it->ids[i], HAIRPIN_SIDE_BUY, 0, &bid) == 0);
        CHECK(bid.is_present);
        CHECK(hairpin_instrument_add_ticks(context, it->ids[i], bid.price, -40, &price) == 0);
        CHECK(hairpin_buy(context, it->ids[i], 1, price, NULL) == 0);
    }
    return 0;
}

static int on_order(void* user, const hairpin_order_event* order, hairpin_context* context) {
    state* it = user;
    if (order->state == HAIRPIN_ORDER_STATE_WORKING) {
        /* The books of both channels can be read, and a cancel goes to the order's session. */
        for (int i = 0; i < INSTRUMENTS; i++)
            CHECK(hairpin_book_is_in_sync(context, it->ids[i]) == 1);
        it->working++;
        return hairpin_cancel(context, &order->cl_ord_id);
    }
    CHECK(order->state == HAIRPIN_ORDER_STATE_CANCELED);
    return ++it->canceled == INSTRUMENTS ? hairpin_stop_run(context) : 0;
}

int main(int argc, char** argv) {
    (void)argv;
    static const uint32_t channels[] = {310, 311};
    hairpin_settings settings = {.size = sizeof settings,
                                 .config = "config.xml",
                                 .orders = "order.toml",
                                 .channels = channels,
                                 .channel_count = 2,
                                 .definition_cache = "."};
    hairpin_callbacks callbacks = {
        .size = sizeof callbacks, .on_ready = on_ready, .on_order = on_order};
    hairpin_trader trader;
    state it = {.working = 0};
    int32_t id;
    CHECK(hairpin_open(&settings, &trader) == 0);
    /* ZN is not in [instruments]: without its cache it is unknown until its definition arrives. */
    CHECK(hairpin_trader_security_id(trader, "ZN", &id) ==
          (argc > 1 ? 0 : HAIRPIN_ERROR_UNKNOWN_SYMBOL));
    CHECK(hairpin_trader_run(trader, &callbacks, &it) == 0);
    CHECK(it.working == INSTRUMENTS && it.canceled == INSTRUMENTS);
    return 0;
}
