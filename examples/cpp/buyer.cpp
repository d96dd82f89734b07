// Logs on and sends one order. Resumes the session in the journal; negotiates a new one if this
// week has none. See docs/guide/programs.md.
#include <hairpin.hpp>

struct Buyer : hairpin::Strategy {
    hairpin::SecurityId instrument;
    hairpin::Price price;
    void on_ready(hairpin::Context& ctx) override {
        if (auto sent = ctx.buy(instrument, hairpin::Quantity{1}, price); !sent) {
            std::cerr << "not sent: " << sent.error() << '\n';
            ctx.stop();
        }
    }
    void on_order(const hairpin::OrderEvent& order, hairpin::Context& ctx) override {
        std::cout << order << '\n';
        ctx.stop(); // terminates the session; then run() returns
    }
};

int main() {
    return hairpin::guard([] {
        auto session = hairpin::Session::open("order.toml");
        Buyer buyer;
        buyer.instrument = session.security_id("HP001");
        buyer.price = hairpin::Price::parse("900"); // a wire price
        session.run(buyer);
    });
}
