/* Wire prices: parsed, printed, and computed with. */
#include "check.h"

static uint64_t next_random(uint64_t* state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void print_and_parse(hairpin_price price) {
    char text[32];
    hairpin_price parsed;
    CHECK(hairpin_price_text(price, text, sizeof text) == (int)strlen(text));
    CHECK(hairpin_price_parse(text, &parsed) == 0 && parsed == price);
}

int main(void) {
    static const char* const wrong[] = {"",    "-",  "NaN",          "inf",
                                        "1e9", "+1", "1.0000000001", "9223372036.854775807",
                                        "1.",  ".1", "1.2.3",        "-9223372036.854775808",
                                        "1,5", " 1", "108'185",      "\xff"};
    hairpin_price price = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int code = wrong[i][0] == '\xff' ? HAIRPIN_ERROR_ARGUMENT : HAIRPIN_ERROR_PRICE;
        CHECK_ERROR(hairpin_price_parse(wrong[i], &price), code);
        CHECK(price == 7);
    }
    CHECK(hairpin_price_parse("450025", &price) == 0 && price == INT64_C(450025000000000));
    CHECK(hairpin_price_parse("-0.000000001", &price) == 0 && price == -1);
    CHECK(hairpin_price_parse("9223372036.854775806", &price) == 0 && price == INT64_MAX - 1);

    uint64_t state = 88172645463325252u;
    for (int i = 0; i < 10000; i++) {
        hairpin_price drawn = (hairpin_price)next_random(&state) >> (i % 60);
        if (drawn != INT64_MIN && drawn != INT64_MAX) print_and_parse(drawn);
    }
    print_and_parse(INT64_MAX - 1);
    print_and_parse(INT64_MIN + 1);

    /* Results out of range saturate, and stay so. */
    hairpin_price above = hairpin_price_add(INT64_MAX - 1, 5);
    CHECK(above == HAIRPIN_NO_PRICE && hairpin_price_subtract(above, 10) == above);
    CHECK(hairpin_price_subtract(INT64_MIN + 1, 5) == INT64_MIN);
    CHECK(hairpin_price_multiply(INT64_MAX - 1, -2) == INT64_MIN);
    CHECK(hairpin_price_multiply(25, -40) == -1000);

    /* A text is cut as snprintf(3) cuts it. */
    char text[5] = "????";
    CHECK(hairpin_price_text(INT64_C(450025000000000), text, sizeof text) == 6);
    CHECK(strcmp(text, "4500") == 0);
    CHECK(hairpin_price_text(0, NULL, 0) == 1);
    return 0;
}
