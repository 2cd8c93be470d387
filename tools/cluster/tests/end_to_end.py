"""Whole solves with the real program: killed workers and scheduler, a failing store, bad input."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from tests.session import Session, joined, starts
from tests.whole import LAYOUT, LONG, TASK, TRINIM, Whole, output


class Solves(Whole):
    def test_worker_and_scheduler_are_killed(self) -> None:
        session = self.session(program=self.wrapper(seconds=0.2))
        session.wait_for_done(1, LONG)
        blocks = len(self.plan().tasks)
        self.kill_worker_and_scheduler(session, blocks)
        self.check_result(session, self.store / "db")
        self.assertEqual(list((self.store / "tmp").iterdir()), [])
        output(TRINIM, "verify", str(self.store))
        self.check_shares(blocks)

    def check_shares(self, blocks: int) -> None:
        """The shares of a check add up to the whole, and a damaged block is told by name."""
        session = self.check_in_shares()
        self.assertEqual(session.wait(LONG), 0, session.said())
        report = session.report()
        whole = json.loads(output(TRINIM, "verify", str(self.store), "--json"))
        for key in ("ok", "files", "file_bytes", "blocks", "positions", "differences"):
            self.assertEqual(report[key], whole[key], key)
        self.assertEqual((report["blocks"], report["findings"]), (blocks, []))
        file = self.store / "db" / f"{blocks - 1:06}.blk"
        damaged = bytearray(file.read_bytes())
        damaged[-1] ^= 1
        file.write_bytes(damaged)
        session = self.check_in_shares()
        self.assertEqual(session.wait(LONG), 3, session.said())
        report = session.report()
        self.assertEqual((report["ok"], report["damaged"]), (False, True))
        self.assertIn(file.name, json.dumps(report["findings"]))

    def test_batches(self) -> None:
        # The program itself: its processes take task after task.
        session = self.session("--batches", "20", program=TASK)
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.check_result(session, self.store / "db")
        self.assertLess(session.report()["cluster"]["starts"], 60)

    def test_blocks_go_while_the_solve_goes_on(self) -> None:
        """Nothing is left for the last sweep."""
        noted = f'case "$*" in *"--older-than 0s"*) ls {self.store}/db >{self.folder}/left;; esac'
        session = self.session("--batches", "20", "--keep", "counts", program=self.wrapper(noted))
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual((self.folder / "left").read_text(), "")
        self.check_counts(session, self.store / "db")

    def test_a_plan_says_what_the_run_does(self) -> None:
        """The estimate counts the files that the tasks then write."""
        said = subprocess.run(
            [sys.executable, "-m", "trinim_cluster", "plan", "--trinim", TASK, *LAYOUT]
            + ["--batches", "20", "--machines", "2", "--cores", "4", "--threads", "2", "--json"],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        figures = json.loads(said)
        session = self.session("--batches", "20", program=TASK)
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual(figures["tasks"], session.report()["cluster"]["starts"])
        self.assertEqual(figures["requests"]["put"], 2 * figures["blocks"] + 3)
        self.assertEqual(figures["blocks"], len(list(self.store.glob("summaries/*"))))
        self.assertGreater(figures["seconds"], 0.0)

    def test_a_store_with_stale_listings(self) -> None:
        """Every listing misses the blocks whose number ends in 3, until all others are there."""
        older = self.folder / "older"
        older.write_text(
            "import json, sys\n"
            "for run in map(json.loads, sys.stdin):\n"
            "    for block in range(run['first'], run['last'] + 1):\n"
            "        if block % 10 != 3:\n"
            "            print(json.dumps({'first': block, 'last': block}))\n"
        )
        stale = (
            f'case "$*" in "list "*) {TASK} "$@" >{self.folder}/list || exit; '
            f"if [ -e {self.folder}/fresh ]; then cat {self.folder}/list; "
            f"else {sys.executable} {older} <{self.folder}/list; fi; exit 0;; "
            f'"finish "*) touch {self.folder}/fresh;; esac'
        )
        session = self.session(program=self.wrapper(stale, seconds=0.1))
        session.wait_for_done(40, LONG)
        session.kill("scheduler")
        session.wait_for_done(60, LONG)
        session.end()
        session = self.session(program=self.wrapper(stale))
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.check_result(session, self.store / "db")

    def test_slots_of_one_worker_share_a_process(self) -> None:
        """It is killed at a third, with what all of them had in hand."""
        session = self.session("--workers", "1", "--slots", "3", program=TASK)
        session.wait_for_done(30, LONG)
        session.kill("worker-0")
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.check_result(session, self.store / "db")

    def test_one_process_is_killed(self) -> None:
        """Dask is in the driver's process; that of the tasks dies with it."""
        arguments = ["--trinim", TASK, "--workers", "2", *LAYOUT]
        session = Session(self.folder, self.place(), arguments, local=False)
        self.addCleanup(session.end)
        session.wait_for_done(30, LONG)
        self.assertTrue(self.at_work())
        session.end()
        deadline = time.monotonic() + 60
        while self.at_work() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.at_work(), [])
        session = Session(self.folder, self.place(), arguments, local=False)
        self.addCleanup(session.end)
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.check_result(session, self.store / "db")
        self.assertGreaterEqual(session.report()["cluster"]["resumed_blocks"], 30)
        self.assertEqual(list((self.store / "tmp").iterdir()), [])

    def at_work(self) -> list[str]:
        """The processes that compute tasks of this store."""
        found = []
        for process in Path("/proc").iterdir():
            with suppress(OSError):
                line = (process / "cmdline").read_bytes().split(b"\0")
                if line[0] == os.fsencode(TASK) and os.fsencode(self.store) in line:
                    found.append(process.name)
        return found

    def test_a_store_that_fails_now_and_then(self) -> None:
        """Each third task says "try again", as if the store failed; two of seven die, because a
        process that dies after others were answered is only started again."""
        fails = (
            f'case "$*" in *"--batch -"*) n=$(wc -l <{self.starts}); '
            "[ $((n % 3)) = 0 ] && exit 75; [ $((n % 7)) -lt 2 ] && kill -9 $$;; esac"
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
            block
            for line in output(TASK, "list", "--store", str(self.store), "--json").splitlines()
            for block in range(json.loads(line)["first"], json.loads(line)["last"] + 1)
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
        output(TASK, "init", "--store", str(self.store), "--layers", "7")
        before = (self.store / "task.json").read_bytes()
        session = self.session(program=TASK)
        self.assertEqual(session.wait(LONG), 65, session.said())
        self.assertIn("bid", session.report()["reason"].lower())
        self.assertEqual((self.store / "task.json").read_bytes(), before)
        self.assertEqual(list((self.store / "db").iterdir()), [])

    def test_a_worker_of_another_version(self) -> None:
        """Its program says another version: it gets no block, and the run says why."""
        foreign = 'if [ "$1" = --version ] && [ -n "$FOREIGN" ]; then echo trinim 9.9.9; exit 0; fi'
        program = self.wrapper(foreign)
        file = joined(self, self.folder, [{"FOREIGN": "1"}])
        session = Session(
            self.folder,
            str(self.store),
            ["--trinim", program, "--scheduler-file", file, "--patience", "10s", *LAYOUT],
            local=False,
        )
        self.addCleanup(session.end)
        self.assertEqual(session.wait(LONG), 75, session.said())
        self.assertIn("trinim 9.9.9", session.report()["reason"])
        self.assertEqual((starts(self.starts), list((self.store / "db").iterdir())), (0, []))
