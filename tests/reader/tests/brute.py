"""The rules of the game, on every position of a board at once; and runs of the program."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import unittest
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from trinim_database import Board
from trinim_database.runs import Run

TRINIM = os.environ["TRINIM"]
GOLDEN = Path(os.environ["GOLDEN"])


def trinim(folder: Path, line: str) -> bytes:
    """Runs the program in a folder; returns its standard output."""
    done = subprocess.run(
        [TRINIM, "--quiet", *line.split()], cwd=folder, capture_output=True, timeout=120
    )
    if done.returncode:
        raise AssertionError(f"{line}: {done.returncode} {done.stderr!r}")
    return done.stdout


def killed(folder: Path, options: str) -> None:
    """A solve in the folder `run`, killed when it has committed a few blocks."""
    command = [TRINIM, "--quiet", "solve", "--out", "run", "--commit-interval", "10ms"]
    for _ in range(20):
        shutil.rmtree(folder / "run", ignore_errors=True)
        solve = subprocess.Popen(
            [*command, *options.split()], cwd=folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        journal = folder / "run/m/journal.1.a"
        while solve.poll() is None and not (journal.is_file() and journal.stat().st_size >= 8192):
            time.sleep(0.0002)
        solve.kill()
        solve.wait()
        # On a busy machine the kill may come before the first commit, too.
        if not (folder / "run/db/SUMS").exists() and Run(folder / "run").records:
            return
    raise AssertionError(f"{options}: finished before it was killed, or had nothing yet, each time")


@cache
def by_definition(board: Board, rule: str) -> NDArray[np.bool_]:
    """For each position whether it is a loss: every move is tried in every position."""
    losses = np.zeros(1 << board.cells, np.bool_)
    for position in range(1 << board.cells):
        children = [position ^ taken for taken in board.moves if position & taken == taken]
        losses[position] = not losses[children].any() and (bool(children) or rule == "normal")
    return losses


@cache
def losses_of(board: Board, rule: str) -> NDArray[np.bool_]:
    """The same for larger boards: by number of pieces, each loss makes its parents wins."""
    positions = np.arange(1 << board.cells)
    pieces = np.bitwise_count(positions)
    wins = np.full(len(positions), rule == "misere")
    for taken in board.moves:
        wins[positions & taken == taken] = False
    for count in range(board.cells + 1):
        losses = np.flatnonzero((pieces == count) & ~wins)
        for taken in board.moves:
            wins[losses[losses & taken == 0] | taken] = True
    return ~wins


@cache
def nimbers_of(board: Board) -> NDArray[np.uint8]:
    """The nimber of each position: the least number that is no nimber of a child."""
    positions = np.arange(1 << board.cells)
    pieces = np.bitwise_count(positions)
    nimbers = np.zeros(len(positions), np.uint8)
    for count in range(board.cells + 1):
        level = np.flatnonzero(pieces == count)
        found = np.zeros(len(level), np.uint32)
        for taken in board.moves:
            legal = level & taken == taken
            found[legal] |= np.uint32(1) << nimbers[level[legal] ^ taken].astype(np.uint32)
        least = ~found & (found + np.uint32(1))
        nimbers[level] = np.bitwise_count(least - np.uint32(1))
    return nimbers


@cache
def distances_of(board: Board, rule: str) -> NDArray[np.uint8]:
    """The moves left at each position, if the winner hurries and the loser delays."""
    losses = losses_of(board, rule)
    positions = np.arange(1 << board.cells)
    pieces = np.bitwise_count(positions)
    distances = np.zeros(len(positions), np.uint8)
    for count in range(board.cells + 1):
        level = np.flatnonzero(pieces == count)
        soonest = np.full(len(level), 255, np.uint8)
        latest = np.zeros(len(level), np.uint8)
        for taken in board.moves:
            legal = level & taken == taken
            child = level[legal] ^ taken
            after = distances[child] + np.uint8(1)
            latest[legal] = np.maximum(latest[legal], after)
            soonest[legal] = np.minimum(soonest[legal], np.where(losses[child], after, 255))
        distances[level] = np.where(soonest < 255, soonest, latest)
    return distances


class InFolder(unittest.TestCase):
    """Tests with a folder of their own, in memory if there is one."""

    def setUp(self) -> None:
        shared = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None
        self.folder = Path(tempfile.mkdtemp(dir=shared))
        self.addCleanup(shutil.rmtree, self.folder)
