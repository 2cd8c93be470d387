"""Files that nothing needs any more are removed while tasks run: a process lists the store once."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Sequence

from trinim_cluster.trinim import Store, TrinimError

PAUSE_S = 30.0  # after trouble, before the store is listed again


class Sweeper:
    """Takes the events of a driver, and passes on to `trinim-task sweep --follow` what is done.

    Its trouble stops nothing: what it leaves, the end of the run removes.
    """

    def __init__(self, store: Store, pause_s: float = PAUSE_S) -> None:
        self.store = store
        self.pause_s = pause_s
        self.thread: threading.Thread | None = None
        self._begin()

    def _begin(self) -> None:
        self.blocks: queue.SimpleQueue[Sequence[int] | None] = queue.SimpleQueue()
        self.is_over = threading.Event()

    def __call__(self, event: dict[str, object]) -> None:
        if event["event"] == "connected":
            # A new listing has what was committed while the driver saw nothing.
            self._leave()
            self._begin()
            arguments = (self.blocks, self.is_over)
            self.thread = threading.Thread(target=self._run, args=arguments, daemon=True)
            self.thread.start()
        elif event.get("verdict") == "done":
            blocks = event["blocks"]
            assert isinstance(blocks, list)
            self.blocks.put(blocks)

    def _leave(self) -> None:
        self.is_over.set()
        self.blocks.put(None)

    def end(self) -> None:
        """Waits until all reported blocks are swept."""
        self._leave()
        if self.thread is not None:
            self.thread.join()

    def _run(
        self, blocks: queue.SimpleQueue[Sequence[int] | None], is_over: threading.Event
    ) -> None:
        while True:
            try:
                return self.store.follow(iter(blocks.get, None))
            except (OSError, TrinimError) as error:
                print(f"warning: {error}", file=sys.stderr, flush=True)
            if is_over.wait(self.pause_s):
                return
