// Exceptions and wrong uses in C++. Runs in a folder with the two files of `hairpin exchange`.
#include <hairpin.hpp>

#include <cstdlib>
#include <stdexcept>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::cerr << __FILE__ << ':' << __LINE__ << ": " << #condition << ": "                 \
                      << hairpin_last_error() << '\n';                                             \
            std::exit(1);                                                                          \
        }                                                                                          \
    } while (0)

namespace {

template <class Thrown, class Call> bool throws(Call&& call) {
    try {
        call();
    } catch (const Thrown&) {
        return true;
    }
    return false;
}

template <class Call> bool throws_code(int code, Call&& call) {
    try {
        call();
    } catch (const hairpin::Error& error) {
        return error.code() == code && *error.what() != '\0';
    }
    return false;
}

// Few instruments, because sanitizers make memory expensive.
hairpin::Feed open_feed() {
    return hairpin::Feed::builder("config.xml").channel(310).max_instruments(16).open();
}

struct Throws : hairpin::Strategy {
    int calls = 0;
    void on_book(const hairpin::BookEvent&, hairpin::Context&) override {
        ++calls;
        throw std::out_of_range("thrown by the strategy");
    }
};

struct ThrowsNumber : hairpin::Strategy {
    void on_book(const hairpin::BookEvent&, hairpin::Context&) override { throw 42; }
};

struct ThrowsInBatch : hairpin::Strategy {
    void on_book(const hairpin::BookEvent&, hairpin::Context& ctx) override {
        ctx.batch([](hairpin::Context&) { throw std::logic_error("thrown in a batch"); });
    }
};

// Keeps the context beyond its callback.
struct Keeps : hairpin::Strategy {
    std::optional<hairpin::Context> kept;
    void on_book(const hairpin::BookEvent&, hairpin::Context& ctx) override {
        if (!kept) {
            kept = ctx;
            return;
        }
        CHECK(throws_code(HAIRPIN_ERROR_CONTEXT, [&] { kept->is_ready(); }));
        CHECK(throws_code(HAIRPIN_ERROR_CONTEXT, [&] { kept->stop(); }));
        const auto sent = kept->buy(hairpin::SecurityId{1001}, hairpin::Quantity{1}, {});
        CHECK(!sent && sent.code() == HAIRPIN_ERROR_CONTEXT && !sent.error().empty());
        CHECK(throws_code(HAIRPIN_ERROR_CONTEXT, [&] { *sent; }));
        ctx.stop();
    }
};

// Overrides in two classes; `run` calls both.
struct Base : hairpin::Strategy {
    int books = 0;
    void on_book(const hairpin::BookEvent& book, hairpin::Context&) override {
        books += book.best_bid().has_value();
    }
};

struct Derived : Base {
    int ready = 0;
    void on_ready(hairpin::Context& ctx) override {
        ++ready;
        const auto id = ctx.security_id("HP001");
        const auto instrument = ctx.instrument(id);
        const auto book = ctx.book(id);
        CHECK(book && book->is_in_sync() && book->best_bid()->price < book->best_ask()->price);
        CHECK(book->level(hairpin::Side::buy, 0)->price == book->best_bid()->price);
        CHECK(!book->level(hairpin::Side::buy, 99));
        CHECK(!ctx.book(hairpin::SecurityId{5}));
        CHECK(instrument.symbol().str() == "HP001" && instrument.definition());
        const auto price = instrument.parse("1000.25");
        CHECK(price && instrument.display(*price).str() == "1000.25");
        CHECK(instrument.is_on_tick(*price));
        CHECK(*price + hairpin::Price::parse("0.25") == *instrument.add_ticks(*price, 1));
        const auto off_tick = instrument.parse("1000.26");
        CHECK(!off_tick && off_tick.error().find("1000.25 and 1000.50") != std::string::npos);
        CHECK(throws_code(HAIRPIN_ERROR_UNKNOWN_SYMBOL, [&] { ctx.security_id("NONE"); }));
        CHECK(ctx.working().empty() && ctx.position(id) == 0 && ctx.now().utc > 0);
        CHECK(!ctx.cancel(hairpin::ClOrdId()));
        ctx.stop();
    }
};

void exceptions() {
    Throws strategy;
    CHECK(throws<std::out_of_range>([&] { open_feed().run(strategy); }));
    CHECK(strategy.calls == 1);
    CHECK(throws<int>([] { open_feed().run(ThrowsNumber()); }));
    CHECK(throws<std::logic_error>([] { open_feed().run(ThrowsInBatch()); }));
    auto feed = open_feed();
    CHECK(throws<std::out_of_range>([&] {
        while (feed.turn(strategy)) continue;
    }));
    CHECK(strategy.calls == 2);
    struct : hairpin::Strategy {
    } nothing;
    while (feed.turn(nothing)) continue; // the exception has stopped the run
    CHECK(hairpin::guard([] { throw std::runtime_error("printed by guard"); }) == 1);
    CHECK(hairpin::guard([] { throw 42; }) == 1);
    CHECK(hairpin::guard([] {}) == 0);
}

// The same line as in Rust, C and Python.
void wrong_interfaces() {
    const auto line = [](const char* a, const char* b) -> std::string {
        try {
            hairpin::Feed::builder("config.xml").channel(310).interfaces(a, b).open();
        } catch (const hairpin::Error& error) {
            CHECK(error.code() == HAIRPIN_ERROR_INTERFACE);
            return error.what();
        }
        return "";
    };
    CHECK(line("nope0", "lo") == "cannot use interface nope0: interface nope0 does not exist");
    CHECK(line("lo", "192.0.2.1") ==
          "cannot use interface 192.0.2.1: no interface has the address 192.0.2.1");
    CHECK(throws_code(HAIRPIN_ERROR_XDP, [] {
        hairpin::Feed::builder("config.xml").channel(310).xdp("nope0").open();
    }));
}

void handles() {
    auto feed = open_feed();
    hairpin::Feed moved = std::move(feed);
    Keeps keeps;
    CHECK(throws_code(HAIRPIN_ERROR_CLOSED, [&] { feed.run(keeps); }));
    moved.run(keeps);
    CHECK(throws_code(HAIRPIN_ERROR_CLOSED, [&] { moved.run(keeps); }));
    CHECK(throws_code(HAIRPIN_ERROR_CLOSED, [&] { moved.is_ready(); }));
    CHECK(throws_code(HAIRPIN_ERROR_FILE, [] { hairpin::Feed::open("missing.xml", 310); }));
    CHECK(throws_code(HAIRPIN_ERROR_PRICE, [] { hairpin::Price::parse("NaN"); }));
    auto stopped = open_feed();
    const auto handle = stopped.stop_handle();
    handle.stop();
    stopped.run(keeps);
    handle.stop(); // the closed handle is ignored
}

} // namespace

int main() {
    exceptions();
    wrong_interfaces();
    handles();
    Derived derived;
    auto builder = hairpin::Feed::builder("config.xml");
    builder.channel(310)
        .symbol("HP001")
        .wait(hairpin::Wait::poll)
        .max_instruments(16)
        .cancel_on_quit()
        .open()
        .run(derived);
    CHECK(derived.ready == 1 && derived.books > 0);
    std::cout << "done\n";
}
