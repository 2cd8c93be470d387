"""A cluster on this machine that a run has for itself."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from trinim_cluster import service
from trinim_cluster.service import Service

if TYPE_CHECKING:
    import distributed


class Cluster(Protocol):
    """A scheduler with workers; one of `address` and `scheduler_file` says where it is."""

    address: str | None
    scheduler_file: str | None

    def start(self) -> None:
        """Starts what can start while Dask is loaded here."""

    def wait(self) -> None:
        """Waits for the scheduler."""

    def tend(self) -> None:
        """Called now and then."""

    def stop(self, at_work: bool = True) -> None:
        """Ends it. If nothing is at work any more, there is nothing to end in order."""


class OwnProcess:
    """Scheduler and worker in this process: Dask is loaded once, and its messages never leave it.

    The slots hand their tasks to a process of `trinim` all the same, which has the memory and is
    started again when it dies. Killed as a whole, the same command continues.
    """

    def __init__(self, slots: int, folder: Path) -> None:
        self.slots = slots
        self.folder = folder
        self.address: str | None = None
        self.scheduler_file: str | None = None
        self.cluster: distributed.LocalCluster | None = None

    def start(self) -> None:
        # Dask reads them when it is loaded.
        for name, value in service.SETTINGS.items():
            os.environ.setdefault(name, value)

    def wait(self) -> None:
        import distributed

        self.cluster = distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=self.slots,
            processes=False,
            memory_limit=0,
            dashboard_address=None,
            local_directory=str(self.folder),
        )
        self.address = self.cluster.scheduler_address

    def tend(self) -> None:
        """Nothing here ends alone."""

    def stop(self, at_work: bool = True) -> None:
        """Nothing waits for the end of its tasks: their processes die with this one."""


class LocalCluster:
    """Scheduler and workers, each a process that is started again when it dies. `folder` takes
    their logs and the scheduler file."""

    HOST = "127.0.0.1"
    START_S = 60.0

    def __init__(
        self, workers: int, slots: int, folder: Path, tell: Callable[[dict[str, object]], None]
    ) -> None:
        self.address: str | None = None
        self._file = str(folder / "scheduler.json")
        self.scheduler_file: str | None = self._file
        arguments = service.scheduler_arguments(self.HOST, 0, self._file, None)
        self.services = [Service("scheduler", arguments, folder / "scheduler.log", tell)]
        for number in range(workers):
            name = f"worker-{number}"
            arguments = service.worker_arguments(
                slots,
                self._file,
                None,
                None,
                host=self.HOST,
                local_directory=str(folder),
            )
            self.services.append(Service(name, arguments, folder / f"{name}.log", tell))

    def start(self) -> None:
        """Starts all processes; the workers wait for the scheduler file."""
        # A file of an earlier session would send the workers to a scheduler that is gone.
        Path(self._file).unlink(missing_ok=True)
        for each in self.services:
            each.start()

    def wait(self) -> None:
        """Waits for the scheduler, which keeps the port that it found: workers and driver that look
        for a restarted one find it."""
        begin = time.monotonic()
        scheduler = self.services[0]
        address = service.waits(self._file, scheduler.lives, self.START_S)
        if address is None:
            seconds = time.monotonic() - begin
            raise TimeoutError(f"no scheduler after {seconds:.0f} s; see {scheduler.log}")
        port = int(address.rpartition(":")[2])
        scheduler.arguments = service.scheduler_arguments(self.HOST, port, self._file, None)

    def tend(self) -> None:
        for each in self.services:
            each.tend()

    def stop(self, at_work: bool = True) -> None:
        """Workers first: without a scheduler they would look for one. If nothing is at work any
        more, there is nothing to end in order, which takes a quarter of a second."""
        begin = time.monotonic()
        if not at_work:
            for each in self.services:
                each.kill()
            return
        for worker in self.services[1:]:
            worker.ask_to_end()
        for each in reversed(self.services):
            each.stop(max(1.0, 10.0 - (time.monotonic() - begin)))
