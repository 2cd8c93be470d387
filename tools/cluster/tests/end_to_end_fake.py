"""Whole sessions on local clusters, with the fake program: kills, refusals, resumes."""

import signal
import tempfile
import time
import unittest
from pathlib import Path

from tests.session import Session, joined, starts

FAKE = str(Path(__file__).with_name("fake_trinim.py"))
LONG = 600.0  # seconds after which a session counts as hanging, on a busy machine


class Sessions(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.store = self.folder / "store"
        self.starts = self.folder / "starts"
        self.faults = self.folder / "faults"
        self.faults.mkdir()
        self.seconds = "0.05"

    def session(self, *arguments: str, layers: int = 4, workers: int = 2) -> Session:
        environment = {
            "FAKE_STARTS": str(self.starts),
            "FAKE_FAULTS": str(self.faults),
            "FAKE_SECONDS": self.seconds,
        }
        # Without processes, Dask is in that of the session.
        cluster = ["--processes", "--workers", str(workers)] if workers else []
        started = Session(
            self.folder,
            str(self.store),
            ["--trinim", FAKE, "--layers", str(layers), *cluster, *arguments],
            environment,
            local=workers > 0,
        )
        self.addCleanup(started.end)
        return started

    def digest(self, layers: int) -> str:
        """By the fake alone: each block in the order of the plan."""
        import hashlib

        contents: dict[int, bytes] = {}
        for block in sorted(range(1 << layers), key=lambda block: block.bit_count()):
            content = hashlib.sha256(str(block).encode())
            for bit in range(layers):
                if block >> bit & 1:
                    content.update(contents[block & ~(1 << bit)])
            contents[block] = content.digest()
        return hashlib.sha256(b"".join(contents[block] for block in range(1 << layers))).hexdigest()

    def leftovers(self) -> list[Path]:
        return list((self.store / "tmp").iterdir())

    def test_worker_and_scheduler_are_killed(self) -> None:
        self.seconds = "0.3"
        session = self.session("--slots", "2")
        session.wait_for_done(5, LONG)
        session.kill("worker-0")
        session.wait_for_done(10, LONG)
        session.kill("scheduler")
        self.assertEqual(session.wait(LONG), 0, session.said())
        report = session.report()
        self.assertEqual(report["digest"], self.digest(4))
        self.assertEqual(report["cluster"]["schedulers_lost"], 1)
        self.assertEqual(self.leftovers(), [])
        # Two slots of the killed worker, and at most the four that the scheduler had given out.
        self.assertLessEqual(starts(self.starts), 16 + 2 + 4)

    def test_an_undisturbed_run_starts_each_block_once_and_a_second_none(self) -> None:
        session = self.session()
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual(starts(self.starts), 16)
        first = session.report()
        self.assertEqual((first["digest"], first["losses"]), (self.digest(4), 16))
        session = self.session()
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual(starts(self.starts), 16)
        again = session.report()
        self.assertEqual(
            (again["digest"], again["cluster"]["resumed_blocks"]), (first["digest"], 16)
        )

    def test_a_sweep_hears_of_every_block(self) -> None:
        """Also of those that were committed while there was no scheduler."""
        self.seconds = "0.3"
        (self.faults / "sweep").write_text("0\n0\n75\n0")
        session = self.session("--keep", "counts")
        deadline = time.monotonic() + LONG
        while "warning: trinim-task sweep ended with exit code 75" not in session.said():
            self.assertLess(time.monotonic(), deadline, session.said())
            time.sleep(0.01)
        session.kill("scheduler")
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual(session.report()["digest"], self.digest(4))
        told = (self.store / "told").read_text().replace("listed", " ").replace(",", " ")
        self.assertEqual(set(told.split()), {str(block) for block in range(16)})

    def check(self, shares: int, *arguments: str) -> Session:
        """A check of the store in shares."""
        cluster = ["--processes", "--workers", "2"]
        started = Session(
            self.folder,
            str(self.store),
            ["--trinim", FAKE, *cluster, "--shares", str(shares), *arguments],
            {"FAKE_FAULTS": str(self.faults), "FAKE_SECONDS": self.seconds},
            command="verify",
        )
        self.addCleanup(started.end)
        return started

    def test_shares_of_a_check_survive_kills_and_find_what_is_there(self) -> None:
        session = self.session()
        self.assertEqual(session.wait(LONG), 0, session.said())
        session.log.unlink()
        self.seconds = "0.3"
        session = self.check(shares=9)
        session.wait_for_done(2, LONG)
        session.kill("worker-1")
        session.wait_for_done(5, LONG)
        session.kill("scheduler")
        self.assertEqual(session.wait(LONG), 0, session.said())
        report = session.report()
        self.assertEqual((report["ok"], report["blocks"], report["shares"]), (True, 16, 9))
        self.assertEqual(report["cluster"]["schedulers_lost"], 1)
        # More shares than blocks; a damaged block is found once, and again by those that need it.
        self.seconds = "0"
        (self.store / "db" / "block-14").write_bytes(b"damage")
        session = self.check(shares=99)
        self.assertEqual(session.wait(LONG), 3, session.said())
        report = session.report()
        self.assertEqual((report["ok"], report["damaged"], report["shares"]), (False, True, 16))
        self.assertEqual(
            report["findings"], ["block 14 is damaged", "block 15 is damaged"], session.said()
        )
        self.assertEqual(report["cluster"]["starts"], 16)
        # A share that cannot be checked is no finding.
        (self.faults / "3").write_text("65")
        session = self.check(shares=4)
        self.assertEqual(session.wait(LONG), 4, session.said())
        self.assertIn("task 0: exit code 65", session.report()["reason"])

    def test_a_killed_driver_leaves_no_process_and_continues(self) -> None:
        self.seconds = "0.3"
        session = self.session()
        session.wait_for_done(6, LONG)
        pids = [session.pid(name) for name in ("scheduler", "worker-0", "worker-1")]
        session.end()
        deadline = time.monotonic() + 60
        while any(alive(pid) for pid in pids) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual([pid for pid in pids if alive(pid)], [])
        session = self.session()
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual(session.report()["digest"], self.digest(4))
        self.assertGreaterEqual(session.report()["cluster"]["resumed_blocks"], 6)
        self.assertLessEqual(starts(self.starts), 16 + 2)

    def test_a_signal_stops_and_the_same_command_continues(self) -> None:
        self.seconds = "0.3"
        session = self.session()
        session.wait_for_done(5, LONG)
        session.process.send_signal(signal.SIGTERM)
        self.assertEqual(session.wait(LONG), 143, session.said())
        report = session.report()
        self.assertEqual((report["schema"], report["exit_code"]), ("trinim.failure/1", 143))
        session = self.session()
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual(session.report()["digest"], self.digest(4))

    def test_the_session_is_one_process(self) -> None:
        self.seconds = "0.3"
        session = self.session("--workers", "2", workers=0)
        session.wait_for_done(3, LONG)
        session.process.send_signal(signal.SIGTERM)
        self.assertEqual(session.wait(LONG), 143, session.said())
        session = self.session("--workers", "2", workers=0)
        session.wait_for_done(8, LONG)
        session.end()
        session = self.session("--workers", "2", workers=0)
        self.assertEqual(session.wait(LONG), 0, session.said())
        report = session.report()
        self.assertEqual(report["digest"], self.digest(4))
        self.assertGreaterEqual(report["cluster"]["resumed_blocks"], 8)
        self.assertLessEqual(starts(self.starts), 16 + 3 + 3)
        self.assertEqual([event for event in session.events() if "pid" in event], [])

    def test_a_refused_block_stops_what_needs_it_and_nothing_else(self) -> None:
        (self.faults / "8").write_text("65")
        session = self.session(layers=4)
        self.assertEqual(session.wait(LONG), 1, session.said())
        reason = session.report()["reason"]
        self.assertIn("1 task failed permanently, 7 tasks need it", reason)
        self.assertIn("task 8: exit code 65: error: block 8 fails on purpose", reason)
        self.assertEqual(starts(self.starts), 9)
        (self.faults / "8").unlink()
        session = self.session(layers=4)
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual((session.report()["digest"], starts(self.starts)), (self.digest(4), 17))

    def test_crashes_are_tried_again_three_times(self) -> None:
        (self.faults / "1").write_text("101 -9 4 0".replace(" ", "\n"))
        (self.faults / "2").write_text("101")
        session = self.session(layers=2)
        self.assertEqual(session.wait(LONG), 1, session.said())
        self.assertIn("task 2: exit code 101", session.report()["reason"])
        # Blocks 0; 1, four times; 2, four times; 3 never.
        self.assertEqual(starts(self.starts), 9)

    def test_try_again_ends_when_the_patience_is_over(self) -> None:
        (self.faults / "1").write_text("75\n75\n0")
        session = self.session(layers=2)
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual(starts(self.starts), 6)
        self.store = self.folder / "second"
        (self.faults / "0").write_text("75")
        session = self.session("--patience", "4s", layers=2)
        self.assertEqual(session.wait(LONG), 75, session.said())
        self.assertIn("no task succeeds", session.report()["reason"])

    def test_no_scheduler(self) -> None:
        session = Session(
            self.folder,
            str(self.store),
            [
                "--trinim",
                FAKE,
                "--layers",
                "2",
                "--patience",
                "2s",
                "--scheduler",
                "tcp://127.0.0.1:1",
            ],
            local=False,
        )
        self.assertEqual(session.wait(LONG), 75, session.said())
        self.assertIn("no worker is connected", session.report()["reason"])

    def test_a_host_without_the_store_condemns_no_task(self) -> None:
        """It answers at once, and would get most tasks."""
        seconds = {"FAKE_SECONDS": "0.2"}
        file = joined(self, self.folder, [seconds | {"FAKE_UNMOUNTED": "1"}, seconds])
        session = Session(
            self.folder,
            str(self.store),
            ["--trinim", FAKE, "--layers", "3", "--retries", "0", "--scheduler-file", file],
            local=False,
        )
        self.addCleanup(session.end)
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual(session.report()["digest"], self.digest(3))

    def test_options_that_a_task_refuses(self) -> None:
        session = self.session("--memory", "none", layers=2)
        self.assertEqual(session.wait(LONG), 2, session.said())
        self.assertIn("--memory none", session.said())
        self.assertEqual((starts(self.starts), session.events()), (0, []))

    def test_options_that_contradict_each_other(self) -> None:
        for contradiction in (
            ["--scheduler", "tcp://127.0.0.1:1", "--workers", "2"],
            ["--scheduler", "tcp://127.0.0.1:1", "--scheduler-file", "f"],
            ["--tls-ca", "ca"],
            ["--logs", "logs"],
            ["--trinim", "no-such-trinim"],
            ["--threads", "0"],
            ["--layer", "2"],
        ):
            line = ["--trinim", FAKE, *contradiction]
            session = Session(self.folder, str(self.store), line, local=False)
            self.assertEqual(session.wait(LONG), 2, f"{contradiction}: {session.said()}")
            self.assertEqual(session.output.read_text(), "")

    def test_another_runs_store(self) -> None:
        self.assertEqual(self.session(layers=2).wait(LONG), 0)
        session = self.session(layers=3)
        self.assertEqual(session.wait(LONG), 65, session.said())
        self.assertIn("another run", session.report()["reason"])

    def test_batches(self) -> None:
        session = self.session("--batches", "8")
        self.assertEqual(session.wait(LONG), 0, session.said())
        self.assertEqual((session.report()["digest"], starts(self.starts)), (self.digest(4), 8))


def alive(pid: int) -> bool:
    """Whether it runs: one that is dead and waits to be collected does not."""
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
