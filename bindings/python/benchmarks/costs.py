"""Measures the cost of a callback, and the rate of `hairpin.read` against `hairpin feed --stats`.

    python benchmarks/costs.py COMMAND CAPTURE

CAPTURE is a file such as that of `hairpin generate`. Each figure is a median of interleaved rounds.
"""

import json
import statistics
import subprocess
import sys
import time

import hairpin

ROUNDS = 9
TICKS = 2_000


class Timed(hairpin.Strategy):
    """Counts callbacks; `work` is what a small strategy does in one."""

    count = 0


class NoCallback(Timed):
    pass


class Empty(Timed):
    def on_market_message(self, message, ctx):
        self.count += 1


class Typical(Timed):
    def on_market_message(self, message, ctx):
        self.count += 1
        _ = message.template_id, ctx.is_ready


def loop_nanoseconds(strategy):
    """Publishes ticks to a feed, and returns the processor time of the loop and the callbacks."""
    with hairpin.Exchange(instruments=20, seed=1) as exchange:
        feed = hairpin.Feed(exchange.config, 310)
        feed.run_until(lambda: feed.is_ready, hairpin.Strategy(), seconds=60)
        exchange.tick(TICKS)
        begun, spent, turns = strategy.count, 0, 0
        while turns < 200:
            before = time.thread_time_ns()
            feed.turn(strategy)
            spent += time.thread_time_ns() - before
            turns += 1
        return spent, strategy.count - begun


def callback_cost():
    """Returns the medians of the cost per callback, in nanoseconds."""
    rounds = {Empty: [], Typical: []}
    for _ in range(ROUNDS):
        base, _ = loop_nanoseconds(NoCallback())
        for kind, costs in rounds.items():
            spent, count = loop_nanoseconds(kind())
            costs.append((spent - base) / count)
    return {kind.__name__: statistics.median(costs) for kind, costs in rounds.items()}


def read_rates(command, capture):
    """Returns messages per second of `feed --stats` and of `read` in interleaved rounds."""
    line = [command, "feed", "--pcap", capture, "--stats", "--format", "json"]
    messages, rates = 0, {"feed --stats": [], "mbp-1": [], "trades": []}
    rows = {}
    for _ in range(ROUNDS):
        begun = time.monotonic()
        output = subprocess.run(line, check=True, capture_output=True, text=True).stdout
        elapsed = time.monotonic() - begun
        last = json.loads(output.splitlines()[-1])
        messages = last["messages"] or messages
        rates["feed --stats"].append(messages / elapsed)
        for schema in ("mbp-1", "trades"):
            begun = time.monotonic()
            rows[schema] = hairpin.read(capture, schema).rows
            rates[schema].append(messages / (time.monotonic() - begun))
    return messages, rows, {name: statistics.median(values) for name, values in rates.items()}


def main():
    command, capture = sys.argv[1:]
    messages, rows, rates = read_rates(command, capture)
    print(f"{messages} messages, rows: {rows}")
    for name, rate in rates.items():
        print(f"{name}: {rate / 1e6:.2f} M messages/s, {rate / rates['feed --stats']:.2f} of feed")
    for name, cost in callback_cost().items():
        print(f"callback {name}: {cost:.0f} ns")


if __name__ == "__main__":
    main()
