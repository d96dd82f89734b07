// Bids 40 ticks below each new best bid; cancels the order as soon as it works. See
// docs/guide/programs.md.
#include <hairpin.hpp>

struct Quoter : hairpin::Strategy {
    void on_book(const hairpin::BookEvent& book, hairpin::Context& ctx) override {
        if (!ctx.is_ready() || !book.best_price_changed() || !book.best_bid()) return;
        const auto price = book.instrument().add_ticks(book.best_bid()->price, -40);
        if (!price) return;
        if (auto sent = ctx.buy(book.security_id(), hairpin::Quantity{1}, *price); !sent)
            std::cerr << "not sent: " << sent.error() << '\n';
    }
    void on_order(const hairpin::OrderEvent& order, hairpin::Context& ctx) override {
        if (order.state() != hairpin::OrderState::working) return;
        if (auto sent = ctx.cancel(order.cl_ord_id()); !sent)
            std::cerr << "not canceled: " << sent.error() << '\n';
    }
    void on_fill(const hairpin::Fill& fill, hairpin::Context& ctx) override {
        std::cout << fill << ", position " << ctx.position(fill.security_id()) << '\n';
    }
};

int main() {
    Quoter quoter;
    return hairpin::guard([&] {
        hairpin::Trader::open("config.xml", 310, "order.toml").stop_on_signals().run(quoter);
    });
}
