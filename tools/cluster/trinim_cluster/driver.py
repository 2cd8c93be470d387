"""Plan and ledger against a Dask scheduler, until everything is committed.

The driver submits what is ready and nothing else: the sources of a task are committed before Dask
hears of it. So Dask never has to keep or to recompute the result of a finished task, and a lost
worker costs what ran on it. The scheduler may vanish: the driver connects again, asks the store
what is committed, and submits the rest.
"""

from __future__ import annotations

import asyncio
import itertools
import queue
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from distributed import Client, Future
from distributed.security import Security

from trinim_cluster import work
from trinim_cluster.ledger import Ledger, Verdict
from trinim_cluster.plan import Plan
from trinim_cluster.progress import Interrupted, NoProgress, Progress, Speed, seconds_left
from trinim_cluster.service import Tls, address_in
from trinim_cluster.trinim import Job

Tell = Callable[[dict[str, object]], None]


class Work(Protocol):
    """What the tasks of a plan are, as processes: those of a store, or shares of a check."""

    def task(self, blocks: Sequence[int], options: Sequence[str]) -> Job:
        """What a slot does for a task."""

    def verdict(self, code: int) -> Verdict:
        """What its exit code means."""

    def listing(self) -> list[int]:
        """The blocks that are known to be done."""


@dataclass(frozen=True, slots=True)
class Scheduler:
    """Where the scheduler is: an address, or a file that has it and may change."""

    address: str | None = None
    file: str | None = None
    tls: Tls | None = None

    def connect(self, seconds: float) -> Client:
        address = self.address
        if address is None and self.file is not None:
            address = address_in(self.file)
        if address is None:
            raise OSError(f"no address of a scheduler in {self.file}")
        return Client(
            address,
            timeout=seconds,
            security=self.security(),
            set_as_default=False,
            name="trinim-cluster",
        )

    def security(self) -> Security | None:
        if self.tls is None:
            return None
        return Security(
            tls_ca_file=self.tls.authority,
            tls_client_cert=self.tls.certificate,
            tls_client_key=self.tls.key,
            require_encryption=True,
        )


@dataclass
class Patience:
    """How long there was no progress: without workers, and while no task succeeds.

    A long block is progress: the clocks run only while something is known to be wrong. For tasks,
    that is known when one has ended, so that the second clock stands still in between.
    """

    limit_s: float
    _without_workers: float | None = None
    _without_success: float | None = None
    _failing_s: float = 0.0

    def workers(self, count: int, now: float) -> None:
        if count > 0:
            self._without_workers = None
        elif self._without_workers is None:
            self._without_workers = now

    def success(self, succeeded: bool, now: float) -> None:
        if succeeded:
            self._without_success = None
        elif self._without_success is None:
            self._without_success = now
        self._failing_s = 0.0 if self._without_success is None else now - self._without_success

    def over(self, now: float) -> str | None:
        """What was missing for too long."""
        without_s = 0.0 if self._without_workers is None else now - self._without_workers
        for seconds, what in (
            (without_s, "no worker is connected to a scheduler"),
            (self._failing_s, "no task succeeds"),
        ):
            if seconds > self.limit_s:
                return f"{what} since {seconds:.0f} s"
        return None


@dataclass
class Options:
    """How a run is driven."""

    task_options: list[str] = field(default_factory=list)
    patience_s: float = 600.0
    progress_s: float = 10.0


class Driver:
    """One session of a run."""

    TICK = 0.5
    CONNECT = 5.0

    def __init__(
        self,
        store: Work,
        plan: Plan,
        ledger: Ledger,
        scheduler: Scheduler,
        version: str,
        options: Options,
        tell: Tell,
        show: Callable[[Progress], None],
        tend: Callable[[], None],
        signals: Sequence[int],
    ) -> None:
        self.store = store
        self.plan = plan
        self.ledger = ledger
        self.scheduler = scheduler
        self.version = version
        self.options = options
        self.tell = tell
        self.show = show
        self.tend = tend
        self.client: Client | None = None
        self.futures: dict[int, Future[Any]] = {}
        self.events: queue.SimpleQueue[tuple[int, Future[Any]]] = queue.SimpleQueue()
        self.speed = Speed()
        self.patience = Patience(options.patience_s)
        self.workers = 0
        self.slots = 0
        self.schedulers_lost = 0
        self.executions = 0
        self.resumed_blocks = 0
        self.session = 0
        self.last_trouble = ""
        self.signals = signals
        self._began = time.monotonic()
        self._shown = 0.0
        self._keys = itertools.count()
        self._looked = 0.0

    def run(self) -> None:
        """Works until everything is done or only tasks behind failed ones are left.

        Raises `NoProgress` when its patience is over.
        """
        self.ledger.committed(self.store.listing())
        self.resumed_blocks = self.ledger.done_blocks
        try:
            while not self.ledger.complete and not self.ledger.stuck:
                self.step()
        finally:
            self.disconnect()
            self.show(self.progress())

    def step(self) -> None:
        if self.signals:
            raise Interrupted(self.signals[0])
        self.tend()
        now = time.monotonic()
        if self.client is None:
            self.connect()
        elif self.client.status != "running":
            self.lose("the connection to the scheduler was lost")
        if self.client is not None:
            self.look(now)
        else:
            self.workers = self.slots = 0
        self.patience.workers(self.workers, now)
        if self.client is not None and self.workers > 0:
            self.submit(now)
        self.drain()
        over = self.patience.over(time.monotonic())
        if over is not None:
            raise NoProgress(over + self.last_trouble)
        if now - self._shown >= self.options.progress_s:
            self._shown = now
            self.show(self.progress())

    def connect(self) -> None:
        """Connects, and waits for a worker: those of a lost scheduler finish their blocks first.

        What they committed until then is not submitted again.
        """
        try:
            client = self.scheduler.connect(self.CONNECT)
        except (OSError, TimeoutError, ValueError) as error:
            self.tell({"event": "unreachable", "reason": str(error)})
            time.sleep(self.TICK)
            return
        if not client.nthreads():
            with suppress(TimeoutError, OSError):
                client.wait_for_workers(1, timeout=self.CONNECT)
        self.client = client
        self.session += 1
        self._looked = 0.0
        address = str(client.scheduler_info()["address"])
        if self.session > 1:
            self.ledger.committed(self.store.listing())
        # After that: a listing of the store now shows what the ledger knows.
        self.tell({"event": "connected", "scheduler": address})

    def lose(self, reason: str) -> None:
        """The scheduler is gone, or so it seems: all that it had becomes ready again."""
        self.schedulers_lost += 1
        gone = self.ledger.forget_running()
        self.tell({"event": "scheduler lost", "reason": reason, "tasks": gone})
        self.disconnect()

    def disconnect(self) -> None:
        client, self.client = self.client, None
        self.futures.clear()
        while not self.events.empty():
            self.events.get()
        if client is not None:
            with suppress(Exception):
                client.close(timeout=2)

    def look(self, now: float) -> None:
        """Counts workers and slots, once a second."""
        if now - self._looked < 1.0 or self.client is None:
            return
        self._looked = now
        try:
            slots: dict[str, int] = self.client.nthreads()
        except (OSError, TimeoutError, CancelledError) as error:
            self.lose(str(error))
            return
        self.workers = len(slots)
        self.slots = sum(slots.values())

    def submit(self, now: float) -> None:
        assert self.client is not None
        for number in self.ledger.take(now):
            task = self.plan.tasks[number]
            try:
                future = self.client.submit(
                    work.compute,
                    self.store.task(task.blocks, self.options.task_options),
                    self.version,
                    key=f"block-{number}-{self.session}-{next(self._keys)}",
                    priority=-self.plan.rank[number],
                    pure=False,
                )
            except Exception as error:  # the client has its own for each way of losing a scheduler
                self.lose(str(error))
                return
            self.futures[number] = future
            future.add_done_callback(lambda ended, number=number: self.events.put((number, ended)))

    def drain(self) -> None:
        """Takes the executions that ended, in one request for all of them."""
        ended: dict[int, Future[Any]] = {}
        wait = self.TICK
        while True:
            try:
                number, future = self.events.get(timeout=wait)
            except queue.Empty:
                break
            wait = 0.0
            if self.futures.get(number) is future:
                ended[number] = future
        finished = {
            number: future for number, future in ended.items() if future.status == "finished"
        }
        results: dict[int, dict[str, Any]] = {}
        if finished and self.client is not None:
            try:
                results = self.gather(self.client, finished)
            except TimeoutError:
                self.without_worker(finished)
                ended = {number: ended[number] for number in ended if number not in finished}
            except Exception:  # which one it was, the loop below finds out
                results = {}
        for number, future in ended.items():
            self.futures.pop(number, None)
            if number in results:
                self.executed(number, results[number])
            else:
                self.without_result(number, future)

    def gather(self, client: Client, finished: dict[int, Future[Any]]) -> dict[int, dict[str, Any]]:
        """The results. Those of a worker that has died since may come from another, or never."""
        loop: Any = client.loop
        gathering = asyncio.run_coroutine_threadsafe(
            client.gather(finished, asynchronous=True), loop.asyncio_loop
        )
        try:
            results: dict[int, dict[str, Any]] = gathering.result(self.CONNECT)
        except TimeoutError:
            gathering.cancel()
            raise
        return results

    def without_worker(self, numbers: Iterable[int]) -> None:
        """The results are lost, but not the blocks: the next to get the tasks finds them."""
        for number in numbers:
            self.futures.pop(number, None)
            reason = "its result was lost with a worker"
            self.ledger.ended(number, Verdict.LOST, reason, time.monotonic())
            verdict = Verdict.LOST.value
            self.tell({"event": "no result", "task": number, "verdict": verdict, "reason": reason})

    def executed(self, number: int, result: dict[str, Any]) -> None:
        """A process ran to its end."""
        self.executions += 1
        task = self.plan.tasks[number]
        code = int(result["code"])
        verdict = self.store.verdict(code)
        reason = str(result["message"])
        if result.get("foreign"):
            verdict = Verdict.AGAIN
        now = time.monotonic()
        if verdict is Verdict.DONE:
            self.speed.ran(task.cost, result["ended"] - result["began"])
        if verdict in (Verdict.DONE, Verdict.AGAIN):
            self.patience.success(verdict is Verdict.DONE, now)
        if verdict is Verdict.AGAIN:
            self.last_trouble = f"; the last on {result['host']}: {reason}"
        # Reopened in the meantime, or listed as committed: the ledger knows.
        self.ledger.ended(number, verdict, f"exit code {code}: {reason}", now)
        self.tell(
            {"event": "task", "task": number, "blocks": list(task.blocks), "verdict": verdict.value}
            | result
        )

    def without_result(self, number: int, future: Future[Any]) -> None:
        """Dask gave up: the scheduler is lost, or workers died under this task too often."""
        reason = str(future.status)
        verdict = Verdict.LOST
        if future.status == "error":
            verdict = Verdict.CRASHED
            with suppress(Exception):
                reason = str(future.exception(timeout=self.CONNECT))
        self.ledger.ended(number, verdict, reason, time.monotonic())
        self.tell(
            {"event": "no result", "task": number, "verdict": verdict.value, "reason": reason}
        )
        if verdict is Verdict.LOST and self.client is not None:
            self.lose(f"task {number} is {reason}")

    def progress(self) -> Progress:
        ledger = self.ledger
        return Progress(
            blocks=self.plan.blocks,
            done_blocks=ledger.done_blocks,
            cost=self.plan.cost,
            done_cost=ledger.done_cost,
            running=len(ledger.running),
            paused=ledger.paused,
            failed=len(ledger.failed),
            workers=self.workers,
            slots=self.slots,
            starts=ledger.starts,
            lost=ledger.lost,
            schedulers_lost=self.schedulers_lost,
            elapsed_s=time.monotonic() - self._began,
            resumed_blocks=self.resumed_blocks,
            left_s=seconds_left(
                self.plan, ledger.done, ledger.done_cost, self.slots, self.speed.seconds_per_cost
            ),
        )
