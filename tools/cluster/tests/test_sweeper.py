"""The sweep beside the tasks: what it is told, when it lists again, and what its trouble does."""

import contextlib
import io
import queue
import tempfile
import threading
import unittest
from collections.abc import Iterable, Sequence
from pathlib import Path
from unittest import mock

from trinim_cluster.sweeper import Sweeper
from trinim_cluster.trinim import Store, TrinimError

FAKE = str(Path(__file__).with_name("fake_trinim.py"))
CONNECTED: dict[str, object] = {"event": "connected"}
WAIT = 60.0


def done(*blocks: int) -> dict[str, object]:
    return {"event": "task", "verdict": "done", "blocks": list(blocks)}


class Told(Store):
    """Says when it is listed, and what it is told; fails at a block below zero."""

    def __init__(self) -> None:
        super().__init__("no program", "nowhere")
        object.__setattr__(self, "heard", queue.SimpleQueue())

    heard: queue.SimpleQueue[object]

    def follow(self, tasks: Iterable[Sequence[int]]) -> None:
        self.heard.put("listed")
        for blocks in tasks:
            self.heard.put(blocks)
            if blocks[0] < 0:
                raise TrinimError("sweep", 75, "on purpose")

    def hears(self) -> object:
        return self.heard.get(timeout=WAIT)


class Sweeps(unittest.TestCase):
    def test_it_lists_once_and_is_told_of_what_is_done(self) -> None:
        store = Told()
        sweeper = Sweeper(store)
        sweeper(CONNECTED)
        sweeper(done(1))
        sweeper({"event": "task", "verdict": "again", "blocks": [2]})
        sweeper({"event": "no result", "task": 3, "verdict": "lost"})
        sweeper(done(4, 5))
        sweeper.end()
        self.assertEqual([store.hears() for _ in range(3)], ["listed", [1], [4, 5]])
        self.assertTrue(store.heard.empty())
        # Another round begins with another connection.
        sweeper(CONNECTED)
        sweeper(done(6))
        sweeper.end()
        self.assertEqual([store.hears() for _ in range(2)], ["listed", [6]])

    def test_a_lost_scheduler(self) -> None:
        """What was committed meanwhile is in a new listing; what was told before is still told."""
        store = Told()
        sweeper = Sweeper(store)
        sweeper(CONNECTED)
        self.assertEqual(store.hears(), "listed")
        sweeper(done(1))
        first = sweeper.thread
        sweeper(CONNECTED)
        assert first is not None
        first.join(WAIT)
        sweeper(done(2))
        sweeper.end()
        self.assertCountEqual([store.hears() for _ in range(3)], [[1], "listed", [2]])
        self.assertTrue(store.heard.empty())

    def test_after_trouble_it_lists_again(self) -> None:
        store, said = Told(), io.StringIO()
        with contextlib.redirect_stderr(said):
            sweeper = Sweeper(store, pause_s=0.0)
            sweeper(CONNECTED)
            for blocks in (1, -2, 3):
                sweeper(done(blocks))
            self.assertEqual(
                [store.hears() for _ in range(5)], ["listed", [1], [-2], "listed", [3]]
            )
            sweeper.end()
        warning = "warning: trinim-task sweep ended with exit code 75: on purpose\n"
        self.assertEqual(said.getvalue(), warning)

    def test_the_end_does_not_wait_for_a_pause(self) -> None:
        store = Told()
        with contextlib.redirect_stderr(io.StringIO()):
            sweeper = Sweeper(store, pause_s=10 * WAIT)
            sweeper(CONNECTED)
            sweeper(done(-1))
            self.assertEqual([store.hears() for _ in range(2)], ["listed", [-1]])
            ending = threading.Thread(target=sweeper.end)
            ending.start()
            ending.join(WAIT)
        self.assertFalse(ending.is_alive())


class Processes(unittest.TestCase):
    def test_lines_of_a_process(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            store = Store(FAKE, f"{folder}/store")
            store.init(["--layers", "3", "--keep", "counts"])
            store.follow(iter([[0], [1, 2]]))
            told = (Path(folder) / "store" / "told").read_text().splitlines()
            self.assertEqual(told, ["listed", "0", "1,2"])
            # It ends before all is told: that is no trouble of who tells.
            faults = Path(folder) / "faults"
            faults.mkdir()
            (faults / "sweep").write_text("75")
            with (
                mock.patch.dict("os.environ", {"FAKE_FAULTS": str(faults)}),
                self.assertRaises(TrinimError) as raised,
            ):
                store.follow([block] for block in range(100_000))
            self.assertEqual(raised.exception.code, 75)
            self.assertIn("fails on purpose", str(raised.exception))
            with self.assertRaises(OSError):
                Store(f"{folder}/absent", folder).follow([])
