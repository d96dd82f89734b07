/* Orders, against `hairpin exchange`. */
#include "check.h"

#define INSTRUMENT 1001

static void refused_orders(hairpin_context* context) {
    const hairpin_cl_ord_id unknown = {.text = "NONE"};
    hairpin_price price;
    hairpin_order order;
    CHECK(hairpin_price_parse("900", &price) == 0);
    CHECK_ERROR(hairpin_buy(context, INSTRUMENT, 1, HAIRPIN_NO_PRICE, NULL),
                HAIRPIN_ERROR_SEND_PRICE);
    CHECK_ERROR(hairpin_sell(context, INSTRUMENT, 1, INT64_MIN, NULL), HAIRPIN_ERROR_SEND_PRICE);
    CHECK_ERROR(hairpin_buy(context, INSTRUMENT, UINT64_MAX, price, NULL),
                HAIRPIN_ERROR_SEND_QUANTITY);
    CHECK_ERROR(hairpin_buy(context, INSTRUMENT, 0, price, NULL), HAIRPIN_ERROR_SEND_SESSION);
    CHECK_ERROR(hairpin_cancel(context, &unknown), HAIRPIN_ERROR_SEND_UNKNOWN_ORDER);
    CHECK_ERROR(hairpin_replace(context, &unknown, 1, price, NULL),
                HAIRPIN_ERROR_SEND_UNKNOWN_ORDER);
    CHECK_ERROR(hairpin_find_order(context, &unknown, &order), HAIRPIN_ERROR_NOT_FOUND);
    hairpin_new_order terms = {.size = sizeof terms, .security_id = INSTRUMENT, .side = 9};
    CHECK_ERROR(hairpin_send_order(context, &terms, NULL), HAIRPIN_ERROR_ARGUMENT);
    terms.side = HAIRPIN_SIDE_BUY;
    terms.order_type = 77;
    CHECK_ERROR(hairpin_send_order(context, &terms, NULL), HAIRPIN_ERROR_ARGUMENT);
    terms.order_type = HAIRPIN_ORDER_TYPE_LIMIT;
    terms.price = HAIRPIN_NO_PRICE;
    CHECK_ERROR(hairpin_send_order(context, &terms, NULL), HAIRPIN_ERROR_SEND_PRICE);
    CHECK(hairpin_working_orders(context, NULL, 0) == 0);
}

typedef struct {
    hairpin_cl_ord_id ids[3];
    int working, canceled, replaced, timers, fills;
} state;

static int send_two(void* user, hairpin_context* context) {
    state* it = user;
    hairpin_price price;
    CHECK(hairpin_price_parse("900", &price) == 0);
    CHECK(hairpin_buy(context, INSTRUMENT, 2, price, &it->ids[0]) == 0);
    hairpin_new_order terms = {.size = sizeof terms,
                               .security_id = INSTRUMENT,
                               .side = HAIRPIN_SIDE_BUY,
                               .price = price,
                               .quantity = 3,
                               .time_in_force = HAIRPIN_TIME_IN_FORCE_GOOD_TILL_CANCEL};
    CHECK(hairpin_send_order(context, &terms, &it->ids[1]) == 0);
    return 5;
}

static int on_ready(void* user, hairpin_context* context) {
    refused_orders(context);
    CHECK(hairpin_set_timer(context, 7, 1000000) == 0);
    CHECK(hairpin_batch(context, send_two, user) == 5);
    CHECK(strcmp(((state*)user)->ids[0].text, ((state*)user)->ids[1].text) != 0);
    return 0;
}

static int on_timer(void* user, uint64_t timer, hairpin_context* context) {
    hairpin_time now;
    CHECK(timer == 7 && hairpin_now(context, &now) == 0 && now.monotonic > 0);
    CHECK(now.utc > UINT64_C(1700000000000000000));
    ((state*)user)->timers++;
    return 0;
}

static int on_order(void* user, const hairpin_order_event* event, hairpin_context* context) {
    state* it = user;
    char text[256], symbol[64];
    hairpin_order orders[4];
    CHECK(hairpin_event_text(context, text, sizeof text) == (int)strlen(text));
    CHECK(strncmp(text, event->cl_ord_id.text, strlen(event->cl_ord_id.text)) == 0);
    CHECK(hairpin_symbol(context, event->security_id, symbol, sizeof symbol) == 5);
    CHECK(strcmp(symbol, "HP001") == 0 && event->security_id == INSTRUMENT);
    CHECK(event->side == HAIRPIN_SIDE_BUY);
    puts(text);
    if (event->state == HAIRPIN_ORDER_STATE_CANCELED) {
        CHECK(event->open == 0);
        if (++it->canceled == 2) CHECK(hairpin_stop_run(context) == 0);
        return 0;
    }
    CHECK(event->state == HAIRPIN_ORDER_STATE_WORKING && event->order_id != 0);
    if (++it->working == 2) {
        CHECK(hairpin_working_orders(context, orders, 4) == 2);
        CHECK(hairpin_find_order(context, &it->ids[1], orders) == 0 && orders[0].quantity == 3);
        CHECK(hairpin_replace(context, &it->ids[0], 4, orders[0].price, &it->ids[2]) == 0);
    } else if (it->working == 3) {
        CHECK(event->quantity == 4 && strcmp(event->cl_ord_id.text, it->ids[2].text) == 0);
        CHECK(hairpin_cancel(context, &it->ids[2]) == 0);
        CHECK(hairpin_cancel_instrument(context, INSTRUMENT) == 0);
    }
    return 0;
}

int main(void) {
    state it = {.fills = 0};
    hairpin_callbacks callbacks = {
        .size = sizeof callbacks, .on_ready = on_ready, .on_order = on_order, .on_timer = on_timer};
    hairpin_trader trader;
    CHECK(hairpin_trader_open("config.xml", 310, "order.toml", &trader) == 0);
    CHECK(hairpin_trader_run(trader, &callbacks, &it) == 0);
    CHECK(it.working == 3 && it.canceled == 2 && it.timers == 1);
    return 0;
}
