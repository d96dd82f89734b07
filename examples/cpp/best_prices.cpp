// Prints the best bid and ask of each book. See docs/guide/programs.md.
#include <hairpin.hpp>

struct BestPrices : hairpin::Strategy {
    void on_book(const hairpin::BookEvent& book, hairpin::Context&) override {
        if (book.best_price_changed())
            std::cout << book.symbol() << ' ' << book.bid() << " | " << book.ask() << std::endl;
    }
};

int main() {
    BestPrices strategy;
    return hairpin::guard([&] { hairpin::Feed::open("config.xml", 310).run(strategy); });
}
