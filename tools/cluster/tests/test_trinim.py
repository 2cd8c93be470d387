"""Exit codes, command lines, versions, and processes that die with their parent."""

import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from trinim_cluster import service, trinim, work
from trinim_cluster.ledger import Verdict
from trinim_cluster.service import Service, Tls
from trinim_cluster.trinim import Store, TrinimError

FAKE = str(Path(__file__).with_name("fake_trinim.py"))


class Program(unittest.TestCase):
    def setUp(self) -> None:
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
        self.assertEqual(one[1:6], ["task", "--store", self.store.location, "--block", "5"])
        self.assertEqual(one[-4:], ["--json", "--die-with-parent", "--threads", "4"])
        self.assertIn("5,7", self.store.task([5, 7], []))

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

    def test_another_version_computes_nothing(self) -> None:
        self.store.init(["--layers", "2"])
        result = work.compute(self.store.task([0], []), "trinim 9.9.9")
        self.assertEqual((result["code"], result["foreign"]), (65, True))
        self.assertIn("another version", result["message"])
        self.assertEqual(self.store.listing(), [])

    def test_no_program(self) -> None:
        result = work.compute([str(self.folder / "absent")], "")
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
        self.assertTrue(service.waits(str(self.folder / "file"), process, 120.0))
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
