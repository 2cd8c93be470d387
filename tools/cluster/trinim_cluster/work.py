"""What a slot of a worker does: it hands tasks to a `trinim task` process of its own.

The process stays from task to task, because it keeps what it has decoded: the store is read less.
Any error ends it, with the exit code of a single task. This is the only code that Dask runs on
other machines.
"""

from __future__ import annotations

import asyncio
import json
import platform
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from functools import cache
from typing import IO, Any

from distributed import get_worker

from trinim_cluster import trinim


@cache
def version(program: str) -> str:
    """The version here, asked once a worker."""
    return trinim.version(program)


class Process:
    """A process that answers tasks, one line each, until it is left alone or one fails."""

    def __init__(self, command: list[str]) -> None:
        self.command = command
        # A pipe that nobody reads would fill.
        self.errors: IO[str] = tempfile.TemporaryFile("w+", errors="replace")
        self.child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            errors="replace",
        )

    def ask(self, line: str) -> tuple[int | None, str]:
        """The exit code, or None if the process goes on, and what it printed."""
        assert self.child.stdin is not None and self.child.stdout is not None
        # If it has ended, the end of its output says so.
        with suppress(BrokenPipeError):
            self.child.stdin.write(line + "\n")
            self.child.stdin.flush()
        output = self.child.stdout.readline()
        with suppress(ValueError, KeyError, TypeError):
            if json.loads(output)["schema"] == "trinim.task/1":
                return None, output
        output += self.child.stdout.read()
        return self.child.wait(), output

    def said(self) -> str:
        """Its standard error."""
        self.errors.seek(0)
        return self.errors.read()

    def end(self) -> None:
        """Lets it end, which it does between tasks."""
        for stream in (self.child.stdin, self.child.stdout):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()
        self.child.wait()
        self.errors.close()


# Each slot is a thread of the worker.
slot = threading.local()


def ask(command: list[str], line: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a task that this slot's process answers."""
    process: Process | None = getattr(slot, "process", None)
    if process is not None and process.command != command:
        process.end()
        process = slot.process = None
    fresh = process is None
    while True:
        if process is None:
            process = slot.process = Process(command)
        code, output = process.ask(line)
        if code is None:
            return trinim.DONE, output, ""
        errors = process.said()
        process.end()
        process = slot.process = None
        # It may have ended, or been ended, before it saw the task: a new one knows.
        if fresh or code > 0:
            return code or 1, output, errors or "it ended without an answer"
        fresh = True


def once(command: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a process of its own."""
    ended = trinim.run(command)
    return ended.returncode, ended.stdout, ended.stderr


def compute(job: trinim.Job, expected_version: str) -> dict[str, Any]:
    """Does the job of a task.

    The result has `code`, `message`, `report` (of `--json`, also of a failure; or null), `host`,
    `worker` (its address) and the times `began` and `ended`, in seconds of this host's clock.
    `code` is 65 if the program here is another version than the driver's: it would compute no block
    of this run, and the worker leaves the cluster. Whoever keeps it running starts it again, more
    and more slowly.
    """
    began = time.time()
    result: dict[str, Any] = {
        "host": platform.node(),
        "worker": worker_address(),
        "began": began,
        "report": None,
        "message": "",
    }
    try:
        here = version(job.command[0])
        if here != expected_version:
            first, wanted = here.splitlines()[:1], expected_version.splitlines()[:1]
            text = (
                f"{job.command[0]} on this worker is another version: {first}, the driver has {wanted}"
            )
            leave(text)
            return result | {
                "code": trinim.REFUSED,
                "message": text,
                "foreign": True,
                "ended": time.time(),
            }
        line = job.line
        code, output, errors = once(job.command) if line is None else ask(job.command, line)
    except (OSError, trinim.TrinimError) as error:
        # No such program here, or no memory for a process: another worker may do better.
        return result | {"code": 127, "message": str(error), "ended": time.time()}
    result["code"] = code
    result["ended"] = time.time()
    with suppress(ValueError):
        result["report"] = json.loads(output)
    if code != trinim.DONE:
        result["message"] = trinim.last_words(errors, output)
    return result


def leave(reason: str) -> None:
    """Closes the worker that runs this, once the result of this task is delivered."""
    try:
        worker = get_worker()
    except ValueError:
        return
    worker.loop.add_callback(
        lambda: worker.loop.call_later(
            2.0, lambda: asyncio.ensure_future(worker.close(reason=reason))
        )
    )


def worker_address() -> str:
    """The address of the Dask worker that runs this; empty outside of one."""
    try:
        return str(get_worker().address)
    except ValueError:
        return ""
