"""The command `hairpin`, and exchanges that it runs."""

import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAMS = ROOT / "examples" / "python"
TIMEOUT = 60


def pytest_configure():
    """Makes SIGINT raise KeyboardInterrupt, also if a shell started the tests in the background.

    Such a shell ignores the signal, and Python and its child processes then do, too.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def command():
    """The path of the command: HAIRPIN_COMMAND, or what was built last in this workspace."""
    given = os.environ.get("HAIRPIN_COMMAND")
    built = [ROOT / "target" / profile / "hairpin" for profile in ("release", "debug")]
    paths = [pathlib.Path(given)] if given else [path for path in built if path.exists()]
    assert paths, "build the command (cargo build), or set HAIRPIN_COMMAND"
    return max(paths, key=lambda path: path.stat().st_mtime)


@pytest.fixture
def venue(command, tmp_path):
    """Starts exchanges that write config.xml and order.toml to `tmp_path`, its value."""
    processes = []

    def start(*arguments, folder=tmp_path):
        files = ["--config-out", "config.xml", "--order-out", "order.toml"]
        environment = {k: v for k, v in os.environ.items() if k != "HAIRPIN_SECRET_KEY"}
        if "--feed" not in arguments:
            arguments = ("--feed", "tcp", *arguments)
        if "--display-formats" not in arguments:
            arguments = ("--instruments", "5", *arguments)
        line = [command, "exchange", *files, *arguments]
        pipe = subprocess.DEVNULL
        process = subprocess.Popen(line, cwd=folder, env=environment, stdout=pipe, stderr=pipe)
        processes.append(process)
        wait_for((folder / "config.xml").exists)
        return folder

    yield start
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def two_venues(venue, tmp_path):
    """The files of two exchanges in one folder, its value.

    Channel 310 and market segment 64 have HP001 to HP005, channel 311 and market segment 80 have ZN
    and others.
    """
    second = tmp_path / "second"
    second.mkdir()
    venue("--traders", "0")
    arguments = ["--channel", "311", "--market-segment", "80", "--display-formats"]
    venue("--traders", "0", *arguments, folder=second)
    channel = "<channel " + (second / "config.xml").read_text().partition("<channel ")[2]
    config = (tmp_path / "config.xml").read_text()
    (tmp_path / "config.xml").write_text(config.replace("</configuration>", channel))
    segments = ""
    for segment, folder in ((64, tmp_path), (80, second)):
        gateway = (folder / "order.toml").read_text().partition("[logon]")[0]
        segments += gateway.replace("[gateway]", f"[[segment]]\nid = {segment}")
    orders = (tmp_path / "order.toml").read_text().partition("[logon]")[2]
    (tmp_path / "order.toml").write_text(segments + "[logon]" + orders)
    return tmp_path


@pytest.fixture
def run_program():
    """Starts programs that end with the test."""
    processes = []

    def start(program, folder):
        # Without the venv's own folder as the first entry of sys.path.
        line = [sys.executable, "-u", program]
        pipe = subprocess.PIPE
        process = subprocess.Popen(line, cwd=folder, stdout=pipe, stderr=pipe, text=True)
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def pytest_terminal_summary(terminalreporter):
    """Prints the result in the form of Rust's test programs, for the sum of `cargo xtask`."""
    counts = {name: len(terminalreporter.stats.get(name, [])) for name in ("passed", "skipped")}
    failed = sum(len(terminalreporter.stats.get(name, [])) for name in ("failed", "error"))
    verdict = "FAILED" if failed else "ok"
    result = f"{counts['passed']} passed; {failed} failed; {counts['skipped']} ignored"
    terminalreporter.write_line(f"test result: {verdict}. {result}; 0 measured; 0 filtered out")


def wait_for(condition):
    """Waits until a condition holds."""
    end = time.monotonic() + TIMEOUT
    while not condition():
        assert time.monotonic() < end, "timeout"
        time.sleep(0.005)


def interrupt(process):
    """Presses Ctrl-C."""
    process.send_signal(signal.SIGINT)
