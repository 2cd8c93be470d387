"""A session of `trinim-cluster` as a process, and what to kill in it when."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from trinim_cluster import service


class Session:
    """Starts a solve or a check; its log of events tells how far it is and what processes it has."""

    def __init__(
        self,
        folder: Path,
        store: str,
        arguments: Sequence[str],
        environment: Mapping[str, str] | None = None,
        local: bool = True,
        command: str = "solve",
    ) -> None:
        self.log = folder / "events.jsonl"
        # Sessions before this one write to the same log.
        self.before = len(self.events())
        self.output = folder / "output.json"
        self.errors = folder / "errors.txt"
        logs = ["--logs", str(folder / "logs")] if local else []
        with self.output.open("w") as output, self.errors.open("a") as errors:
            self.process = subprocess.Popen(
                [
                    *(
                        sys.executable,
                        "-m",
                        "trinim_cluster",
                        command,
                        "--json",
                        "--progress",
                        "1s",
                    ),
                    *("--store", store, "--log", str(self.log)),
                    *logs,
                    *arguments,
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                # Whoever is killed leaves its temporary folder.
                env={**os.environ, "TMPDIR": str(folder), **(environment or {})},
            )

    def events(self) -> list[dict[str, Any]]:
        """Whole lines so far."""
        if not self.log.exists():
            return []
        text = self.log.read_text()
        return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]

    def done(self) -> int:
        """Tasks that this log calls done."""
        return len({event["task"] for event in self.events() if event.get("verdict") == "done"})

    def wait_for_done(self, tasks: int, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self.done() < tasks:
            if self.process.poll() is not None:
                raise AssertionError(f"ended with {self.process.returncode} before: {self.said()}")
            if time.monotonic() > deadline:
                raise AssertionError(
                    f"{self.done()} of {tasks} tasks after {seconds} s: {self.said()}"
                )
            time.sleep(0.01)

    def pid(self, service: str) -> int:
        """The process that runs under this name now."""
        started = [
            event
            for event in self.events()[self.before :]
            if event["event"] in ("started", "ended") and event.get("name") == service
        ]
        if not started or started[-1]["event"] != "started":
            raise AssertionError(f"{service} does not run: {started}")
        return int(started[-1]["pid"])

    def kill(self, service: str) -> None:
        os.kill(self.pid(service), signal.SIGKILL)

    def wait(self, seconds: float) -> int:
        """The exit code; the session is killed if it takes longer, and its processes with it."""
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.end()
            raise AssertionError(f"still running after {seconds} s: {self.said()}") from None

    def end(self) -> None:
        """Kills the session if it runs; its processes die with it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def report(self) -> dict[str, Any]:
        report = json.loads(self.output.read_text())
        assert isinstance(report, dict)
        return report

    def said(self) -> str:
        return self.errors.read_text()[-3000:]


def joined(test: unittest.TestCase, folder: Path, workers: Sequence[Mapping[str, str]]) -> str:
    """A scheduler and workers with one slot and these variables; the file to join them with."""
    file = str(folder / "scheduler.json")
    arguments = service.scheduler_arguments("127.0.0.1", 0, file, None)
    services: list[tuple[list[str], Mapping[str, str]]] = [(arguments, {})]
    for environment in workers:
        arguments = service.worker_arguments(1, file, None, None, local_directory=str(folder))
        services.append((arguments, environment))
    for number, (arguments, environment) in enumerate(services):
        name = f"{arguments[0]}-{number}"
        kept = service.Service(name, arguments, folder / f"{name}.log", lambda event: None)
        with mock.patch.dict(os.environ, environment):
            kept.tend()
        test.addCleanup(kept.stop)
    return file


def starts(path: Path) -> int:
    """Processes that were started, by the lines that each adds to a file."""
    return len(path.read_text().splitlines()) if path.exists() else 0
