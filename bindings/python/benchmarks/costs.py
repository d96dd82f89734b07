"""Measures the cost of a callback, and the rate of `hairpin.read` against `hairpin feed --stats`.

    python benchmarks/costs.py COMMAND CAPTURE

CAPTURE is a file such as that of `hairpin generate`. Each round is printed; each figure is a median
of interleaved rounds.
"""

import json
import resource
import statistics
import subprocess
import sys
import time

import hairpin

ROUNDS = 15
CALLBACK_ROUNDS = 101
TICKS = 400
TURNS = 40
ROWS_OF_A_PART = 10_000


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


def loop_nanoseconds(exchange, feed, strategy):
    """Publishes ticks, and returns the processor time of the loop and the number of callbacks."""
    exchange.tick(TICKS)
    begun, spent = strategy.count, 0
    for _ in range(TURNS):
        before = time.thread_time_ns()
        feed.turn(strategy)
        spent += time.thread_time_ns() - before
    return spent, strategy.count - begun


def callback_cost():
    """Returns the medians of the cost per callback, in nanoseconds.

    The strategies take turns on one feed. Each round compares with the loop without callbacks.
    """
    kinds = [NoCallback(), Empty(), Typical()]
    rounds = {"Empty": [], "Typical": []}
    with hairpin.Exchange(instruments=20, seed=1) as exchange:
        feed = hairpin.Feed(exchange.config, 310)
        feed.run_until(lambda: feed.is_ready, hairpin.Strategy(), seconds=60)
        for number in range(CALLBACK_ROUNDS):
            loops = {type(kind).__name__: loop_nanoseconds(exchange, feed, kind) for kind in kinds}
            base, _ = loops.pop("NoCallback")
            for name, (spent, count) in loops.items():
                rounds[name].append((spent - base) / count)
            costs = (f"{name} {values[-1]:.0f}" for name, values in rounds.items())
            print(f"round {number + 1}: {', '.join(costs)} ns per callback")
    return {name: statistics.median(costs) for name, costs in rounds.items()}


def read_rates(command, capture):
    """Returns messages per second of `feed --stats` and of `read` in interleaved rounds."""
    line = [command, "feed", "--pcap", capture, "--stats", "--format", "json"]
    messages, rates = 0, {"feed --stats": [], "mbp-1": [], "trades": []}
    rows = {}
    for number in range(ROUNDS):
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
        of_round = (f"{name} {values[-1] / 1e6:.2f}" for name, values in rates.items())
        print(f"round {number + 1}: {', '.join(of_round)} M messages/s")
    return messages, rows, {name: statistics.median(values) for name, values in rates.items()}


def print_memory(capture):
    """Reads the capture in parts, and prints the peak of the process after ever more parts."""
    for schema in ("trades", "mbp-1"):
        due = 2
        for number, _ in enumerate(hairpin.read(capture, schema, rows=ROWS_OF_A_PART), 1):
            if number == due:
                peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                print(f"{schema} with rows={ROWS_OF_A_PART}: {peak} KiB after {number} parts")
                due *= 2


def main():
    command, capture = sys.argv[1:]
    # First: the peak of the other measurements is higher.
    print_memory(capture)
    messages, rows, rates = read_rates(command, capture)
    print(f"{messages} messages, rows: {rows}")
    for name, rate in rates.items():
        print(f"{name}: {rate / 1e6:.2f} M messages/s, {rate / rates['feed --stats']:.2f} of feed")
    for name, cost in callback_cost().items():
        print(f"callback {name}: {cost:.0f} ns")


if __name__ == "__main__":
    main()
