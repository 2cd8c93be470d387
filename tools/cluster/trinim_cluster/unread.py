"""Standard error that holds up nobody: a thread writes it, and its reader may sleep."""

import io
import queue
import threading
import time
from typing import TextIO

# Texts that wait for a reader; of what finds no place, the oldest is dropped.
TEXTS = 256
# How long the end of the program waits for the last texts.
LAST_MOMENT_S = 0.5


class Unread(io.TextIOBase):
    """A stream in front of another one, which may have no reader."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.texts: queue.Queue[str] = queue.Queue(TEXTS)
        self.lock = threading.Lock()
        self.part = ""
        threading.Thread(target=self._write, daemon=True).start()

    def _write(self) -> None:
        while True:
            text = self.texts.get()
            try:
                self.stream.write(text)
                self.stream.flush()
            except (OSError, ValueError):
                # There is nowhere to report it.
                pass
            self.texts.task_done()

    def write(self, text: str) -> int:
        with self.lock:
            # A line is dropped as a whole.
            lines, end, rest = (self.part + text).rpartition("\n")
            self.part = rest
            if end:
                self._put(lines + end)
        return len(text)

    def _put(self, lines: str) -> None:
        while True:
            try:
                self.texts.put_nowait(lines)
                return
            except queue.Full:
                pass
            try:
                self.texts.get_nowait()
                self.texts.task_done()
            except queue.Empty:
                pass

    def drain(self) -> None:
        """Waits a moment until everything is written."""
        end = time.monotonic() + LAST_MOMENT_S
        while self.texts.unfinished_tasks > 0 and time.monotonic() < end:
            time.sleep(0.005)
