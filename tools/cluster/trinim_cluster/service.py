"""Scheduler and workers as processes that are started again when they die.

One `Service` is one process of Dask: a scheduler, or a worker with some slots. Whoever starts it
calls `tend` now and then. The processes die with the one that started them.

    python -m trinim_cluster.service PARENT_PID scheduler|worker OPTION..
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from trinim_cluster import trinim

# A lost worker does not make its blocks suspicious before it happened so often: with 3, Dask's
# default, preemptions condemn innocent blocks. A queue at the scheduler keeps the priorities;
# a worker gets no more tasks than it has slots. A host that was cut off is given up after a minute.
SETTINGS: Mapping[str, str] = {
    "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "20",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION": "1.0",
    "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "60s",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__GIL__ENABLED": "False",
}

# A worker that finds no scheduler ends after this many seconds, and is started again: the scheduler
# file may name another address by then.
DEATH_TIMEOUT = 20


@dataclass(frozen=True, slots=True)
class Tls:
    """Files with the certificate of the authority, and with certificate and key of this machine."""

    authority: str
    certificate: str
    key: str

    def arguments(self) -> list[str]:
        return [
            *("--tls-ca-file", self.authority),
            *("--tls-cert", self.certificate),
            *("--tls-key", self.key),
        ]


def scheduler_arguments(
    host: str | None, port: int, scheduler_file: str, tls: Tls | None
) -> list[str]:
    """Options of `dask scheduler`; the file says where it is. Port 0 is one that is free."""
    where = [] if host is None else ["--host", host]
    if tls is not None:
        where += ["--protocol", "tls", *tls.arguments()]
    return [
        "scheduler",
        *where,
        *("--port", str(port)),
        *("--scheduler-file", scheduler_file),
        *("--dashboard-address", "127.0.0.1:0"),
    ]


def worker_arguments(
    slots: int,
    scheduler_file: str | None,
    address: str | None,
    tls: Tls | None,
    name: str | None = None,
    host: str | None = None,
    local_directory: str | None = None,
) -> list[str]:
    """Options of `dask worker`: each thread is a slot, in which one `trinim-task` runs."""
    where = [address] if address is not None else ["--scheduler-file", str(scheduler_file)]
    if tls is not None:
        where += ["--protocol", "tls", *tls.arguments()]
    if name is not None:
        where += ["--name", name]
    if host is not None:
        where += ["--host", host]
    if local_directory is not None:
        where += ["--local-directory", local_directory]
    return [
        "worker",
        *where,
        *("--nthreads", str(slots)),
        *("--nworkers", "1"),
        "--no-nanny",
        "--no-dashboard",
        *("--memory-limit", "0"),
        *("--death-timeout", str(DEATH_TIMEOUT)),
    ]


def waits(path: str, lives: Callable[[], bool], seconds: float) -> str | None:
    """Waits until the scheduler file is there and whole; the address in it, or None if the
    scheduler died or is late."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and lives():
        if (address := address_in(path)) is not None:
            return address
        time.sleep(0.05)
    return None


def address_in(path: str) -> str | None:
    """The address in a scheduler file, or None while it is absent or half written."""
    try:
        address = json.loads(Path(path).read_text())["address"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return str(address)


@dataclass
class Service:
    """A process that is started again when it ends, at once at first, then more and more slowly."""

    name: str
    arguments: Sequence[str]
    log: Path | int
    tell: Callable[[dict[str, object]], None]
    process: subprocess.Popen[bytes] | None = None
    starts: int = 0
    _began: float = 0.0
    _pause: float = 0.0
    _next: float = field(default=0.0)

    SHORT_LIFE = 20.0
    LONGEST_PAUSE = 30.0

    def tend(self) -> None:
        """Starts the process if it does not run and its pause is over."""
        now = time.monotonic()
        if self.process is not None:
            code = self.process.poll()
            if code is None:
                return
            self.tell({"event": "ended", "name": self.name, "pid": self.process.pid, "code": code})
            self.process = None
            # Who dies young waits: a worker that cannot start must not take the processor.
            young = now - self._began < self.SHORT_LIFE
            self._pause = min(max(0.5, 2 * self._pause), self.LONGEST_PAUSE) if young else 0.0
            self._next = now + self._pause
        if now >= self._next:
            self.start()

    def start(self) -> None:
        self._began = time.monotonic()
        self.starts += 1
        # A descriptor is passed on. By name, a socket cannot be opened, and in a file, what this
        # process writes next would overwrite what the new one appends.
        with self.log.open("ab") if isinstance(self.log, Path) else nullcontext(self.log) as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "trinim_cluster.service", str(os.getpid()), *self.arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**SETTINGS, **os.environ},
                # Ctrl-C is for the driver, which then stops its services in order.
                start_new_session=True,
            )
        self.tell({"event": "started", "name": self.name, "pid": self.process.pid})

    def lives_longer_than(self, seconds: float) -> bool:
        """Whether the process runs, and has run for so long."""
        return self.process is not None and time.monotonic() - self._began > seconds

    def lives(self) -> bool:
        """Whether the process runs."""
        return self.process is not None and self.process.poll() is None

    def ask_to_end(self) -> None:
        """Lets the process begin to end."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Ends the process by force."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def stop(self, grace: float = 10.0) -> None:
        """Ends the process: kindly, and by force if it does not listen."""
        if self.process is None:
            return
        if self.process.poll() is None:
            self.ask_to_end()
            try:
                self.process.wait(grace)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()
        self.process = None


def main() -> None:
    """Runs `dask scheduler` or `dask worker`; dies with its parent."""
    parent, kind, *arguments = sys.argv[1:]
    trinim.die_with_parent(int(parent))
    if kind == "scheduler":
        from distributed.cli import dask_scheduler

        dask_scheduler.main(arguments)
    else:
        from distributed.cli import dask_worker

        # A worker starts while its scheduler does: importing Dask takes most of the time.
        if "--scheduler-file" in arguments:
            file = arguments[arguments.index("--scheduler-file") + 1]
            if not waits(file, lambda: True, DEATH_TIMEOUT):
                sys.exit(f"no scheduler in {file} after {DEATH_TIMEOUT} s")
        dask_worker.main(arguments)


if __name__ == "__main__":
    main()
