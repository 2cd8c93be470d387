"""What a slot of a worker does: it hands tasks to the `trinim-task` process of its worker.

The process stays from task to task and computes those of all slots, because it keeps what it has
decoded: the store is read less. Any error ends it, with the exit code of a single task. This is the
only code that Dask runs on other machines.
"""

from __future__ import annotations

import asyncio
import json
import platform
import queue
import subprocess
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import IO, Any

from distributed import get_worker

from trinim_cluster import trinim


@cache
def version(program: str) -> str:
    """The version here, asked once a worker."""
    return trinim.version(program)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of a task: an answer of the process, or the process ended first."""

    code: int
    output: str
    errors: str = ""
    is_answer: bool = True
    # Whether it ended because another task failed: it had not taken this one then.
    is_untouched: bool = False


class Process:
    """A process that answers tasks, a line each, until it is left alone or one fails."""

    def __init__(self, command: list[str]) -> None:
        self.command = command
        # A pipe without a reader would fill.
        self.errors: IO[str] = tempfile.TemporaryFile("w+", errors="replace")
        self.child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            errors="replace",
        )
        self.lock = threading.Lock()
        self.has_ended = False
        # By the blocks of a task: who waits for the answer. The same task may be asked twice.
        self.waiting: dict[frozenset[int], list[queue.SimpleQueue[Answer]]] = {}
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def ask(self, line: str) -> Answer:
        """Waits for the answer to a task."""
        answer: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        assert self.child.stdin is not None
        with self.lock:
            if self.has_ended:
                return Answer(0, "", is_answer=False)
            self.waiting.setdefault(frozenset(map(int, line.split(","))), []).append(answer)
            # If it is ending, the end of its output says so.
            with suppress(BrokenPipeError, ValueError):
                self.child.stdin.write(line + "\n")
                self.child.stdin.flush()
        return answer.get()

    def _read(self) -> None:
        """Hands out the answers, and in the end what is left."""
        assert self.child.stdin is not None and self.child.stdout is not None
        has_failed = False
        rest = ""
        for output in self.child.stdout:
            try:
                report = json.loads(output)
                if report["schema"] == "trinim.task/1":
                    answer = Answer(trinim.DONE, output)
                    blocks = frozenset(report["computed"] + report["skipped"])
                elif report["schema"] == "trinim.task.failed/1":
                    answer = Answer(int(report["exit_code"]), output, str(report["reason"]))
                    blocks = frozenset(report["blocks"])
                    has_failed = True
                else:
                    rest += output
                    continue
            except (ValueError, KeyError, TypeError):
                rest += output
                continue
            with self.lock:
                asked = self.waiting.get(blocks)
                if asked:
                    asked.pop(0).put(answer)
        code = self.child.wait()
        self.child.stdout.close()
        self.errors.seek(0)
        last = Answer(code, rest, self.errors.read(), is_answer=False, is_untouched=has_failed)
        self.errors.close()
        with self.lock:
            self.has_ended = True
            with suppress(BrokenPipeError):
                self.child.stdin.close()
            for asked in self.waiting.values():
                for answers in asked:
                    answers.put(last)

    def leave(self) -> None:
        """Lets it end after the tasks at hand."""
        assert self.child.stdin is not None
        with self.lock, suppress(BrokenPipeError):
            self.child.stdin.close()

    def end(self) -> None:
        """Waits for its end."""
        self.leave()
        self.reader.join()


class Slots:
    """The slots of this worker: threads that hand their tasks to the same process."""

    def __init__(self) -> None:
        self.process: Process | None = None
        self.lock = threading.Lock()

    def at(self, command: list[str]) -> tuple[Process, bool]:
        """The process with this command line, and whether it was started now."""
        with self.lock:
            process = self.process
            if process is not None and process.command == command and not process.has_ended:
                return process, False
            if process is not None:
                process.leave()
            self.process = Process(command)
            return self.process, True

    def end(self) -> None:
        """Ends the process."""
        with self.lock:
            process, self.process = self.process, None
        if process is not None:
            process.end()


slots = Slots()


def ask(command: list[str], line: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a task that the process here answers."""
    while True:
        process, is_fresh = slots.at(command)
        answer = process.ask(line)
        if answer.is_answer:
            return answer.code, answer.output, answer.errors
        # It may have ended, or been ended, before it saw the task: a new one knows.
        if not answer.is_untouched and (is_fresh or answer.code > 0):
            return answer.code or 1, answer.output, answer.errors or "it ended without answering"


def once(command: list[str]) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a process of its own."""
    ended = trinim.run(command)
    return ended.returncode, ended.stdout, ended.stderr


def compute(job: trinim.Job, expected_version: str) -> dict[str, Any]:
    """Does the job of a task.

    The result has `code`, `message`, `report` (of `--json`, also of a failure; or null), `host`,
    `worker` (its address) and the times `began` and `ended`, in seconds of this host's clock.
    A host on which no task of this run can succeed is no fault of the task: the worker leaves the
    cluster, and the task is tried again elsewhere. So it is if the program is missing there, which
    is code 75; if it has another version, or finds no store, `foreign` is set. Whoever keeps the
    worker running starts it again, more and more slowly.
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
            program = f"{job.command[0]} on this worker"
            text = f"{program} is another version: {first}, but the driver has {wanted}"
            leave(text)
            return result | {
                "code": trinim.REFUSED,
                "message": text,
                "foreign": True,
                "ended": time.time(),
            }
        line = job.line
        if line is None:
            code, output, errors = once(job.command)
        else:
            at_once = ["--at-once", str(slots_here())]
            code, output, errors = ask([*job.command, *at_once], line)
    except (OSError, trinim.TrinimError) as error:
        # No such program here, or no memory for a process: another worker may do better.
        leave(str(error))
        return result | {"code": trinim.TRY_AGAIN, "message": str(error), "ended": time.time()}
    result["code"] = code
    result["ended"] = time.time()
    with suppress(ValueError):
        result["report"] = json.loads(output)
    if code != trinim.DONE:
        result["message"] = trinim.last_words(errors, output)
    if code == trinim.USAGE:
        # The driver has tried the options on its own host: here, the folder of the store is missing.
        leave(result["message"])
        result["foreign"] = True
    return result


def leave(reason: str) -> None:
    """Closes the worker that runs this, once the result of this task is delivered.

    That in the driver's own process stays: nothing would start it again, and there is no other.
    """
    try:
        worker = get_worker()
    except ValueError:
        return
    if worker.address.startswith("inproc://"):
        return
    worker.loop.add_callback(
        lambda: worker.loop.call_later(
            2.0, lambda: asyncio.ensure_future(worker.close(reason=reason))
        )
    )


def slots_here() -> int:
    """The slots of the Dask worker that runs this; 1 outside of one."""
    try:
        return get_worker().state.nthreads
    except ValueError:
        return 1


def worker_address() -> str:
    """The address of the Dask worker that runs this; empty outside of one."""
    try:
        return str(get_worker().address)
    except ValueError:
        return ""
