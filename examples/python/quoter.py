# Bids 40 ticks below each new best bid, and cancels the order as soon as it works.
import hairpin


class Quoter(hairpin.Strategy):
    def on_book(self, book, ctx):
        if ctx.is_ready and book.best_price_changed and book.best_bid:
            price = book.instrument.add_ticks(book.best_bid.price, -40)
            ctx.buy(book.security_id, 1, price)

    def on_order(self, order, ctx):
        if order.state == "working":
            ctx.cancel(order.cl_ord_id)

    def on_fill(self, fill, ctx):
        print(fill, "position", ctx.position(fill.security_id))


hairpin.Trader("config.xml", 310, "order.toml").run(Quoter())  # Ctrl-C logs off
