"""The three programs of the guide, run against `hairpin exchange`."""

import json
import re
import subprocess
import sys

import pytest
from conftest import PROGRAMS, ROOT, TIMEOUT, interrupt, wait_for


@pytest.mark.parametrize("feed", ["tcp", "multicast"])
def test_best_prices_prints_each_book_with_quantities(venue, run_program, feed):
    folder = venue("--traders", "0", "--feed", feed)
    program = run_program(PROGRAMS / "best_prices.py", folder)
    # Five books come into sync; the others are ticks.
    for _ in range(50):
        line = program.stdout.readline()
        match = re.fullmatch(r"HP00\d (\d+) x ([\d.]+) \| (\d+) x ([\d.]+)\n", line)
        assert match, line
        assert float(match[2]) < float(match[4])


def test_closed_pipe_ends_the_program_quietly(venue, run_program):
    program = run_program(PROGRAMS / "best_prices.py", venue("--traders", "0"))
    program.stdout.readline()
    program.stdout.close()
    errors = program.stderr.read()
    assert (program.wait(timeout=TIMEOUT), errors) == (0, "")


def test_buyer_resumes_the_session_in_its_journal(venue, run_program):
    folder = venue()
    ids = set()
    for _ in range(2):
        output, errors = run_program(PROGRAMS / "buyer.py", folder).communicate(timeout=TIMEOUT)
        pattern = r"(\S+) buy 1 HP001 @ 900: working, OrderID \d+\n"
        match = re.fullmatch(pattern, output)
        assert match, output + errors
        # The program leaves its order, which is reported at its end.
        assert re.fullmatch(r"hairpin: \d orders? stays? working at the exchange: .*\n", errors)
        ids.add(match[1])
    assert len(ids) == 2


def orders_received(command, folder):
    """Returns the orders that the exchange of the folder has received, by its live counters."""
    gateway = re.search(r"[\d.]+:\d+", (folder / "order.toml").read_text())[0]
    stat = subprocess.run([command, "stat", "--format", "json"], capture_output=True)
    processes = json.loads(stat.stdout)["processes"] if stat.stdout else []
    values = [it["values"] for it in processes if gateway in it["title"]]
    return sum(it["value"] for all in values for it in all if it["name"] == "gateway.orders")


def test_quoter_logs_off_on_ctrl_c(command, venue, run_program):
    folder = venue("--interval-us", "2000")
    program = run_program(PROGRAMS / "quoter.py", folder)
    wait_for(lambda: orders_received(command, folder) > 0)
    interrupt(program)
    _, errors = program.communicate(timeout=TIMEOUT)
    # Python's status and traceback for Ctrl-C.
    assert errors.splitlines()[-1] == "KeyboardInterrupt", errors
    # A new session would begin at 1; the resumed one has sent an order and a cancel per tick.
    output = subprocess.run(
        [sys.executable, PROGRAMS / "buyer.py"], cwd=folder, capture_output=True, timeout=TIMEOUT
    )
    assert b"working" in output.stdout, output


@pytest.mark.parametrize("name, limit", [("best_prices", 8), ("buyer", 12), ("quoter", 16)])
def test_programs_are_as_short_as_the_guide_states(name, limit):
    text = (PROGRAMS / f"{name}.py").read_text()
    code = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert len(code) <= limit
    guide = (ROOT / "docs" / "guide" / "programs.md").read_text()
    assert text.partition("\n")[2].rstrip() in guide, f"the guide differs from {name}.py"
