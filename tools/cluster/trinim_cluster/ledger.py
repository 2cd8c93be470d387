"""Which task is waiting, ready, running, done or failed.

Bookkeeping alone: no Dask, no clock, no files. The driver reports what happened and when.
The store lists committed blocks; a task whose blocks are all committed is done.
"""

from __future__ import annotations

import enum
import heapq
from collections.abc import Iterable
from dataclasses import dataclass

from trinim_cluster.plan import Plan


class Verdict(enum.Enum):
    """How an execution of a task ended."""

    DONE = "done"
    AGAIN = "again"  # the store did not deliver: later, as often as it takes
    CRASHED = "crashed"  # anything unforeseen: a few times
    REFUSED = "refused"  # would be refused again: never
    LOST = "lost"  # the machinery lost it: no fault of the task


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a task failed for good."""

    task: int
    verdict: Verdict
    reason: str


class Ledger:
    """The state of every task of a plan.

    `retries` is how often a crashed task is started again. A task to be tried again waits 1, 2, 4,
    .. up to 60 seconds.
    """

    LONGEST_PAUSE = 60.0

    def __init__(self, plan: Plan, retries: int = 3) -> None:
        self.plan = plan
        self.retries = retries
        self.done: set[int] = set()
        self.running: set[int] = set()
        self.failed: dict[int, Failure] = {}
        self.starts = 0
        self.lost = 0
        self.done_cost = 0.0
        self.done_blocks = 0
        self._missing: dict[int, set[int]] = {
            number: set(task.sources) for number, task in plan.tasks.items()
        }
        self._committed: dict[int, set[int]] = {}
        self._pauses: dict[int, int] = {}
        self._crashes: dict[int, int] = {}
        self._ready: list[tuple[float, int]] = []
        self._paused: list[tuple[float, int]] = []
        for number, missing in self._missing.items():
            if not missing:
                self._push(number)

    def _push(self, number: int) -> None:
        heapq.heappush(self._ready, (self.plan.rank[number], number))

    def committed(self, blocks: Iterable[int]) -> None:
        """The store has these blocks. Unknown ones are an error: the store is another run's."""
        for block in blocks:
            number = self.plan.task_of_block.get(block)
            if number is None:
                raise ValueError(f"the store has block {block}, which is not in the plan")
            if number in self.done:
                continue
            seen = self._committed.setdefault(number, set())
            seen.add(block)
            if len(seen) == len(self.plan.tasks[number].blocks):
                self._finish(number)

    def _finish(self, number: int) -> None:
        if number in self.done:
            return
        self.done.add(number)
        self.done_cost += self.plan.tasks[number].cost
        self.done_blocks += len(self.plan.tasks[number].blocks)
        self.failed.pop(number, None)
        self._committed.pop(number, None)
        self._missing[number].clear()
        for target in self.plan.targets[number]:
            missing = self._missing[target]
            if number in missing:
                missing.remove(number)
                if not missing and target not in self.done:
                    self._push(target)

    def take(self, now: float) -> list[int]:
        """The tasks to start now, the first by the plan first; they are running then."""
        while self._paused and self._paused[0][0] <= now:
            _, number = heapq.heappop(self._paused)
            self._push(number)
        taken = []
        while self._ready:
            _, number = heapq.heappop(self._ready)
            if number in self.done or number in self.running or number in self.failed:
                continue
            self.running.add(number)
            self.starts += 1
            taken.append(number)
        return taken

    def ended(self, number: int, verdict: Verdict, reason: str, now: float) -> None:
        """An execution of this task ended. Late news of a task that is done change nothing."""
        self.running.discard(number)
        if number in self.done:
            return
        match verdict:
            case Verdict.DONE:
                self._finish(number)
            case Verdict.LOST:
                self.lost += 1
                self._push(number)
            case Verdict.AGAIN:
                pauses = self._pauses.get(number, 0)
                self._pauses[number] = pauses + 1
                pause = min(2.0 ** min(pauses, 10), self.LONGEST_PAUSE)
                heapq.heappush(self._paused, (now + pause, number))
            case Verdict.CRASHED:
                crashes = self._crashes.get(number, 0) + 1
                self._crashes[number] = crashes
                if crashes > self.retries:
                    self.failed[number] = Failure(number, verdict, reason)
                else:
                    heapq.heappush(self._paused, (now + 1.0, number))
            case Verdict.REFUSED:
                self.failed[number] = Failure(number, verdict, reason)

    def forget_running(self) -> list[int]:
        """The scheduler is gone, and with it what was submitted: all of it becomes ready again."""
        gone = sorted(self.running)
        for number in gone:
            self.ended(number, Verdict.LOST, "the scheduler was lost", 0.0)
        return gone

    def recheck(self, listing: Iterable[int]) -> list[int]:
        """Reopens the tasks that are done here, but whose blocks a fresh listing misses.

        The listing may be stale: then the task finds its blocks and skips them.
        """
        there = set(listing)
        reopened = []
        for number in sorted(self.done):
            task = self.plan.tasks[number]
            if not there.issuperset(task.blocks):
                self.done.remove(number)
                self.done_cost -= task.cost
                self.done_blocks -= len(task.blocks)
                self._push(number)
                reopened.append(number)
        return reopened

    @property
    def complete(self) -> bool:
        return len(self.done) == len(self.plan.tasks)

    @property
    def paused(self) -> int:
        return len(self._paused)

    @property
    def stuck(self) -> bool:
        """Nothing runs, nothing can start, and something is not done: it needs failed tasks."""
        return not (self.complete or self.running or self._ready or self._paused)

    @property
    def blocked(self) -> list[int]:
        """Tasks that are neither done nor failed; once stuck, those behind failed ones."""
        return [
            number
            for number in self.plan.tasks
            if number not in self.done and number not in self.failed
        ]
