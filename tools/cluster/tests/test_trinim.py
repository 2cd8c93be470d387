"""Exit codes, command lines, versions, and processes that die with their parent."""

import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

from trinim_cluster import service, trinim, work
from trinim_cluster.ledger import Verdict
from trinim_cluster.service import Service, Tls
from trinim_cluster.trinim import Store, TrinimError

FAKE = str(Path(__file__).with_name("fake_trinim.py"))


def end_process() -> None:
    """Ends the process of this thread's slot."""
    process = getattr(work.slot, "process", None)
    if process is not None:
        process.end()
        work.slot.process = None


class Program(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(end_process)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.store = Store(FAKE, str(self.folder / "store"))

    def test_exit_codes(self) -> None:
        expected = {0: Verdict.DONE, 75: Verdict.AGAIN, 65: Verdict.REFUSED, 2: Verdict.REFUSED}
        for code in (0, 1, 2, 3, 4, 65, 75, 101, 127, -9, -15):
            self.assertIs(trinim.verdict(code), expected.get(code, Verdict.CRASHED), code)

    def test_command_lines(self) -> None:
        one = self.store.task([5], ["--threads", "4"])
        self.assertEqual(one.command[1:6], ["task", "--store", self.store.location, "--batch", "-"])
        self.assertEqual(one.command[-4:], ["--idle", trinim.IDLE, "--threads", "4"])
        self.assertEqual((one.line, self.store.task([5, 7], []).line), ("5", "5,7"))
        share = self.store.shard(2, 3, [])
        self.assertEqual((share.command[5:7], share.line), (["--shard", "2/3"], None))

    def test_commands(self) -> None:
        self.store.init(["--layers", "2", "--keep", "database"])
        self.store.init(["--layers", "2", "--keep", "database"])
        self.assertEqual(len(self.store.plan(None)), 4)
        self.assertEqual(self.store.listing(), [])
        with self.assertRaises(TrinimError) as raised:
            self.store.finish()
        self.assertEqual(raised.exception.code, 75)
        with self.assertRaises(TrinimError) as raised:
            self.store.init(["--layers", "3", "--keep", "database"])
        self.assertEqual(raised.exception.code, 65)
        self.assertIn("another run", str(raised.exception))

    def test_a_task(self) -> None:
        self.store.init(["--layers", "2"])
        version = trinim.version(FAKE)
        result = work.compute(self.store.task([0], []), version)
        self.assertEqual((result["code"], result["report"]["computed"]), (0, [0]))
        self.assertEqual(self.store.listing(), [0])
        result = work.compute(self.store.task([3], []), version)
        self.assertEqual(result["code"], 75)
        self.assertIn("source 2 of block 3 is missing", result["message"])
        # The process ended with its error; the next task has a new one.
        result = work.compute(self.store.task([1, 2], []), version)
        self.assertEqual((result["code"], result["report"]["computed"]), (0, [1, 2]))

    def test_a_slot_keeps_its_process(self) -> None:
        self.store.init(["--layers", "3"])
        version = trinim.version(FAKE)

        def compute(*blocks: int) -> int:
            result = work.compute(self.store.task(blocks, []), version)
            self.assertEqual((result["code"], result["report"]["computed"]), (0, list(blocks)))
            pid: int = work.slot.process.child.pid
            return pid

        first = compute(0)
        self.assertEqual(compute(1, 2), first)
        # One that ended, or was killed, between two tasks is no failure.
        work.slot.process.child.kill()
        work.slot.process.child.wait()
        second = compute(4)
        self.assertNotEqual(second, first)
        # Other options are those of another process.
        result = work.compute(self.store.task([5], ["--threads", "2"]), version)
        self.assertEqual(result["code"], 0)
        third = work.slot.process.child.pid
        self.assertNotEqual(third, second)
        # Other slots have their own.
        other: list[int] = []

        def elsewhere() -> None:
            other.append(compute(6))
            end_process()

        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
        self.assertEqual(len(other), 1)
        self.assertNotIn(other[0], [first, second, third])

    def test_a_process_that_was_left_alone_is_no_failure(self) -> None:
        self.store.init(["--layers", "2"])
        version = trinim.version(FAKE)
        command = [FAKE, "task", "--store", self.store.location, "--batch", "-", "--idle", "0.1s"]
        for line in ("0", "1"):
            result = work.compute(trinim.Job(command, line), version)
            self.assertEqual((result["code"], result["report"]["computed"]), (0, [int(line)]))
            work.slot.process.child.wait()
        # One that ends at once is one.
        result = work.compute(trinim.Job(["true"], "2"), trinim.version("true"))
        self.assertEqual((result["code"], result["message"]), (1, "it ended without an answer"))

    def test_another_version_computes_nothing(self) -> None:
        self.store.init(["--layers", "2"])
        result = work.compute(self.store.task([0], []), "trinim 9.9.9")
        self.assertEqual((result["code"], result["foreign"]), (65, True))
        self.assertIn("another version", result["message"])
        self.assertEqual(self.store.listing(), [])

    def test_no_program(self) -> None:
        result = work.compute(trinim.Job([str(self.folder / "absent")]), "")
        self.assertEqual(result["code"], 127)
        with self.assertRaises(FileNotFoundError):
            trinim.find("no-such-trinim")

    def test_last_words(self) -> None:
        self.assertEqual(trinim.last_words("", " \n"), "it said nothing")
        self.assertEqual(trinim.last_words("a\nb\nc\n\nd\n"), "b | c | d")
        self.assertEqual(trinim.last_words("", "out"), "out")


class Processes(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_a_child_dies_with_its_parent(self) -> None:
        """The parent is killed; its child asked for the same."""
        child = (
            "import os, sys, time; from trinim_cluster.trinim import die_with_parent; "
            "die_with_parent(os.getppid()); print(os.getpid(), flush=True); time.sleep(600)"
        )
        parent = subprocess.Popen(
            [
                sys.executable,
                "-c",
                f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])",
            ],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
        # The pipe ends when the child, its last holder, is gone.
        self.assertEqual(parent.communicate(timeout=60)[0], "")
        self.assertGreater(pid, 0)

    def test_a_service_is_started_again(self) -> None:
        told: list[dict[str, object]] = []
        kept = Service("scheduler", ["scheduler", "--version"], self.folder / "log", told.append)
        deadline = time.monotonic() + 120
        while kept.starts < 2 and time.monotonic() < deadline:
            kept.tend()
            time.sleep(0.05)
        kept.stop()
        self.assertEqual([event["event"] for event in told[:3]], ["started", "ended", "started"])
        self.assertEqual(told[1]["code"], 0)

    def test_stop_ends_the_process(self) -> None:
        arguments = service.scheduler_arguments("127.0.0.1", 0, str(self.folder / "file"), None)
        kept = Service("scheduler", arguments, self.folder / "log", lambda event: None)
        kept.tend()
        assert kept.process is not None
        process = kept.process
        self.assertTrue(service.waits(str(self.folder / "file"), kept.lives, 120.0))
        kept.stop(60.0)
        self.assertIn(process.returncode, (0, 1, -signal.SIGTERM))
        kept.stop()

    def test_scheduler_files(self) -> None:
        path = self.folder / "scheduler.json"
        self.assertIsNone(service.address_in(str(path)))
        for text in ("", "{", "[]", '{"id": 1}'):
            path.write_text(text)
            self.assertIsNone(service.address_in(str(path)), text)
        path.write_text('{"address": "tcp://10.0.0.1:8786"}')
        self.assertEqual(service.address_in(str(path)), "tcp://10.0.0.1:8786")

    def test_tls_reaches_both_sides(self) -> None:
        tls = Tls("ca", "cert", "key")
        for line in (
            service.scheduler_arguments(None, 1, "f", tls),
            service.worker_arguments(2, "f", None, tls),
        ):
            self.assertIn("tls", line)
            self.assertIn("cert", line)
