"""Whole sessions, each in a process of its own, several at a time: they wait more than they work.

    TRINIM=PROGRAM python -m tests.side_by_side MODULE..
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from tests.whole import solve_alone

AT_ONCE = 4
LONGEST = 900.0  # seconds after which a test counts as hanging


def names(tests: unittest.TestSuite | unittest.TestCase) -> Iterator[str]:
    """What to run in a process: the name of a test."""
    if isinstance(tests, unittest.TestCase):
        yield tests.id()
    else:
        for test in tests:
            yield from names(test)


def run(name: str) -> tuple[bool, str]:
    """Whether it passed, and what it said."""
    begin = time.monotonic()
    try:
        ended = subprocess.run(
            [sys.executable, "-m", "unittest", "--verbose", name],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired as error:
        return False, f"{name}: no end after {LONGEST} s\n{error.output or ''}"
    return ended.returncode == 0, f"{ended.stdout}{name}: {time.monotonic() - begin:.0f} s\n"


def main(modules: list[str]) -> int:
    wanted = sorted(names(unittest.defaultTestLoader.loadTestsFromNames(modules)))
    failed = []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as pool:
        os.environ["SOLVED"] = folder
        solve_alone(Path(folder))
        runs = {pool.submit(run, name): name for name in wanted}
        for ended in as_completed(runs):
            passed, said = ended.result()
            print(said, flush=True)
            if not passed:
                failed.append(runs[ended])
    print(json.dumps({"tests": len(wanted), "failed": failed}))
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
