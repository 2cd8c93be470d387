"""What the whole solves share: the real program, the database it leaves alone, kills, comparisons.

TRINIM names the program `trinim`, and `trinim-task` lies beside it; `tools/cluster/check` sets it.
`tests.side_by_side` sets SOLVED, the folder of a solve that the tests compare theirs with; without
it, each class makes its own.
"""

from __future__ import annotations

import filecmp
import json
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

from tests.session import Session, starts
from trinim_cluster.plan import Plan, parse

TRINIM = os.environ["TRINIM"]
TASK = f"{TRINIM}-task"
LONG = 300.0  # seconds after which a session counts as hanging

# Seven layers in 128 blocks of 2^19 positions and fewer to evaluate: enough to be in the middle of.
LAYOUT = ["--layers", "7", "--bid-cells", "(0,0)(6,0)(6,6)(3,1)(3,2)(4,1)(4,3)(5,2)(5,3)"]
LOSSES = 19_496_523  # [LWS09], table 4-1

# A program before the program. It notes each task, and takes its time, so that what is killed is in
# the middle of one; the lines at MISDEED are a test's own. Each task has a real process of its own,
# whose exit code is that of the wrapper.
WRAPPER = """#!/bin/sh
misdeed() {{
    :
    {misdeed}
}}
case "$*" in
*"--batch -"*)
    while read -r task; do
        echo "$task" >>{starts}
        sleep {seconds}
        misdeed "$@"
        echo "$task" | {program} "$@" || exit
    done
    exit
    ;;
esac
misdeed "$@"
exec {program} "$@"
"""


def output(program: str, *arguments: str) -> str:
    """Output of a real program; it has to succeed."""
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def solve_alone(folder: Path) -> None:
    """Solves the board without tasks, into the folder."""
    report = json.loads(output(TRINIM, "solve", *LAYOUT, "--out", str(folder), "--json"))
    assert report["losses"] == LOSSES


class Whole(unittest.TestCase):
    """Has no tests of its own."""

    solved: Path
    digest: str

    @classmethod
    def setUpClass(cls) -> None:
        folder = os.environ.get("SOLVED")
        if folder is None:
            reference = tempfile.TemporaryDirectory()
            cls.addClassCleanup(reference.cleanup)
            folder = reference.name
            solve_alone(Path(folder))
        cls.solved = Path(folder)
        cls.digest = json.loads((cls.solved / "db" / "manifest.json").read_text())["digest"]

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.store = self.folder / "store"
        self.starts = self.folder / "starts"

    def wrapper(self, misdeed: str = "", seconds: float = 0.0) -> str:
        path = self.folder / "task-wrapper"
        path.write_text(
            WRAPPER.format(starts=self.starts, seconds=seconds, misdeed=misdeed, program=TASK)
        )
        path.chmod(0o755)
        return str(path)

    def session(self, *arguments: str, program: str) -> Session:
        started = Session(
            self.folder,
            self.place(),
            ["--processes", "--workers", "2", "--trinim", program, *LAYOUT, *arguments],
        )
        self.addCleanup(started.end)
        return started

    def check_in_shares(self) -> Session:
        """A check of the store by two workers."""
        started = Session(
            self.folder,
            self.place(),
            ["--processes", "--workers", "2", "--trinim", TASK, "--shares", "7"],
            command="verify",
        )
        self.addCleanup(started.end)
        return started

    def place(self) -> str:
        """The name of the store."""
        return str(self.store)

    def plan(self) -> Plan:
        return parse(output(TASK, "plan", "--store", self.place()).splitlines())

    def check_result(self, session: Session, database: Path) -> None:
        """Losses, digest, and every byte of every file as `solve` leaves them."""
        report = session.report()
        self.assertEqual((report["losses"], report["digest"]), (LOSSES, self.digest))
        self.check_bytes(database)

    def check_counts(self, session: Session, database: Path) -> None:
        """Digest, and what a solve that keeps counts leaves."""
        self.assertEqual(session.report()["digest"], self.digest)
        output(TRINIM, "solve", *LAYOUT, "--keep", "counts", "--out", f"{self.folder}/counts")
        self.assertEqual(
            {file.name: file.read_bytes() for file in database.iterdir()},
            {file.name: file.read_bytes() for file in (self.folder / "counts" / "db").iterdir()},
        )

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
