"""The type stubs match the module, and the programs of the guide pass a type checker."""

import pathlib
import subprocess
import sys

from conftest import PROGRAMS


def run(*arguments):
    line = [sys.executable, "-m", *arguments]
    output = subprocess.run(line, capture_output=True, text=True)
    assert output.returncode == 0, output.stdout + output.stderr


def test_stubs_match_the_module():
    allowlist = str(pathlib.Path(__file__).with_name("stubtest_allowlist.txt"))
    options = ["--ignore-disjoint-bases", "--ignore-unused-allowlist"]
    run("mypy.stubtest", "hairpin", "--allowlist", allowlist, *options)


def test_programs_pass_a_type_checker(tmp_path):
    programs = [str(path) for path in sorted(PROGRAMS.glob("*.py"))]
    for program in programs:
        run("mypy", "--strict", "--allow-untyped-defs", "--cache-dir", str(tmp_path), program)
