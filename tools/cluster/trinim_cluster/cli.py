"""The command `trinim-cluster`."""

from __future__ import annotations

import argparse
import json
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn, TextIO

from trinim_cluster import VERSION, service, trinim
from trinim_cluster.ledger import Ledger
from trinim_cluster.plan import PlanError, parse
from trinim_cluster.progress import Progress, write_metrics
from trinim_cluster.service import Service, Tls
from trinim_cluster.trinim import Store, TrinimError

COMPLETE = 0
FAILED = 1
USAGE = 2
REFUSED = trinim.REFUSED
NO_PROGRESS = trinim.TRY_AGAIN


class Stop(Exception):
    """The command ends with this exit code and says why."""

    def __init__(self, code: int, reason: str, hint: str | None = None) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.hint = hint


def duration(text: str) -> float:
    """Seconds of 90, 90s, 5m, 2h."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)?", text)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration like 90s, 5m or 2h")
    return float(match[1]) * {"s": 1.0, "m": 60.0, "h": 3600.0}[match[2] or "s"]


def at_least_one(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1")
    return number


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="trinim-cluster",
        description="Runs one solve of trinim on many machines.",
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"trinim-cluster {VERSION}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    solve = commands.add_parser(
        "solve",
        help="solve a board into a store, or continue",
        description="Solves a board into a store, or continues. Options that are not listed here, "
        "like --layers, --rule and --bid-cells, go to `trinim task init`.",
        allow_abbrev=False,
    )
    solve.add_argument(
        "--store", required=True, help="a folder all machines see, or s3://BUCKET/PREFIX"
    )
    solve.add_argument("--json", action="store_true", help="print the report of the solve as JSON")
    solve.add_argument("--keep", default="database", help="database (default) or counts")
    solve.add_argument(
        "--trinim", default="trinim", metavar="PROGRAM", help="the program, here and on the workers"
    )
    solve.add_argument(
        "--batches", type=at_least_one, metavar="N", help="group the blocks into about N tasks"
    )
    solve.add_argument("--threads", type=at_least_one, default=1, help="threads of a task [1]")
    solve.add_argument("--memory", metavar="SIZE", help="memory budget of a task")
    solve.add_argument("--wait", metavar="DURATION", help="how long a task waits for a source")
    solve.add_argument(
        "--retries", type=int, default=3, help="new starts of a task that crashes [3]"
    )
    solve.add_argument(
        "--patience",
        type=duration,
        default=600.0,
        metavar="DURATION",
        help="give up after so long without a worker, or while no task succeeds [10m]",
    )
    solve.add_argument(
        "--progress",
        type=duration,
        default=10.0,
        metavar="DURATION",
        help="time between lines [10s]",
    )
    solve.add_argument("--quiet", action="store_true", help="no progress")
    solve.add_argument("--log", metavar="FILE", help="append each event as a JSON line")
    solve.add_argument("--metrics", metavar="FILE", help="keep metrics for Prometheus in this file")
    cluster = solve.add_argument_group(
        "cluster", "without --scheduler and --scheduler-file: on this machine"
    )
    cluster.add_argument(
        "--workers",
        type=at_least_one,
        help="processes with slots, on this machine [the processors / threads]",
    )
    cluster.add_argument(
        "--slots", type=at_least_one, default=1, help="tasks that a local worker runs at a time [1]"
    )
    cluster.add_argument(
        "--logs", metavar="DIR", help="where the logs of local processes go [deleted in the end]"
    )
    scheduler_options(cluster)
    tls_options(cluster)

    scheduler = commands.add_parser(
        "scheduler", help="run a scheduler, and start it again when it dies", allow_abbrev=False
    )
    scheduler.add_argument(
        "--scheduler-file", required=True, metavar="FILE", help="where it tells its address"
    )
    scheduler.add_argument("--host", help="address to listen on")
    scheduler.add_argument("--port", type=at_least_one, default=8786, help="[8786]")
    tls_options(scheduler)

    worker = commands.add_parser(
        "worker", help="run a worker, and start it again when it dies", allow_abbrev=False
    )
    scheduler_options(worker)
    worker.add_argument("--slots", type=at_least_one, default=1, help="tasks at a time [1]")
    worker.add_argument("--host", help="address of this machine")
    worker.add_argument(
        "--local-directory", metavar="DIR", help="Dask's own files [the folder for temporary files]"
    )
    worker.add_argument(
        "--patience",
        type=duration,
        default=600.0,
        metavar="DURATION",
        help="end after so long without a scheduler [10m]",
    )
    tls_options(worker)

    from trinim_cluster import simulate, ten

    simulate.options(commands)
    ten.options(commands)
    return top


def scheduler_options(group: argparse._ActionsContainer) -> None:
    group.add_argument(
        "--scheduler-file", metavar="FILE", help="the file in which a scheduler tells its address"
    )
    group.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of a scheduler, like tcp://10.0.0.1:8786"
    )


def tls_options(group: argparse._ActionsContainer) -> None:
    for name, what in (
        ("ca", "certificate of the authority"),
        ("cert", "certificate"),
        ("key", "its key"),
    ):
        group.add_argument(f"--tls-{name}", metavar="FILE", help=what)


def tls_of(arguments: argparse.Namespace) -> Tls | None:
    files = (arguments.tls_ca, arguments.tls_cert, arguments.tls_key)
    if not any(files):
        return None
    if not all(files):
        raise Stop(USAGE, "--tls-ca, --tls-cert and --tls-key go together")
    for file in files:
        if not os.path.isfile(file):
            raise Stop(USAGE, f"no file {file}")
    return Tls(*(os.path.abspath(file) for file in files))


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Parses the command line, runs the command, ends the process with its exit code."""
    arguments, others = parser().parse_known_args(argv)
    if others and arguments.command != "solve":
        parser().error(f"unrecognized arguments: {' '.join(others)}")
    try:
        match arguments.command:
            case "solve":
                code = solve(arguments, others)
            case "scheduler":
                code = run_scheduler(arguments)
            case "worker":
                code = run_worker(arguments)
            case _:
                code = arguments.run(arguments)
    except Stop as stop:
        print(f"error: {stop.reason}", file=sys.stderr)
        if stop.hint is not None:
            print(f"hint: {stop.hint}", file=sys.stderr)
        if getattr(arguments, "json", False) and stop.code != USAGE:
            print(
                json.dumps(
                    {
                        "schema": "trinim.failure/1",
                        "finished": False,
                        "command": f"cluster {arguments.command}",
                        "exit_code": stop.code,
                        "reason": stop.reason,
                        "hint": stop.hint,
                    }
                )
            )
        code = stop.code
    sys.stdout.flush()
    sys.exit(code)


CONTINUE = "run the same command to continue"


def solve(arguments: argparse.Namespace, init: list[str]) -> int:
    """Init, plan, drive, finish."""
    # Dask takes half a second to import; the other commands do without.
    from trinim_cluster.driver import Driver, Interrupted, NoProgress, Options, Scheduler
    from trinim_cluster.local import LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if arguments.scheduler and arguments.scheduler_file:
        raise Stop(USAGE, "--scheduler and --scheduler-file name the same thing: give one")
    joins = bool(arguments.scheduler or arguments.scheduler_file)
    tls = tls_of(arguments)
    if joins and (arguments.workers or arguments.logs):
        raise Stop(USAGE, "--workers and --logs are for a cluster on this machine")
    if tls is not None and not joins:
        raise Stop(
            USAGE,
            "TLS is for a scheduler that runs already; a local one listens on the loopback only",
        )
    try:
        program = trinim.find(arguments.trinim)
    except FileNotFoundError as error:
        raise Stop(USAGE, str(error)) from error
    location = arguments.store
    if "://" not in location:
        # Workers have other working directories.
        location = os.path.abspath(location)
    store = Store(program, location)

    begin = time.monotonic()
    ledger, version = open_store(store, arguments, init)
    events = Events(arguments.log)
    events(
        {
            "event": "run",
            "store": location,
            "tasks": len(ledger.plan.tasks),
            "slots": arguments.slots,
            "threads": arguments.threads,
        }
    )
    try:
        with Folder(arguments.logs, "trinim-cluster.") as folder:
            cluster: LocalCluster | None = None
            if joins:
                scheduler = Scheduler(arguments.scheduler, arguments.scheduler_file, tls)
            else:
                processors = len(os.sched_getaffinity(0))
                workers = arguments.workers or max(1, processors // arguments.threads)
                cluster = LocalCluster(workers, arguments.slots, folder.path, events)
                scheduler = Scheduler(file=cluster.scheduler_file)
            options = Options(
                task_options=task_options(arguments),
                patience_s=arguments.patience,
                progress_s=arguments.progress,
                sweep_s=30.0 if arguments.keep == "counts" else None,
            )
            driver = Driver(
                store,
                ledger.plan,
                ledger,
                scheduler,
                version,
                options,
                events,
                shower(arguments),
                cluster.tend if cluster is not None else lambda: None,
            )

            def interrupt(number: int, _frame: FrameType | None) -> None:
                driver.stopped_by = number

            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, interrupt)
            report: dict[str, Any] | None = None
            try:
                if cluster is not None:
                    cluster.start()
                for _ in range(FINISHES):
                    driver.run()
                    if not ledger.complete:
                        raise failures(ledger)
                    report = finish(store, ledger)
                    if report is not None:
                        break
                folder.success = True
            except NoProgress as error:
                raise Stop(NO_PROGRESS, str(error), CONTINUE) from error
            except Interrupted as error:
                raise Stop(128 + error.number, str(error), CONTINUE) from error
            finally:
                if cluster is not None:
                    cluster.stop()
    except TrinimError as error:
        raise Stop(trinim_code(error), str(error), CONTINUE) from error
    except TimeoutError as error:
        raise Stop(NO_PROGRESS, str(error), CONTINUE) from error
    finally:
        events.close()
    if report is None:
        raise Stop(NO_PROGRESS, "the store's listing misses blocks that are committed", CONTINUE)
    report["cluster"] = {
        "tasks": len(ledger.plan.tasks),
        "starts": ledger.starts,
        "executions": driver.executions,
        "lost": ledger.lost,
        "schedulers_lost": driver.schedulers_lost,
        "resumed_blocks": driver.resumed_blocks,
        "elapsed_s": time.monotonic() - begin,
    }
    if arguments.json:
        print(json.dumps(report))
    else:
        for key in ("layers", "rule", "positions", "losses", "start", "digest"):
            if key in report:
                print(f"{key:10} {report[key]}")
        print(f"time       {report['cluster']['elapsed_s']:.1f} s, {ledger.starts} tasks started")
    return COMPLETE


# Each is preceded by a pause and by a new look at the store.
FINISHES = 5


def open_store(store: Store, arguments: argparse.Namespace, init: list[str]) -> tuple[Ledger, str]:
    """Creates or checks the store; the plan and the version of the program."""
    try:
        version = trinim.version(store.program)
        store.init([*init, "--keep", arguments.keep])
        plan = parse(store.plan(arguments.batches))
    except TrinimError as error:
        raise Stop(trinim_code(error), str(error)) from error
    except PlanError as error:
        raise Stop(REFUSED, str(error)) from error
    return Ledger(plan, arguments.retries), version


def trinim_code(error: TrinimError) -> int:
    """Usage, refusal and "try again" keep their exit codes; anything else is a failure."""
    return error.code if error.code in (USAGE, REFUSED, NO_PROGRESS) else FAILED


def task_options(arguments: argparse.Namespace) -> list[str]:
    options = ["--threads", str(arguments.threads)]
    if arguments.memory is not None:
        options += ["--memory", arguments.memory]
    if arguments.wait is not None:
        options += ["--wait", arguments.wait]
    return options


def finish(store: Store, ledger: Ledger) -> dict[str, Any] | None:
    """The report, or None if the store misses blocks: their tasks are open again then."""
    try:
        store.sweep(all_temporary=True)
        return store.finish()
    except TrinimError as error:
        if error.code != NO_PROGRESS:
            raise
    time.sleep(2.0)
    ledger.recheck(store.listing())
    return None


def failures(ledger: Ledger) -> Stop:
    failed = sorted(ledger.failed.values(), key=lambda failure: failure.task)
    words = [f"task {failure.task}: {failure.reason}" for failure in failed[:10]]
    if len(failed) > 10:
        words.append(f"and {len(failed) - 10} more")
    behind = len(ledger.blocked)
    text = f"{len(failed)} tasks failed for good, {behind} tasks need them; " + "; ".join(words)
    return Stop(FAILED, text, "remove the cause, then " + CONTINUE)


def shower(arguments: argparse.Namespace) -> Callable[[Progress], None]:
    def show(progress: Progress) -> None:
        if not arguments.quiet:
            print(progress.line(), file=sys.stderr, flush=True)
        if arguments.metrics is not None:
            with suppress(OSError):
                write_metrics(Path(arguments.metrics), progress.metrics())

    return show


class Events:
    """The log of events: one JSON object a line, with the time."""

    def __init__(self, path: str | None) -> None:
        self.file: TextIO | None = None
        if path is not None:
            try:
                self.file = open(path, "a", encoding="utf-8")
            except OSError as error:
                raise Stop(USAGE, f"cannot write {path}: {error}") from error

    def __call__(self, event: dict[str, object]) -> None:
        if self.file is not None:
            print(json.dumps({"time": time.time()} | event), file=self.file, flush=True)

    def close(self) -> None:
        if self.file is not None:
            self.file.close()


class Folder:
    """A folder for logs: one that stays, or a temporary one that stays only after a failure."""

    def __init__(self, path: str | None, prefix: str) -> None:
        self.keep = path is not None
        self.success = False
        if path is not None:
            Path(path).mkdir(parents=True, exist_ok=True)
            self.path = Path(path).resolve()
        else:
            self.path = Path(tempfile.mkdtemp(prefix=prefix))

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.keep:
            return
        if self.success or kind is None or issubclass(kind, Stop):
            shutil.rmtree(self.path, ignore_errors=True)
        else:
            print(f"logs of the local processes: {self.path}", file=sys.stderr)


def run_scheduler(arguments: argparse.Namespace) -> int:
    """A scheduler on a fixed port, until a signal comes."""
    file = os.path.abspath(arguments.scheduler_file)
    tls = tls_of(arguments)
    # A file of an earlier scheduler would send workers and drivers to one that is gone.
    with suppress(FileNotFoundError):
        os.unlink(file)
    options = service.scheduler_arguments(arguments.host, arguments.port, file, tls)
    return keep_running(Service("scheduler", options, Path("/dev/stderr"), say), None)


def run_worker(arguments: argparse.Namespace) -> int:
    """A worker, until a signal comes or no scheduler was there for too long."""
    if bool(arguments.scheduler) == bool(arguments.scheduler_file):
        raise Stop(USAGE, "give --scheduler-file or --scheduler")
    file = arguments.scheduler_file
    options = service.worker_arguments(
        arguments.slots,
        os.path.abspath(file) if file is not None else None,
        arguments.scheduler,
        tls_of(arguments),
        host=arguments.host,
        local_directory=arguments.local_directory or tempfile.gettempdir(),
    )
    return keep_running(Service("worker", options, Path("/dev/stderr"), say), arguments.patience)


def say(event: dict[str, object]) -> None:
    print(json.dumps(event), file=sys.stderr, flush=True)


def keep_running(kept: Service, patience: float | None) -> int:
    """Tends one service until a signal comes, or until it has lived only briefly for too long."""
    stopped: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda number, _frame: stopped.append(number))
    well = time.monotonic()
    try:
        while not stopped:
            kept.tend()
            time.sleep(0.2)
            now = time.monotonic()
            if kept.lives_longer_than(2.0 * service.DEATH_TIMEOUT):
                well = now
            if patience is not None and now - well > patience:
                raise Stop(NO_PROGRESS, f"no scheduler for {patience:.0f} s")
    finally:
        kept.stop()
    return 128 + stopped[0]
