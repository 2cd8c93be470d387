"""Exit codes, command lines, versions, and processes that die with their parent."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

from trinim_cluster import service, trinim, work
from trinim_cluster.ledger import Verdict
from trinim_cluster.local import LocalCluster
from trinim_cluster.service import Service, Tls
from trinim_cluster.trinim import Store, TrinimError

FAKE = str(Path(__file__).with_name("fake_trinim.py"))


def pid() -> int:
    """Of the process that the slots have."""
    assert work.slots.process is not None
    return work.slots.process.child.pid


class Program(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(work.slots.end)
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
        self.assertEqual(one.command[1:5], ["--store", self.store.location, "--batch", "-"])
        self.assertEqual(one.command[-4:], ["--idle", trinim.IDLE, "--threads", "4"])
        self.assertEqual((one.line, self.store.task([5, 7], []).line), ("5", "5,7"))
        share = self.store.shard(2, 3, [])
        self.assertEqual((share.command[4:6], share.line), (["--shard", "2/3"], None))

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

    def test_options_are_tried_without_a_task(self) -> None:
        self.store.init(["--layers", "2"])
        self.store.check_options(["--threads", "4"])
        with self.assertRaises(TrinimError) as raised:
            self.store.check_options(["--memory", "none"])
        self.assertEqual(raised.exception.code, 2)
        self.assertEqual(self.store.listing(), [])

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

    def test_slots_share_a_process(self) -> None:
        self.store.init(["--layers", "3"])
        version = trinim.version(FAKE)

        def compute(*blocks: int) -> int:
            result = work.compute(self.store.task(blocks, []), version)
            self.assertEqual((result["code"], result["report"]["computed"]), (0, list(blocks)))
            return pid()

        first = compute(0)
        self.assertEqual(compute(1, 2), first)
        # One that ended, or was killed, between two tasks is no failure.
        os.kill(first, signal.SIGKILL)
        second = compute(4)
        self.assertNotEqual(second, first)
        # Other options are those of another process.
        result = work.compute(self.store.task([5], ["--threads", "2"]), version)
        self.assertEqual(result["code"], 0)
        third = pid()
        self.assertNotEqual(third, second)
        # Each gets the answer to its own task, and the same task twice is answered twice. The
        # process would die with the thread that starts it.
        result = work.compute(self.store.task([5], []), version)
        self.assertEqual((result["code"], result["report"]["skipped"]), (0, [5]))
        with ThreadPoolExecutor(4) as threads:
            pids = set(threads.map(compute, (6, 3)))
        self.assertEqual(len(pids), 1)
        job = self.store.task([7], [])
        with ThreadPoolExecutor(4) as threads:
            results = list(threads.map(work.compute, [job] * 2, [version] * 2))
        self.assertEqual([result["code"] for result in results], [0, 0])
        computed = [result["report"]["computed"] for result in results]
        self.assertEqual(sorted(computed), [[], [7]])
        self.assertEqual(pid(), pids.pop())

    def test_a_task_that_fails_takes_no_other_with_it(self) -> None:
        """The process ends after the first failure; the other task is asked again."""
        self.store.init(["--layers", "3"])
        version = trinim.version(FAKE)
        self.assertEqual(work.compute(self.store.task([0], []), version)["code"], 0)
        with (
            mock.patch.object(work, "slots_here", return_value=8),
            ThreadPoolExecutor(8) as threads,
        ):
            jobs = [self.store.task([block], []) for block in (7, 1, 6, 2, 5, 4, 3)]
            results = list(threads.map(work.compute, jobs, [version] * len(jobs)))
        for job, result in zip(jobs, results, strict=True):
            # Those with two or three bits need sources that may not be there yet.
            self.assertIn(result["code"], (0, 75), result)
            if job.line in ("1", "2", "4"):
                self.assertEqual(result["code"], 0, result)
        missing = [result for result in results if result["code"] == 75]
        self.assertTrue(all("is missing" in result["message"] for result in missing), missing)

    def test_a_process_that_was_left_alone_is_no_failure(self) -> None:
        self.store.init(["--layers", "2"])
        version = trinim.version(FAKE)
        command = [FAKE, "--store", self.store.location, "--batch", "-", "--idle", "0.1s"]
        for line in ("0", "1"):
            result = work.compute(trinim.Job(command, line), version)
            self.assertEqual((result["code"], result["report"]["computed"]), (0, [int(line)]))
            assert work.slots.process is not None
            work.slots.process.child.wait()
        # One that ends at once is one.
        result = work.compute(trinim.Job(["true"], "2"), trinim.version("true"))
        self.assertEqual((result["code"], result["message"]), (1, "it ended without answering"))

    def test_another_version_computes_nothing(self) -> None:
        self.store.init(["--layers", "2"])
        result = work.compute(self.store.task([0], []), "trinim 9.9.9")
        self.assertEqual((result["code"], result["foreign"]), (65, True))
        self.assertIn("another version", result["message"])
        self.assertEqual(self.store.listing(), [])

    def test_a_host_without_the_store_leaves(self) -> None:
        self.store.init(["--layers", "2"])
        job = self.store.task([0], [])
        with (
            mock.patch.dict(os.environ, {"FAKE_UNMOUNTED": "1"}),
            mock.patch.object(work, "leave") as leave,
        ):
            result = work.compute(job, trinim.version(FAKE))
        self.assertEqual((result["code"], result["foreign"]), (2, True))
        self.assertIn("no such folder", result["message"])
        leave.assert_called_once_with(result["message"])

    def test_who_leaves(self) -> None:
        """All but the worker in the driver's process, which nothing starts again."""
        for address, leaves in (("tcp://10.0.0.1:1", True), ("inproc://10.0.0.1/1/1", False)):
            worker = mock.Mock(address=address)
            with mock.patch.object(work, "get_worker", return_value=worker):
                work.leave("why")
            self.assertEqual(worker.loop.add_callback.called, leaves, address)

    def test_no_program(self) -> None:
        with mock.patch.object(work, "leave") as leave:
            result = work.compute(trinim.Job([str(self.folder / "absent")]), "")
        self.assertIs(trinim.verdict(result["code"]), Verdict.AGAIN)
        leave.assert_called_once_with(result["message"])
        with self.assertRaises(FileNotFoundError):
            trinim.find("no-such-trinim")

    def test_last_words(self) -> None:
        self.assertEqual(trinim.last_words("", " \n"), "it printed nothing")
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

    def test_standard_error_may_be_a_socket(self) -> None:
        """As it is under the journal of systemd."""
        here, there = socket.socketpair()
        with here, there:
            command = [sys.executable, "-m", "trinim_cluster", "scheduler", "--port", "1"]
            command += ["--scheduler-file", str(self.folder / "file")]
            with subprocess.Popen(command, stderr=there.fileno()) as scheduler:
                self.addCleanup(scheduler.kill)
                self.assertIn(b'"started"', here.recv(1000))
                scheduler.send_signal(signal.SIGTERM)
                self.assertEqual(scheduler.wait(60), 143)

    def test_a_service_overwrites_nothing(self) -> None:
        """Where its standard error is the file that this process writes to."""
        with (self.folder / "log").open("wb", buffering=0) as log:
            kept = Service("one", ["scheduler", "--version"], log.fileno(), lambda event: None)
            log.write(b"before\n")
            kept.start()
            assert kept.process is not None
            kept.process.wait()
            log.write(b"after\n")
        lines = (self.folder / "log").read_text().splitlines()
        self.assertEqual((lines[0], lines[-1], len(lines)), ("before", "after", 3))

    def test_stop_ends_the_process(self) -> None:
        arguments = service.scheduler_arguments("127.0.0.1", 0, str(self.folder / "file"), None)
        kept = Service("scheduler", arguments, self.folder / "log", lambda event: None)
        kept.tend()
        assert kept.process is not None
        process = kept.process
        self.assertIsNotNone(service.waits(str(self.folder / "file"), kept.lives, 120.0))
        kept.stop(60.0)
        self.assertIn(process.returncode, (0, 1, -signal.SIGTERM))
        kept.stop()

    def test_a_cluster_keeps_the_port_that_its_scheduler_found(self) -> None:
        cluster = LocalCluster(0, 1, self.folder, lambda event: None)
        scheduler, file = cluster.services[0], str(cluster.scheduler_file)
        self.addCleanup(scheduler.kill)
        cluster.start()
        cluster.wait()
        address = service.address_in(file)
        scheduler.kill()
        Path(file).unlink()
        cluster.tend()
        self.assertEqual(service.waits(file, scheduler.lives, 120.0), address)
        # One that cannot start is not waited for.
        scheduler.kill()
        scheduler.arguments = ["scheduler", "--port", "none"]
        cluster.start()
        with self.assertRaisesRegex(TimeoutError, f"after [0-9]+ s; see {scheduler.log}"):
            cluster.wait()
        self.assertFalse(scheduler.lives())

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
