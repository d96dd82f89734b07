/* Opens and runs a feed or a session, as its first argument states, and prints an error in one
 * line. With two further arguments these are the interfaces of a feed. */
#include <stdio.h>
#include <string.h>

#include <hairpin.h>

static int on_ready(void* user, hairpin_context* context) {
    (void)user;
    return hairpin_stop_run(context);
}

int main(int argc, char** argv) {
    const uint32_t channel = 310;
    hairpin_settings settings = {.size = sizeof settings};
    hairpin_callbacks callbacks = {.size = sizeof callbacks, .on_ready = on_ready};
    hairpin_trader trader;
    if (argc > 1 && strcmp(argv[1], "session") == 0) {
        settings.orders = "order.toml";
    } else {
        settings.config = "config.xml";
        settings.channels = &channel;
        settings.channel_count = 1;
    }
    if (argc > 3) {
        settings.interface_a = argv[2];
        settings.interface_b = argv[3];
    }
    if (hairpin_open(&settings, &trader) < 0 || hairpin_trader_run(trader, &callbacks, NULL) < 0) {
        fprintf(stderr, "Error: %s\n", hairpin_last_error());
        return 1;
    }
    return 0;
}
