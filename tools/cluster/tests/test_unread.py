"""A reader of standard error that sleeps holds up nothing."""

import io
import os
import threading
import time
import unittest

from trinim_cluster.unread import TEXTS, Unread


class Reader(unittest.TestCase):
    def test_what_is_read_is_written_in_order(self) -> None:
        stream = io.StringIO()
        errors = Unread(stream)
        for number in range(5):
            print(f"line {number}", file=errors, flush=True)
        errors.drain()
        self.assertEqual(stream.getvalue(), "".join(f"line {number}\n" for number in range(5)))

    def test_a_full_pipe_holds_up_nothing_and_the_newest_is_kept(self) -> None:
        reader, writer = os.pipe()
        begin = time.monotonic()
        with os.fdopen(writer, "w", encoding="utf-8") as stream:
            errors = Unread(stream)
            for number in range(4 * TEXTS):
                print(f"{number:01000}", file=errors, flush=True)
            errors.drain()
            self.assertLess(time.monotonic() - begin, 10)
            self.assertGreater(errors.texts.qsize(), 0)
            # Once somebody reads, the last line comes.
            lines: list[str] = []

            def read() -> None:
                with os.fdopen(reader, encoding="utf-8") as read_end:
                    for line in read_end:
                        lines.append(line)

            thread = threading.Thread(target=read)
            thread.start()
            errors.texts.join()
        thread.join()
        self.assertEqual(int(lines[-1]), 4 * TEXTS - 1)
        self.assertLess(len(lines), 4 * TEXTS)
