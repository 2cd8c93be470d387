"""Bad options are refused in a line, and a log that cannot be written costs a line, not the run."""

import argparse
import contextlib
import io
import math
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path
from unittest import mock

from trinim_cluster import cli, estimate
from trinim_cluster.cli import Events, Stop
from trinim_cluster.ledger import Ledger
from trinim_cluster.options import parser
from trinim_cluster.plan import Plan, PlanError
from trinim_cluster.trinim import Store, TrinimError

FAKE = str(Path(__file__).with_name("fake_trinim.py"))
HOSTILE = "x nan -nan -1 -1e9 -inf inf 1e999 1e9 0 1.5 0x10 99999999999".split() + [""]


class Numbers(unittest.TestCase):
    def test_what_an_option_takes_is_a_number_that_it_can_have(self) -> None:
        """Every option with a number, of every command, also those that come later."""
        actions = parser()._actions
        commands = next(one for one in actions if isinstance(one, argparse._SubParsersAction))
        seen = set()
        for command, options in commands.choices.items():
            for action in options._actions:
                if action.type is None or action.type is str:
                    continue
                self.assertIsNot(action.type, float, f"{command} {action.dest} takes nan")
                self.assertIsNot(action.type, int, f"{command} {action.dest} takes -1")
                for text in HOSTILE:
                    with contextlib.suppress(argparse.ArgumentTypeError):
                        value = action.type(text)
                        self.assertGreaterEqual(value, 0, f"{command} {action.dest} {text}")
                        self.assertFalse(math.isnan(value), f"{command} {action.dest} {text}")
                        seen.add((action.dest, text))
        for dest, text, is_taken in (
            ("network", "inf", True),
            ("network", "1e9", True),
            ("network", "0", False),
            ("bandwidth", "0", False),
            ("core_price", "0", True),
            ("core_price", "inf", False),
            ("port", "99999999999", False),
            ("retries", "0", True),
            ("machines", "0", False),
        ):
            self.assertEqual((dest, text) in seen, is_taken, f"{dest} {text}")

    def test_a_refusal_is_no_traceback(self) -> None:
        for option in ("--network=nan", "--bandwidth=-1", "--core-price=nan", "--machines=0"):
            command = [sys.executable, "-m", "trinim_cluster", "plan", option]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            self.assertEqual(ended.returncode, 2, ended.stderr)
            self.assertNotIn("Traceback", ended.stderr)
            self.assertIn(f"error: argument {option.split('=')[0]}: ", ended.stderr)

    def test_what_is_no_log_is_named(self) -> None:
        arguments = parser().parse_args(["plan", "--trinim", "true", "--log", "x"])
        with tempfile.TemporaryDirectory() as folder:
            log = Path(folder, "log")
            for text in ("{", "[]", '"x"', '{"event": "task"}', "7\n"):
                log.write_text(text, encoding="utf-8")
                arguments.log = str(log)
                with self.assertRaisesRegex(PlanError, "is not a log of events"):
                    estimate.logged(arguments.log)


class Ends(unittest.TestCase):
    """How the command ends: with an exit code and a line that says why."""

    def test_names_of_stores(self) -> None:
        """Those of buckets, and those that no store can have, stay as they are."""
        for name, is_kept in (
            ("s3://b/p", True), ("S3:/b/p", True), ("s3:b/p", True), ("gs:/b/p", True),
            ("file:///p", True), ("p", False), ("./s3:/b", False), ("a:b", False), (":/p", False),
        ):  # fmt: skip
            arguments = argparse.Namespace(trinim=sys.executable, store=name)
            location = cli.store_of(arguments).location
            self.assertEqual(location, name if is_kept else str(Path(name).absolute()), name)

    def test_exit_codes_of_a_command(self) -> None:
        for code in (1, 2, 3, 4, 65, 75, 101, 129, 130, 143, -9):
            expected = code if code in (2, 65, 75, 129, 130, 143) else 1
            self.assertEqual(cli.trinim_code(TrinimError("finish", code, "why")), expected, code)

    def test_a_finish_that_does_not_succeed_says_why(self) -> None:
        arguments = parser().parse_args(["solve", "--trinim", sys.executable, "--store", "s3://b"])
        with (
            mock.patch.object(cli, "open_store", return_value=(Ledger(Plan([])), "")),
            mock.patch.object(cli, "drive", side_effect=lambda *given: given[-1](mock.Mock())),
            mock.patch.object(Store, "sweep"),
            mock.patch.object(Store, "finish", side_effect=TrinimError("finish", 75, "a timeout")),
            mock.patch.object(Store, "listing", return_value=[]),
            mock.patch.object(time, "sleep"),
            self.assertRaises(Stop) as raised,
        ):
            cli.solve(arguments, [])
        self.assertEqual(raised.exception.code, 75)
        self.assertIn("a timeout", raised.exception.reason)

    def test_a_worker_that_never_lives_long(self) -> None:
        kept = mock.Mock()
        kept.name = "worker"
        kept.lives_longer_than.return_value = False
        with mock.patch.object(cli, "catch"), self.assertRaises(Stop) as raised:
            cli.keep_running(kept, 0.0)
        self.assertEqual(raised.exception.code, 75)
        reason = "in 0 s, the worker never ran for longer than 40 s; see above"
        self.assertEqual(raised.exception.reason, reason)
        kept.stop.assert_called_once_with()

    def test_what_the_system_refuses_is_one_line(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            script = Path(folder, "script")
            script.write_text("true\n")
            script.chmod(0o755)
            solve = ["-m", "trinim_cluster", "solve", "--trinim", FAKE, "--layers", "1", "--json"]
            solve += ["--store", f"{folder}/store"]
            scheduler = ["-m", "trinim_cluster", "scheduler", "--scheduler-file", folder]
            print_seven = "from trinim_cluster import cli; cli.plan = lambda *_: print(7) or 0; "
            for words, output, command in (
                ("Not a directory", "/dev/null", [*solve, "--metrics", "/dev/null/x"]),
                (
                    "Not a directory",
                    "/dev/null",
                    [*solve, "--processes", "--logs", "/dev/null/x/y"],
                ),
                ("Exec format error", "/dev/full", [*solve, "--trinim", str(script)]),
                ("Is a directory", "/dev/null", scheduler),
                ("No space left", "/dev/full", ["-c", print_seven + "cli.main(['plan'])"]),
            ):
                with self.subTest(command=command), open(output, "w", encoding="utf-8") as stdout:
                    line = [sys.executable, *command]
                    ended = subprocess.run(
                        line, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False
                    )
                    self.assertEqual(ended.returncode, 1, ended.stderr)
                    self.assertRegex(ended.stderr, f"^error: .*{words}.*\n$")


class FullDisk(unittest.TestCase):
    def test_a_log_on_a_full_disk_ends_in_one_line(self) -> None:
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            events = Events("/dev/full")
            for number in range(3):
                events({"event": "task", "task": number})
            events.close()
            events.close()
        self.assertEqual(said.getvalue().count("\n"), 1, said.getvalue())
        words = "cannot write /dev/full: No space left on device; the log ends here"
        self.assertIn(words, said.getvalue())


if __name__ == "__main__":
    unittest.main()
