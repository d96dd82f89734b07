# Buys one contract, and prints the exchange's answer.
import hairpin


class Buyer(hairpin.Strategy):
    def on_ready(self, ctx):
        ctx.buy(ctx.security_id("HP001"), 1, hairpin.Price("900"))  # a wire price

    def on_order(self, order, ctx):
        print(order)
        ctx.stop()  # logs off; then run() returns


hairpin.Session("order.toml").run(Buyer())
