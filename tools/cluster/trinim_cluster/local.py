"""A cluster on this machine: a scheduler and workers, each a process that is started again."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from trinim_cluster import service
from trinim_cluster.service import Service


class LocalCluster:
    """Scheduler and workers of one run. `folder` takes their logs and the scheduler file."""

    HOST = "127.0.0.1"

    def __init__(
        self, workers: int, slots: int, folder: Path, tell: Callable[[dict[str, object]], None]
    ) -> None:
        self.scheduler_file = str(folder / "scheduler.json")
        # The same port every time: workers and driver that look for a restarted scheduler find it.
        port = service.free_port(self.HOST)
        arguments = service.scheduler_arguments(self.HOST, port, self.scheduler_file, None)
        self.services = [Service("scheduler", arguments, folder / "scheduler.log", tell)]
        for number in range(workers):
            name = f"worker-{number}"
            arguments = service.worker_arguments(
                slots,
                self.scheduler_file,
                None,
                None,
                host=self.HOST,
                local_directory=str(folder),
            )
            self.services.append(Service(name, arguments, folder / f"{name}.log", tell))

    def start(self) -> None:
        """Starts all processes; the workers wait for the scheduler file."""
        # A file of an earlier session would send the workers to a scheduler that is gone.
        Path(self.scheduler_file).unlink(missing_ok=True)
        for each in self.services:
            each.start()

    def wait(self, seconds: float = 60.0) -> None:
        """Waits for the scheduler."""
        scheduler = self.services[0]
        if not service.waits(self.scheduler_file, scheduler.lives, seconds):
            raise TimeoutError(f"no scheduler after {seconds:.0f} s; see {scheduler.log}")

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
