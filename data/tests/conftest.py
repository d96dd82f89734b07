"""Captures, and programs under test."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).parents[2]
HAIRPIN = os.environ.get("HAIRPIN_COMMAND", ROOT / "target/debug/hairpin")
EXPORT = os.environ.get("HAIRPIN_DATA_COMMAND", ROOT / "data/target/debug/hairpin-data")
# Writes captures of a simulated channel.
MARKET = pathlib.Path(EXPORT).parent / "examples" / "market"


def run(program, *arguments):
    """Runs a program and returns its standard output."""
    words = [str(word) for word in (program, *arguments)]
    result = subprocess.run(words, capture_output=True, text=True, timeout=600)
    assert result.returncode == 0, (words, result.stderr)
    return result.stdout


def export(folder, *arguments):
    """Runs the export into a folder."""
    return run(EXPORT, "export", *arguments, "--out", folder)


@pytest.fixture(scope="session")
def capture(tmp_path_factory):
    """A capture with books by price and by order, trades, statistics and statuses."""
    path = tmp_path_factory.mktemp("capture") / "day.pcap"
    run(MARKET, path, 10, 3000)
    return path


@pytest.fixture(scope="session")
def files(tmp_path_factory, capture):
    """A folder with every schema in every format."""
    folder = tmp_path_factory.mktemp("files")
    schemas = "mbo,mbp-1,mbp-10,trades,statistics,status,definition"
    for form in ("dbn", "parquet", "arrow"):
        export(folder, capture, "--schema", schemas, "--format", form)
    return folder
