"""The program `trinim-task`: its commands as command lines, its exit codes, its reports."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from trinim_cluster.ledger import Verdict

DONE = 0
USAGE = 2
REFUSED = 65
TRY_AGAIN = 75

PR_SET_PDEATHSIG = 1


class TrinimError(Exception):
    """A command of `trinim-task` failed; `code` is its exit code."""

    def __init__(self, command: str, code: int, message: str) -> None:
        super().__init__(message)
        self.command = command
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"trinim-task {self.command} ended with exit code {self.code}: {self.message}"


def verdict(code: int) -> Verdict:
    """What the exit code of `trinim-task` means for the task."""
    match code:
        case 0:
            return Verdict.DONE
        case 75:
            return Verdict.AGAIN
        case 2 | 65:
            return Verdict.REFUSED
        case _:
            return Verdict.CRASHED


def find(program: str) -> str:
    """The full path of the program, so that a worker with another PATH runs the same one."""
    path = shutil.which(program)
    if path is None:
        raise FileNotFoundError(f"no such program: {program}; name it with --trinim")
    return os.path.abspath(path)


@dataclass(frozen=True, slots=True)
class Job:
    """What a slot does for a task: a process, from start to end; or, with a line, a question to a
    process that answers one after the other."""

    command: list[str]
    line: str | None = None


# A process without a task ends after this time, and returns its memory.
IDLE = "60s"


@dataclass(frozen=True, slots=True)
class Store:
    """A store, and the program that knows what is in it. Nothing here opens a file of it."""

    program: str
    location: str

    def init(self, arguments: Sequence[str]) -> None:
        """Creates the store, or checks that it is this run's."""
        self._run("init", arguments)

    def plan(self, batches: int | None) -> list[str]:
        """The plan, one task a line."""
        arguments = [] if batches is None else ["--batches", str(batches)]
        return self._run("plan", arguments).splitlines()

    def listing(self) -> list[int]:
        """The blocks that are committed. Of an object store or a network file system, it may be
        stale: blocks may be there that it misses."""
        lines = self._run("list", ["--json"]).splitlines()
        runs = [json.loads(line) for line in lines if line.strip()]
        return [block for run in runs for block in range(run["first"], run["last"] + 1)]

    def check_options(self, options: Sequence[str]) -> None:
        """Starts what computes tasks, with these options and without a task: it ends at once."""
        self._run("--batch=-", options)

    def finish(self) -> dict[str, Any]:
        """Writes manifest and lists; the report of `solve --json`."""
        report = json.loads(self._run("finish", ["--json"]))
        if not isinstance(report, dict):
            raise TrinimError("finish", 0, "the report is not a JSON object")
        return report

    def sweep(self) -> None:
        """Deletes what a store with all blocks does not need: with --keep counts, block files; all
        temporary files, because who still writes one computes a block that is there."""
        self._run("sweep", ["--older-than", "0s"])

    def follow(self, tasks: Iterable[Sequence[int]]) -> None:
        """Sweeps, and then continues with the blocks of tasks as they are done."""
        command = [self.program, "sweep", "--store", self.location, "--follow"]
        with subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            # The end of its input ends it, not a signal to the driver's group.
            start_new_session=True,
        ) as child:
            assert child.stdin is not None
            with suppress(BrokenPipeError):
                for blocks in tasks:
                    print(*blocks, sep=",", file=child.stdin, flush=True)
            _, errors = child.communicate()
        if child.returncode != 0:
            raise TrinimError("sweep", child.returncode, last_words(errors))

    def task(self, blocks: Sequence[int], options: Sequence[str]) -> Job:
        """What computes these blocks."""
        command = [self.program, "--store", self.location, "--batch", "-", "--json"]
        command += ["--die-with-parent", "--idle", IDLE, *options]
        return Job(command, ",".join(map(str, blocks)))

    def verdict(self, code: int) -> Verdict:
        """What the exit code of that means."""
        return verdict(code)

    def shard(self, number: int, of: int, options: Sequence[str]) -> Job:
        """What checks a share, from 1."""
        command = [self.program, "verify", "--store", self.location]
        return Job(
            [*command, "--shard", f"{number}/{of}", "--json", "--die-with-parent", *options]
        )

    def _run(self, command: str, arguments: Sequence[str]) -> str:
        line = [self.program, command, "--store", self.location, *arguments]
        ended = run(line)
        if ended.returncode != 0:
            raise TrinimError(command, ended.returncode, last_words(ended.stderr, ended.stdout))
        return ended.stdout


def run(line: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Runs a command line to its end, with any exit code."""
    return subprocess.run(
        line,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def last_words(errors: str, output: str = "") -> str:
    """The end of what a program said, short enough for one message."""
    for said in (errors, output):
        lines = [line.strip() for line in said.splitlines() if line.strip()]
        if lines:
            return " | ".join(lines[-3:])[-500:]
    return "it printed nothing"


def version(program: str) -> str:
    """What `trinim-task --version` says, without the processor, on which no byte depends."""
    ended = run([program, "--version"])
    if ended.returncode != 0:
        raise TrinimError("--version", ended.returncode, last_words(ended.stderr, ended.stdout))
    lines = ended.stdout.strip().splitlines()
    return "\n".join(line for line in lines if line.split()[:1] != ["kernels"])


def die_with_parent(parent: int) -> None:
    """Asks the kernel to kill this process when `parent` dies, which has to be its parent now."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")
    # The parent may have died before the call: then no signal will come.
    if os.getppid() != parent:
        os._exit(128 + signal.SIGKILL)
