# Prints the best prices of each book that changes.
import hairpin


class BestPrices(hairpin.Strategy):
    def on_book(self, book, ctx):
        if book.best_price_changed:
            print(book.symbol, book.bid, "|", book.ask)


hairpin.Feed("config.xml", 310).run(BestPrices())
