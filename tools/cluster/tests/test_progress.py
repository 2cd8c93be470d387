"""Rate, time left, metrics, durations; the patience of the driver."""

import argparse
import os
import random
import tempfile
import unittest
from pathlib import Path

from tests.test_plan import random_plan
from trinim_cluster.cli import Events, Stop
from trinim_cluster.driver import Patience
from trinim_cluster.options import duration
from trinim_cluster.plan import Plan, Task
from trinim_cluster.progress import (
    Progress,
    Speed,
    readable_seconds,
    seconds_left,
    write_metrics,
)


def progress(**fields: object) -> Progress:
    values: dict[str, object] = {
        "blocks": 104, "done_blocks": 52, "cost": 200.0, "done_cost": 50.0,
        "running": 3, "paused": 0,
        "failed": 0, "workers": 2, "slots": 4, "starts": 55, "lost": 0, "schedulers_lost": 1,
        "elapsed_s": 20.0, "resumed_blocks": 12, "left_s": 61.0,
    }  # fmt: skip
    return Progress(**(values | fields))  # type: ignore[arg-type]


class Left(unittest.TestCase):
    def test_work_shared_by_slots_or_the_longest_path(self) -> None:
        plan = Plan([Task(0, (0,), (), 0, 4.0), Task(1, (1,), (0,), 1, 4.0)])
        wide = Plan([Task(number, (number,), (), 0, 4.0) for number in range(8)])
        self.assertEqual(seconds_left(plan, set(), 0.0, 8, 2.0), 16.0)
        self.assertEqual(seconds_left(wide, set(), 0.0, 2, 2.0), 32.0)
        self.assertEqual(seconds_left(wide, {0, 1}, 8.0, 2, 2.0), 24.0)
        self.assertIsNone(seconds_left(plan, set(), 0.0, 0, 2.0))
        self.assertIsNone(seconds_left(plan, set(), 0.0, 1, None))

    def test_never_more_than_one_slot_needs(self) -> None:
        chance = random.Random(4)
        for _ in range(20):
            plan = random_plan(chance, 30, 3)
            left = seconds_left(plan, set(), 0.0, chance.randint(1, 50), 1.0)
            assert left is not None
            self.assertLessEqual(left, plan.cost)
            self.assertGreaterEqual(left, max(plan.longest.values()))

    def test_speed_forgets_old_executions(self) -> None:
        speed = Speed()
        self.assertIsNone(speed.seconds_per_cost)
        for _ in range(10):
            speed.ran(1.0, 100.0)
        self.assertAlmostEqual(speed.seconds_per_cost or 0.0, 100.0)
        for _ in range(Speed.WINDOW):
            speed.ran(2.0, 1.0)
        self.assertAlmostEqual(speed.seconds_per_cost or 0.0, 0.5)


class Words(unittest.TestCase):
    def test_line(self) -> None:
        self.assertEqual(
            progress().line(),
            "52 of 104 blocks, 25.0 % of the work; 3 submitted to 4 slots of 2 workers; "
            "2.00 blocks/s; 1 min 1 s left",
        )
        self.assertIn("2 waiting for the store; 1 failed", progress(paused=2, failed=1).line())
        self.assertIn("; ? left", progress(left_s=None).line())

    def test_metrics(self) -> None:
        lines = progress().metrics().splitlines()
        self.assertIn("trinim_cluster_blocks_done 52", lines)
        self.assertIn("# TYPE trinim_cluster_tasks_started_total counter", lines)
        self.assertEqual(sum(line.startswith("trinim_cluster_left") for line in lines), 1)
        self.assertNotIn("left", progress(left_s=None).metrics())

    def test_outputs_replace_only_their_own(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "letter").write_text("dear\n")
            (folder / "empty").write_text("")
            (folder / "folder").mkdir()
            (folder / "device").symlink_to("/dev/full")
            os.mkfifo(folder / "pipe")
            for other in ("letter", "empty", "folder", "device", "pipe"):
                before = (folder / other).lstat()
                with self.subTest(other), self.assertRaises(OSError):
                    write_metrics(folder / other, progress().metrics())
                after = (folder / other).lstat()
                self.assertEqual((before.st_ino, before.st_mode), (after.st_ino, after.st_mode))
            with self.assertRaises(Stop):
                Events(str(folder / "letter"))
            self.assertEqual((folder / "letter").read_text(), "dear\n")
            (folder / "link").symlink_to("metrics")
            for left_s in (3.0, 2.0):
                write_metrics(folder / "link", progress(left_s=left_s).metrics())
            self.assertIn("trinim_cluster_left_seconds 2\n", (folder / "metrics").read_text())
            self.assertTrue((folder / "link").is_symlink())
            for event in ("one", "two"):
                events = Events(str(folder / "log"))
                events({"event": event})
                events.close()
            self.assertEqual(len((folder / "log").read_text().splitlines()), 2)

    def test_seconds(self) -> None:
        for seconds, text in (
            (0.4, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (725, "12 min 5 s"),
            (12_000, "3 h 20 min"), (1_080_000, "12.5 days"),
        ):  # fmt: skip
            self.assertEqual(readable_seconds(seconds), text)

    def test_durations(self) -> None:
        for text, seconds in (("90", 90.0), ("90s", 90.0), ("1.5m", 90.0), ("2h", 7200.0)):
            self.assertEqual(duration(text), seconds)
        for text in ("", "5 m", "-1s", "1d", "inf"):
            with self.subTest(text), self.assertRaises(argparse.ArgumentTypeError):
                duration(text)


class Patient(unittest.TestCase):
    def test_a_long_block_is_progress(self) -> None:
        patience = Patience(10.0)
        patience.workers(2, 0.0)
        self.assertIsNone(patience.over(1e6))

    def test_no_worker(self) -> None:
        patience = Patience(10.0)
        for now in range(12):
            patience.workers(0, float(now))
        self.assertIsNone(patience.over(10.0))
        self.assertIn("no worker", patience.over(11.0) or "")
        patience.workers(1, 11.0)
        self.assertIsNone(patience.over(100.0))

    def test_a_long_block_after_a_failure_is_progress(self) -> None:
        patience = Patience(10.0)
        patience.workers(2, 0.0)
        patience.success(False, 0.0)
        self.assertIsNone(patience.over(1e6))
        patience.success(False, 11.0)
        self.assertIn("no task succeeds since 11 s", patience.over(1e6) or "")
        patience.success(True, 12.0)
        self.assertIsNone(patience.over(1e6))

    def test_a_store_that_fails_while_workers_are_there(self) -> None:
        patience = Patience(10.0)
        patience.workers(2, 0.0)
        for now in range(12):
            patience.success(False, float(now))
        self.assertIn("no task succeeds", patience.over(11.0) or "")
        patience.success(True, 11.0)
        self.assertIsNone(patience.over(100.0))
