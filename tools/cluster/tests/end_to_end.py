"""Whole solves with the real program: worker and scheduler killed, a store that fails, bad input.

TRINIM names the program; `tools/cluster/check` sets it.
"""

import filecmp
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.session import Session, starts
from trinim_cluster import service
from trinim_cluster.plan import Plan, parse

TRINIM = os.environ["TRINIM"]
LONG = 300.0  # seconds after which a session counts as hanging

# Seven layers in 128 blocks of 2^19 positions and fewer to evaluate: enough to be in the middle of.
LAYOUT = ["--layers", "7", "--bid-cells", "(0,0)(6,0)(6,6)(3,1)(3,2)(4,1)(4,3)(5,2)(5,3)"]
LOSSES = 19_496_523  # [LWS09], table 4-1

# A program before the program. It notes each start of a task, and takes its time, so that what is
# killed is in the middle of one; the lines at MISDEED are a test's own.
WRAPPER = """#!/bin/sh
case "$*" in
*--block*|*--batch*)
    echo "$*" >>{starts}
    sleep {seconds}
    ;;
esac
{misdeed}
exec {program} "$@"
"""


def trinim(*arguments: str) -> str:
    """Output of the real program; it has to succeed."""
    return subprocess.run([TRINIM, *arguments], check=True, capture_output=True, text=True).stdout


class Solves(unittest.TestCase):
    reference: tempfile.TemporaryDirectory[str]
    solved: Path
    digest: str

    @classmethod
    def setUpClass(cls) -> None:
        cls.reference = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.reference.cleanup)
        cls.solved = Path(cls.reference.name) / "solved"
        report = json.loads(trinim("solve", *LAYOUT, "--out", str(cls.solved), "--json"))
        assert report["losses"] == LOSSES
        cls.digest = report["digest"]

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.store = self.folder / "store"
        self.starts = self.folder / "starts"

    def wrapper(self, misdeed: str = "", seconds: float = 0.0) -> str:
        path = self.folder / "trinim-wrapper"
        path.write_text(
            WRAPPER.format(starts=self.starts, seconds=seconds, misdeed=misdeed, program=TRINIM)
        )
        path.chmod(0o755)
        return str(path)

    def session(self, *arguments: str, program: str, store: str | None = None) -> Session:
        started = Session(
            self.folder,
            store or str(self.store),
            ["--workers", "2", "--trinim", program, *LAYOUT, *arguments],
        )
        self.addCleanup(started.end)
        return started

    def plan(self) -> Plan:
        return parse(trinim("task", "plan", "--store", str(self.store)).splitlines())

    def check_result(self, session: Session, database: Path) -> None:
        """Losses, digest, and every byte of every file as `solve` leaves them."""
        report = session.report()
        self.assertEqual((report["losses"], report["digest"]), (LOSSES, self.digest))
        self.check_bytes(database)

    def check_bytes(self, database: Path) -> None:
        names = sorted(file.name for file in (self.solved / "db").iterdir())
        self.assertEqual(sorted(file.name for file in database.iterdir()), names)
        same, different, unreadable = filecmp.cmpfiles(
            self.solved / "db", database, names, shallow=False
        )
        self.assertEqual((different, unreadable), ([], []))
        self.assertEqual(len(same), len(names))

    def kill_worker_and_scheduler(self, session: Session, blocks: int) -> None:
        session.wait_for_done(blocks // 3, LONG)
        session.kill("worker-0")
        session.wait_for_done(blocks * 2 // 3, LONG)
        session.kill("scheduler")
        self.assertEqual(session.wait(LONG), 0, session.said())
        events = session.events()
        kills = [event["name"] for event in events if event.get("code") == -9]
        self.assertEqual(kills, ["worker-0", "scheduler"])
        self.assertEqual(session.report()["cluster"]["schedulers_lost"], 1)
        # One on the killed worker; two that the killed scheduler had given out.
        self.assertLessEqual(starts(self.starts), blocks + 1 + 2)
        self.assertGreaterEqual(starts(self.starts), blocks)

    def test_worker_and_scheduler_are_killed(self) -> None:
        session = self.session(program=self.wrapper(seconds=0.2))
        session.wait_for_done(1, LONG)
        blocks = len(self.plan().tasks)
        self.kill_worker_and_scheduler(session, blocks)
        self.check_result(session, self.store / "db")
        self.assertEqual(list((self.store / "tmp").iterdir()), [])
        trinim("verify", str(self.store))

    def test_batches(self) -> None:
        session = self.session("--batches", "20", program=self.wrapper())
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.check_result(session, self.store / "db")
        self.assertLess(starts(self.starts), 60)

    def test_a_store_with_stale_listings(self) -> None:
        """Every listing misses the blocks whose number ends in 3, until all others are there."""
        stale = (
            f'case "$*" in *"task list"*) {TRINIM} "$@" >{self.folder}/list || exit; '
            f"if [ -e {self.folder}/fresh ]; then cat {self.folder}/list; "
            f"else grep -v '3}}$' {self.folder}/list; fi; exit 0;; "
            f'*"task finish"*) touch {self.folder}/fresh;; esac'
        )
        session = self.session(program=self.wrapper(stale, seconds=0.1))
        session.wait_for_done(40, LONG)
        session.kill("scheduler")
        session.wait_for_done(60, LONG)
        session.end()
        session = self.session(program=self.wrapper(stale))
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.check_result(session, self.store / "db")

    def test_a_store_that_fails_now_and_then(self) -> None:
        """Each third start says "try again", as if the store failed; each seventh dies."""
        fails = (
            f'case "$*" in *--block*) n=$(wc -l <{self.starts}); '
            "[ $((n % 3)) = 0 ] && exit 75; [ $((n % 7)) = 0 ] && kill -9 $$;; esac"
        )
        session = self.session("--retries", "50", program=self.wrapper(fails))
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.check_result(session, self.store / "db")
        verdicts = {event.get("verdict") for event in session.events()}
        self.assertLessEqual({"again", "crashed", "done"}, verdicts)

    def test_a_damaged_source_is_named_and_nothing_overwritten(self) -> None:
        """A run stops in the middle; the file of a block that is still needed is damaged."""
        session = self.session(program=self.wrapper(seconds=0.2))
        session.wait_for_done(20, LONG)
        session.end()
        plan = self.plan()
        committed = {
            json.loads(line)["block"]
            for line in trinim("task", "list", "--store", str(self.store), "--json").splitlines()
        }
        needed = [
            number
            for number in sorted(committed)
            if number in plan.tasks and not committed.issuperset(plan.targets[number])
        ]
        self.assertTrue(needed)
        file = self.store / "db" / f"{needed[-1]:06}.blk"
        sound = file.read_bytes()
        damaged = bytearray(sound)
        damaged[len(damaged) // 2] ^= 1
        file.write_bytes(damaged)
        session = self.session("--patience", "30s", program=self.wrapper())
        self.assertEqual(session.wait(LONG), 1, session.said())
        self.assertIn(file.name, session.report()["reason"])
        self.assertEqual(file.read_bytes(), bytes(damaged))
        file.write_bytes(sound)
        session = self.session(program=self.wrapper())
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.check_result(session, self.store / "db")

    def test_another_layout(self) -> None:
        trinim("task", "init", "--store", str(self.store), "--layers", "7")
        before = (self.store / "task.json").read_bytes()
        session = self.session(program=TRINIM)
        self.assertEqual(session.wait(LONG), 65, session.said())
        self.assertIn("bid", session.report()["reason"].lower())
        self.assertEqual((self.store / "task.json").read_bytes(), before)
        self.assertEqual(list((self.store / "db").iterdir()), [])

    def test_a_worker_of_another_version(self) -> None:
        """Its program says another version: it gets no block, and the run says why."""
        foreign = 'if [ "$1" = --version ] && [ -n "$FOREIGN" ]; then echo trinim 9.9.9; exit 0; fi'
        program = self.wrapper(foreign)
        file = self.folder / "scheduler.json"
        told: list[dict[str, object]] = []
        port = service.free_port("127.0.0.1")
        scheduler = service.Service(
            "scheduler",
            service.scheduler_arguments("127.0.0.1", port, str(file), None),
            self.folder / "scheduler.log",
            told.append,
        )
        scheduler.tend()
        self.addCleanup(scheduler.stop)
        os.environ["FOREIGN"] = "1"
        try:
            worker = service.Service(
                "worker",
                service.worker_arguments(
                    1, str(file), None, None, local_directory=str(self.folder)
                ),
                self.folder / "worker.log",
                told.append,
            )
            worker.tend()
        finally:
            del os.environ["FOREIGN"]
        self.addCleanup(worker.stop)
        session = Session(
            self.folder,
            str(self.store),
            ["--trinim", program, "--scheduler-file", str(file), "--patience", "10s", *LAYOUT],
            local=False,
        )
        self.addCleanup(session.end)
        self.assertEqual(session.wait(LONG), 75, session.said())
        self.assertIn("trinim 9.9.9", session.report()["reason"])
        self.assertEqual((starts(self.starts), list((self.store / "db").iterdir())), (0, []))
