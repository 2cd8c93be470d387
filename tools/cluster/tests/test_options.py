"""Bad options are refused in a line, and a log that cannot be written costs a line, not the run."""

import argparse
import contextlib
import io
import math
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from trinim_cluster import estimate
from trinim_cluster.cli import Events
from trinim_cluster.options import parser
from trinim_cluster.plan import PlanError

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
