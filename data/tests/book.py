"""A book of orders by Databento's rules: https://databento.com/docs/standards-and-conventions."""

import collections


class Book:
    """The orders of one instrument."""

    def __init__(self):
        self.orders = {}

    def apply(self, record):
        """Applies a record of the schema mbo."""
        if record.action == "R":
            self.orders.clear()
        elif record.action in ("A", "M"):
            self.orders[record.order_id] = (record.side, record.price, record.size)
        elif record.action == "C":
            side, price, size = self.orders.pop(record.order_id)
            if size > record.size:
                self.orders[record.order_id] = (side, price, size - record.size)

    def levels(self, side, count=10):
        """Returns price, size and number of orders of the best levels."""
        levels = collections.defaultdict(lambda: [0, 0])
        for of, price, size in self.orders.values():
            if of == side:
                levels[price][0] += size
                levels[price][1] += 1
        best = sorted(levels, reverse=side == "B")[:count]
        return [(price, *levels[price]) for price in best]
